"""Names in the settings file that the evidence does not have, where it has one much like it."""

from collections.abc import Iterable

from forensics.lake import Findings
from forensics.lake.filters import equals
from forensics.lake.rows import plain_rows
from forensics.nearest import near
from forensics.sentence import said
from forensics.settings import Settings
from forensics.tables.evidence import CONSUMERS, COVERAGE, QUEUE_SETTINGS, SEND_RECORDS

MOST_NAMED = 8
"""Queues that a sentence names."""
_MUCH_ALIKE = 0.85
"""A settings file may be of more queues than a lake: a name is only told where it looks like a slip of the pen."""


def unlike_names(findings: Findings, settings: Settings) -> list[str]:
    """Return a sentence per name of a section that nothing in evidence has: what stands under it decides nothing."""
    consumers = plain_rows(findings.read(CONSUMERS, ["queue_name", "log_group", "function_name"]))
    queues = {row["queue_name"] for row in consumers}
    queues |= {row["queue_name"] for row in plain_rows(findings.read(QUEUE_SETTINGS, ["queue_name"]))}
    functions, groups = ({row[name] for row in consumers} for name in ("function_name", "log_group"))
    return [
        *_of_no_queue(findings, settings, {queue for queue in queues if queue}),
        *_unlike("[[function]]", (c.name for c in settings.functions), functions),
        *_unlike("[[worker]]", (c.log_group for c in settings.workers), groups),
        *_unlike("[[queue]]", (queue.name for queue in settings.queues), queues),
    ]


def _of_no_queue(findings: Findings, settings: Settings, known: set[str]) -> list[str]:
    """Say of which producers sends were read for a queue that nothing takes from: they link none of its messages."""
    if not (settings.producers and known):
        return []
    sends = equals("source", SEND_RECORDS.name)
    read = {row["resource"].split(" (pattern ")[0] for row in plain_rows(findings.read(COVERAGE, ["resource"], sends))}
    return [
        said(
            "[[producer]] {group}: its sends are of queue {queue}, which nothing in the lake takes from, so that they link no messages. There is: {known}.",
            group=producer.log_group,
            queue=repr(producer.queue),
            known=", ".join(sorted(known)[:MOST_NAMED]),
        )
        for producer in settings.producers
        if producer.queue not in known and producer.log_group in read
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
