"""Settings as they were at a moment: snapshots and recorded changes become intervals, and a moment meets the one in force.

Judging, checks and reports all ask here, so that what was in force then is one answer.
"""

import json
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any, NamedTuple

from forensics.clock import EPOCH, micros
from forensics.recorded_changes import Change, Key, recorded_changes

EARLIEST = EPOCH
LATEST = datetime(9999, 1, 1, tzinfo=UTC)
NEWEST = micros(LATEST) - 1
"""A moment behind everything that is known: what is in force then is what was seen or set last."""
SETTINGS_KEYS = {
    "queue_settings": ("queue_arn",),
    "function_settings": ("function_name",),
    "event_source_mappings": ("queue_arn", "function_name"),
}
"""Settings table to the columns that name a resource in it."""
DOUBTFUL = frozenset(
    {
        *("visibility_timeout_s", "message_retention_s", "delay_s", "max_receive_count", "dead_letter_queue_arn"),
        "content_based_deduplication",
        *("batch_size", "batching_window_s", "reports_batch_item_failures", "maximum_concurrency"),
    }
)
"""Settings of queues and mappings that whoever mends an incident changes first: where AWS says that something was changed since, and
nothing else tells what, no later snapshot vouches for them. Functions change with each deploy; their settings rarely do."""
_SAME_CHANGE = timedelta(minutes=2)
"""So far apart may AWS and CloudTrail date one change: attributes take a minute to hold everywhere."""
_ABOUT_THE_ROW = ("evidence_id", "observed_at", "last_modified_at")
_OF_THE_NEWEST = ("observed_at", "last_modified_at", "known")
"""What an interval says besides what held in it."""

Row = dict[str, Any]


class Known(NamedTuple):
    """What one setting was at one moment, and which evidence says so.

    ``is_assumed``: only a later snapshot vouches for it. ``is_unknown``: it was set later, and nothing tells what it was.
    """

    value: Any
    evidence_id: str
    is_assumed: bool = False
    is_unknown: bool = False


def is_unknown(state: Mapping[str, Any], column: str) -> bool:
    """Tell whether a setting was set later, and nothing tells what it was in this state, not even that there was none."""
    return bool(state["known"][column].is_unknown)


def intervals(
    rows: Iterable[Row], key: tuple[str, ...], changes: Mapping[Key, Sequence[Change]] | None = None
) -> list[Row]:
    """Turn snapshots and recorded changes into intervals ``in_force_from``/``in_force_until`` (UTC, half-open) per key.

    A value holds from where it was seen or set until the next change. Where AWS says when a resource last changed, the
    later snapshot holds from then; where nothing tells when it changed, it holds from the snapshot before, or from ever.
    ``is_later_snapshot`` marks what only such a later snapshot vouches for. Before a recorded change of something that
    no earlier snapshot shows, it is unknown (null), and so are ``DOUBTFUL`` settings of what was changed since. ``known`` tells the same per column; ``observed_at`` and
    ``last_modified_at`` are those of the newest snapshot, whatever the interval.
    """
    by_key: dict[Key, list[Row]] = {}
    for row in rows:
        by_key.setdefault(tuple(row[k] for k in key), []).append(row)
    out: list[Row] = []
    for name, states in by_key.items():
        states.sort(key=lambda r: (r["observed_at"], r["evidence_id"]))
        recorded = sorted((changes or {}).get(name, ()), key=lambda c: (c.changed_at, c.evidence_id))
        out += _of_one(states, recorded)
    return out


def _of_one(states: list[Row], recorded: list[Change]) -> list[Row]:
    borders = {EARLIEST, LATEST, *(c.changed_at for c in recorded)}
    for state in states:
        borders |= {at for at in (state["observed_at"], state.get("last_modified_at")) if at}
    columns = [c for c in states[0] if c not in _ABOUT_THE_ROW]
    of_changes = {c.evidence_id for c in recorded}
    sets = {column: [c for c in recorded if column in c.values] for column in columns}
    observed = [state["observed_at"] for state in states]
    out: list[Row] = []
    for start, end in pairwise(sorted(borders)):
        place = bisect_right(observed, start)
        seen, later = states[place - 1] if place else None, states[place] if place < len(states) else None
        known = {column: _at(start, column, seen, later, sets[column], recorded) for column in columns}
        by_change = [k.evidence_id for k in known.values() if k.evidence_id in of_changes] if of_changes else []
        assumed = [k.evidence_id for k in known.values() if k.is_assumed]
        row = {
            **states[-1],
            **{c: k.value for c, k in known.items()},
            "evidence_id": (by_change or assumed or [k.evidence_id for k in known.values()])[0],
            "is_later_snapshot": bool(assumed),
            "known": known,
        }
        if out and all(out[-1][c] == row[c] for c in ("known", "evidence_id", "is_later_snapshot")):
            out[-1]["in_force_until"] = end
        else:
            out.append({**row, "in_force_from": start, "in_force_until": end})
    return out


def _at(
    at: datetime, column: str, seen: Row | None, later: Row | None, sets: list[Change], recorded: list[Change]
) -> Known:
    """What a column was at a moment, from the snapshots and changes around it; ``sets`` are those of this column."""
    was_set = next((c for c in reversed(sets) if c.changed_at <= at), None) if sets else None
    will_be_set = next((c for c in sets if c.changed_at > at), None) if sets else None
    if was_set and (seen is None or was_set.changed_at >= seen["observed_at"]):
        before: Known | None = Known(was_set.values[column], was_set.evidence_id)
    else:
        before = Known(seen[column], seen["evidence_id"]) if seen else None
    if later is None or (will_be_set and will_be_set.changed_at <= later["observed_at"]):
        return before or Known(None, will_be_set.evidence_id if will_be_set else "", is_unknown=True)
    changed_at, value, evidence_id = later.get("last_modified_at"), later[column], later["evidence_id"]
    if changed_at and changed_at <= at:
        return Known(value, evidence_id)
    if before and (changed_at or before.value == value):
        return before
    if changed_at and column in DOUBTFUL and not any(abs(c.changed_at - changed_at) <= _SAME_CHANGE for c in recorded):
        return Known(None, evidence_id, is_unknown=True)
    return Known(value, evidence_id, is_assumed=True)


def clipped(rows: Sequence[Row], until: datetime) -> list[Row]:
    """Return intervals as far as they reach back from a moment (UTC): what was in force up to then, and nothing later."""
    begun = [
        {**row, "in_force_until": min(row["in_force_until"], until)} for row in rows if row["in_force_from"] < until
    ]
    return [{name: row[name] for name in sorted(row) if name not in _OF_THE_NEWEST} for row in begun]


class Step(NamedTuple):
    """How long a setting had one value: ``from_at`` to ``until_at`` (UTC, half-open), None where no end is known."""

    from_at: datetime | None
    until_at: datetime | None
    value: Any


class _History:
    """The intervals of one resource, in order of time."""

    __slots__ = ("_texts", "rows", "starts")

    def __init__(self, rows: list[Row]) -> None:
        rows = sorted(rows, key=lambda r: r["in_force_from"])
        # The end of all intervals is a start of nothing: what is before the first and behind the last meets None.
        self.starts = [*(micros(r["in_force_from"]) for r in rows), micros(rows[-1]["in_force_until"])]
        self.rows: list[Row | None] = [*rows, None]
        self._texts: dict[int, str] = {}

    def at(self, at: int) -> Row | None:
        return self.rows[bisect_right(self.starts, at) - 1]

    def between(self, low: int, high: int) -> list[tuple[int, str]]:
        """Return from when on what held, for moments from ``low`` to ``high``; the first holds at ``low``."""
        first = max(bisect_right(self.starts, low) - 1, 0)
        found: list[tuple[int, str]] = []
        for place in range(first, bisect_right(self.starts, high)):
            text = self._text(place)
            if not found or found[-1][1] != text:
                found.append((max(self.starts[place], low), text))
        return found

    def steps(self, column: str) -> tuple[Step, ...]:
        """Return the known values of a column in order of time; where it is unknown there is no step.

        Nor is there one where AWS says that something was changed since, and only the later snapshot vouches for a function's timeout.
        """
        found: list[Step] = []
        for row in self.rows:
            if row is None or row[column] is None:
                continue
            if column not in DOUBTFUL and row.get("last_modified_at") and row["known"][column].is_assumed:
                continue
            start, end = row["in_force_from"], row["in_force_until"]
            step = Step(None if start == EARLIEST else start, None if end == LATEST else end, row[column])
            if found and found[-1].until_at == step.from_at and found[-1].value == step.value:
                found[-1] = found[-1]._replace(until_at=step.until_at)
            else:
                found.append(step)
        return tuple(found)

    def _text(self, place: int) -> str:
        if place not in self._texts:
            row = self.rows[place] or {}
            held = {c: v for c, v in row.items() if c not in (*_OF_THE_NEWEST, "in_force_from", "in_force_until")}
            known = sorted(row.get("known", {}).items())
            doubts = [(c, k.is_unknown) for c, k in known if k.is_unknown or k.is_assumed]
            self._texts[place] = json.dumps([held, doubts], sort_keys=True, default=str)
        return self._texts[place]


class SettingsInForce:
    """Settings of queues, functions and event source mappings at any moment, in microseconds since 1970, UTC.

    What is given back has the columns of its table, ``in_force_from`` and ``in_force_until``, and ``is_later_snapshot``:
    see ``intervals``. None: nothing is known, or nothing of what was asked for.
    """

    __slots__ = ("_functions", "_mappings", "_queues")

    def __init__(self, queues: Iterable[Row], functions: Iterable[Row], mappings: Iterable[Row]) -> None:
        self._queues = {key[0]: history for key, history in _histories(queues, "queue_settings")}
        self._functions = {key[0]: history for key, history in _histories(functions, "function_settings")}
        self._mappings = dict(_histories(mappings, "event_source_mappings"))

    @classmethod
    def of(
        cls,
        queue_settings: Sequence[Row],
        function_settings: Sequence[Row],
        mappings: Sequence[Row],
        setting_changes: Sequence[Mapping[str, Any]] = (),
    ) -> "SettingsInForce":
        """Make it from the rows of the four evidence tables; ``mappings`` are those of event_source_mappings."""
        changes = recorded_changes(setting_changes, mappings)
        tables = zip(SETTINGS_KEYS, (queue_settings, function_settings, mappings), strict=True)
        return cls(*(intervals(rows, SETTINGS_KEYS[name], changes[name]) for name, rows in tables))

    def queue(self, queue_arn: str | None, at: int | None) -> Row | None:
        """Return the queue's settings in force at a moment."""
        history = self._queues.get(queue_arn)
        return None if history is None or at is None else history.at(at)

    def function(self, function_name: str | None, at: int | None) -> Row | None:
        """Return the function's settings in force at a moment."""
        history = self._functions.get(function_name)
        return None if history is None or at is None else history.at(at)

    def mapping(self, queue_arn: str | None, function_name: str | None, at: int | None) -> Row | None:
        """Return the settings in force at a moment of the mapping that feeds the queue to the function."""
        history = self._mappings.get((queue_arn, function_name))
        return None if history is None or at is None else history.at(at)

    def visibility_steps(self, queue_arn: str) -> tuple[Step, ...]:
        """Return the queue's known visibility timeouts (s) in order of time."""
        history = self._queues.get(queue_arn)
        return () if history is None else history.steps("visibility_timeout_s")

    def timeout_steps(self, function_name: str) -> tuple[Step, ...]:
        """Return the function's known timeouts (s) in order of time."""
        history = self._functions.get(function_name)
        return () if history is None else history.steps("timeout_s")

    def fed_by(self, queue_arn: str | None) -> list[str]:
        """Return the functions that a mapping of the queue is known for, sorted."""
        return sorted(function for queue, function in self._mappings if queue == queue_arn)

    def queues_between(self, queue_arn: str | None, low: int, high: int) -> list[Row]:
        """Return every state of a queue that was in force at some moment from ``low`` to ``high``."""
        history = self._queues.get(queue_arn)
        if history is None:
            return []
        first = max(bisect_right(history.starts, low) - 1, 0)
        return [row for row in history.rows[first : bisect_right(history.starts, high)] if row is not None]

    def bearing(self, low: int, high: int, queues: Iterable[str], functions: Iterable[str]) -> str:
        """Return as text all that these resources' settings answer for moments from ``low`` to ``high``, both included.

        The same text, the same answers, but for where an interval begins and ends: what is known of other times, or was
        read again and had not changed, does not show in it.
        """
        queue_arns, names = sorted(set(queues)), sorted(set(functions))
        told: list[tuple[str, Any, list[tuple[int, str]]]] = []
        told += [("queue", q, self._queues[q].between(low, high)) for q in queue_arns if q in self._queues]
        told += [("function", f, self._functions[f].between(low, high)) for f in names if f in self._functions]
        pairs = [(q, f) for q in queue_arns for f in names if (q, f) in self._mappings]
        told += [("mapping", pair, self._mappings[pair].between(low, high)) for pair in pairs]
        return json.dumps(told)

    def bearing_of_all(self, low: int, high: int) -> str:
        """Return ``bearing`` of every resource there is: a line may name any."""
        pairs = [*self._mappings, *((q, None) for q in self._queues), *((None, f) for f in self._functions)]
        return self.bearing(low, high, {q for q, _ in pairs if q}, {f for _, f in pairs if f})


def _histories(rows: Iterable[Row], table: str) -> Iterator[tuple[Key, _History]]:
    of_resource: dict[Key, list[Row]] = {}
    for row in rows:
        of_resource.setdefault(tuple(row[column] for column in SETTINGS_KEYS[table]), []).append(row)
    return ((key, _History(found)) for key, found in of_resource.items() if None not in key)
