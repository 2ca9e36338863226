"""Writes docs/commands.md from the command itself: ``python -m cli.doccommands``."""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from cli.program import app, whole

ROOT = Path(__file__).resolve().parent.parent
FILE = ROOT / "docs" / "commands.md"
INTRO = """# Commands

After this page you know every command and its options. It is written by Typer from the command itself; run
`python -m cli.doccommands` after a change.

Data is printed on stdout, words and progress on stderr. Where a table does not fit the terminal, each row is what names it, a
few facts and a sentence; `--wide` prints every column on one line, as a pipe gets it. `doubletake --install-completion` lets the
shell complete commands, options, and the queues, incidents and faults that the lake names. The exit codes:

| code | what it says |
|---|---|
| 0 | all is well |
| 1 | a bug of ours |
| 2 | what was asked cannot be meant, or cannot be had; the sentence says what to do |
| 3 | something could not be read: there is a gap, and the rest is there |
| 4 | what the lake holds is damaged or contradicts itself |
| 5 | a check failed that is as grave as `--fail-on` says |
| 75 | another process works on the lake: try again |
| 130 | stopped by Ctrl-C |
"""


def commands_page() -> str:
    """Return the page as Markdown."""
    command = [sys.executable, "-m", "typer", "cli", "utils", "docs", "--name", "doubletake"]
    written = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    first, *others = re.split(r"^(?=## )", written, flags=re.MULTILINE)
    everywhere = re.findall(r"^\* `.*\n", first.partition("**Commands**")[0], re.MULTILINE)
    lines = {line for line in everywhere if "--version" not in line}
    sections = [section for section in others if "-completion" not in section.partition("\n")[0]]
    return (
        "\n".join(
            [
                INTRO,
                *_groups(),
                "## Options of every command\n\nThey stand before the command's name or after it.\n",
                "".join(everywhere),
                *(_own(section, lines) for section in sections),
            ]
        ).rstrip()
        + "\n"
    )


def _own(section: str, everywhere: set[str]) -> str:
    """Return a command's section without the options that every command has."""
    lines = [line for line in section.splitlines(keepends=True) if line not in everywhere]
    return "".join(lines).replace("**Options**:\n\n\n", "").rstrip() + "\n"


def _groups() -> Iterator[str]:
    """Yield the commands in the groups in which ``--help`` shows them, with their whole sentences."""
    group = None
    rows: list[str] = []
    known = whole()
    for command in app.registered_commands:
        if command.rich_help_panel != group:
            group = command.rich_help_panel
            rows += [f"\n**{group}**\n\n", "| command | what it does |\n", "|---|---|\n"]
        help_text = known.commands[command.name].help.splitlines()[0]
        rows.append(f"| [`{command.name}`](#doubletake-{command.name}) | {help_text} |\n")
    yield "".join(rows).lstrip("\n")


if __name__ == "__main__":
    FILE.write_text(commands_page(), encoding="utf-8")
