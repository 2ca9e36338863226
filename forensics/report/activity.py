"""Whether an incident was still going on where the evidence ends; no clock is asked."""

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any

from forensics.people import is_settled
from forensics.sentence import said

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


def state_of(incident: Row, until: datetime | None, is_active: bool = True) -> str:
    """Say ``open``, or for how long nothing has happened; ``is_active`` is what its opening says, where that is known.

    What stops it is offered for "if it comes back" where this does not say ``open``.
    """
    if is_settled(incident):
        return "set aside"
    quiet = quiet_for(incident, until)
    if quiet is None or quiet <= QUIET_AFTER:
        return open_text(is_active)
    return quiet_text(quiet)


def open_text(is_active: bool) -> str:
    """Say of what was going on where the data ends whether something of it is left to be stopped."""
    return "open" if is_active else "nothing left to stop"


def quiet_text(quiet: timedelta) -> str:
    """Say for how long nothing has happened."""
    hours = int(quiet.total_seconds() // 3600)
    return said("quiet {count} h", count=hours) if hours < 48 else said("quiet {count} d", count=hours // 24)


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
