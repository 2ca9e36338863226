"""Which queues set messages aside, and where."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

Row = Mapping[str, Any]


def sources_of(queue_settings: Iterable[Row]) -> dict[str, list[str]]:
    """Return, per dead-letter queue, the queues that set messages aside in it."""
    found: dict[str, set[str]] = {}
    for row in queue_settings:
        if row["dead_letter_queue_arn"]:
            found.setdefault(row["dead_letter_queue_arn"], set()).add(row["queue_arn"])
    return {arn: sorted(queues) for arn, queues in found.items()}


def has_fifo_dead_letters(consumers: Iterable[Row], queue_settings: Sequence[Row]) -> bool:
    """Tell whether any FIFO queue has a dead-letter queue, or nothing says that it has none."""
    told = {row["queue_arn"] for row in queue_settings}
    is_untold = any(row["queue_arn"].endswith(".fifo") and row["queue_arn"] not in told for row in consumers)
    return is_untold or any(row["is_fifo"] and row["dead_letter_queue_arn"] for row in queue_settings)
