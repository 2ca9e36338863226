"""What marks change in the numbers: works that a person set aside count as done once, and it is said wherever they count."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from forensics.people.marks import Annotation
from forensics.sentence import counted, joined, said
from forensics.verdict.interval import AFFECTED, VERDICTS
from forensics.verdict.sentences import headline_of
from forensics.words import clock_text

Row = Mapping[str, Any]
NAMED_BY = 3
"""Marks that are told by name where several set works aside."""


@dataclass(frozen=True)
class SetAside:
    """One work that a mark sets aside: what the logs alone say of it, and whose mark it is.

    ``incidents`` counts its messages per incident; ``first_received_at`` is the work's, UTC; ``effects_at_most`` None means
    no upper bound.
    """

    queue_arn: str
    work_id: str
    item_ids: tuple[str, ...]
    incidents: Mapping[str, int]
    verdict: str
    effects_at_least: int
    effects_at_most: int | None
    first_received_at: datetime | None
    mark: Annotation


def without(incident: Row, aside: Sequence[SetAside], left_at_most: int | None) -> Row:
    """Return a row of ``incidents`` as it counts without the works that were set aside; the row itself is under ``judged``.

    They count as harmless. ``left_at_most`` is how often the work of the others may have been repeated, None without a bound.

    >>> row = {"works": 2, "messages": 2, "works_confirmed": 2, "confirmed": 2, "extra_effects_at_least": 2}
    >>> row |= {"incident_id": "i", "primary_cause": "released", "extra_effects_at_most": 2, "headline": "2 of 2 redelivered messages were processed more than once"}
    >>> mark = Annotation("a", "i", None, "false-alarm", "tried", "Ana", "v", datetime(2026, 11, 23, 9))
    >>> one = SetAside("q", "w", ("w",), {"i": 1}, "confirmed", 2, 2, None, mark)
    >>> without(row, [one], 1)["headline"]
    '1 of 2 redelivered messages was processed more than once'
    """
    messages = Counter[str]()
    for work in aside:
        messages[work.verdict] += work.incidents[incident["incident_id"]]
    works = Counter(work.verdict for work in aside)
    told = dict(incident)
    if (at_most := incident.get("messages_at_most")) is not None:
        told["messages_at_most"] = max(at_most - messages.total(), 0)
    told["messages"] = max((incident["messages"] or 0) - messages.total(), 0)
    prefixes = {"": messages}
    if incident.get("works") is not None:
        prefixes["works_"] = works
        told["works"] = max(incident["works"] - works.total(), 0)
    for prefix, counts in prefixes.items():
        for verdict in AFFECTED:
            told[prefix + verdict] = max((incident.get(prefix + verdict) or 0) - counts[verdict], 0)
        told[f"{prefix}harmless"] = (incident.get(f"{prefix}harmless") or 0) + counts.total()
    least = (incident["extra_effects_at_least"] or 0) - sum(max(work.effects_at_least - 1, 0) for work in aside)
    told["extra_effects_at_least"] = max(least, 0)
    told["extra_effects_at_most"] = (
        left_at_most if left_at_most is None else max(left_at_most, told["extra_effects_at_least"])
    )
    prefix = "works_" if "works_" in prefixes else ""
    left = {verdict: told.get(prefix + verdict) or 0 for verdict in VERDICTS}
    is_any_left = any(left[verdict] for verdict in AFFECTED)
    told["headline"] = headline_of([told], left) if is_any_left else nothing_left(len(aside))
    return told | {"judged": incident, "set_aside": tuple(aside)}


def without_all(incident: Row, mark: Annotation) -> Row:
    """Return an incident whose messages no log names as it counts where a mark sets it aside as a whole."""
    nothing = {"messages_at_most": 0, "extra_effects_at_least": 0, "extra_effects_at_most": 0}
    nothing |= dict.fromkeys(AFFECTED, 0)
    whole = SetAside(incident["queue_arn"], "", (), {incident["incident_id"]: 0}, "possible", 0, None, None, mark)
    return {**incident, **nothing, "headline": nothing_left(0), "judged": incident, "set_aside": (whole,)}


def nothing_left(works: int) -> str:
    """Say that people set everything aside."""
    if not works:
        return "All of it was set aside by a person: nothing counts as processed more than once"
    if works == 1:
        return said("Its {count} work was set aside by a person: nothing counts as processed more than once", count=1)
    return said("Its {count} works were set aside by a person: nothing counts as processed more than once", count=works)


def judged(incident: Row) -> Row:
    """Return the incident as the logs alone have it."""
    found: Row = incident.get("judged") or incident
    return found


def is_settled(incident: Row) -> bool:
    """Tell whether people set aside all that it is suspected of."""
    return "judged" in incident and not any(incident[v] for v in AFFECTED) and not incident.get("messages_at_most")


def aside_text(aside: Iterable[SetAside]) -> str:
    """Say whose marks set works aside, and when: ``1 work: false alarm (Ana, 2026-11-23 10:00 UTC)``; nothing where none does."""
    by: Counter[Annotation] = Counter()
    for work in aside:
        by[work.mark] += bool(work.item_ids)
    told = [
        said(
            "{what}: {words} ({who}, {at} UTC)",
            what=counted(works, "work") if works else "all of it",
            words=mark.words,
            who=mark.author,
            at=clock_text(mark.marked_at)[:16],
        )
        for mark, works in sorted(by.items(), key=lambda pair: (pair[0].marked_at, pair[0].evidence_id))
    ]
    more = [said("and {n} more marks", n=len(told) - NAMED_BY)] if len(told) > NAMED_BY else []
    return joined([*told[:NAMED_BY], *more], "; ") if told else ""


def of_period(row: Row, aside: Iterable[SetAside]) -> Row:
    """Return a queue's day or week without works that were set aside; a work counts when it was first received."""
    mine = [
        work
        for work in aside
        if work.queue_arn == row["queue_arn"]
        and work.first_received_at
        and row["starts_at"] <= work.first_received_at < row["ends_at"]
    ]
    if not mine:
        return row
    twice = {
        "twice_at_least": sum(work.verdict == "confirmed" for work in mine),
        "twice_at_most": len(mine),
    }
    counted = {name: max(row[name] - less, 0) for name, less in twice.items() if row[name] is not None}
    return {**row, **counted, "judged": row, "set_aside": tuple(mine)}
