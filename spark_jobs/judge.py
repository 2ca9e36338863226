"""Whole works to verdicts: loads what deliveries there are of a unit's items, judges them, and writes what follows."""

from collections.abc import Iterable, Iterator, Sequence
from operator import attrgetter
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import polars as pl

from forensics.counting.measures import delivery_measures, last_causes, returned_batches
from forensics.incidents.timeline import MARK_COLUMNS, mark_rows
from forensics.judging.judge import judge
from forensics.judging.model import Judged, Ruled
from forensics.judging.placing import place
from forensics.judging.rows import ORDINARY, delivery_row, message_row, ordinary_delivery, redelivery_row
from forensics.judging.surroundings import Surroundings
from forensics.rules.ruling import UNDECIDABLE
from forensics.streams.model import Delivery
from forensics.streams.reading import Reading
from forensics.tables.findings import DELIVERIES, MESSAGES, REDELIVERIES, RULINGS, TIMELINE
from spark_jobs.parts import UTC_US, frame, other_deliveries, packed, read_part, schema_of, unpacked, written

_TIMES = ("run_ended_at", "started_at", "finished_at", "sent_at")

WORK_SCHEMA = {"queue_arn": pl.String, "work_id": pl.String, "judged": pl.Binary}
"""One work: its ledger, redeliveries and verdicts as JSON."""

VERDICT_SCHEMA: dict[str, Any] = {
    "queue_arn": pl.String,
    "queue": pl.String,
    "item_id": pl.String,
    "work_id": pl.String,
    "first_received_at": pl.Int64,
    "last_received_at": pl.Int64,
    "last_active_at": pl.Int64,
    "visibility_timeout_s": pl.Int32,
    "is_affected": pl.Boolean,
}
"""What membership in incidents asks of a verdict; times in µs."""

MARK_SCHEMA = {name: (schema_of(TIMELINE) | schema_of(DELIVERIES))[name] for name in MARK_COLUMNS}


def loaded(sources: Iterable[tuple[Path, pl.DataFrame]], reading: Reading) -> list[Delivery]:
    """Return the deliveries of some items: ``sources`` are parts, each with who of them a plan says is in it."""
    found: list[Delivery] = []
    at = pl.col("received_at")
    for folder, owners in sources:
        times = owners.select(pl.col("first_at").min(), pl.col("last_at").max()).row(0)
        low, high = (pl.lit(time).cast(UTC_US) for time in times)
        # the times let all but a few rows of a file unread
        mine = pl.col("item_hash").is_in(owners["owner"].implode()) & (at.is_between(low, high) | at.is_null())
        frames = [read_part(folder, "open"), *([other_deliveries(folder)] if owners["is_other"].any() else [])]
        for rows in frames:
            found += deliveries_of_rows(rows.filter(mine).collect(), reading)
    return found


def deliveries_of_rows(rows: pl.DataFrame, reading: Reading) -> Iterator[Delivery]:
    """Yield rows (``DELIVERY_SCHEMA``) as deliveries, placed among the settings in force."""
    for raw in rows["raw"].drop_nulls():
        yield unpacked(raw)
    ordinary = rows.filter(pl.col("raw").is_null()).with_columns(pl.col(name).dt.epoch("us") for name in _TIMES)
    for row in ordinary.select(ORDINARY).iter_rows():
        delivery = ordinary_delivery(row)
        group = reading.groups.of(delivery.log_group or "", delivery.log_stream or "")
        place(delivery, group, reading.in_force)
        yield delivery


def write_judged(deliveries: Sequence[Delivery], around: Surroundings, folder: Path) -> dict[str, Any]:
    """Judge whole works and write their rows; returns counts."""
    judged = judge(deliveries, around)
    ledger = frame((delivery_row(d) for d in judged.ledger), schema_of(DELIVERIES))
    redeliveries = frame((redelivery_row(r) for r in judged.redeliveries), schema_of(REDELIVERIES))
    written(folder, "deliveries", ledger, DELIVERIES.key)
    written(folder, "redeliveries", redeliveries, REDELIVERIES.key)
    written(folder, "rulings", _rulings(judged, redeliveries), RULINGS.key)
    written(
        folder, "messages", frame((message_row(m, None) for m in judged.messages), schema_of(MESSAGES)), MESSAGES.key
    )
    marks = frame(mark_rows(judged.ledger, judged.messages), MARK_SCHEMA)
    written(folder, "marks", marks, ("queue_arn", "item_id"))
    verdicts = frame(map(attrgetter(*VERDICT_SCHEMA), judged.messages), VERDICT_SCHEMA)
    written(folder, "verdicts", verdicts, ("queue_arn", "item_id"))
    for redelivery in judged.redeliveries:
        # all stand in their own table, and are most of what there is to say
        redelivery.rulings = [ruled for ruled in redelivery.rulings if ruled.stance == UNDECIDABLE]
    for delivery in judged.ledger:  # nobody asks any more: evidence_ids has them all
        delivery.fact_ids = delivery.end_ids = []
    works = [(*work, packed(told), told.is_unfinished) for work, told in judged.by_work().items()]
    schema, order = WORK_SCHEMA | {"is_unfinished": pl.Boolean}, ("queue_arn", "work_id")
    rows = frame(works, schema)
    written(folder, "works", rows.select(*WORK_SCHEMA), order)
    written(folder, "ends", rows.filter("is_unfinished").select(*WORK_SCHEMA), order)
    written(folder, "measures", delivery_measures(ledger, last_causes(redeliveries)))
    written(folder, "returned", returned_batches(ledger))
    return {
        "deliveries": len(judged.ledger),
        "messages": len(judged.messages),
        "queues": sorted({d.queue_arn for d in judged.ledger}),
    }


def _rulings(judged: Judged, redeliveries: pl.DataFrame) -> pl.DataFrame:
    """Return every rule's answers; what they rest on is taken from their redelivery, not written again for each."""
    schema = {name: pl.String for name in RULINGS.column_names if name.startswith(Ruled._fields)}
    told = frame([ruled for r in judged.redeliveries for ruled in r.rulings], schema)
    places = np.repeat(np.arange(redeliveries.height), [len(r.rulings) for r in judged.redeliveries])
    rest = [name for name in RULINGS.column_names if name not in schema]
    return pl.concat([told, redeliveries.select(rest)[places]], how="horizontal").select(*schema_of(RULINGS))


def works_of(path: str, wanted: pl.Expr | None = None) -> Iterator[Judged]:
    """Yield works from a file of them."""
    rows = pl.scan_parquet(path)
    for raw in (rows if wanted is None else rows.filter(wanted)).select("judged").collect().to_series():
        yield _JUDGED(raw)


_JUDGED = msgspec.json.Decoder(Judged).decode
