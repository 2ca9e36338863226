"""Facts to deliveries: what the lines of one consumer say of one message, in one row. Lambda runs and workers alike."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, takewhile
from typing import Any

from forensics.event_ids import is_event_id
from forensics.identity import handle_prefix
from forensics.parsers.error_lines import may_hide_an_effect
from forensics.parsers.grammar import UUID, Pattern
from forensics.run_ends import CUT_OFF
from forensics.streams.in_hand import STOPPING
from forensics.streams.model import (
    ERROR,
    GUESSED,
    HIDDEN,
    NOT_HIDDEN,
    ONE_OF,
    PERHAPS,
    REPEAT,
    TAKEN,
    WHOLE,
    Delivery,
    Fact,
    Invocation,
)
from forensics.streams.named_in import is_word_of, mark_maybe_skipped, named_by
from forensics.streams.once import MOMENT_US

KEYED = "by key"
"""Detail of an effect or guard fact that named its message by a business key only."""

_CHANGE = ":ChangeMessageVisibility"
_TIMES = {
    "record": "record_at",
    "started": "started_at",
    "worker_started": "started_at",
    "effect": "marker_at",
    "guard": "guard_at",
    "worker_refused": "guard_at",
    "worker_finished": "worker_finished_at",
    "deleted": "worker_finished_at",
    "worker_failed": "worker_failed_at",
    "worker_gave_up": "worker_failed_at",
    "worker_timed_out": "worker_failed_at",
}
"""Role to the field of a delivery that holds the time of its first fact."""

_ONLY_TIMED = frozenset({"record", "mention", "started", "effect", "guard", "worker_finished", "deleted"})
"""Roles that say no more than when, where they have no detail."""

_OF_RECORD = slice(Fact._fields.index("receive_count"), Fact._fields.index("detail"))
_NOTHING = (None,) * (_OF_RECORD.stop - _OF_RECORD.start)
_MESSAGE_ID = Pattern("message_id", f"^{UUID}(?![\\s\\S])")
_WORKED = frozenset({"effect", "guard"})
_MARKS, _GUARDS = frozenset({"effect", "started"}), frozenset({"guard", "idempotency"})


def deliveries_of(invocation: Invocation) -> list[Delivery]:
    """Return one delivery for each message (or key) that an invocation's lines name, with what they say of it.

    Queue, settings in force and all that is judged are left at their defaults.
    """
    facts = _without_strangers(invocation.facts)
    is_malformed = len(facts) < len(invocation.facts)
    is_batch_printed = prints_whole_batch(facts)
    facts = _without_passing(facts) if is_batch_printed else facts
    facts = _with_named_messages(facts, invocation)
    errors = [fact for fact in facts if fact.role == ERROR]
    repeats = [fact for fact in facts if fact.role == REPEAT]
    facts = [fact for fact in facts if fact.role not in (ERROR, REPEAT)] if errors or repeats else facts
    by_item: dict[str, list[Fact]] = {}
    has_stray_mark = has_stray_guard = invocation.may_lack_lines
    for fact in facts:
        item_id, role = fact.message_id, fact.role
        if item_id is None:
            has_stray_mark = has_stray_mark or role in _MARKS
            has_stray_guard = has_stray_guard or role in _GUARDS
            item_id = fact.item_id
            if item_id is None:
                continue
        if item_id in by_item:
            by_item[item_id].append(fact)
        else:
            by_item[item_id] = [fact]
    if not by_item:
        return []
    end_ids = [] if invocation.end_status == "success" else invocation.mark_ids
    carried = {
        "consumer": invocation.invocation_id,
        "consumer_kind": "lambda",
        "log_group": invocation.log_group,
        "log_stream": invocation.log_stream,
        "request_id": invocation.request_id,
        "function_name": invocation.function_name,
        "run_started_at": invocation.started_at,
        "run_behind_at": invocation.behind_at,
        "init_ms": invocation.init_ms,
        "run_ended_at": invocation.ended_at,
        "run_last_line_at": invocation.last_line_at,
        "run_status": invocation.end_status,
        "error_type": invocation.error_type,
        "has_response": invocation.has_response and not is_malformed,
        "is_malformed_response": is_malformed,
        "is_batch_printed": is_batch_printed,
        "has_stray_mark": has_stray_mark,
        "has_stray_guard": has_stray_guard,
        "batch_count": len(by_item),
    }
    queues = {fact.queue_arn for mine in by_item.values() for fact in mine} - {None}
    if len(queues) == 1:  # a mapping hands over the messages of one queue
        (carried["record_queue_arn"],) = queues
    if invocation.end_status in CUT_OFF:
        carried["caught_error_count"] = sum(_is_caught(error, invocation) for error in errors)
    if not is_batch_printed:
        carried["in_hand_count"] = sum(not all(fact.is_passing for fact in mine) for mine in by_item.values())
    batch = [gathered(item_id, mine, end_ids=list(end_ids), **carried) for item_id, mine in by_item.items()]
    if errors and invocation.end_status == "success":
        _add_errors(errors, batch, invocation)
    elif invocation.end_status in CUT_OFF:
        for delivery in chain.from_iterable(named_by(error, batch) for error in errors):
            delivery.is_named_in_error = True
    mark_maybe_skipped(repeats, batch)
    return batch


def _is_caught(error: Fact, invocation: Invocation) -> bool:
    """Tell whether a run that failed went on behind an error: it was stopped at its timeout, or spoke more than a moment later."""
    return invocation.end_status == "timeout" or invocation.last_line_at - error.at > MOMENT_US


def _add_errors(errors: Iterable[Fact], batch: Sequence[Delivery], invocation: Invocation) -> None:
    """Mark the deliveries of a run that succeeded whose work is doubtful for the errors that it logged.

    An error is of the messages that its line names, by id or by key; where it names none, of those that the response names as failed,
    else of any. Who catches an error may leave the rest of the batch alone: where no response tells, it bears on what did not come before it.
    """
    has_response = batch[0].has_response
    failed = [d for d in batch if has_response and d.is_named_failure]
    for error in errors:
        text = error.detail or ""
        named = named_by(error, batch)
        own = named or failed or batch
        places = [d.batch_position for d in own]
        is_in_order = invocation.order == "sequential" and None not in places
        first = min([place for place in places if place is not None], default=0) if is_in_order else 0
        for delivery in own if has_response else batch:
            is_before = is_in_order and delivery.batch_position is not None and delivery.batch_position < first
            delivery.has_error = delivery.has_error or not is_before
        for delivery in own:
            delivery.has_unanswered_error = delivery.has_unanswered_error or may_hide_an_effect(text)
            delivery.fact_ids = sorted({*delivery.fact_ids, error.evidence_id})


def prints_whole_batch(facts: Iterable[Fact]) -> bool:
    """Tell whether the facts of a run show every message that was handed to it."""
    return any(fact.role == "record" and fact.detail == WHOLE for fact in facts)


def _without_passing(facts: list[Fact]) -> list[Fact]:
    """Leave out mentions of messages that the printed batch does not hold: the run sent them, or speaks of others."""
    batch = {fact.message_id for fact in facts if fact.role == "record"}
    return [fact for fact in facts if fact.role != "mention" or fact.message_id is None or fact.message_id in batch]


def _without_strangers(facts: list[Fact]) -> list[Fact]:
    """Leave out failures that name no message of the batch, or none at all: they are not messages.

    A response with such an entry gives the whole batch back, whatever else it says. Where the batch was not printed whole, what
    looks like a message id is taken for one.
    """
    if not any(fact.role == "failure" for fact in facts):
        return facts
    ids = {fact.message_id for fact in facts if fact.role != "failure"} - {None}
    is_printed = prints_whole_batch(facts)

    def is_one(message_id: str | None) -> bool:
        return message_id in ids or (not is_printed and _MESSAGE_ID.find(message_id) is not None)

    return [fact for fact in facts if fact.role != "failure" or is_one(fact.message_id)]


def _with_named_messages(facts: list[Fact], invocation: Invocation) -> list[Fact]:
    """Give facts that name only a business key, a handle or nothing the message of their run that they mean."""
    if None not in [fact.message_id for fact in facts]:
        return facts
    by_key: dict[str, str] = {}
    by_handle: dict[str, str] = {}
    ids = set()
    for fact in facts:
        if fact.message_id is None:
            continue
        if not fact.is_passing:
            ids.add(fact.message_id)
        if fact.key is not None:
            by_key.setdefault(fact.key, fact.message_id)
        if fact.role == "record" and fact.receipt_handle is not None:
            by_handle.setdefault(handle_prefix(fact.receipt_handle), fact.message_id)
    only = min(ids) if len(ids) == 1 else None
    if any(fact.message_id is None and fact.key is not None and fact.key not in by_key for fact in facts):
        by_key |= _told_in_turn(facts, by_key, invocation)

    def named(fact: Fact) -> Fact:
        if fact.message_id is not None:
            return fact
        if fact.key is not None:
            detail = KEYED if fact.role in _WORKED else fact.detail
            return fact._replace(message_id=by_key.get(fact.key), detail=detail)
        of_handle = None if fact.receipt_handle is None else by_handle.get(handle_prefix(fact.receipt_handle))
        return fact._replace(message_id=of_handle or only)

    return [named(fact) for fact in facts]


def _told_in_turn(facts: Sequence[Fact], by_key: Mapping[str, str], invocation: Invocation) -> dict[str, str]:
    """Return the messages of keys that no line names with one: that of the one message which is in hand and has none so far.

    Where several are, as when a batch is worked on side by side, nothing tells whose key it is. A key for which none is left
    shows that something in hand was not seen, such as what an earlier run left behind: then nothing is told in turn. The same
    shows a key that stands nowhere in the body of a message of which only its record tells that it is in hand, where the batch
    was not printed whole: a function may print the first record of many. Nor is a key told in turn
    where another run was on in the same environment, or where a run failed that was not seen to begin one message behind
    the work of another, unless its function is declared to work in order: the key may be of what a run before left behind,
    and no key of its own need follow then. The same holds for a message that its run itself names as failed, and for all
    that are told behind it.
    """
    if invocation.is_beside_others:
        return {}
    done = {fact.message_id for fact in facts if fact.role in _WORKED and fact.message_id is not None}
    done |= {message_id for key, message_id in by_key.items() if not is_event_id(key)}
    seen, waiting = set(done), set()
    found: dict[str, str] = {}
    bodies = _bodies_of_lone_records(facts)
    is_declared = invocation.order == "sequential"
    is_in_turn = is_declared or invocation.end_status != "error"
    for fact in sorted(facts, key=lambda fact: fact.at):
        if fact.message_id is not None:
            if fact.message_id not in seen and fact.is_of_hand:
                seen.add(fact.message_id)
                waiting.add(fact.message_id)
                is_in_turn = is_in_turn or bool(found)
        elif fact.key is not None and fact.key not in by_key and fact.key not in found:
            if not waiting:
                return {}
            if len(waiting) == 1:
                message_id = waiting.pop()
                if message_id in bodies and not is_word_of(bodies[message_id], fact.key):
                    return {}
                found[fact.key] = message_id
    if not is_declared:
        failed = {fact.message_id for fact in facts if fact.role == "failure"}
        found = dict(takewhile(lambda told: told[1] not in failed, found.items()))
    return found if is_in_turn else {}


def _bodies_of_lone_records(facts: Iterable[Fact]) -> dict[str | None, str]:
    """Return what messages carry, "" where it is not known, of which nothing but a record without its whole batch shows that they are in hand."""
    begun = {fact.message_id for fact in facts if fact.is_of_hand and (fact.role != "record" or fact.detail == WHOLE)}
    records = [fact for fact in facts if fact.role == "record" and fact.message_id not in begun]
    return {fact.message_id: fact.body or "" for fact in records}


def gathered(item_id: str, facts: Sequence[Fact], **carried: Any) -> Delivery:
    """Say in one delivery what the facts about one message (or key) with one consumer say together.

    ``facts``, at least one, are all about this item, in any order; ``carried`` are the fields that say of the consumer, not of the message.
    The settings in force and all that is judged are left at their defaults.

    >>> fact = Fact("record", 1_000, "e-1", "m-1", receive_count=2)
    >>> gathered("m-1", [fact], consumer="c-1", consumer_kind="lambda").receive_count
    2
    """
    delivery = Delivery(item_id=item_id, **carried)
    delivery.message_id = facts[0].message_id
    delivery.business_keys = sorted({fact.key for fact in facts if fact.key is not None})
    delivery.fact_ids = sorted({fact.evidence_id for fact in facts})
    delivery.line_marks = sorted({fact.line_mark for fact in facts if fact.line_mark is not None})
    delivery.is_passing = all(fact.is_passing for fact in facts)
    _add_times(delivery, facts)
    _add_record(delivery, facts)
    for fact in facts:
        if fact.role not in _ONLY_TIMED or fact.detail not in (None, WHOLE, TAKEN):
            _add_details(delivery, facts)
            break
    return delivery


def _add_times(delivery: Delivery, facts: Sequence[Fact]) -> None:
    """Add when each thing was first said of the message, and when anything was first and last; a stop is no word of it."""
    stops = [fact.at for fact in facts if fact.role == STOPPING]
    times = sorted(
        [(fact.at, fact.role) for fact in facts if fact.role != STOPPING or len(stops) == len(facts)], reverse=True
    )
    delivery.first_fact_at, delivery.last_fact_at = times[-1][0], times[0][0]
    delivery.stopped_at = min((at for at in stops if at >= times[0][0]), default=None)
    for at, role in times:  # the earliest is written last
        if role in _TIMES:
            setattr(delivery, _TIMES[role], at)


def _add_record(delivery: Delivery, facts: Sequence[Fact]) -> None:
    """Add what the lines print of the message; where they differ the highest, of its places in the batch the lowest."""
    printed = [fact for fact in facts if fact[_OF_RECORD] != _NOTHING]
    if not printed:
        return
    record = printed[0]
    if any(fact[_OF_RECORD] != record[_OF_RECORD] for fact in printed):
        record = Fact(*[_highest(values) for values in zip(*printed, strict=True)])
        record = record._replace(position=_lowest([fact.position for fact in printed]))
    delivery.receive_count = record.receive_count
    delivery.batch_position = record.position
    delivery.sent_ms = record.sent_ms
    delivery.first_receive_ms = record.first_receive_ms
    delivery.group_id = record.group_id
    delivery.deduplication_id = record.deduplication_id
    delivery.receipt_handle = record.receipt_handle
    delivery.body_md5 = record.body_md5
    if record.queue_arn is not None:
        delivery.record_queue_arn = record.queue_arn
    delivery.dead_letter_source_arn = record.dead_letter_source_arn
    delivery.sender_id = record.sender_id
    delivery.body_shape = record.body_shape


def _add_details(delivery: Delivery, facts: Sequence[Fact]) -> None:
    """Add refused calls, named failures, effects and guards named by key, idempotency lines, and what a worker framework says."""
    roles = {fact.role for fact in facts}
    delivery.is_named_failure = "failure" in roles
    delivery.is_refused = "worker_refused" in roles
    delivery.is_given_up = "worker_gave_up" in roles
    delivery.is_timed_out = "worker_timed_out" in roles
    delivery.is_job = "worker_started" in roles
    if "worker_failed" not in roles and delivery.worker_finished_at is None:  # a listener may acknowledge whatever came
        delivery.worker_finished_at = _lowest([fact.at for fact in facts if fact.role == "worker_acknowledged"])
    details = [(fact.role, fact.detail) for fact in facts if fact.detail is not None]
    delivery.key_marker_count = details.count(("effect", KEYED))
    delivery.is_guard_by_key = ("guard", KEYED) in details
    delivery.is_mark_guessed = ("effect", GUESSED) in details
    of_work = [detail for role, detail in details if role in _WORKED]  # of an error it is what its line says
    delivery.may_be_of_another = PERHAPS in of_work
    if several := [set(detail.removeprefix(ONE_OF).split()) for detail in of_work if detail.startswith(ONE_OF)]:
        delivery.one_of = sorted(set.intersection(*several))
        delivery.may_be_of_another = delivery.may_be_of_another or not delivery.one_of
    delivery.job_id = _highest([detail for role, detail in details if role.startswith("worker_") and role != HIDDEN])
    delivery.visibility_set = _visibility_set(facts)
    delivery.idempotency = _highest([detail for role, detail in details if role == "idempotency"])
    deletes = [fact for fact in facts if fact.is_failed_delete]
    others = [fact for fact in facts if fact.role == "handle_error" and fact not in deletes]
    delivery.delete_at = _lowest([fact.at for fact in deletes])
    delivery.delete_reason = _highest([_reason(fact) for fact in deletes])
    delivery.handle_reason = _highest([_reason(fact) for fact in others])


def _visibility_set(facts: Sequence[Fact]) -> list[tuple[int, int]]:
    """Return when the message's visibility was changed, and until when it was hidden from then on; refused changes left out."""
    found: list[tuple[int, int]] = []
    for fact in sorted(facts, key=lambda fact: fact.at):
        if fact.role == HIDDEN and fact.detail is not None:
            found.append((fact.at, fact.at + int(fact.detail) * 1_000_000))
        elif found and (fact.role == NOT_HIDDEN or _CHANGE in (fact.detail or "") and fact.role == "handle_error"):
            found.pop()
    return found


def _reason(fact: Fact) -> str | None:
    """Return why a call was refused; what a framework says of its deletes names no reason."""
    if fact.role != "handle_error":
        return "other"
    return None if fact.detail is None else fact.detail.partition(":")[0]


def _highest(values: Iterable[Any]) -> Any:
    return max([v for v in values if v is not None], default=None)


def _lowest(values: Iterable[Any]) -> Any:
    return min([v for v in values if v is not None], default=None)
