"""Deliveries that no incident drew, as rows of a timeline: the same bars and marks, of the same rules."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from forensics.clock import micros, moment
from forensics.incidents.timeline import GIVEN, MARKED, mark_rows
from forensics.streams.model import Delivery
from forensics.tables.findings import DELIVERIES

Row = Mapping[str, Any]
_TOLD = tuple(name for name in DELIVERIES.column_names if name in Delivery.__struct_fields__)


def drawn_rows(deliveries: Iterable[Row]) -> list[dict[str, Any]]:
    """Return rows of ``timeline`` of rows of ``deliveries``, without an incident: one lane per item in order of first receive.

    Work counts as done again when another delivery of its ``work_id`` did it before; where a row has none, of its item.
    """
    rows = sorted(deliveries, key=lambda row: (row["item_id"], row["delivery_index"]))
    ledger = [_delivery(row) for row in rows]
    first: dict[str, int] = {}
    for d in ledger:
        for at in (d.received_at, d.started_at, d.sent_at):
            if at is not None:
                first[d.item_id] = min(at, first.get(d.item_id, at))
                break
    lanes = {item: n for n, item in enumerate(sorted(first, key=lambda item: (first[item], item)), 1)}
    found = []
    for made in mark_rows(ledger, {(d.queue_arn, d.item_id) for d in ledger if d.item_id in lanes}):
        told = dict(zip(GIVEN, made, strict=True))
        row = rows[told.pop("place")]
        told |= {name: None if told[name] is None else moment(told[name]) for name in ("at", "until_at")}
        found.append({name: row[name] for name in MARKED} | told | {"lane": lanes[row["item_id"]]})
    return found


def _delivery(row: Row) -> Delivery:
    """Return as much of a delivery as its row tells."""
    told = {name: _plain(row[name]) for name in _TOLD if row.get(name) is not None}
    d = Delivery(**told, sent_ms=None if row["sent_at"] is None else micros(row["sent_at"]) // 1000)
    d.work_id = row.get("work_id") or d.item_id
    if d.consumer_kind == "lambda" and (started_ms := (d.consumer or "").rpartition("|")[2]).isdigit():
        d.run_started_at = int(started_ms) * 1000 or None
    return d


def _plain(value: Any) -> Any:
    return micros(value) if isinstance(value, datetime) else value
