"""Whether an incident was still going on where the evidence ends; no clock is asked."""

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any

from forensics.people import is_settled

Row = Mapping[str, Any]
QUIET_AFTER = timedelta(hours=1)


def quiet_for(incident: Row, until: datetime | None) -> timedelta | None:
    """Return how long before the end of the data its last activity was; None where the data has no end."""
    return until - incident["ended_at"] if until and incident["ended_at"] else None


def is_open(incident: Row, until: datetime | None) -> bool:
    """Tell whether it was still going on in the last hour of the data; what people set aside as a whole is not."""
    if is_settled(incident):
        return False
    quiet = quiet_for(incident, until)
    return quiet is None or quiet <= QUIET_AFTER


def have_left(items: Iterable[str], deliveries: Iterable[Row], on_queue: Iterable[Row]) -> bool:
    """Tell whether all of an incident's messages were put aside or lost, so that nothing is left to be redelivered.

    ``deliveries`` are theirs, ``on_queue`` the findings about their queue. No messages at all: nothing tells.
    """
    last: dict[str, Row] = {}
    for delivery in deliveries:
        item = delivery["item_id"]
        if item not in last or delivery["delivery_index"] > last[item]["delivery_index"]:
            last[item] = delivery
    gone = {item for item, delivery in last.items() if delivery["ended_by"] == "dead_lettered"}
    gone |= {row["item_id"] for row in on_queue if row["code"] == "retention_expired"}
    every = set(items)
    return bool(every) and every <= gone
