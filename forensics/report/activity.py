"""Whether an incident is open where the evidence ends, in the words that every list, badge and sentence uses; no clock is asked."""

from collections.abc import Collection, Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any

from forensics.people import is_settled
from forensics.sentence import said

Row = Mapping[str, Any]
QUIET_AFTER = timedelta(hours=1)
OPEN, ALL_GONE, SET_ASIDE = "open", "nothing left to stop", "set aside"
IS_GONE = "is_gone"
"""What ``with_gone`` adds to a row of ``incidents``: whether all its messages were dead-lettered or lost."""


def quiet_for(incident: Row, until: datetime | None) -> timedelta | None:
    """Return how long before the end of the data its last activity was; None where the data has no end."""
    return until - incident["ended_at"] if until and incident["ended_at"] else None


def was_active(incident: Row, until: datetime | None) -> bool:
    """Tell whether something of it happened in the last hour of the data, or may have."""
    quiet = quiet_for(incident, until)
    return quiet is None or quiet <= QUIET_AFTER


def is_open(incident: Row, until: datetime | None) -> bool:
    """Tell whether something of it is left to be stopped where the data ends."""
    return state_of(incident, until) == OPEN


def state_of(incident: Row, until: datetime | None) -> str:
    """Say ``open``, or that nothing is left to stop, that people set it aside, or for how long nothing has happened.

    What stops it is offered for "if it comes back" where this does not say ``open``.
    """
    if is_settled(incident):
        return SET_ASIDE
    if was_active(incident, until):
        return ALL_GONE if incident.get(IS_GONE) else OPEN
    return quiet_text(quiet_for(incident, until) or timedelta())


def state_of_all(incidents: Collection[Row], until: datetime | None) -> str:
    """Say the same of incidents together: they are open where one of them is, and quiet since the last one is."""
    states = {state_of(incident, until) for incident in incidents}
    if told := next((state for state in (OPEN, ALL_GONE) if state in states), None):
        return told
    return SET_ASIDE if states == {SET_ASIDE} else quiet_text(least_quiet(incidents, until) or timedelta())


def least_quiet(incidents: Iterable[Row], until: datetime | None) -> timedelta | None:
    """Return how long before the end of the data the last activity of incidents was; None where nothing tells."""
    return min((q for i in incidents if (q := quiet_for(i, until)) is not None), default=None)


def quiet_text(quiet: timedelta) -> str:
    """Say for how long nothing has happened."""
    hours = int(quiet.total_seconds() // 3600)
    return said("quiet {count} h", count=hours) if hours < 48 else said("quiet {count} d", count=hours // 24)


def with_gone(incidents: Iterable[Row], gone: Collection[str]) -> list[Row]:
    """Return incidents, those of which all messages are ``gone`` with that they are."""
    return [{**i, IS_GONE: True} if i["incident_id"] in gone else i for i in incidents]


def have_left(items: Iterable[str], deliveries: Iterable[Row], on_queue: Iterable[Row]) -> bool:
    """Tell whether all of an incident's messages were put aside or lost, so that nothing is left to be redelivered.

    ``deliveries`` are theirs, ``on_queue`` the findings about their queue. No messages at all: nothing tells. What may have
    been lost is not gone.
    """
    last: dict[str, Row] = {}
    for delivery in deliveries:
        item = delivery["item_id"]
        if item not in last or delivery["delivery_index"] > last[item]["delivery_index"]:
            last[item] = delivery
    gone = {item for item, delivery in last.items() if delivery["ended_by"] == "dead_lettered"}
    gone |= lost_of(on_queue)
    every = set(items)
    return bool(every) and every <= gone


def lost_of(on_queue: Iterable[Row]) -> set[str]:
    """Return the items whose retention surely ended before their work was seen done."""
    return {row["item_id"] for row in on_queue if row["code"] == "retention_expired" and row["stance"] == "supported"}
