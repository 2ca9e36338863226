"""Writes docs/tables.md from the declared tables: ``python -m forensics.doctables``."""

from pathlib import Path

from forensics.tables import EVIDENCE, FINDINGS, GENERATIONS, PEOPLE, Table

FILE = Path(__file__).resolve().parent.parent / "docs" / "tables.md"
_TYPES = {
    "int": "integer",
    "long": "integer",
    "double": "number",
    "bool": "true or false",
    "string": "text",
    "strings": "list of texts",
    "timestamp": "time (UTC)",
}


def tables_page() -> str:
    """Return the page as Markdown."""
    parts = [
        "# Tables of the lake",
        "After this page you know what one row of each table stands for. It is generated from `forensics/tables`;"
        " change a declaration there, then run `python -m forensics.doctables`.",
        "Evidence tables are append-only: what AWS said. Findings tables can be rebuilt from evidence at any time, and"
        " every row of them names the evidence it rests on in `evidence_ids`. Times are UTC with microseconds."
        " Each table carries its grain, and each column its meaning, as Delta comments, which other readers of Delta can show."
        " A table of evidence that an earlier release made has them for columns added since.",
        "Let no other program run VACUUM or OPTIMIZE here. Files that a newer version replaced are still read: by earlier data"
        " versions, and by whoever opens a pinned link. The tables themselves remember what was replaced for an hour only, so"
        " that checkpoints stay small; VACUUM would take it for waste from then on. Doubletake itself deletes no evidence, and"
        " every commit stays. A checkpoint follows every 20 commits.",
        "## Evidence",
        *(_section(t) for t in EVIDENCE),
        "## People",
        "What people say of incidents and what they were told. Append-only like evidence, and never an input of findings.",
        *(_section(t) for t in PEOPLE),
        "## Findings",
        *(_section(t) for t in (*FINDINGS, GENERATIONS)),
    ]
    return "\n\n".join(parts) + "\n"


def _section(table: Table) -> str:
    key = ", ".join(f"`{name}`" for name in table.key)
    rows = [f"| `{c.name}` | {_TYPES[c.type]} | {_cell(c.meaning)} |" for c in table.columns]
    head = [
        f"### {table.name}",
        "",
        f"One row: {table.grain}. Key: {key}.",
        "",
        "| column | type | meaning |",
        "|---|---|---|",
    ]
    return "\n".join([*head, *rows])


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;")


def main() -> None:
    """Write the page."""
    FILE.parent.mkdir(exist_ok=True)
    FILE.write_text(tables_page(), encoding="utf-8")


if __name__ == "__main__":
    main()
