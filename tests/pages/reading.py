"""What the page tests know of the project: its pages, and how to read one."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGES = ["app.py", *sorted(f"pages/{p.name}" for p in (ROOT / "pages").glob("*.py"))]


def words(at):
    """Return everything the page says outside tables."""
    kinds = ("title", "subheader", "markdown", "info", "success", "warning", "error", "caption", "code", "text")
    return "\n".join(str(e.value) for kind in kinds for e in at.get(kind))
