"""What was judged as rows of the findings tables: tuples in the order of their columns, times in microseconds UTC."""

from collections.abc import Iterator
from operator import attrgetter
from typing import Any

from forensics.judging.model import Message, Redelivery
from forensics.streams.model import Delivery
from forensics.tables.findings import DELIVERIES, MESSAGES, REDELIVERIES

Row = tuple[Any, ...]

_of_delivery = attrgetter(*DELIVERIES.column_names)
_of_redelivery = attrgetter(*REDELIVERIES.column_names)
_INCIDENT_AT = MESSAGES.column_names.index("incident_id")
_of_message = attrgetter(*(name for name in MESSAGES.column_names if name != "incident_id"))


def delivery_row(delivery: Delivery) -> Row:
    """Return the row of a judged delivery in ``deliveries``."""
    return _of_delivery(delivery)


def redelivery_row(redelivery: Redelivery) -> Row:
    """Return its row in ``redeliveries``."""
    return _of_redelivery(redelivery)


def ruling_rows(redelivery: Redelivery) -> Iterator[Row]:
    """Yield one row of ``rulings`` per rule."""
    where = (redelivery.queue_arn, redelivery.item_id, redelivery.delivery_index)
    for ruled in redelivery.rulings:
        yield *where, *ruled, redelivery.evidence_ids


def message_row(message: Message, incident_id: str | None) -> Row:
    """Return its row in ``messages``; ``incident_id`` is the incident it belongs to."""
    row = _of_message(message)
    return *row[:_INCIDENT_AT], incident_id, *row[_INCIDENT_AT:]
