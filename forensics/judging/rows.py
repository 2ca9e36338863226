"""Rows of the findings tables: what was judged, and back to what is to judge. Tuples in the order of their columns, times in microseconds UTC."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import repeat
from operator import attrgetter
from typing import Any

import msgspec

from forensics.judging.model import Message, Redelivery
from forensics.streams.model import Delivery
from forensics.tables.findings import DELIVERIES, MESSAGES, REDELIVERIES

Row = tuple[Any, ...]

delivery_row = attrgetter(*DELIVERIES.column_names)
"""Return the row of a judged delivery in ``deliveries``."""
redelivery_row = attrgetter(*REDELIVERIES.given_names)
"""Return the row of a redelivery in ``redeliveries``."""
_INCIDENT_AT = MESSAGES.given_names.index("incident_id")
_of_message = attrgetter(*(name for name in MESSAGES.given_names if name != "incident_id"))


_AS_THEY_STAND = (
    "item_id",
    "message_id",
    "consumer",
    "consumer_kind",
    "log_group",
    "log_stream",
    "request_id",
    "function_name",
    "run_status",
    "batch_position",
    "batch_count",
    "receive_count",
    "first_receive_ms",
    "group_id",
    "deduplication_id",
    "receipt_handle",
    "body_md5",
    "sender_id",
    "body_shape",
    "dead_letter_source_arn",
    "business_keys",
    "has_response",
    "run_ended_at",
    "started_at",
    "key_marker_count",
    "error_type",
    "is_in_progress",
    "is_not_reached",
)
_BY_ANOTHER_NAME = {
    "record_queue_arn": "queue_arn",
    "marker_at": "finished_at",
    "sent_ms": "sent_at",
    "fact_ids": "evidence_ids",
}
_NAMED = (*_AS_THEY_STAND, *_BY_ANOTHER_NAME)
ORDINARY = (*_AS_THEY_STAND, *_BY_ANOTHER_NAME.values())
"""Columns that tell all of a delivery that vectors put together; times in microseconds, but when it was sent in milliseconds."""
_UNTOLD = msgspec.structs.asdict(Delivery(item_id=""))


def ordinary_deliveries(columns: Iterable[Sequence[Any]]) -> list[Delivery]:
    """Return the deliveries that columns of ORDINARY tell of, not yet placed among the settings in force."""
    told: dict[str, Iterable[Any]] = dict(zip(_NAMED, columns, strict=True))
    started = [int((consumer or "").rpartition("|")[2]) * 1000 for consumer in told["consumer"]]
    told |= {"run_started_at": started, "record_at": started, "is_batch_printed": repeat(True), "init_ms": repeat(0)}
    rows = zip(*(told[name] if name in told else repeat(value) for name, value in _UNTOLD.items()), strict=False)
    return msgspec.convert(list(rows), list[Delivery])


def ruling_rows(redelivery: Redelivery) -> Iterator[Row]:
    """Yield one row of ``rulings`` per rule."""
    where = (redelivery.queue_arn, redelivery.item_id, redelivery.delivery_index)
    for ruled in redelivery.rulings:
        yield *where, *ruled, redelivery.evidence_ids


def message_row(message: Message, incident_id: str | None) -> Row:
    """Return its row in ``messages``; ``incident_id`` is the incident it belongs to."""
    row = _of_message(message)
    return *row[:_INCIDENT_AT], incident_id, *row[_INCIDENT_AT:]
