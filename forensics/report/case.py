"""The case of one incident: everything a report says, gathered once from one generation of findings."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property, partial
from itertools import islice
from typing import Any

from forensics.books import Line, has_books, reconcile
from forensics.lake import Findings
from forensics.lake.filters import equals, one_of
from forensics.lake.findings import rows_of
from forensics.lake.incident_lookup import find_incident
from forensics.lake.rows import plain_rows
from forensics.people import Annotation, Marks, People, SetAside, judged, people_of
from forensics.redrive import Step, steps_of_queue
from forensics.report.actions import Room, room_in
from forensics.report.activity import is_open
from forensics.report.batches import BatchAtEnd, batches_at_end
from forensics.report.chain import Fact, cause_chain
from forensics.report.changes import Change, not_known_of, what_changed
from forensics.report.evidence_lines import EvidenceLine, evidence_lines
from forensics.report.follow_ups import FollowUp, follow_ups
from forensics.report.freshness import logs_left_out
from forensics.report.gaps import gaps
from forensics.report.groups import BlockedSpan, blocked_spans
from forensics.report.hints import Hint, hints_of
from forensics.report.log_readiness import lines_to_add
from forensics.report.moments import Moment, key_moments
from forensics.report.opening import Opening, affected_works, opening
from forensics.report.prevention import counterfactuals_of, dead_of, has_poison, queue_findings_of, that_count
from forensics.report.sent_again import sent_again_chain
from forensics.report.settings_then import SettingFact, settings_then
from forensics.report.standing import as_they_stand
from forensics.report.stop_now import moves, scene_of
from forensics.report.works import (
    Others,
    by_work,
    counted_works,
    elsewhere,
    every_work,
    first_repeats,
    ordered_items,
    with_first_repeats,
)
from forensics.tables.evidence import (
    COVERAGE,
    EVENT_SOURCE_MAPPINGS,
    FUNCTION_SETTINGS,
    QUEUE_SETTINGS,
    SETTING_CHANGES,
)
from forensics.tables.findings import DELIVERIES, INVOCATIONS, MESSAGES, REDELIVERIES, RULINGS, TIMELINE
from forensics.verdict.interval import AFFECTED
from forensics.window import CHANGES_REACH

Row = Mapping[str, Any]
MOST_HINTED = 200
"""Of so many affected messages it is looked up which others had the same body."""
SETTINGS_TABLES = (QUEUE_SETTINGS, FUNCTION_SETTINGS, EVENT_SOURCE_MAPPINGS, SETTING_CHANGES)
"""All that tells which settings were in force."""
MOST_MESSAGES = 2_000
"""Messages that a report tells of one by one. The CSV has the work of every one."""
MOST_WORKS = 2_000
"""Works listed in HTML and Markdown; CSV and JSON have all of them."""


@dataclass(frozen=True)
class Case:
    """One incident with what belongs to it; rows are those of the findings tables, in a fixed order, times UTC.

    ``messages`` holds the affected ones first. ``left_out`` counts those that are not in it, because nobody reads a report
    of so many; the incident's own counts and ``works()`` are of all. ``data_version`` and ``rules_version`` say what it was
    made from, ``made_at`` when (None: not kept), ``data_until_at`` how far the evidence reaches.
    """

    incident: Row
    opening: Opening
    room: Room
    messages: tuple[Row, ...]
    deliveries: tuple[Row, ...]
    redeliveries: tuple[Row, ...]
    rulings: tuple[Row, ...]
    timeline: tuple[Row, ...]
    moments: tuple[Moment, ...]
    chain: tuple[Fact, ...]
    batches: tuple[BatchAtEnd, ...]
    blocked: tuple[BlockedSpan, ...]
    settings: tuple[SettingFact, ...]
    changes: tuple[Change, ...]
    changes_not_known: str | None
    changes_since: tuple[Change, ...]
    gaps: tuple[str, ...]
    hints: tuple[Hint, ...]
    follow_ups: tuple[FollowUp, ...]
    to_log: tuple[Row, ...]
    counterfactuals: tuple[Row, ...]
    queue_findings: tuple[Row, ...]
    evidence: tuple[EvidenceLine, ...]
    people: People
    books: tuple[Line, ...]
    redrive: Mapping[str, Step]
    data_version: str
    rules_version: str
    data_until_at: datetime | None
    made_at: datetime | None
    left_out: int
    elsewhere: Others
    read_works: Callable[[], Iterator[Row]] = field(repr=False, compare=False)
    """Reads the works of all affected messages, also of those that are left out."""

    @property
    def incident_id(self) -> str:
        """``<queue name>-<UTC start>``."""
        return str(self.incident["incident_id"])

    @property
    def judged(self) -> Row:
        """The incident as the logs alone have it; ``incident`` is as it counts, without what people set aside."""
        return judged(self.incident)

    @property
    def marks(self) -> Marks:
        """What people say of it."""
        return self.people.of(self.incident_id)

    @property
    def annotations(self) -> tuple[Annotation, ...]:
        """All that was ever said of it, oldest first."""
        return self.marks.said

    @property
    def set_aside(self) -> tuple[SetAside, ...]:
        """What people's marks take out of its counts."""
        return tuple(self.incident.get("set_aside") or ())

    @property
    def affected(self) -> tuple[Row, ...]:
        """Messages whose work may have been done more than once."""
        return tuple(m for m in self.messages if m["verdict"] in AFFECTED)

    def works(self) -> Iterator[Row]:
        """Yield every affected work, in the order of the messages, with when it first came again."""
        if self.left_out:
            return self.read_works()
        return with_first_repeats(by_work(self.affected), first_repeats(self.redeliveries), self.elsewhere)

    @cached_property
    def first_works(self) -> tuple[Row, ...]:
        """The works that a page lists: of a large incident all of them take seconds to read."""
        return tuple(islice(self.works(), MOST_WORKS))

    @property
    def excluded(self) -> tuple[str, ...]:
        """Rival causes with why they are out, in words."""
        return tuple(self.incident["excluded"] or ())

    @property
    def still_open(self) -> tuple[str, ...]:
        """Rival causes that the evidence leaves open, with why and what would decide, in words."""
        return tuple(self.incident["still_open"] or ())

    def labels(self, evidence_ids: list[str] | tuple[str, ...] | None) -> list[str]:
        """Return the short names (E1, E2, ...) of cited evidence, in the appendix's order."""
        places = sorted(self._places[i] for i in set(evidence_ids or ()) if i in self._places)
        return [self.evidence[place].label for place in places]

    @cached_property
    def _places(self) -> dict[str, int]:
        return {line.evidence_id: place for place, line in enumerate(self.evidence)}


def load_case(findings: Findings, incident_id: str, most: int = MOST_MESSAGES, people: People | None = None) -> Case:
    """Gather one incident, and of its messages the first ``most``; ``people`` is read where it is not given.

    Raises IncidentUnknownError, with the nearest ids as the hint, if this data version has no such incident.
    """
    people = people or people_of(findings)
    [incident] = as_they_stand(findings, people, [find_incident(findings, incident_id)])
    here = equals("incident_id", incident_id)
    order = ordered_items(findings, incident_id)
    left_out = max(len(order) - most, 0)
    if left_out:
        here &= one_of("item_id", order[:most])
    messages = rows_of(findings.read(MESSAGES, where=here))
    items = {m["item_id"] for m in messages}
    of_items = equals("queue_arn", incident["queue_arn"]) & one_of("item_id", items)
    deliveries, redeliveries, rulings = (
        sorted(rows_of(findings.read(table, where=of_items)), key=_ledger_order)
        for table in (DELIVERIES, REDELIVERIES, RULINGS)
    )
    places = {d["item_id"]: d["batch_position"] for d in reversed(deliveries)}
    messages.sort(key=lambda m: _message_order(m, places.get(m["item_id"])))
    nth = {m["item_id"]: n for n, m in enumerate(messages)}
    deliveries.sort(key=lambda d: (nth[d["item_id"]], d["delivery_index"]))
    timeline = sorted(rows_of(findings.read(TIMELINE, where=here)), key=_timeline_order)
    affected = {m["item_id"] for m in messages if m["verdict"] in AFFECTED}
    theirs = [d for d in deliveries if d["item_id"] in affected]
    their_redeliveries = [r for r in redeliveries if r["item_id"] in affected]
    runs = {d["consumer"] for d in theirs if d["consumer_kind"] == "lambda"}
    invocations = plain_rows(findings.read(INVOCATIONS, where=one_of("invocation_id", runs)))
    hit = [m for m in messages if m["item_id"] in affected]
    moments = key_moments(incident, hit, theirs, their_redeliveries, [t for t in timeline if t["item_id"] in affected])
    chain = cause_chain(incident, deliveries, their_redeliveries, invocations)
    chain = chain or sent_again_chain(incident, hit, theirs)
    snapshots = {t.name: plain_rows(findings.read(t)) for t in SETTINGS_TABLES}
    settings = settings_then(incident, theirs, snapshots)
    batches = batches_at_end(deliveries, affected)
    changes = what_changed(
        incident,
        sorted(_functions(theirs, snapshots, incident)),
        snapshots,
        _calls(snapshots[SETTING_CHANGES.name], incident),
    )
    of_incident = (i for i in incident["evidence_ids"] or () if not left_out or not i.startswith("log:"))
    of_rows = (i for rows in (messages, theirs, their_redeliveries) for row in rows for i in row["evidence_ids"] or ())
    cited = {*of_incident, *of_rows}
    prevention = counterfactuals_of(findings, incident_id)
    on_queue = queue_findings_of(findings, incident)
    cited.update(i for row in (*prevention, *on_queue) for i in row["evidence_ids"] or ())
    hints = hints_of(
        findings, incident["queue_arn"], [m for m in messages if m["item_id"] in affected][:MOST_HINTED], theirs
    )
    cited.update(*(t.evidence_ids for told in (moments, chain, settings, hints, changes) for t in told))
    until = findings.generation.data_until_at
    named = {*people.items_aside, *people.of(incident_id).of_items, *(incident.get("repeated_elsewhere") or ())}
    works = counted_works(findings, incident_id, named) if left_out else affected_works(messages)
    works = [work for work in works if not people.aside_of(work["item_ids"])]
    redrive = _redrive(findings, incident, on_queue)
    gone = {item for item, step in redrive.items() if step.decision == "gone"}
    dead = [row for row in dead_of(on_queue) if row["item_id"] not in gone]
    scene = scene_of(incident, theirs, snapshots, is_open(incident, until), prevention, dead)
    room = room_in(scene)
    return Case(
        incident=incident,
        opening=opening(
            incident,
            works,
            that_count(prevention, incident),
            dead,
            sum(row["code"] == "retention_expired" and row["incident_id"] is not None for row in on_queue),
            people.of(incident_id),
            moves(scene),
            scene.is_active,
            incident.get("set_aside") or (),
            has_poison(on_queue),
            room,
        ),
        room=room,
        messages=tuple(messages),
        deliveries=tuple(deliveries),
        redeliveries=tuple(redeliveries),
        rulings=tuple(rulings),
        timeline=tuple(timeline),
        moments=moments,
        chain=chain,
        batches=batches,
        blocked=blocked_spans(on_queue),
        settings=settings,
        changes=changes,
        changes_not_known=not_known_of(
            incident, plain_rows(findings.read(COVERAGE, where=equals("source", SETTING_CHANGES.name)))
        ),
        changes_since=_changes_since(incident, sorted(_functions(theirs, snapshots, incident)), snapshots, until),
        gaps=(
            *logs_left_out(findings.generation),
            *gaps(incident, theirs, their_redeliveries, settings, messages),
        ),
        hints=hints,
        follow_ups=follow_ups(incident, messages, settings, gone, room, works, people.of(incident_id)),
        to_log=lines_to_add(findings, incident),
        counterfactuals=tuple(prevention),
        queue_findings=tuple(on_queue),
        evidence=evidence_lines(findings.evidence_rows(sorted(cited))),
        people=people,
        books=_books(findings, incident),
        redrive=redrive,
        data_version=findings.generation.data_version,
        rules_version=findings.generation.rules_version,
        data_until_at=until,
        made_at=findings.generation.made_at,
        left_out=left_out,
        elsewhere=(others := elsewhere(findings, incident)),
        read_works=partial(every_work, findings, incident, others),
    )


def keys_of(message: Row) -> list[str]:
    """Return what a ledger may name a message by: its business keys and its ids."""
    return [
        key for key in (*(message["business_keys"] or ()), message["message_id"], message["deduplication_id"]) if key
    ]


def _books(findings: Findings, incident: Row) -> tuple[Line, ...]:
    """Return what ledgers say of the incident's messages; of the harmless ones only where a ledger says otherwise."""
    if not has_books(findings.lake):
        return ()
    names = ["message_id", "deduplication_id", "business_keys"]
    told = findings.scan(MESSAGES, names, equals("incident_id", incident["incident_id"]))
    keys = {key for batch in told for m in plain_rows(batch) for key in keys_of(m)}
    lines = [line for mine in reconcile(findings, incident["queue_arn"], keys).values() for line in mine]
    return tuple(line for line in lines if line.outcome != "agrees")


def _redrive(findings: Findings, incident: Row, on_queue: Sequence[Row]) -> dict[str, Step]:
    """Return per dead-lettered message of the incident what has become of it since."""
    items = {row["item_id"] for row in on_queue if row["code"] == "dead_lettered"}
    if not items:
        return {}
    return {s.item_id: s for s in steps_of_queue(findings, incident["queue_arn"]) if s.item_id in items}


def _changes_since(
    incident: Row, functions: Sequence[str], snapshots: Mapping[str, Sequence[Row]], until: datetime | None
) -> tuple[Change, ...]:
    """Return what was changed after the incident's end, until the data ends."""
    end = incident["ended_at"] or incident["started_at"]
    if end is None or until is None:
        return ()
    after = {"queue_arn": incident["queue_arn"], "started_at": end, "ended_at": until}
    return tuple(c for c in what_changed(after, functions, snapshots, snapshots[SETTING_CHANGES.name]) if c.at > end)


def _functions(deliveries: Sequence[Row], snapshots: Mapping[str, Sequence[Row]], incident: Row) -> set[str]:
    """Name the queue's functions: those that got a message, and those a mapping feeds."""
    fed = {
        str(m["function_name"])
        for m in snapshots[EVENT_SOURCE_MAPPINGS.name]
        if m["queue_arn"] == incident["queue_arn"] and m["function_name"]
    }
    return fed | {str(d["function_name"]) for d in deliveries if d["function_name"]}


def _calls(recorded: Sequence[Row], incident: Row) -> list[Row]:
    """Return what CloudTrail recorded in the days before the incident and until its end."""
    start, end = incident["started_at"], incident["ended_at"] or incident["started_at"]
    if start is None:
        return []
    return [row for row in recorded if start - CHANGES_REACH <= row["changed_at"] <= end]


def _message_order(m: Row, place: int | None) -> tuple[Any, ...]:
    """Affected ones first, then as they were received, then as they stood in the batch."""
    return (m["verdict"] not in AFFECTED, _time(m["first_received_at"]), place is None, place or 0, m["item_id"])


def _ledger_order(row: Row) -> tuple[Any, ...]:
    return (row["item_id"], row["delivery_index"], row.get("code") or "")


def _timeline_order(t: Row) -> tuple[Any, ...]:
    return (_time(t["at"]), t["lane"] or 0, t["item_id"], t["delivery_index"], t["kind"])


def _time(at: datetime | None) -> tuple[bool, float]:
    return (at is None, at.timestamp() if at else 0.0)
