"""Effect lines that name a key alone, beside the messages that have the key.

Nothing tells in which delivery such a line was written. It may tell of one of which a message's own lines tell, too, or of one
more: where a message's effect line stands beside it the work may have been done twice, though each was seen once.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence

from forensics.judging.evidence import united
from forensics.judging.known import unknown_first
from forensics.judging.model import Message
from forensics.streams.model import Delivery

Item = Sequence[Delivery]


class MarksBeside:
    """By queue and business key, the deliveries of marked works: those that are known by the key alone, and messages'."""

    def __init__(self, items: Iterable[Item]) -> None:
        marked = [d for item in items for d in item if d.marker_at is not None]
        self._alone = _by_key(d for d in marked if d.message_id is None)
        self._of_messages = _by_key(d for d in marked if d.message_id is not None) if self._alone else {}

    def count(self, work: Sequence[Item]) -> int:
        """Return how many deliveries with a mark of the same key may be this work's, too, beside those of its messages, or of its key alone."""
        if not self._alone:  # no message's line stands beside one
            return 0
        messages, keys = apart(work)
        marked = [d for item in messages or keys for d in item if d.marker_at is not None]
        others = self._alone if messages else self._of_messages
        names = {(d.queue_arn, key) for d in marked for key in d.business_keys}
        return sum(
            any(not _is_same_line(mine, other) for mine in marked)
            for name in sorted(names)
            for other in others.get(name, ())
        )


def _by_key(marked: Iterable[Delivery]) -> dict[tuple[str, str], list[Delivery]]:
    found: dict[tuple[str, str], list[Delivery]] = defaultdict(list)
    for delivery in marked:
        for key in delivery.business_keys:
            found[delivery.queue_arn, key].append(delivery)
    return found


def lines_beyond(messages: Sequence[Item], keys: Sequence[Item]) -> int:
    """Return how many lines tell of one key of a work beyond what all deliveries of its messages can have written."""
    if not messages or not keys:
        return 0
    return max(max(map(_maybe_done, keys)) - sum(map(_maybe_done, messages)), 0)


def apart(work: Iterable[Item]) -> tuple[list[Item], list[Item]]:
    """Return the items of a work that are messages, and those of which only a key is known."""
    found: tuple[list[Item], list[Item]] = [], []
    for item in work:
        found[item[0].message_id is None].append(item)
    return found


def count_beyond_messages(work: Sequence[Item]) -> None:
    """Let lines that name a key alone count for sure only beyond what deliveries of the work's messages do.

    Each may tell of one of those, and a line about one key of the work of what a line about another tells of: so many count, the
    last ones, as there are more of them. None of them is a further receive, nor tells how one ended. Changes what it is given.
    """
    messages, keys = apart(work)
    done = sum(_surely_done(item) for item in messages)
    for item in sorted(keys, key=lambda item: (-_surely_done(item), item[0].item_id)) if messages else ():
        sure = [d for d in item if d.effect == "yes"]
        for delivery in sure[: len(sure) - max(len(sure) - done, 0)]:
            delivery.effect, delivery.basis, delivery.effect_at = "unknown", "same_receive", None
        for delivery in item:
            delivery.may_be_same_receive, delivery.ended_by = True, "unknown"
        done = max(done, len(sure))


def with_lines_beside(messages: Sequence[Message], of_keys: Iterable[Item]) -> list[Message]:
    """Return a work's messages with the lines that name its keys alone as what proves them, too.

    What stands for such lines belongs to the time of the message that was received last before they were written, else of the first.
    """
    found = [message for message in messages if message.message_id is not None]
    lines = united(*(d.evidence_ids for item in of_keys for d in item))
    for message in found:
        message.evidence_ids = united(message.evidence_ids, lines)
    for beside in messages:
        if beside.message_id is None:
            at = unknown_first(beside.first_received_at)
            before = [m for m in found if unknown_first(m.first_received_at) <= at]
            home = max(before, key=_by_receive) if before else min(found, key=_by_receive)
            for name in ("first_received_at", "last_received_at", "last_active_at", "visibility_timeout_s"):
                setattr(beside, name, getattr(home, name))
    return list(messages)


def _by_receive(message: Message) -> tuple[object, ...]:
    return *unknown_first(message.first_received_at), message.item_id


def _surely_done(item: Item) -> int:
    return sum(d.effect == "yes" for d in item)


def _maybe_done(item: Item) -> int:
    return sum(d.effect != "no" for d in item)


def _is_same_line(one: Delivery, other: Delivery) -> bool:
    """Tell whether two deliveries stand for one run: of a function that named its message in one line, its key in another."""
    return one.consumer == other.consumer
