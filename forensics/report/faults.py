"""Faults: incidents of one queue with the same trigger under the same settings are one fault that comes back."""

import hashlib
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from forensics.incidents.blind_windows import blind_headline
from forensics.people import SetAside, aside_text, is_settled, judged
from forensics.report.activity import ALL_GONE, OPEN, SET_ASIDE, least_quiet, state_of_all
from forensics.report.records import cause_counts, verdict_counts
from forensics.sentence import said
from forensics.verdict.interval import AFFECTED, VERDICTS
from forensics.verdict.sentences import headline_of
from forensics.words import ms_between, span_text, time_text

Row = Mapping[str, Any]
_SETTINGS = ("visibility_timeout_s", "function_timeout_s", "batch_size")
RECURRING_FROM = 3
"""Incidents from which on the gaps between them say when the next one is due."""


@dataclass(frozen=True)
class Fault:
    """One fault. ``incidents`` are rows of ``incidents``, newest first; ``counts`` are works per verdict, each work once.

    ``elsewhere`` names other queues with the same trigger under the same settings.
    """

    fault_id: str
    trigger: str
    incidents: tuple[Row, ...]
    counts: Mapping[str, int]
    elsewhere: tuple[str, ...] = ()

    @property
    def newest(self) -> Row:
        """The incident that began last."""
        return self.incidents[0]

    @property
    def queue(self) -> str:
        """The queue's name."""
        return str(self.newest["queue"])

    @property
    def incident_ids(self) -> tuple[str, ...]:
        """Ids of its incidents, newest first."""
        return tuple(i["incident_id"] for i in self.incidents)

    @property
    def started_at(self) -> datetime:
        """When its first incident began, UTC."""
        return min(i["started_at"] for i in self.incidents)

    @property
    def ended_at(self) -> datetime:
        """When it was last active, UTC."""
        return max(i["ended_at"] or i["started_at"] for i in self.incidents)

    @property
    def repeats(self) -> tuple[int, int | None]:
        """How often work was done beyond the first time: for sure, and at most; None without an upper bound."""
        mosts = [i["extra_effects_at_most"] for i in self.incidents]
        known = [most for most in mosts if most is not None]
        least = sum(i["extra_effects_at_least"] or 0 for i in self.incidents)
        return least, sum(known) if len(known) == len(mosts) else None

    @property
    def verdict(self) -> str:
        """The gravest verdict among its works, as the logs have it: no mark changes it."""
        found = [verdict_counts(judged(i)) for i in self.incidents]
        return next((v for v in VERDICTS if any(counts[v] for counts in found)), "possible")

    @property
    def headline(self) -> str:
        """What happened in all its incidents together."""
        if len(self.incidents) == 1 or not sum(self.counts[v] for v in AFFECTED):
            told: str = next((i for i in self.incidents if not is_settled(i)), self.newest)["headline"]
            return told
        if all(i["messages"] is None for i in self.incidents):
            bounds = [i["messages_at_most"] for i in self.incidents]
            runs = sum(sum(cause_counts(i).values()) for i in self.incidents)
            return blind_headline(None if None in bounds else sum(bounds), runs)
        return headline_of(self.incidents, self.counts)

    @property
    def set_aside(self) -> tuple[SetAside, ...]:
        """What people's marks take out of its counts, each work once."""
        return tuple({(w.queue_arn, w.work_id): w for i in self.incidents for w in i.get("set_aside") or ()}.values())

    @property
    def is_settled(self) -> bool:
        """Tell whether people set aside all that it is suspected of."""
        return all(is_settled(i) for i in self.incidents)

    @property
    def times(self) -> str:
        """How often it came back, and in how long: ``27 times in 18 h``; nothing for a single incident."""
        if len(self.incidents) == 1:
            return ""
        return said(
            "{count} times in {span}",
            count=len(self.incidents),
            span=span_text(ms_between(self.started_at, self.ended_at)),
        )

    def is_open(self, until: datetime | None) -> bool:
        """Tell whether something of an incident of it is left to be stopped where the data ends."""
        return state_of_all(self.incidents, until) == OPEN

    def state(self, until: datetime | None) -> str:
        """Say its incidents' state; ``recurring`` where it has not been quiet for longer than it was between them."""
        told = state_of_all(self.incidents, until)
        if told in (OPEN, ALL_GONE, SET_ASIDE):
            return told
        is_due = self._is_due(least_quiet(self.incidents, until) or timedelta())
        return said("recurring, {rest}", rest=told) if is_due else told

    def _is_due(self, quiet: timedelta) -> bool:
        if len(self.incidents) < RECURRING_FROM:
            return False
        starts = sorted(i["started_at"] for i in self.incidents)
        return quiet <= max(later - earlier for earlier, later in zip(starts, starts[1:], strict=False))

    def bars(self, start: datetime, end: datetime, bins: int) -> list[int]:
        """Count its incidents in equal stretches of time."""
        width = max((end - start) / bins, timedelta(seconds=1))
        found = Counter(min(int((i["started_at"] - start) / width), bins - 1) for i in self.incidents)
        return [found[n] for n in range(bins)]


def trigger_of(incident: Row) -> str:
    """Return what began an incident's redeliveries; generations of earlier releases tell only the primary cause."""
    return incident.get("trigger") or incident["primary_cause"] or "undecidable"


def faults(
    incidents: Iterable[Row],
    until: datetime | None,
    shared: Iterable[Row] = (),
    weights: Mapping[str, int] | None = None,
) -> list[Fault]:
    """Gather incidents, as they count, into faults: what is open first, then by repeats for sure, then the newest.

    A repeat counts as often as ``weights`` says of its queue's name, else once.

    What people set aside as a whole comes last.

    ``shared`` are rows of ``messages`` (incident_id, queue_arn, work_id, verdict) of incidents that share works with others;
    with them a work counts once per fault.
    """
    groups: dict[tuple[Any, ...], list[Row]] = defaultdict(list)
    for incident in incidents:
        groups[_signature(incident)].append(incident)
    queues: dict[tuple[Any, ...], set[str]] = defaultdict(set)
    for signature, mine in groups.items():
        queues[signature[1:]].add(mine[0]["queue"])
    rows = list(shared)
    found = []
    for signature, mine in groups.items():
        mine.sort(key=lambda i: (i["started_at"], i["incident_id"]), reverse=True)
        elsewhere = tuple(sorted(queues[signature[1:]] - {mine[0]["queue"]}))
        found.append(Fault(_fault_id(signature, mine[0]), signature[1], tuple(mine), _counts(mine, rows), elsewhere))
    found.sort(key=lambda f: f.fault_id)
    found.sort(
        key=lambda f: (
            not f.is_settled,
            f.is_open(until),
            f.repeats[0] * (weights or {}).get(f.queue, 1),
            f.ended_at,
        ),
        reverse=True,
    )
    return found


def shares_works(incidents: Iterable[Row]) -> tuple[str, ...]:
    """Return the ids of incidents whose works other incidents hold messages of, too."""
    return tuple(sorted(i["incident_id"] for i in incidents if i["works_shared"]))


def fault_of(found: Collection[Fault]) -> dict[str, Fault]:
    """Return the fault of every incident id."""
    return {incident_id: fault for fault in found for incident_id in fault.incident_ids}


def fault_record(fault: Fault, until: datetime | None) -> dict[str, Any]:
    """Return a fault as plain values, times as text."""
    least, most = fault.repeats
    return {
        "fault_id": fault.fault_id,
        "queue": fault.queue,
        "trigger": fault.trigger,
        "headline": fault.headline,
        "incidents": len(fault.incidents),
        "started_at": time_text(fault.started_at),
        "ended_at": time_text(fault.ended_at),
        "state": fault.state(until),
        "works": {verdict: fault.counts[verdict] for verdict in VERDICTS},
        "repeats_at_least": least,
        "repeats_at_most": most,
        "set_aside": len(fault.set_aside),
        "set_aside_by": aside_text(fault.set_aside),
        "also_on": list(fault.elsewhere),
        "incident_ids": list(fault.incident_ids),
    }


def _signature(incident: Row) -> tuple[Any, ...]:
    return (incident["queue_arn"] or incident["queue"], trigger_of(incident), *(incident[name] for name in _SETTINGS))


def _fault_id(signature: tuple[Any, ...], incident: Row) -> str:
    digest = hashlib.sha256(repr(signature).encode()).hexdigest()[:6]
    return f"{incident['queue']}-{signature[1]}-{digest}"


def _counts(mine: Sequence[Row], shared: Iterable[Row]) -> dict[str, int]:
    """Count works per verdict; of those that several of the incidents hold, all but one are taken off."""
    counts: Counter[str] = Counter()
    for incident in mine:
        counts.update(verdict_counts(incident))
    ids = {i["incident_id"] for i in mine}
    seen = {(r["queue_arn"], r["work_id"], r["incident_id"]): r["verdict"] for r in shared if r["incident_id"] in ids}
    once = {key[:2]: verdict for key, verdict in seen.items()}
    counts.subtract(Counter(seen.values()))
    counts.update(Counter(once.values()))
    return {verdict: counts[verdict] for verdict in VERDICTS}
