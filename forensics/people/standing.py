"""Which marks stand on which works of one generation, wherever their incidents moved to, and whether they still hold."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from forensics.identity import names_of
from forensics.lake import Findings
from forensics.lake.filters import equals, one_of
from forensics.lake.findings import rows_of
from forensics.people.counting import SetAside, of_period, without, without_all
from forensics.people.marks import SETS_ASIDE, Annotation, annotations, standing
from forensics.sentence import said
from forensics.tables.findings import INCIDENTS, MESSAGES
from forensics.verdict.interval import AFFECTED

Row = Mapping[str, Any]
_COLUMNS = [
    *("queue_arn", "item_id", "work_id", "incident_id", "verdict", "effects_at_least", "effects_at_most"),
    *("first_received_at", "last_received_at"),
]


@dataclass(frozen=True)
class Marks:
    """What stands on one incident: on the ``whole`` of it, and per item id on its works. ``said`` is all that was ever said."""

    said: tuple[Annotation, ...] = ()
    whole: tuple[Annotation, ...] = ()
    of_items: Mapping[str, tuple[Annotation, ...]] = field(default_factory=dict)
    outdated: Mapping[str, str] = field(default_factory=dict)
    """Why a mark no longer sets a work aside, per item id."""

    def of(self, item_ids: Iterable[str]) -> tuple[Annotation, ...]:
        """Return the marks that stand on a work: those on its messages, and those on the whole incident with them."""
        found = {mark: None for item in item_ids for mark in self.of_items.get(item, ())}
        return tuple(sorted(found, key=lambda m: (m.marked_at, m.evidence_id)))


@dataclass(frozen=True)
class People:
    """What people say of one generation. Without ``does_count`` marks are shown, and change no number."""

    does_count: bool = True
    incidents: Mapping[str, Marks] = field(default_factory=dict)
    aside: tuple[SetAside, ...] = ()
    blind: Mapping[str, Annotation] = field(default_factory=dict)
    left: Mapping[str, int | None] = field(default_factory=dict)
    """Per incident with works set aside: how often the work of its others may have been repeated."""
    of_nothing: tuple[Annotation, ...] = ()
    """What was said of works that this generation does not hold."""

    def of(self, incident_id: str | None) -> Marks:
        """Return what people say of an incident."""
        return self.incidents.get(incident_id or "", Marks())

    def set_aside_in(self, incident_id: str | None) -> tuple[SetAside, ...]:
        """Return the works of an incident that do not count."""
        return self._by_incident.get(incident_id or "", ())

    def aside_of(self, item_ids: Iterable[str]) -> SetAside | None:
        """Return what sets a work aside; None where it counts."""
        return next((self._by_item[item] for item in item_ids if item in self._by_item), None)

    @property
    def items_aside(self) -> Collection[str]:
        """The items of all works that are set aside."""
        return self._by_item.keys()

    def state_of(self, mark: Annotation) -> str:
        """Say what a mark does today: ``set aside``, ``stands``, ``taken back``, or why it no longer holds."""
        if mark.mark in ("comment", "withdrawn"):
            return ""
        if mark in self.of_nothing:
            return "on no message that this data version holds"
        if any(work.mark == mark for work in self.aside) or mark in self.blind.values():
            return "set aside"
        for here in self.incidents.values():
            if mark in here.whole and not mark.item_ids:
                return "stands"
            for item, stands in here.of_items.items():
                if mark in stands:
                    return here.outdated.get(item, "stands") if mark.mark in SETS_ASIDE else "stands"
        return "taken back"

    @cached_property
    def _by_item(self) -> dict[str, SetAside]:
        return {item: work for work in self.aside if self.does_count for item in work.item_ids}

    @cached_property
    def _by_incident(self) -> dict[str, tuple[SetAside, ...]]:
        found: dict[str, list[SetAside]] = defaultdict(list)
        for work in self.aside if self.does_count else ():
            for name in work.incidents:
                found[name].append(work)
        return {name: tuple(works) for name, works in found.items()}

    def incident(self, row: Row) -> Row:
        """Return an incident as it counts."""
        name = row["incident_id"]
        if self.does_count and name in self.blind:
            return without_all(row, self.blind[name])
        mine = self.set_aside_in(name)
        return without(row, mine, self.left[name]) if mine else row

    def counted(self, rows: Iterable[Row]) -> list[Row]:
        """Return incidents as they count."""
        return [self.incident(row) for row in rows]

    def messages(self, rows: Iterable[Row]) -> list[Row]:
        """Return rows of messages (queue_arn, work_id, verdict) as they count: those of works set aside are harmless."""
        mine = {(work.queue_arn, work.work_id) for work in self.aside if self.does_count}
        return [{**row, "verdict": "harmless"} if (row["queue_arn"], row["work_id"]) in mine else row for row in rows]

    def periods(self, rows: Iterable[Row]) -> list[Row]:
        """Return rows of queue_health or queue_weeks as they count."""
        return [of_period(row, self.aside) if self.does_count else row for row in rows]


NOBODY = People()
"""Where nobody said anything."""


def people_of(findings: Findings, does_count: bool = True) -> People:
    """Read what people said, and find the works it is about in this generation.

    A mark sets a work aside only as long as it names every message of it and nothing of it was received after the mark:
    what came later nobody has checked.
    """
    said = annotations(findings.lake)
    if not said:
        return NOBODY
    covers = {mark: _items_of(findings, mark) for mark in said}
    works = _works(findings, {item for items in covers.values() for item in items})
    by_item: dict[str, list[Annotation]] = defaultdict(list)
    for mark, items in covers.items():
        for item in items:
            by_item[item].append(mark)
    of_items: dict[str, dict[str, tuple[Annotation, ...]]] = defaultdict(dict)
    outdated: dict[str, dict[str, str]] = defaultdict(dict)
    here: dict[str, set[Annotation]] = defaultdict(set)
    aside: list[SetAside] = []
    found: set[Annotation] = set()
    for (queue_arn, work_id), rows in sorted(works.items()):
        mine = {m for r in rows for m in by_item.get(r["item_id"], ()) if m.queue_arn in (None, *names_of(queue_arn))}
        if not mine:
            continue
        found |= mine
        stands = standing(sorted(mine, key=lambda m: (m.marked_at, m.evidence_id)))
        why = ""
        for mark in reversed([m for m in stands if m.mark in SETS_ASIDE]):
            if rows[0]["verdict"] in AFFECTED and not (why := _outdated(mark, covers[mark], rows)):
                aside.append(_set_aside(queue_arn, work_id, rows, mark))
                break
        for row in rows:
            incident_id = row["incident_id"] or ""
            here[incident_id] |= mine
            if stands:
                of_items[incident_id][row["item_id"]] = stands
            if why:
                outdated[incident_id][row["item_id"]] = why
    blind = _blind(findings, [mark for mark in said if not covers[mark]])
    for incident_id, marks in blind.items():
        here[incident_id] |= set(marks)
        found |= set(marks)
    known = set(findings.read(INCIDENTS, ["incident_id"])["incident_id"].to_pylist())
    incidents = {}
    for incident_id, marks_here in here.items():
        told = tuple(sorted(marks_here, key=lambda m: (m.marked_at, m.evidence_id)))
        whole = standing(
            m for m in told if m.item_id is None and (m.incident_id == incident_id or m.incident_id not in known)
        )
        incidents[incident_id] = Marks(told, whole, of_items[incident_id], outdated[incident_id])
    touched = {name for work in aside for name in work.incidents}
    settled = {name: m for name, marks in blind.items() for m in standing(marks) if m.mark in SETS_ASIDE}
    left = _left_at_most(findings, touched, {item for work in aside for item in work.item_ids})
    return People(does_count, incidents, tuple(aside), settled, left, tuple(m for m in said if m not in found))


def _items_of(findings: Findings, mark: Annotation) -> frozenset[str]:
    """Return the items that a mark hangs on; of marks of earlier releases those of its incident by name."""
    if mark.item_ids is not None:
        return frozenset(mark.item_ids)
    if mark.item_id is not None:
        return frozenset({mark.item_id})
    where = equals("incident_id", mark.incident_id) & one_of("verdict", AFFECTED)
    return frozenset(findings.read(MESSAGES, ["item_id"], where)["item_id"].to_pylist())


def _works(findings: Findings, items: set[str]) -> dict[tuple[str, str], list[Row]]:
    """Return every message of each work that one of the items belongs to."""
    if not items:
        return {}
    named = rows_of(findings.read(MESSAGES, _COLUMNS, one_of("item_id", items)))
    keys = {_work_of(row) for row in named}
    beside = rows_of(findings.read(MESSAGES, _COLUMNS, one_of("work_id", {work for _, work in keys})))
    found: dict[tuple[str, str], dict[tuple[str, Any], Row]] = defaultdict(dict)
    for row in (*named, *beside):
        if _work_of(row) in keys:
            found[_work_of(row)][row["item_id"], row["incident_id"]] = row
    return {key: list(rows.values()) for key, rows in found.items()}


def _work_of(row: Row) -> tuple[str, str]:
    return row["queue_arn"], row["work_id"] or row["item_id"]


def _outdated(mark: Annotation, items: frozenset[str], rows: Sequence[Row]) -> str:
    """Say why a mark no longer tells of a work as it is now; nothing where it does."""
    if new := sorted({row["item_id"] for row in rows} - items):
        return said("said before {id} was known to be the same work", id=new[0])
    last = max((row["last_received_at"] for row in rows if row["last_received_at"]), default=None)
    return "said before it was received again" if last and last > mark.marked_at else ""


def _set_aside(queue_arn: str, work_id: str, rows: Sequence[Row], mark: Annotation) -> SetAside:
    incidents: dict[str, int] = defaultdict(int)
    for row in rows:
        if row["incident_id"]:
            incidents[row["incident_id"]] += 1
    first = rows[0]
    return SetAside(
        queue_arn,
        work_id,
        tuple(sorted({row["item_id"] for row in rows})),
        dict(incidents),
        first["verdict"],
        first["effects_at_least"] or 0,
        first["effects_at_most"],
        min((row["first_received_at"] for row in rows if row["first_received_at"]), default=None),
        mark,
    )


def _left_at_most(findings: Findings, incidents: set[str], aside: set[str]) -> dict[str, int | None]:
    """Return per incident how often the work of messages that count may have been repeated, None without a bound."""
    if not incidents:
        return {}
    columns = ["incident_id", "queue_arn", "item_id", "work_id", "verdict", "effects_at_most"]
    where = one_of("incident_id", incidents) & one_of("verdict", AFFECTED)
    most: dict[str, dict[Any, int | None]] = {name: {} for name in incidents}
    for row in rows_of(findings.read(MESSAGES, columns, where)):
        if row["item_id"] not in aside:
            most[row["incident_id"]][_work_of(row)] = row["effects_at_most"]
    found: dict[str, int | None] = {}
    for name, works in most.items():
        known = [effects for effects in works.values() if effects is not None]
        found[name] = sum(max(effects - 1, 0) for effects in known) if len(known) == len(works) else None
    return found


def _blind(findings: Findings, marks: Sequence[Annotation]) -> dict[str, list[Annotation]]:
    """Return per incident whose messages no log names what was said of it: it is known by its queue and time alone."""
    if not marks:
        return {}
    columns = ["incident_id", "queue_arn", "started_at", "ended_at", "messages"]
    rows = [r for r in rows_of(findings.read(INCIDENTS, columns)) if r["messages"] is None]
    found: dict[str, list[Annotation]] = {}
    for row in rows:
        start, end = row["started_at"], row["ended_at"] or row["started_at"]
        mine = [
            m
            for m in marks
            if m.incident_id == row["incident_id"]
            or (
                m.queue_arn in names_of(row["queue_arn"])
                and m.from_at
                and m.from_at <= end
                and (m.until_at or m.from_at) >= start
            )
        ]
        if mine:
            found[row["incident_id"]] = mine
    return found
