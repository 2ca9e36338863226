"""What CloudTrail's data events tell of calls to a queue: who received, deleted and released a message, and when.

A record may hide message ids and receipt handles. Then it is about any message of its queue: it proves nothing of one, and keeps
its absence from proving anything. Times are whole microseconds since 1970, UTC; CloudTrail tells whole seconds.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from forensics.clock import micros
from forensics.identity import handle_prefix
from forensics.judging.evidence import united
from forensics.judging.known import first_known, highest
from forensics.judging.recorded import Recorded
from forensics.judging.sends import SEND
from forensics.parsers.handle_errors import reason_of
from forensics.spans import Spans
from forensics.streams.model import Delivery

Row = Mapping[str, Any]

RECEIVE, DELETE, CHANGE = "ReceiveMessage", "DeleteMessage", "ChangeMessageVisibility"
CLOCK_US = 1_000_000
"""Calls are told in whole seconds."""
_NONE = Spans()


class Call(NamedTuple):
    """One message in one call; ``evidence_id`` is last, so that calls sort by time."""

    at: int
    operation: str
    message_id: str | None
    handle: str | None
    visibility_s: int | None
    actor: str | None
    error: str | None
    error_text: str | None
    evidence_id: str


class Calls:
    """Recorded calls: those that some works ask for. ``read`` holds per queue ARN the spans in which every call was recorded,
    ``recorded`` of which operations there are any records at all; None: these are all.
    """  # noqa: D205

    def __init__(
        self, rows: Sequence[Row] = (), read: Mapping[str, Spans] | None = None, recorded: Recorded | None = None
    ) -> None:
        """Take rows of ``send_records``; those of sends are looked at elsewhere."""
        self._by_queue: dict[str, list[Call]] = {}
        for row in rows:
            if row["operation"] != SEND:
                self._by_queue.setdefault(row["queue_arn"], []).append(_call(row))
        for calls in self._by_queue.values():
            calls.sort(key=_order)
        self._read = read or {}
        self._by_handle: dict[tuple[str, str], list[Call]] = {}
        self._by_message: dict[tuple[str, str], list[Call]] = {}
        for queue_arn, calls in self._by_queue.items():
            for call in calls:
                if call.handle is not None:
                    self._by_handle.setdefault((queue_arn, call.handle), []).append(call)
                if call.message_id is not None:
                    self._by_message.setdefault((queue_arn, call.message_id), []).append(call)
        self._recorded = recorded or Recorded.of(rows)

    def __bool__(self) -> bool:
        """Tell whether any call is at hand."""
        return bool(self._by_queue)

    def of_handle(self, queue_arn: str, receipt_handle: str | None, operation: str) -> list[Call]:
        """Return the calls with a receipt handle, in order."""
        if receipt_handle is None or not self._by_handle:
            return []
        calls = self._by_handle.get((queue_arn, handle_prefix(receipt_handle)), [])
        return [call for call in calls if call.operation == operation]

    def of_message(self, queue_arn: str, message_id: str | None, operation: str) -> list[Call]:
        """Return the calls that name a message and took effect, in order."""
        if message_id is None or not self._by_message:
            return []
        calls = self._by_message.get((queue_arn, message_id), [])
        return [call for call in calls if call.operation == operation and call.error is None]

    def was_called(
        self,
        queue_arn: str,
        operation: str,
        receipt_handle: str | None,
        low: int | None,
        high: int | None,
        only_refused: bool = False,
    ) -> bool | None:
        """Tell whether such a call may have been about a handle between two moments; None where not all were recorded.

        Only operations of which the queue has records at all count as recorded: a trail may leave some out.
        """
        if low is None or high is None or operation not in self._recorded.operations(queue_arn):
            return None
        if not self._read.get(queue_arn, _NONE).hold(low, high):
            return None
        handle = None if receipt_handle is None else handle_prefix(receipt_handle)
        return any(
            call.operation == operation
            and (call.error is not None or not only_refused)
            and (call.handle is None or handle is None or call.handle == handle)
            for call in self._between(queue_arn, low - CLOCK_US, high + CLOCK_US)
        )

    def _between(self, queue_arn: str, low: int, high: int) -> Sequence[Call]:
        calls = self._by_queue.get(queue_arn, [])
        return calls[bisect_left(calls, low, key=_at) : bisect_right(calls, high, key=_at)]


def _call(row: Row) -> Call:
    handle = row["receipt_handle"]
    return Call(
        micros(row["called_at"]),
        row["operation"],
        row["message_id"],
        None if handle is None else handle_prefix(handle),
        row["visibility_timeout_s"],
        row["actor"],
        row["error_code"],
        row["error_text"],
        row["evidence_id"],
    )


def _at(call: Call) -> int:
    return call.at


def _order(call: Call) -> tuple[int, str]:
    return call.at, call.evidence_id


def add_calls(delivery: Delivery, calls: Calls) -> None:
    """Add to a delivery what recorded calls with its receipt handle tell: its receive, its delete, and until when it was hidden.

    A delete after the worker had failed tells that it gave the message up. Where the log prints no handle, the one receive
    recorded at that time that names the message tells it.
    """
    if (receive := _receive(delivery, calls)) is not None:
        if delivery.receipt_handle is None:
            delivery.receipt_handle = receive.handle
        if delivery.received_basis == "run_start":
            _take_receive(delivery, receive)
        if receive.visibility_s is not None and delivery.received_at is not None:  # what the receive asked for wins
            delivery.visibility_timeout_s, delivery.is_visibility_assumed = receive.visibility_s, False
            if not delivery.is_hidden_by_call:
                delivery.hidden_until_at = delivery.received_at + receive.visibility_s * 1_000_000
            delivery.evidence_ids = united(delivery.evidence_ids, [receive.evidence_id])
    deletes = calls.of_handle(delivery.polled_arn, delivery.receipt_handle, DELETE)
    if deletes:
        delivery.deleted_by_call_at = next((call.at for call in deletes if call.error is None), None)
        if delivery.delete_reason is None and delivery.deleted_by_call_at is None:
            delivery.delete_at = deletes[0].at
            delivery.delete_reason = reason_of(deletes[0].error_text or "") or "other"
        if delivery.consumer_kind == "worker" and not delivery.is_end_known:
            delivery.run_ended_at, delivery.is_end_known = highest((delivery.run_ended_at, deletes[0].at)), True
        failed_at = delivery.worker_failed_at if delivery.worker_finished_at is None else None
        if failed_at is not None and failed_at // CLOCK_US * CLOCK_US <= deletes[0].at:
            delivery.has_failed_first = True
    changes = [
        call
        for call in calls.of_handle(delivery.polled_arn, delivery.receipt_handle, CHANGE)
        if call.error is None and call.visibility_s is not None
    ]
    if changes:
        delivery.hidden_until_at = changes[-1].at + (changes[-1].visibility_s or 0) * 1_000_000
        delivery.is_hidden_by_call = True
        delivery.has_heartbeat = is_heartbeat([call.visibility_s or 0 for call in changes])
    if used := [call.evidence_id for call in (*deletes, *changes)]:
        delivery.evidence_ids = united(delivery.evidence_ids, used)


def give_marks_to_deletes(item: Sequence[Delivery], calls: Calls) -> None:
    """Let the mark of a later handling of a worker's stream be of the one that was still on, and whose delete a call alone tells.

    Of lines that do not tell whose they are the latest handling takes what is told of work. One effect would count twice: there, and as
    what the slower one finished before its delete. ``item``: its deliveries in order, with what calls tell (``add_calls``).
    """
    for place, slower in enumerate(item):
        deletes = calls.of_handle(slower.polled_arn, slower.receipt_handle, DELETE)
        is_told_by_line = slower.delete_at is not None and slower.delete_at not in [call.at for call in deletes]
        shows_work = slower.marker_at is not None or slower.guard_at is not None
        if slower.consumer_kind != "worker" or not deletes or is_told_by_line or shows_work:
            continue
        until = deletes[-1].at + CLOCK_US
        of_stream = [
            d for d in item[place + 1 :] if (d.log_group, d.log_stream) == (slower.log_group, slower.log_stream)
        ]
        marked = [d for d in of_stream if d.is_seen and d.marker_at is not None and d.marker_at < until]
        if marked:
            quicker = max(marked, key=lambda d: d.marker_at or 0)
            slower.marker_at, quicker.marker_at = quicker.marker_at, None
            slower.evidence_ids = united(slower.evidence_ids, quicker.evidence_ids)


def is_heartbeat(hidden: Sequence[int]) -> bool:
    """Tell whether changes of a message's visibility kept it: the last two hid it for as long from then on; ``hidden``: how long each did.

    >>> is_heartbeat([30, 30]), is_heartbeat([120, 0]), is_heartbeat([30])
    (True, False, False)
    """
    return len(hidden) > 1 and hidden[-1] == hidden[-2] > 0


def _take_receive(delivery: Delivery, receive: Call) -> None:
    """Let a run's message count as received when its receive was recorded, to the second: it may have been held since."""
    assert delivery.received_at is not None
    delivery.received_at = min(delivery.received_at, receive.at + CLOCK_US)
    delivery.received_basis = "call"
    if delivery.visibility_timeout_s is not None and not delivery.is_hidden_by_call:
        delivery.hidden_until_at = delivery.received_at + delivery.visibility_timeout_s * 1_000_000
    delivery.evidence_ids = united(delivery.evidence_ids, [receive.evidence_id])


def _receive(delivery: Delivery, calls: Calls) -> Call | None:
    """Return the recorded receive with its handle, or else the one at that time that names the message."""
    received_at = delivery.received_at
    if received_at is None:
        return None
    if own := calls.of_handle(delivery.polled_arn, delivery.receipt_handle, RECEIVE):
        return own[0]
    receives = calls.of_message(delivery.polled_arn, delivery.message_id, RECEIVE)
    near = [c for c in receives if received_at - 2 * CLOCK_US <= c.at <= received_at + CLOCK_US]
    return near[0] if len(near) == 1 else None


def add_receive(delivery: Delivery, item: Sequence[Delivery], calls: Calls) -> None:
    """Say of a receive that only the count shows who made it, where records of receives name the message.

    ``item``: every delivery of the message. Receives that logs show are told apart by time: one call a logged delivery.
    """
    receives = calls.of_message(delivery.polled_arn, delivery.message_id, RECEIVE)
    logged = [d.received_at for d in item if d.is_seen and d.received_at is not None]
    near = [c for c in receives if any(abs(c.at - at) <= 2 * CLOCK_US for at in logged)]
    mine = [c for c in receives if c not in near and _is_between(c.at, delivery.after_at, delivery.before_at)]
    if len(mine) != 1 or sum(not d.is_seen for d in item) != 1:
        return
    (call,) = mine
    known = {c.actor for c in near}
    delivery.received_at = first_known(delivery.received_at, call.at)
    delivery.receiver = call.actor
    if (
        known and call.actor is not None and call.actor not in known
    ):  # whose log nobody reads: it may have done the work
        delivery.is_other_receiver, delivery.unseen_basis = True, "unseen"
    delivery.evidence_ids = united(delivery.evidence_ids, [call.evidence_id])


def _is_between(at: int, low: int | None, high: int | None) -> bool:
    return (low is None or at >= low - CLOCK_US) and (high is None or at <= high + CLOCK_US)
