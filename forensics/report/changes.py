"""What changed before: settings of the queue, its functions and mappings that were changed in the days before."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any

from forensics.coverage import TRAIL, standing
from forensics.sentence import joined, said
from forensics.window import CHANGES_REACH
from forensics.words import clock_text, ms_between, span_text, time_text

Row = Mapping[str, Any]
_NAMES = {
    "visibility_timeout_s": "visibility timeout (s)",
    "message_retention_s": "message retention (s)",
    "delay_s": "delivery delay (s)",
    "receive_wait_s": "long-polling wait (s)",
    "dead_letter_queue_arn": "dead-letter queue",
    "max_receive_count": "receives before the dead-letter queue",
    "timeout_s": "function timeout (s)",
    "memory_mb": "memory (MB)",
    "batching_window_s": "batching window (s)",
    "reports_batch_item_failures": "partial batch responses",
}
_SUBJECTS = {
    "queue_settings": ("queue {name}: {told}", "queue_arn", "queue_name"),
    "function_settings": ("function {name}: {told}", "function_name", "function_name"),
    "event_source_mappings": ("event source mapping of {name}: {told}", "mapping_uuid", "function_name"),
}
_NOT_SETTINGS = {"evidence_id", "account_id", "region", "observed_at", "last_modified_at", "created_at", "state"}


@dataclass(frozen=True)
class Change:
    """One change. ``at`` is UTC: when it was made, or the first look that shows it; ``not_before`` bounds it then.

    ``before_ms`` is how long before the incident's start it was; negative where it came after.
    """

    at: datetime
    not_before: datetime | None
    before_ms: int | None
    what: str
    source: str
    evidence_ids: tuple[str, ...]


def what_changed(
    incident: Row, functions: Sequence[str], snapshots: Mapping[str, Sequence[Row]], calls: Sequence[Row] = ()
) -> tuple[Change, ...]:
    """Return changes from seven days before the incident until its end, oldest first.

    ``snapshots`` holds the rows of the three settings tables, ``calls`` those of ``setting_changes`` (CloudTrail);
    calls that AWS refused changed nothing and are left out.
    """
    start, end = incident["started_at"], incident["ended_at"]
    if start is None:
        return ()
    found: list[Change] = []
    for table, (phrase, key, name) in _SUBJECTS.items():
        mine = [s for s in snapshots.get(table, ()) if s["observed_at"] and _is_of(s, incident, functions)]
        for identity in sorted({str(s[key]) for s in mine}):
            states = sorted((s for s in mine if str(s[key]) == identity), key=lambda s: s["observed_at"])
            about = partial(said, phrase, name=states[0][name])
            found += _between_looks(about, states, start)
            found += _last_modified(about, states, start)
    found += [_call(c, start) for c in calls if c["error_code"] is None and _concerns(c, incident, functions)]
    until = end or start
    kept = {(c.at, c.what): c for c in found if start - CHANGES_REACH <= c.at and (c.not_before or c.at) <= until}
    return tuple(kept[k] for k in sorted(kept))


def _is_of(state: Row, incident: Row, functions: Sequence[str]) -> bool:
    if "queue_arn" in state:
        return bool(state["queue_arn"] == incident["queue_arn"])
    return state["function_name"] in functions


def _between_looks(about: Callable[..., str], states: Sequence[Row], start: datetime) -> Iterator[Change]:
    for earlier, later in zip(states, states[1:], strict=False):
        changed = [c for c in later if c not in _NOT_SETTINGS and earlier.get(c) != later[c]]
        if not changed:
            continue
        told = joined((_moved(c, earlier[c], later[c]) for c in changed), ", ")
        modified = later.get("last_modified_at")
        known = modified if modified and earlier["observed_at"] < modified <= later["observed_at"] else None
        at = known or later["observed_at"]
        bound = None if known else earlier["observed_at"]
        both = said("settings read {a} and {b}", a=clock_text(bound), b=clock_text(at))
        source = "settings read" if known else both
        ids = (earlier["evidence_id"], later["evidence_id"])
        yield Change(at, bound, ms_between(at, start), about(told=told), source, ids)


def _last_modified(about: Callable[..., str], states: Sequence[Row], start: datetime) -> Iterator[Change]:
    """Tell a change of which AWS keeps only the time: no two looks lie around it."""
    for state in states:
        at = state.get("last_modified_at")
        around = (
            any(a["observed_at"] < at <= b["observed_at"] for a, b in zip(states, states[1:], strict=False))
            if at
            else True
        )
        if at and not around and at != state.get("created_at"):
            what = about(told="something was changed; AWS does not say what")
            yield Change(at, None, ms_between(at, start), what, "last modified, from AWS", (state["evidence_id"],))


def _concerns(call: Row, incident: Row, functions: Sequence[str]) -> bool:
    if call["queue_arn"] is not None:
        return bool(call["queue_arn"] == incident["queue_arn"])
    return call["function_name"] in functions


def _call(call: Row, start: datetime) -> Change:
    subject = f"{call['resource_kind'] or 'resource'} {call['resource'] or 'not named'}"
    settings = ", ".join(call["settings"] or ()) or "nothing that bears on deliveries"
    what = f"{subject}: {call['event_name']} ({settings})"
    at = call["changed_at"]
    source = said("CloudTrail, by {by}", by=call["actor"] or "somebody not named")
    return Change(at, None, ms_between(at, start), what, source, (call["evidence_id"],))


def not_known_of(incident: Row, coverage: Sequence[Row]) -> str | None:
    """Say how much of the seven days before CloudTrail was not read; None where all of them were, or nothing began.

    ``coverage`` holds the readings of ``setting_changes``. Without them only snapshots of settings show changes.
    """
    start = incident["started_at"]
    if start is None:
        return None
    place = (incident["queue_arn"] or "").split(":")[3:5]  # region and account; nothing where a log gave another name
    mine = [row for row in coverage if [row["region"], row["account_id"]] == place and row["resource"] == TRAIL]
    known_from = start
    for row in sorted(standing(mine), key=lambda row: row["window_end_at"], reverse=True):
        if row["window_end_at"] >= known_from:
            known_from = min(known_from, row["window_start_at"])
    if known_from <= start - CHANGES_REACH:
        return None
    if known_from == start:
        return "CloudTrail was not read for the time before the incident: changes may be missing."
    return said("CloudTrail was read from {at} UTC on: earlier changes may be missing.", at=clock_text(known_from))


def when_before(change: Change) -> str:
    """Say where a change lies against the incident's start.

    >>> at = datetime(2026, 11, 20)
    >>> when_before(Change(at, None, 7_260_000, "", "", ())), when_before(Change(at, None, -5000, "", "", ()))
    ('2 h 1 min before', '5 s after the start')
    """
    if change.before_ms is None:
        return "unknown"
    if change.before_ms < 0:
        return said("{span} after the start", span=span_text(-change.before_ms))
    return said("{span} before", span=span_text(change.before_ms))


def _moved(column: str, before: Any, now: Any) -> str:
    name = _NAMES.get(column, column.replace("_", " "))
    return said("{setting} {before} → {now}", setting=name, before=_value(before), now=_value(now))


def _value(value: Any) -> str:
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, datetime):
        return str(time_text(value))
    text = str(value)
    return text.rpartition(":")[2] if text.startswith("arn:") else text
