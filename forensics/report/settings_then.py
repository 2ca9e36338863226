"""The settings in force at the time, each against the value that is advised, and what it is now."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from forensics.advised_visibility import of_function_s
from forensics.clock import micros
from forensics.identity import queue_name
from forensics.sentence import said
from forensics.settings_in_force import NEWEST, SettingsInForce, is_unknown
from forensics.words import clock_text, span_text

Row = Mapping[str, Any]
LEAST_RECEIVES = 5
"""AWS advises at least this maxReceiveCount in front of a dead-letter queue."""
NOT_KNOWN = "not known"


@dataclass(frozen=True)
class SettingFact:
    """One setting: its value then, the advice, whether it falls short of it, and where the value is from.

    ``now`` is the value at the end of the evidence where it is another one, ``falls_short_now`` whether that one does.
    """

    name: str
    value: str
    advice: str
    falls_short: bool
    source: str
    evidence_ids: tuple[str, ...]
    now: str | None = None
    falls_short_now: bool = False


class _States(NamedTuple):
    """What was in force at one moment; None where nothing is known."""

    queue: Row | None
    function: Row | None
    mapping: Row | None


class _Told(NamedTuple):
    """One setting at one moment, and the column of the state that tells it; None: only log lines do."""

    name: str
    value: str | None
    advice: str = ""
    falls_short: bool = False
    state: Row | None = None
    column: str = ""


def settings_then(
    incident: Row, deliveries: Sequence[Row], evidence: Mapping[str, Sequence[dict[str, Any]]]
) -> tuple[SettingFact, ...]:
    """Return what is known of queue, function and mapping at the incident's start; unknown settings are left out.

    ``evidence`` holds the rows of queue_settings, function_settings, event_source_mappings and setting_changes: what was
    in force is found as judging finds it, so that report and verdict never differ.
    """
    settings = SettingsInForce.of(
        evidence["queue_settings"],
        evidence["function_settings"],
        evidence["event_source_mappings"],
        evidence["setting_changes"],
    )
    rows = {row["evidence_id"]: row for table in evidence.values() for row in table}
    began = incident["started_at"]
    at = NEWEST if began is None else micros(began)
    functions = sorted({d["function_name"] for d in deliveries if d["function_name"]})
    then, now = (_states(settings, incident, functions, moment) for moment in (at, NEWEST))
    newest = {told.name: told for told in _settings(now, *_values(now), incident["is_fifo"])}
    of_incident = (incident["visibility_timeout_s"], incident["function_timeout_s"], incident["batch_size"])
    return tuple(
        _fact(told, newest.get(told.name), rows, began)
        for told in _settings(then, *of_incident, incident["is_fifo"])
        if told.value is not None
    )


def _states(settings: SettingsInForce, incident: Row, functions: Sequence[str], at: int) -> _States:
    """Find what was in force; of several functions the one whose timeout or batch size the incident has."""
    arn = incident["queue_arn"]
    return _States(
        settings.queue(arn, at),
        _most_like(functions, lambda f: settings.function(f, at), "timeout_s", incident["function_timeout_s"]),
        _most_like(
            functions or settings.fed_by(arn),
            lambda f: settings.mapping(arn, f, at),
            "batch_size",
            incident["batch_size"],
        ),
    )


def _most_like(
    functions: Sequence[str], find: Callable[[str], Row | None], column: str, value: int | None
) -> Row | None:
    found = [row for row in map(find, functions) if row is not None]
    return next((row for row in found if row[column] == value), found[0] if found else None)


def _values(states: _States) -> tuple[int | None, int | None, int | None]:
    queue, function, mapping = (state or {} for state in states)
    return queue.get("visibility_timeout_s"), function.get("timeout_s"), mapping.get("batch_size")


def _settings(
    states: _States, visibility_s: int | None, timeout_s: int | None, batch: int | None, is_fifo: bool | None
) -> Iterator[_Told]:
    """Yield every setting that is told of, each beside what is advised."""
    queue, function, mapping = states
    advice, short = _visibility_advice(visibility_s, timeout_s, mapping)
    column = "visibility_timeout_s"
    yield _Told("visibility timeout", _seconds(visibility_s) or _unknown(queue, column), advice, short, queue, column)
    advice = "longer than the slowest batch"
    state = None if timeout_s is not None and function is not None and _is_by_log(function, timeout_s) else function
    yield _Told(
        "function timeout", _seconds(timeout_s) or _unknown(function, "timeout_s"), advice, False, state, "timeout_s"
    )
    advice = "1 where one item's failure must not repeat the others"
    size = _number(batch) or _unknown(mapping, "batch_size")
    yield _Told("batch size", size, advice, (batch or 0) > 1, mapping, "batch_size")
    if mapping:
        partial = mapping["reports_batch_item_failures"]
        shown = None if partial is None else "on" if partial else "off"
        advice = "on, and returned correctly; they do not help a timeout or a crash"
        column = "reports_batch_item_failures"
        yield _Told("partial batch responses", shown, advice, partial is False, mapping, column)
        column = "maximum_concurrency"
        most = NOT_KNOWN if is_unknown(mapping, column) else _number(mapping[column]) or "no limit"
        yield _Told("maximum concurrency", most, state=mapping, column=column)
    if queue:
        column = "dead_letter_queue_arn"
        dead, receives, is_open = queue[column], queue["max_receive_count"], is_unknown(queue, column)
        shown = NOT_KNOWN if is_open else queue_name(dead) if dead else "none"
        advice = "one, kept longer than the queue itself"
        yield _Told("dead-letter queue", shown, advice, not dead and not is_open, queue, column)
        if receives is not None:
            advice = said("{count} or more", count=LEAST_RECEIVES)
            name = "receives before the dead-letter queue"
            yield _Told(name, str(receives), advice, receives < LEAST_RECEIVES, queue, "max_receive_count")
        retention = _seconds(queue["message_retention_s"])
        yield _Told("message retention", retention, state=queue, column="message_retention_s")
    if is_fifo is not None:
        yield _Told("queue type", "FIFO" if is_fifo else "standard", state=queue, column="is_fifo")


def _fact(told: _Told, newest: _Told | None, rows: Mapping[str, Row], began: datetime | None) -> SettingFact:
    """Put a setting beside what it is now."""
    ids = [_evidence_of(told)]
    now, falls_short_now = None, told.falls_short
    if newest and newest.state and newest.value not in (None, told.value):
        now, falls_short_now = newest.value, newest.falls_short
        ids.append(_evidence_of(newest))
    kept = tuple(dict.fromkeys(i for i in ids if i))
    source = _source(told, rows, began)
    return SettingFact(told.name, str(told.value), told.advice, told.falls_short, source, kept, now, falls_short_now)


def _unknown(state: Row | None, column: str) -> str | None:
    """Say that a setting is not known, where a later change shows that it was another one."""
    return NOT_KNOWN if state and is_unknown(state, column) else None


def _is_by_log(function: Row, timeout_s: int) -> bool:
    """Tell whether runs that were stopped tell a timeout that no snapshot does, or another than one that was read later."""
    known = function["known"]["timeout_s"]
    return known.value is None or (known.is_assumed and known.value != timeout_s)


def _evidence_of(told: _Told) -> str | None:
    return told.state["known"][told.column].evidence_id if told.state else None


def _source(told: _Told, rows: Mapping[str, Row], began: datetime | None) -> str:
    if told.state is None:
        return "log lines"
    known = told.state["known"][told.column]
    row = rows[known.evidence_id]
    if "changed_at" in row:
        at = clock_text(row["changed_at"])
        if known.is_unknown:
            by, what = row["actor"] or "somebody not named", ", ".join(row["settings"] or ())
            return said("not known before {at}, when {by} set {settings} (CloudTrail)", at=at, by=by, settings=what)
        return said("set {at}, from CloudTrail", at=at)
    read_at, changed_at = clock_text(row["observed_at"]), row.get("last_modified_at")
    if not (known.is_assumed or known.is_unknown):
        return said("read {at}", at=read_at)
    if changed_at and began and changed_at > began:
        changed = "read {at}; last changed {then}, after the incident began"
        return said(changed, at=read_at, then=clock_text(changed_at))
    return said("read {at}, after the incident began", at=read_at)


def _visibility_advice(visibility: int | None, timeout: int | None, mapping: Row | None) -> tuple[str, bool]:
    if visibility is None or timeout is None:
        return "longer than the slowest item or batch", False
    window = (mapping or {}).get("batching_window_s") or 0
    advised = of_function_s(timeout, window)
    is_short = visibility < advised
    if not window:
        return said("at least {n} s (6 × the function timeout)", n=str(advised)), is_short
    longer = "at least {n} s (6 × the function timeout + {window} s batching window)"
    return said(longer, n=str(advised), window=window), is_short


def _seconds(value: int | None) -> str | None:
    """Write seconds, long ones beside the units people think in.

    >>> _seconds(30), _seconds(600), _seconds(345_600), _seconds(1_209_600)
    ('30 s', '600 s (10 min)', '345,600 s (4 d)', '1,209,600 s (14 d)')
    """
    if value is None:
        return None
    return f"{value} s" if value < 120 else f"{value:,} s ({span_text(1000 * value).removesuffix(' 0 h')})"


def _number(value: int | None) -> str | None:
    return None if value is None else str(value)
