"""Recorded calls out of their files: what there is of them per queue and hour, which sends may link messages, and those that works ask for."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

import polars as pl

from forensics.identity import handle_prefix
from forensics.judging.calls import CHANGE, CLOCK_US, DELETE
from forensics.judging.recorded import HOUR_US
from forensics.judging.sends import SEND
from forensics.spans import merged
from forensics.streams.model import Delivery
from forensics.tables.evidence import SEND_RECORDS

_MOST = 2**64
_US = pl.Datetime("us", "UTC")
_PREFIX_CHARS = len(handle_prefix("x" * 100))


def recorded_in(path: str) -> dict[str, Any]:
    """Return what a file of ``send_records`` holds, per queue ARN: operations, and a sum of hashes per hour since 1970."""
    rows = _columns(path, "queue_arn", "operation", "called_at", "evidence_id").with_columns(
        hour=pl.col("called_at").dt.epoch("us") // HOUR_US, hashed=pl.col("evidence_id").hash()
    )
    found: dict[str, Any] = {}
    for (queue_arn,), mine in rows.collect().group_by("queue_arn"):
        hours: dict[str, int] = defaultdict(int)
        for hour, hashed in mine.select("hour", "hashed").iter_rows():
            hours[str(hour)] = (hours[str(hour)] + hashed) % _MOST
        found[str(queue_arn)] = [sorted(mine["operation"].unique()), {hour: str(v) for hour, v in hours.items()}]
    return found


def sends_in(path: str, patterns: Iterable[str]) -> pl.DataFrame:
    """Return the sends of a file that name their message and what may link it: item_id, deduplication_id, key, at (µs)."""
    rows = _columns(
        path, "operation", "error_code", "message_id", "deduplication_id", "business_key", "called_at", "pattern"
    )
    is_read = pl.col("pattern").is_null() | pl.col("pattern").is_in(list(patterns))
    named = (pl.col("operation") == SEND) & pl.col("error_code").is_null() & pl.col("message_id").is_not_null()
    links = pl.col("deduplication_id").is_not_null() | pl.col("business_key").is_not_null()
    return (
        rows.filter(named & links & is_read)
        .select("deduplication_id", item_id="message_id", key="business_key", at=pl.col("called_at").dt.epoch("us"))
        .collect()
    )


def asked_by(deliveries: Sequence[Delivery], paths: Sequence[str]) -> list[dict[str, Any]]:
    """Return the rows of ``send_records`` that judging some deliveries asks for, each once.

    Those that name one of their messages, keys or receipt handles; and in their time deletes and changes of visibility that
    name no handle, or of any handle where a delivery's own is not known.
    """
    if not paths or not deliveries:
        return []
    rows = pl.concat([_columns(path, *SEND_RECORDS.column_names) for path in paths])
    queues = sorted({d.queue_arn for d in deliveries} | {d.queue for d in deliveries})
    rows = rows.filter(pl.col("queue_arn").is_in(queues))
    ids = {d.message_id for d in deliveries} - {None}
    keys = {key for d in deliveries for key in d.business_keys}
    is_send = pl.col("operation") == SEND
    about = pl.col("message_id").is_in(sorted(ids)) | (is_send & pl.col("business_key").is_in(sorted(keys)))
    found = rows.filter(about).collect()
    handles = {handle_prefix(d.receipt_handle) for d in deliveries if d.receipt_handle is not None}
    prefix = pl.col("receipt_handle").str.slice(0, _PREFIX_CHARS)
    handles |= set(found.select(prefix).to_series().drop_nulls())
    others = rows.filter(pl.col("operation").is_in([DELETE, CHANGE]))
    of_handles = others.filter(prefix.is_in(sorted(handles))).collect()
    near = [_near(others, spans) for spans in _spans(deliveries)]
    near[1] = near[1].filter(pl.col("receipt_handle").is_null())
    return pl.concat([found, of_handles, *near]).unique("evidence_id").sort("evidence_id").to_dicts()


def _near(calls: pl.LazyFrame, spans: Sequence[tuple[int, int]]) -> pl.DataFrame:
    """Return the calls inside of spans, which do not touch."""
    borders = pl.DataFrame(spans, schema={"low": _US, "high": _US}, orient="row")
    at = pl.col("called_at")
    inside = calls.filter(at.is_between(borders["low"].min(), borders["high"].max())).sort("called_at").collect()
    of_span = inside.join_asof(borders, left_on="called_at", right_on="low", strategy="backward")
    return of_span.filter(at <= pl.col("high")).select(inside.columns)


def _spans(deliveries: Iterable[Delivery]) -> list[list[tuple[int, int]]]:
    """Return when calls may have been about deliveries (µs): of items some of whose handles are not known, and of all others."""
    found: list[list[tuple[int, int]]] = [[], []]
    of_item: dict[tuple[str, str], list[Delivery]] = defaultdict(list)
    for delivery in deliveries:
        of_item[delivery.queue_arn, delivery.item_id].append(delivery)
    for item in of_item.values():
        times = [t for d in item for t in (d.received_at, d.run_ended_at, d.hidden_until_at) if t is not None]
        if times:
            has_all = all(d.receipt_handle is not None for d in item)
            found[has_all].append((min(times) - 2 * CLOCK_US, max(times) + 2 * CLOCK_US))
    return [merged(spans) for spans in found]


def _columns(path: str, *names: str) -> pl.LazyFrame:
    """Return columns of a file, null those that an older release did not write."""
    rows = pl.scan_parquet(path)
    there = rows.collect_schema()
    return rows.select(pl.col(n) if n in there else pl.lit(None, pl.String).alias(n) for n in names)
