"""What the shell offers for an argument: names from the lake that the command line, or the environment, names so far."""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from forensics.lake import Findings

DEFAULT_LAKE = "lake"
"""The lake's folder where none is named."""

Completion = Callable[[typer.Context, str], list[str]]


def _from_lake(names: "Callable[[Findings], Iterable[str]]") -> Completion:
    """Return a completion that offers what a lake's findings name; nothing where there is no lake, or it cannot be read."""

    def complete(ctx: typer.Context, incomplete: str) -> list[str]:
        from forensics.lake import Lake

        root = ctx.find_root()
        try:
            folder = ctx.params.get("lake") or root.params.get("lake") or DEFAULT_LAKE
            return sorted(name for name in names(Lake(folder).findings()) if name.startswith(incomplete))
        except Exception:  # a key press is no place for an error
            return []

    return complete


def _queues(findings: "Findings") -> Iterable[str]:
    from forensics.report.queue_lookup import known_queues

    return known_queues(findings)


def _incidents(findings: "Findings") -> Iterable[str]:
    from forensics.tables.findings import INCIDENTS

    found: list[str] = findings.read(INCIDENTS, ["incident_id"])["incident_id"].to_pylist()
    return found


def _faults(findings: "Findings") -> Iterable[str]:
    from forensics.lake.rows import plain_rows
    from forensics.report.faults import faults
    from forensics.tables.findings import INCIDENTS

    return (fault.fault_id for fault in faults(plain_rows(findings.read(INCIDENTS)), None))


queues, incidents, faults = _from_lake(_queues), _from_lake(_incidents), _from_lake(_faults)
