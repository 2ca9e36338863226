"""Each delivery of a message beside the one before it, put to the rules."""

from collections.abc import Sequence
from copy import copy
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from forensics.identity import is_one_receive
from forensics.judging.calls import CHANGE, DELETE
from forensics.judging.evidence import united
from forensics.judging.known import first_known, highest
from forensics.judging.model import Redelivery
from forensics.judging.placing import LONGEST_INIT_MS
from forensics.judging.provisional import redelivery_final_at
from forensics.judging.surroundings import Surroundings
from forensics.limits import LONGEST_VISIBILITY_S
from forensics.rules import DeliveryPair, decide
from forensics.rules.kept import ANSWERS_KEPT
from forensics.rules.pair import seconds
from forensics.sentence import said
from forensics.streams.model import Delivery


def redeliveries_of(item: Sequence[Delivery], around: Surroundings) -> list[Redelivery]:
    """Return one redelivery per receive of an item but the first; ``item``: its judged deliveries in order.

    What may be the receive before it, told once more, is no redelivery for all we know.
    """
    received = [delivery for delivery in item if not delivery.may_be_same_receive]
    return [_redelivery(earlier, later, around) for earlier, later in pairwise(received)]


def _redelivery(earlier: Delivery, later: Delivery, around: Surroundings) -> Redelivery:
    earlier, went_on_ms = _with_receive_known(earlier, later)
    gap_ms = _ms_between(earlier.received_at, later.received_at)
    is_other_host = _are_two_hosts(earlier, later)
    run_ms = _ms_between(earlier.received_at, earlier.run_ended_at if earlier.is_end_known else None)
    last_line_at = earlier.run_last_line_at if earlier.consumer_kind == "worker" else None
    held = held_before(earlier, around)
    has_finish_mark = earlier.finished_at is not None or earlier.basis == "finished"
    pair = DeliveryPair(
        is_fifo=later.is_fifo,
        visibility_timeout_s=earlier.visibility_timeout_s,
        function_timeout_s=earlier.function_timeout_s,
        visibility_is_assumed=bool(earlier.is_visibility_assumed),
        function_timeout_is_assumed=bool(earlier.is_function_timeout_assumed),
        batch_size=earlier.batch_size,
        reports_batch_item_failures=earlier.reports_batch_item_failures,
        earlier_is_seen=earlier.is_seen,
        earlier_kind=earlier.consumer_kind,
        earlier_name=consumer_name(earlier.consumer_kind, earlier.log_group, earlier.function_name, earlier.request_id),
        earlier_status=_status(earlier),
        earlier_error_type=earlier.error_type,
        earlier_has_finish_mark=has_finish_mark,
        earlier_batch_count=first_known(earlier.in_hand_count, earlier.batch_count),
        earlier_is_printed=_is_batch_printed(earlier),
        earlier_is_only_one_begun=_is_only_one_begun(earlier),
        earlier_delete_reason=earlier.delete_reason,
        earlier_is_named_failure=earlier.may_be_given_back,
        earlier_has_response=earlier.has_response,
        earlier_response_is_malformed=earlier.is_malformed_response,
        earlier_was_given_back=earlier.was_given_back,
        earlier_may_have_raised=_may_have_raised(earlier),
        earlier_is_watched=bool(earlier.is_watched),
        earlier_held_ms=held.ms,
        earlier_holder=held.by,
        earlier_gathered_ms=held.gathered_ms,
        was_received_before_run=earlier.received_basis == "run_start",
        is_throttled=earlier.is_throttled,
        run_ms=run_ms,
        last_line_ms=_ms_between(earlier.received_at, last_line_at),
        stopped_ms=_ms_between(earlier.received_at, earlier.stopped_at),
        process_ended_ms=_ms_between(earlier.received_at, earlier.process_ended_at),
        process_end_words=earlier.process_end_words,
        gap_ms=gap_ms,
        went_on_ms=went_on_ms,
        is_other_host=is_other_host,
        hidden_ms=_ms_between(earlier.received_at, earlier.hidden_until_at) if earlier.is_hidden_by_call else None,
        has_heartbeat=earlier.has_heartbeat,
        was_visibility_changed=_was_called(CHANGE, earlier, later, around),
        was_delete_refused=_was_called(DELETE, earlier, later, around),
        earlier_was_deleted=earlier.deleted_by_call_at is not None,
        earlier_receiver=earlier.receiver,
        is_other_receiver=earlier.is_other_receiver,
        is_one_receive=are_one_receive(earlier, later),
    )
    if (clocks_words := _clocks_words(pair)) is not None:
        pair, gap_ms = pair._replace(gap_ms=None, clocks_words=clocks_words), None
    decision = _decided(pair)
    return Redelivery(
        queue_arn=later.queue_arn,
        queue=later.queue,
        item_id=later.item_id,
        delivery_index=later.delivery_index,
        message_id=later.message_id,
        receive_count=later.receive_count,
        is_fifo=later.is_fifo,
        earlier_received_at=earlier.received_at,
        later_received_at=later.received_at,
        gap_ms=None if pair.is_one_receive else gap_ms,
        run_ms=run_ms,
        overlap_ms=max(_overlap_ms(pair, earlier, later) or 0, 0),
        visibility_timeout_s=None if earlier.has_heartbeat else earlier.visibility_timeout_s,
        earlier_has_heartbeat=earlier.has_heartbeat,
        earlier_kind=earlier.consumer_kind,
        earlier_status=earlier.run_status,
        earlier_batch_count=earlier.batch_count,
        earlier_is_printed=_is_batch_printed(earlier),
        earlier_is_named_failure=earlier.may_be_given_back,
        earlier_has_finish_mark=has_finish_mark,
        earlier_batch_size=earlier.batch_size,
        earlier_function_timeout_s=earlier.function_timeout_s,
        cause=decision.cause,
        causes=decision.causes,
        sentence=decision.sentence,
        excluded=decision.excluded,
        would_decide=decision.would_decide,
        rulings=decision.rulings,
        evidence_ids=united(earlier.evidence_ids, later.evidence_ids),
        is_one_receive=pair.is_one_receive,
        invoked_again_at=later.run_started_at if pair.is_one_receive else None,
        is_provisional=redelivery_final_at(decision.cause, earlier, around.finality) is not None,
    )


def _with_receive_known(earlier: Delivery, later: Delivery) -> tuple[Delivery, int | None]:
    """Return the earlier delivery without its receive where its first line stands after the later receive, and no line opens it.

    Then nothing tells when it was received, but that it went on for so many milliseconds after the later receive.
    """
    is_opened = earlier.record_at is not None or earlier.started_at is not None
    gap_ms = _ms_between(earlier.received_at, later.received_at)
    if is_opened or gap_ms is None or gap_ms >= 0 or not later.is_seen:
        return earlier, None
    untimed = copy(earlier)
    untimed.received_at = untimed.received_basis = None
    return untimed, _ms_between(later.received_at, highest((earlier.run_ended_at, earlier.last_fact_at)))


def _status(earlier: Delivery) -> str:
    """Return how the earlier run ended; a durable function's execution may have failed after a run that ended well."""
    is_open = earlier.is_durable and earlier.run_status == "success"
    return "unknown" if is_open or earlier.run_status is None else earlier.run_status


def are_one_receive(earlier: Delivery, later: Delivery) -> bool:
    """Tell whether both runs had the message by one receive."""
    is_fifo = later.is_fifo and earlier.received_from_arn == later.received_from_arn
    counts = earlier.receive_count, later.receive_count
    return is_one_receive(is_fifo, counts, (earlier.receipt_handle, later.receipt_handle))


def _overlap_ms(pair: DeliveryPair, earlier: Delivery, later: Delivery) -> int | None:
    """Return for how long both were at work: from the later receive on, or from when the later run began where both had one receive."""
    if not pair.is_one_receive:
        return pair.overlap_ms
    return _ms_between(later.run_started_at, earlier.run_ended_at if earlier.is_end_known else None)


def _are_two_hosts(earlier: Delivery, later: Delivery) -> bool:
    """Tell whether two workers received it, each of which wrote by its own clock."""
    streams = {(d.log_group, d.log_stream) for d in (earlier, later)}
    return earlier.consumer_kind == later.consumer_kind == "worker" and later.is_seen and len(streams) == 2


def _clocks_words(pair: DeliveryPair) -> str | None:
    """Say why the times of two receives cannot both hold; None where they may.

    The later one stands before the earlier one; or another worker received the message inside its visibility timeout, while the first
    one still had it, and nothing let go of it.
    """
    if pair.gap_ms is None:
        return None
    if pair.gap_ms < 0 and not pair.is_other_host:
        return said(
            "it was received again {span} before the first line of the earlier handling, which had it for that long at least",
            span=seconds(-pair.gap_ms),
        )
    if pair.gap_ms < 0:
        return said(
            "it was received again {span} before its previous receive, by the clocks of two hosts: they differ by that at least, or "
            "the earlier one had the message for that long before its first line of it",
            span=seconds(-pair.gap_ms),
        )
    early_ms = pair.early_ms
    if not pair.is_other_host or early_ms is None or early_ms <= 0 or (pair.overlap_ms or 0) <= 0:
        return None
    return said(
        "another host received it {span} before the {limit} was over, while {run} still had it: the clocks of the two hosts differ by "
        "that at least, or something let go of it meanwhile",
        span=seconds(early_ms),
        limit=pair.visibility_words,
        run=pair.earlier_name,
    )


def _is_batch_printed(d: Delivery) -> bool:
    """Tell whether lines show all that was handed out together; a worker's handling is of one message."""
    return d.is_batch_printed or (d.consumer_kind == "worker" and d.record_at is not None)


def _may_have_raised(d: Delivery) -> bool:
    """Tell whether an error that a run logged may be what its handler raised: Lambda's own runtimes say so, and who logs its response went on."""
    return d.has_error and d.consumer_kind == "lambda" and not d.is_runtime_lambdas and not d.has_response


def _is_only_one_begun(d: Delivery) -> bool:
    """Tell whether a run prints what it begins, and began this message alone: a sibling at work would have its line, too."""
    return d.started_at is not None and d.batch_count == 1 and not d.has_stray_mark


_decided = lru_cache(maxsize=ANSWERS_KEPT)(decide)
"""Messages of one batch that came again together are often alike."""


def _was_called(operation: str, earlier: Delivery, later: Delivery, around: Surroundings) -> bool | None:
    """Tell whether a change of visibility, or a refused delete, may have been of a delivery; None where nothing tells.

    Its delete is waited for until its run was over, which must be known.
    """
    until = later.received_at
    if operation == DELETE:
        until = highest((later.received_at, earlier.run_ended_at)) if earlier.is_end_known else None
    span = (earlier.received_at, until)
    return around.calls.was_called(
        earlier.polled_arn, operation, earlier.receipt_handle, *span, only_refused=operation == DELETE
    )


class Held(NamedTuple):
    """Who may have had a message (a key of ``forensics.rules.pair.HOLDERS``) for so long at most before it counts as received.

    ``gathered_ms`` of it the mapping's batching window lets the poller have it, whether it was throttled or not.
    """

    ms: int = 0
    by: str | None = None
    gathered_ms: int = 0


def held_before(earlier: Delivery, around: Surroundings) -> Held:
    """Return for how long a message may have been held before the time at which it counts as received.

    A throttled poller holds what it received for up to one visibility timeout before a run begins; one that gathers a batch holds
    the first messages of it for its batching window; and where no REPORT says how long an environment came up for its run,
    it may have taken as long as Lambda lets it.
    """
    visibility_s = earlier.visibility_timeout_s
    longest_ms = (LONGEST_VISIBILITY_S if visibility_s is None else visibility_s) * 1000
    if earlier.received_at is None or earlier.received_basis is None:
        return Held(longest_ms, "poller")
    if earlier.received_basis != "run_start":
        return Held()
    gathered_ms = min((earlier.batching_window_s or 0) * 1000, longest_ms)
    start_ms = earlier.received_at // 1000 - longest_ms
    is_throttled, _ = around.throttled(earlier.polled_arn, start_ms * 1000, earlier.received_at)
    if is_throttled is not False:
        return Held(longest_ms, "throttled" if is_throttled else "poller", gathered_ms)
    held_ms = min(gathered_ms + (LONGEST_INIT_MS if earlier.init_ms is None else 0), longest_ms)
    return Held(held_ms, "window" if gathered_ms else "init" if held_ms else None, gathered_ms)


@lru_cache(maxsize=ANSWERS_KEPT)
def consumer_name(kind: str | None, log_group: str | None, function_name: str | None, request_id: str | None) -> str:
    """Name in words what got a delivery."""
    if kind != "lambda":
        return "the earlier run" if log_group is None else said("the worker of {group}", group=log_group)
    where = log_group if function_name is None else function_name
    if request_id is None or where is None:
        return "the earlier run"
    return said("run {id} of {name}", id=request_id[:8], name=where)


def _ms_between(start: int | None, end: int | None) -> int | None:
    """Return the milliseconds from one time to another, each rounded down to milliseconds; None where one is unknown."""
    return None if start is None or end is None else end // 1000 - start // 1000
