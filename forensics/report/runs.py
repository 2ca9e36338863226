"""Deliveries grouped by the consumer that got them, and how a source is named."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

Row = Mapping[str, Any]


def source_text(delivery: Row) -> str:
    """Name where a delivery's lines are: log stream and request id, or that no log shows it."""
    if not delivery["is_seen"]:
        return "receive count only; no log shows it"
    place = " ".join(filter(None, (delivery["log_group"], delivery["log_stream"])))
    if delivery["request_id"]:
        return f"{place} request {delivery['request_id']}".strip()
    return place or "log"


def consumer_text(delivery: Row) -> str:
    """Name who got a delivery: the function, else the worker's log group."""
    return str(delivery["function_name"] or delivery["log_group"] or "an unknown consumer")


def came_at(redelivery: Row) -> datetime | None:
    """Return when a message came again: its receive, or, where both runs had one receive, when the later one began.

    Data versions of earlier releases do not tell the two apart.
    """
    is_one_receive = redelivery.get("is_one_receive")
    at: datetime | None = redelivery["invoked_again_at" if is_one_receive else "later_received_at"]
    return at


def same_run(deliveries: Iterable[Row], delivery: Row) -> list[Row]:
    """Return the deliveries that the same run or handling got; the delivery alone if no log shows its consumer."""
    if delivery["consumer"] is None:
        return [delivery]
    return [d for d in deliveries if d["consumer"] == delivery["consumer"]]


def ids_of(rows: Iterable[Row]) -> tuple[str, ...]:
    """Return the evidence ids of rows, sorted, each once."""
    return tuple(sorted({i for row in rows for i in row["evidence_ids"] or ()}))


def is_named_whole(run: Iterable[Row]) -> bool:
    """Tell whether lines name every message that the deliveries' run had: a function may have had more, unless it printed its batch."""
    return all(d["batch_position"] is not None or d["consumer_kind"] != "lambda" for d in run)
