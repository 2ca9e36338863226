"""Names in the settings file that the evidence does not have, where it has one much like it."""

from collections.abc import Iterable

from forensics.lake import Findings
from forensics.lake.rows import plain_rows
from forensics.nearest import near
from forensics.sentence import said
from forensics.settings import Settings
from forensics.tables.evidence import CONSUMERS, QUEUE_SETTINGS

_MUCH_ALIKE = 0.85
"""A settings file may be of more queues than a lake: a name is only told where it looks like a slip of the pen."""


def unlike_names(findings: Findings, settings: Settings) -> list[str]:
    """Return a sentence per name of a section that nothing in evidence has: what stands under it decides nothing."""
    consumers = plain_rows(findings.read(CONSUMERS, ["queue_name", "log_group", "function_name"]))
    queues = {row["queue_name"] for row in consumers}
    queues |= {row["queue_name"] for row in plain_rows(findings.read(QUEUE_SETTINGS, ["queue_name"]))}
    functions, groups = ({row[name] for row in consumers} for name in ("function_name", "log_group"))
    return [
        *_unlike("[[function]]", (c.name for c in settings.functions), functions),
        *_unlike("[[worker]]", (c.log_group for c in settings.workers), groups),
        *_unlike("[[queue]]", (queue.name for queue in settings.queues), queues),
    ]


def _unlike(section: str, declared: Iterable[str | None], known: Iterable[str | None]) -> list[str]:
    named, there = {name for name in declared if name}, {name for name in known if name}
    left = sorted(there - named)
    return [
        said(
            "{section} {name}: nothing in the lake is called so, so that what it says decides nothing. Did you mean {known}?",
            section=section,
            name=repr(name),
            known=found[0],
        )
        for name in sorted(named - there)
        if (found := near(name, left, _MUCH_ALIKE))
    ]
