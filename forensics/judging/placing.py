"""Where and when a delivery was received, and the settings that were in force then."""

from collections import defaultdict
from collections.abc import Sequence

from forensics.identity import is_fifo_name, queue_name
from forensics.judging.calls import is_heartbeat
from forensics.judging.surroundings import Surroundings
from forensics.settings import Consumer
from forensics.settings_in_force import Row, SettingsInForce
from forensics.streams.groups import runs_latest
from forensics.streams.model import Delivery, LogGroup

_NOTHING: Row = {}
LONGEST_INIT_MS = 10_000
"""Lambda gives an environment so long to come up before the run; what takes longer begins anew inside it."""
_NEAR_LIMIT_S = 2
"""A run that was stopped at its limit is logged at most so far from it."""


def place(delivery: Delivery, group: LogGroup, in_force: SettingsInForce) -> None:
    """Fill in a delivery's queue, its receive, the settings in force then, and what the team says of its consumer.

    The queue is the one its record names, else the one its log group's consumer reads; where nothing tells, the log
    group stands for it. A message was received when SQS says so, which it does for the first receive only; else when the
    run began, or its environment began to come up for it, or at the first line about it.
    """
    _place_in_queue(delivery, group)
    delivery.runs_latest = runs_latest(group, delivery.log_stream)
    _take_settings(delivery, in_force)
    take_declared(delivery, group.consumer)
    delivery.evidence_ids = sorted({*delivery.fact_ids, *delivery.end_ids})


def place_by_message(deliveries: Sequence[Delivery], around: Surroundings) -> None:
    """Place what nothing else places in the queue in which its message was received by somebody who says so.

    That must be a queue that its own consumer reads: another may read what was set aside out of it. Changes what it is given.
    """
    unknown = [d for d in deliveries if d.message_id is not None and not around.is_queue_known(d)]
    known: dict[str | None, list[Delivery]] = defaultdict(list)
    for delivery in deliveries if unknown else ():
        if around.is_queue_known(delivery):
            known[delivery.message_id].append(delivery)
    for delivery in unknown:
        read = around.queues_of(delivery)
        found = [other for other in known[delivery.message_id] if other.queue_arn in read]
        if found:
            nearest = min(found, key=lambda other: abs(_at(other) - _at(delivery)))
            delivery.queue_arn, delivery.queue = nearest.queue_arn, nearest.queue
            _take_settings(delivery, around.in_force)


def _at(delivery: Delivery) -> int:
    return delivery.received_at or 0


def take_declared(delivery: Delivery, said: Consumer) -> None:
    """Fill in what the team says of a delivery's consumer."""
    delivery.order_declared = said.order
    delivery.has_effect = bool(said.effect)
    delivery.effect_declared = said.effect
    delivery.is_exhaustive = said.effect_is_exhaustive
    delivery.has_started = bool(said.started)
    delivery.has_guard = bool(said.guard)
    delivery.is_idempotent = said.idempotent
    delivery.guard_table = said.guard_table


def _place_in_queue(delivery: Delivery, group: LogGroup) -> None:
    arn = delivery.record_queue_arn
    if arn is None:
        arn = group.name if group.queue_arn is None else group.queue_arn
    delivery.queue_arn = arn
    delivery.queue = queue_name(arn)
    if delivery.function_name is None:
        delivery.function_name = group.function_name
    if delivery.receive_count == 1 and delivery.first_receive_ms is not None:
        delivery.received_at, delivery.received_basis = delivery.first_receive_ms * 1000, "first_receive"
    elif delivery.consumer_kind == "lambda" and delivery.run_started_at is not None:
        delivery.received_at, delivery.received_basis = _before_init(delivery, delivery.run_started_at), "run_start"
    else:
        at = delivery.first_fact_at if delivery.record_at is None else delivery.record_at
        delivery.received_at, delivery.received_basis = at, "line"


def _before_init(delivery: Delivery, started_at: int) -> int:
    """Return when the environment of a run began to come up for it: its message was received by then, and sent before.

    One that Lambda had brought up ahead of need says the same; it is not known apart, and off by its init at most.
    """
    if not delivery.init_ms:
        return started_at
    began_at = started_at - min(delivery.init_ms, LONGEST_INIT_MS) * 1000
    known = [ms * 1000 for ms in (delivery.sent_ms, delivery.first_receive_ms) if ms is not None]
    return min(max([began_at, *known]), started_at)


def _take_settings(delivery: Delivery, in_force: SettingsInForce) -> None:
    at = delivery.received_at
    queue = in_force.queue(delivery.queue_arn, at) or _NOTHING
    delivery.visibility_timeout_s = visibility_s = queue.get("visibility_timeout_s")
    is_fifo = queue.get("is_fifo")
    delivery.is_fifo = is_fifo_name(delivery.queue) if is_fifo is None else is_fifo
    delivery.max_receive_count = queue.get("max_receive_count")
    delivery.dead_letter_queue_arn = queue.get("dead_letter_queue_arn")
    delivery.queue_settings_id = queue.get("evidence_id")
    delivery.is_visibility_assumed = _is_assumed(queue, "visibility_timeout_s")
    mapping = in_force.mapping(delivery.queue_arn, delivery.function_name, at) or _NOTHING
    delivery.reports_batch_item_failures = mapping.get("reports_batch_item_failures")
    delivery.batch_size = mapping.get("batch_size")
    delivery.batching_window_s = mapping.get("batching_window_s")
    delivery.mapping_id = mapping.get("evidence_id")
    function = in_force.function(delivery.function_name, at) or _NOTHING
    delivery.function_timeout_s = function.get("timeout_s")
    delivery.function_settings_id = function.get("evidence_id")
    runtime = function.get("runtime")
    delivery.is_runtime_lambdas = runtime is not None and not runtime.startswith("provided")
    delivery.is_durable = _is_durable(delivery, function.get("is_durable"), mapping.get("qualifier"))
    delivery.is_function_timeout_assumed = _is_assumed(function, "timeout_s")
    stopped_s = _stopped_after_s(delivery)
    if (
        delivery.is_function_timeout_assumed
        and delivery.function_timeout_s is not None
        and stopped_s is not None
        and abs(stopped_s - delivery.function_timeout_s) >= _NEAR_LIMIT_S
    ):  # it was changed since: the run itself tells what stopped it
        delivery.function_timeout_s, delivery.is_function_timeout_assumed = stopped_s, False
    delivery.hidden_until_at = None
    if at is not None and visibility_s is not None:
        delivery.hidden_until_at = (at // 1000 + visibility_s * 1000) * 1000
    delivery.is_hidden_by_call = False
    hidden = []
    for changed_at, until in delivery.visibility_set:
        if (
            delivery.hidden_until_at is None or changed_at <= delivery.hidden_until_at
        ):  # later it is visible, or another's
            delivery.hidden_until_at, delivery.is_hidden_by_call = until, True
            hidden.append(until - changed_at)
    delivery.has_heartbeat = is_heartbeat(hidden)


def _is_durable(delivery: Delivery, said: bool | None, qualifier: str | None) -> bool | None:
    """Tell whether a delivery's function is durable; None where nothing says so. Lambda invokes none without a version or an alias.

    Where its settings are not there, the mapping tells whether it names any; else a run of a version may be of one, and one of the
    last code is not, for few mappings name that.
    """
    if said is not None or delivery.consumer_kind != "lambda":
        return bool(said)
    if qualifier is not None:
        return None if qualifier else False
    return False if delivery.runs_latest else None


def _is_assumed(state: Row, column: str) -> bool | None:
    """Tell whether only a later snapshot vouches for one setting, whatever else it vouches for; None where nothing is known."""
    return state["known"][column].is_assumed if state else None


def _stopped_after_s(delivery: Delivery) -> int | None:
    """Return after how many seconds the function timeout stopped the run; None where it did not, or its START is not logged."""
    if delivery.consumer_kind != "lambda" or delivery.run_status != "timeout":
        return None
    if (delivery.consumer or "").endswith("|0") or delivery.run_started_at is None or delivery.run_ended_at is None:
        return None
    return round((delivery.run_ended_at - delivery.run_started_at) / 1_000_000)
