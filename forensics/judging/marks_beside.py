"""Effect lines that name a key alone, beside messages whose own effect line names the same key.

Where nothing tells whose such a line is, it is a work of its own. Together with a message's line it shows that the work may
have been done twice, though each was seen once.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence

from forensics.streams.model import Delivery


class MarksBeside:
    """By queue and business key, the deliveries of marked works: those that are known by the key alone, and messages'."""

    def __init__(self, items: Iterable[Sequence[Delivery]]) -> None:
        self._alone: dict[tuple[str, str], list[Delivery]] = defaultdict(list)
        self._of_messages: dict[tuple[str, str], list[Delivery]] = defaultdict(list)
        marked = [d for item in items for d in item if d.marker_at is not None]
        is_any_alone = any(d.message_id is None for d in marked)
        for delivery in marked if is_any_alone else ():
            found = self._alone if delivery.message_id is None else self._of_messages
            for key in delivery.business_keys:
                found[delivery.queue_arn, key].append(delivery)

    def count(self, work: Sequence[Sequence[Delivery]]) -> int:
        """Return how many deliveries with a mark of the same key may be this work's, too, beside those that it has."""
        if not self._alone:  # no message's line stands beside one
            return 0
        marked = [d for item in work for d in item if d.marker_at is not None]
        names = {(d.queue_arn, key) for d in marked for key in d.business_keys}
        is_alone = all(d.message_id is None for d in marked)
        others = self._of_messages if is_alone else self._alone
        return sum(
            any(not _is_same_line(mine, other) for mine in marked) for name in sorted(names) for other in others[name]
        )


def _is_same_line(one: Delivery, other: Delivery) -> bool:
    """Tell whether two deliveries stand for one run: of a function that named its message in one line, its key in another."""
    return one.consumer == other.consumer
