"""Where the further message ids of one work come from: each beside the one sent before it, put to the rules."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from forensics.event_ids import is_event_id
from forensics.judging.bounds import may_have_come_unread
from forensics.judging.ending import may_have_moved
from forensics.judging.known import first_known, highest, lowest, unknown_first, unknown_last
from forensics.judging.sends import Send
from forensics.judging.surroundings import Surroundings
from forensics.origins import IdPair, Origin, origin_of
from forensics.settings_in_force import is_unknown
from forensics.streams.model import Delivery

_SDK_RETRY_US = 60 * 1_000_000
"""An SDK that gets no answer asks again within seconds, and gives up within a minute."""


@dataclass(frozen=True, slots=True)
class _Sent:
    """What the deliveries of one message say together of how it was sent."""

    queue_arn: str
    item_id: str
    sent_at: int | None
    received_at: int | None
    deduplication_id: str | None
    body_md5: str | None
    job_id: str | None
    is_fifo: bool | None
    was_dead_lettered: bool | None
    business_keys: frozenset[str]
    sender_id: str | None
    sends: Sequence[Send]
    is_missing_send: bool
    """Lines would have shown its send, and none does."""


def origins(
    work: Sequence[Sequence[Delivery]],
    around: Surroundings,
    maybe_earlier: Sequence[Delivery] | None = None,
    is_id_of_body: bool = False,
) -> dict[str, Origin]:
    """Return the origin by item id of every message of a work but its first, and of that where ``maybe_earlier`` may be the same work.

    The origin is None where several are open, or none is left. A message whose deduplication id is another's message id
    came from that one, whichever was sent before it. ``is_id_of_body``: the id of ``maybe_earlier`` may be the hash of its body. ``work`` holds each item's judged deliveries.
    """
    if len(work) < 2 and maybe_earlier is None:
        return {}
    messages = [_sent(item, around) for item in work if any(d.message_id is not None for d in item)]
    messages.sort(key=_by_receive if any(m.sent_at is None for m in messages) else _by_sent)
    ids = {m.item_id for m in messages}
    found = {}
    for number, message in enumerate(messages):
        earlier = _before(message, messages[:number])
        is_named_after = message.deduplication_id in ids - {message.item_id}
        if earlier is not None or is_named_after:
            found[message.item_id] = origin_of(_ids(earlier, message, is_named_after, around))
    if maybe_earlier is not None and messages[0].item_id not in found:
        pair = _ids(_sent(maybe_earlier, around), messages[0], False, around)
        found[messages[0].item_id] = origin_of(pair._replace(may_be_other_work=True, is_id_of_body=is_id_of_body))
    return found


def _before(message: _Sent, sent: Sequence[_Sent]) -> _Sent | None:
    """Return of what was sent before a message what went last under its deduplication id, else what went last.

    A redrive in between has another id, and says nothing of the window that id had.
    """
    same = [one for one in sent if _is_same(one.deduplication_id, message.deduplication_id)]
    return next(reversed(same or sent), None)


def _ids(earlier: _Sent | None, message: _Sent, is_named_after: bool, around: Surroundings) -> IdPair:
    was_moved = around.was_moved(message.queue_arn, message.sent_at)
    if earlier is None:
        return IdPair(
            earlier_id=str(message.deduplication_id),
            is_fifo=message.is_fifo,
            has_same_deduplication_id=None,
            is_named_after_earlier=True,
            was_moved_then=was_moved,
            shown_by=_shown_by(message),
        )
    same = earlier.business_keys & message.business_keys
    return IdPair(
        earlier_id=str(message.deduplication_id) if is_named_after else earlier.item_id,
        is_fifo=message.is_fifo,
        has_same_deduplication_id=_is_same(earlier.deduplication_id, message.deduplication_id),
        has_same_business_key=bool(same),
        has_same_event=bool(same) and all(is_event_id(key) for key in same),
        has_same_job_id=_is_same(earlier.job_id, message.job_id) is True,
        has_same_body=_is_same(earlier.body_md5, message.body_md5),
        is_named_after_earlier=is_named_after,
        earlier_was_dead_lettered=earlier.was_dead_lettered,
        was_moved_then=was_moved,
        shown_by=_shown_by(message),
        request_id=_same_request(earlier, message),
        is_only_send_logged=_is_only_send_logged(earlier, message),
        is_missing_send=message.is_missing_send,
        sent_gap_s=_seconds_between(earlier.sent_at, message.sent_at),
        sender=message.sender_id,
        earlier_sender=earlier.sender_id,
    )


def _sent(item: Iterable[Delivery], around: Surroundings) -> _Sent:
    of_message = [d for d in item if d.message_id is not None]
    sends = around.sends.of(of_message)
    sent_at = first_known(lowest(d.sent_at for d in of_message), lowest(send.at for send in sends))
    return _Sent(
        of_message[0].queue_arn,
        of_message[0].item_id,
        sent_at,
        lowest(d.received_at for d in of_message),
        highest(d.deduplication_id for d in of_message),
        highest(d.body_md5 for d in of_message),
        highest(d.job_id for d in of_message),
        highest(d.is_fifo for d in of_message),
        _was_dead_lettered(of_message, around),
        frozenset().union(*(d.business_keys for d in of_message)),
        first_known(highest(d.sender_id for d in of_message), highest(send.actor for send in sends)),
        sends,
        all(send.log_group is None for send in sends) and around.sends.would_show(of_message[0].queue_arn, sent_at),
    )


def _was_dead_lettered(of_message: Sequence[Delivery], around: Surroundings) -> bool | None:
    """Tell whether a message went to the dead-letter queue; None where it may have, after receives that nobody read of.

    Or left behind in a queue of which nothing tells whether it had one then.
    """
    if any(may_have_moved(d, around) for d in of_message):
        return True
    last = of_message[-1]
    queue = around.in_force.queue(last.polled_arn, last.received_at)
    is_open = queue is not None and is_unknown(queue, "dead_letter_queue_arn")
    if is_open and last.ended_by not in ("deleted", "in_flight"):
        return None
    has_queue = is_open or any(d.dead_letter_queue_arn is not None for d in of_message)
    return None if has_queue and may_have_come_unread(last, around) else False


def _shown_by(message: _Sent) -> str | None:
    return next((send.shown_by for send in message.sends if send.is_by_producer), None)


def _same_request(earlier: _Sent, message: _Sent) -> str | None:
    """Return the producer's request or job that both were sent by, as its lines say."""
    both = {s.request_id for s in earlier.sends} & {s.request_id for s in message.sends} - {None}
    return lowest(both)


def _is_only_send_logged(earlier: _Sent, message: _Sent) -> bool:
    """Tell whether the producers, who log each send, logged the later one alone: its SDK had got no answer to the earlier."""
    is_logged = any(send.log_group is not None for send in message.sends)
    if not (earlier.is_missing_send and is_logged) or earlier.sent_at is None or message.sent_at is None:
        return False
    return message.sent_at - earlier.sent_at <= _SDK_RETRY_US


def _by_sent(m: _Sent) -> tuple[object, ...]:
    return m.sent_at, unknown_first(m.received_at), m.item_id


def _by_receive(m: _Sent) -> tuple[object, ...]:
    """Sort as messages were received: what was received before another was sent was sent before it, too."""
    return unknown_last(first_known(m.received_at, m.sent_at)), m.item_id


def _is_same(one: str | None, other: str | None) -> bool | None:
    return None if one is None or other is None else one == other


def _seconds_between(one: int | None, other: int | None) -> float | None:
    return None if one is None or other is None else round((other // 1000 - one // 1000) / 1000, 3)
