"""Writes docs/checks.md from the settings checks: ``python -m forensics.docchecks``."""

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

from forensics.checks import CONSUMER_CHECKS, QUEUE_CHECKS
from forensics.health.signals import SIGNALS

FILE = Path(__file__).resolve().parent.parent / "docs" / "checks.md"


def checks_page() -> str:
    """Return the page as Markdown."""
    parts = [
        "# Settings checks and signals",
        "After this page you know what `doubletake check` and the weekly review look at. It is generated from"
        " `forensics/checks` and `forensics/health`; run `python -m forensics.docchecks` after a change.",
        "```sh\ndoubletake check --fail-on critical\ndoubletake check --format sarif\n"
        "doubletake health --weeks 4\ndoubletake report --week 2026-W47 -o week.html\n```",
        "A check fails (critical, warning or note), passes, or is unknown where a setting or a log was not read;"
        " unknown is never a pass. Each names the numbers it compared and cites the evidence. Numbers that were"
        " observed are those of the last seven days of the evidence. The exit code is 5 if a check failed that is as"
        " grave as `--fail-on` says, warning if it is not said.",
        "A risk the team lives with is named in the settings file, with the last day it holds; until then it is shown"
        " and neither ranks nor fails:",
        '```toml\n[[queue]]\nname = "exports"\n[[queue.accepted]]\ncheck = "dead_letter_queue_missing"\n'
        'until = 2027-06-30\nreason = "the export service is replaced in spring"\n```',
        "## Checks of a queue",
        _table(QUEUE_CHECKS),
        "## Checks of a queue and its consumer",
        _table(CONSUMER_CHECKS),
        "## Signals of a week",
        "What else makes a queue need work in the weekly review, from its own numbers and those of the week before.",
        _table(SIGNALS),
    ]
    return "\n\n".join(parts) + "\n"


def _table(functions: dict[str, Callable[..., Any]]) -> str:
    rows = [f"| `{code}` | {_told(function)} |" for code, function in functions.items()]
    return "\n".join(["| code | what it looks at |", "|---|---|", *rows])


def _told(function: Callable[..., Any]) -> str:
    text = (inspect.getdoc(function) or "").partition(">>>")[0]
    return " ".join(text.replace("``", "`").replace("|", "\\|").split())


def main() -> None:
    """Write the page."""
    FILE.write_text(checks_page(), encoding="utf-8")


if __name__ == "__main__":
    main()
