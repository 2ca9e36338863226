"""A queue's week in numbers, each beside the week before."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from forensics.health.signals import span
from forensics.words import span_text

Row = Mapping[str, Any]
Write = Callable[[int], str]


class Number(NamedTuple):
    """One number in words: of this week, of the week before, and the change; ``unknown`` where nothing was read."""

    label: str
    now: str
    before: str
    change: str | None


def _count(value: int) -> str:
    return f"{value:,}"


def _run(value_ms: int) -> str:
    return span_text(value_ms)


NUMBERS: tuple[tuple[str, str, Write], ...] = (
    ("Sent", "sent_count", _count),
    ("Received", "received_count", _count),
    ("Deleted", "deleted_count", _count),
    ("Redeliveries", "redelivery_count", _count),
    ("Runs", "run_count", _count),
    ("Timeouts", "timeout_count", _count),
    ("Errors", "error_count", _count),
    ("Crashes", "crash_count", _count),
    ("Throttles", "throttle_count", _count),
    ("Expired handles", "expired_handle_count", _count),
    ("To DLQ", "dead_lettered_count", _count),
    ("Backlog, most", "backlog_max_count", _count),
    ("In flight, most", "in_flight_max_count", _count),
    ("p95 age", "age_p95_s", span),
    ("Oldest", "age_max_s", span),
    ("Hidden by the age metric", "poison_count", _count),
    ("p50 handler", "handler_p50_ms", _run),
    ("p95 handler", "handler_p95_ms", _run),
    ("p99 handler", "handler_p99_ms", _run),
)
"""Label, column of queue_weeks, and how its values are written."""


def week_numbers(now: Row | None, before: Row | None, compared: Row | None = None) -> list[Number]:
    """Return the numbers of a row of queue_weeks beside those of the week before; None is a week nobody read.

    ``compared`` holds what of ``now`` lies in the days that ``before`` covers; all of it unless given.

    >>> week_numbers({"timeout_count": 4}, {"timeout_count": 1})[5]
    Number(label='Timeouts', now='4', before='1', change='+3')
    """
    mine = {**(now or {}), **(compared or {})}
    return [_number(label, column, write, now or {}, before or {}, mine) for label, column, write in NUMBERS]


def _number(label: str, column: str, write: Write, now: Row, before: Row, compared: Row) -> Number:
    value, was, of_same_days = now.get(column), before.get(column), compared.get(column)
    change = None if of_same_days is None or was is None else _signed(of_same_days - was, write)
    said = _or_unknown(value, write)
    reasons = [pair.rpartition("=") for pair in now.get("dead_letter_reasons") or ()] if label == "To DLQ" else []
    if value and reasons:
        said += f" ({', '.join(f'{code} {n}' for code, _, n in reasons)})"
    return Number(label, said, _or_unknown(was, write), change)


def _or_unknown(value: int | None, write: Write) -> str:
    return "unknown" if value is None else write(value)


def _signed(change: int, write: Write) -> str:
    said = write(abs(change))
    return "0" if said == write(0) else f"{'+' if change > 0 else '-'}{said}"
