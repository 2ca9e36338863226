"""Which messages of a queue make an incident, and which merely fall into its time."""

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import accumulate
from typing import NamedTuple

from forensics.judging.model import Message

QUIET_MS = 15 * 60 * 1000
"""So long a quiet separates incidents at least."""


class MessageTimes(NamedTuple):
    """A message as narrow as membership can do with: a queue can have a million."""

    queue: str
    item_id: str
    first_received_at: int | None
    last_received_at: int | None
    last_active_at: int | None
    visibility_timeout_s: int | None
    is_affected: bool


_Timed = Message | MessageTimes


@dataclass(slots=True)
class _Span:
    """From the first receive of an incident's affected messages to their last activity."""

    incident_id: str
    started_at: int
    ended_at: int


def quiet_limit_ms(visibility_timeout_s: int | None) -> int:
    """Return the quiet that still belongs to an incident: two visibility timeouts, and never less than 15 minutes.

    >>> quiet_limit_ms(None), quiet_limit_ms(30), quiet_limit_ms(600)
    (900000, 900000, 1200000)
    """
    return max((visibility_timeout_s or 0) * 2000, QUIET_MS)


def is_after_quiet(at: int, active_at: int | None, visibility_timeout_s: int | None) -> bool:
    """Tell whether what happens at a moment begins another incident; ``active_at`` is the last activity before it."""
    return active_at is None or at // 1000 - active_at // 1000 > quiet_limit_ms(visibility_timeout_s)


def incident_id(queue: str, started_at: int | None) -> str:
    """Name an incident by its queue and the minute it began.

    >>> incident_id("payments", 1_795_345_199_999_999)
    'payments-20261122T1059Z'
    """
    if started_at is None:
        return queue
    return f"{queue}-{datetime.fromtimestamp(started_at // 1_000_000, UTC):%Y%m%dT%H%MZ}"


def membership(messages: Iterable[_Timed]) -> dict[str, tuple[str, bool]]:
    """Return item id -> (incident id, is_affected) for the messages of one queue that belong to an incident.

    Affected messages whose activity is separated by no more than max(2 x visibility timeout, 15 min) make one incident; the
    others inside its time belong to it, the earliest where there are several, but neither open nor bridge one.
    """
    affected: list[_Timed] = []
    others: list[_Timed] = []
    for message in messages:
        (affected if message.is_affected else others).append(message)
    affected.sort(key=_by_first_receive)
    members: dict[str, tuple[str, bool]] = {}
    spans = _gather(affected, members)
    _add_bystanders(others, spans, members)
    return members


def _by_first_receive(message: _Timed) -> tuple[int, str]:
    received_at = message.first_received_at
    return -1 if received_at is None else received_at, message.item_id


def _gather(affected: Sequence[_Timed], members: dict[str, tuple[str, bool]]) -> list[_Span]:
    """Put affected messages, in the order of their first receive, into incidents; returns the incidents' time."""
    spans: list[_Span] = []
    active_at: int | None = None
    member = ("", True)
    for message in affected:
        received_at, last_at = message.first_received_at, message.last_active_at
        if received_at is None or is_after_quiet(received_at, active_at, message.visibility_timeout_s):
            member = (incident_id(message.queue, received_at), True)
            if received_at is not None:
                spans.append(_Span(member[0], received_at, -1))
        if last_at is not None:
            if active_at is None or last_at > active_at:
                active_at = last_at
            if spans and last_at > spans[-1].ended_at:
                spans[-1].ended_at = last_at
        members[message.item_id] = member
    return spans


def _add_bystanders(others: Iterable[_Timed], spans: Sequence[_Span], members: dict[str, tuple[str, bool]]) -> None:
    if not spans:
        return
    reached = list(accumulate((span.ended_at for span in spans), max))  # the first to reach a moment ends after it
    of_span = [(span.incident_id, False) for span in spans]
    for message in others:
        first_at, last_at = message.first_received_at, message.last_received_at
        if first_at is None or last_at is None:
            continue
        place = bisect_left(reached, first_at)
        if place < len(spans) and spans[place].started_at <= last_at:
            members[message.item_id] = of_span[place]
