"""Whole works to verdicts: loads what deliveries there are of a unit's items, judges them, and writes what follows."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from operator import attrgetter, itemgetter
from pathlib import Path
from typing import Any, Literal

import msgspec
import numpy as np
import polars as pl

from forensics.counting.frame_files import write_mapped
from forensics.counting.frames import UTC_US, frame, schema_of
from forensics.counting.measures import delivery_measures, last_causes, returned_batches
from forensics.counting.membership import VERDICT_SCHEMA
from forensics.counting.periods import span_of
from forensics.incidents.sure import sure_shares
from forensics.incidents.timeline import MARK_COLUMNS, mark_rows
from forensics.incidents.told import Told, told
from forensics.judging.judge import by_run, judge
from forensics.judging.model import Judged, Redelivery, Ruled
from forensics.judging.placing import place
from forensics.judging.rows import ORDINARY, delivery_row, message_row, ordinary_deliveries, redelivery_row
from forensics.judging.surroundings import Surroundings
from forensics.rules import RULES
from forensics.rules.ruling import UNDECIDABLE
from forensics.streams.model import Delivery, LogGroup
from forensics.streams.reading import Reading
from forensics.tables import Table
from forensics.tables.findings import DELIVERIES, MESSAGES, REDELIVERIES, RULINGS, TIMELINE
from spark_jobs.parts import other_deliveries, packed, read_part, unpacked, written

_TIMES: dict[str, Literal["us", "ms"]] = {
    "run_ended_at": "us",
    "started_at": "us",
    "finished_at": "us",
    "sent_at": "ms",
}

WORK_SCHEMA = {"queue_arn": pl.String, "work_id": pl.String, "judged": pl.Binary}
"""One work, packed: what it tells incidents (``Told``), or all of it (``Judged``)."""
SHARE_SCHEMA = {"queue_arn": pl.String, "item_id": pl.String, "share": pl.Binary}
"""What some works tell of the incident of one of their messages, packed (``Share``)."""

VERDICTS, VERDICT_ROWS, MARKS = "verdicts.arrow", "messages.arrow", "marks.arrow"
MARK_SCHEMA = {"place": pl.UInt32, **{name: schema_of(TIMELINE)[name] for name in MARK_COLUMNS[1:]}}
_by_code = itemgetter(*(list(RULES).index(code) for code in sorted(RULES)))


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
    times = (pl.col(name).dt.epoch(unit) for name, unit in _TIMES.items())
    rows = rows.filter(pl.col("raw").is_null()).with_columns(times)
    groups: dict[tuple[str, str], LogGroup] = {}
    for delivery in ordinary_deliveries([rows[name].to_list() for name in ORDINARY]):
        stream = (delivery.log_group or "", delivery.log_stream or "")
        if (group := groups.get(stream)) is None:
            group = groups[stream] = reading.groups.of(*stream)
        place(delivery, group, reading.in_force)
        yield delivery


def write_judged(deliveries: Sequence[Delivery], around: Surroundings, folder: Path) -> dict[str, Any]:
    """Judge whole works and write their rows; returns counts."""
    judged = judge(deliveries, around)
    works = judged.by_work()
    judged.ledger.sort(key=by_run)  # as they came and lie in memory, which saves a third of reading them
    judged.redeliveries.sort(key=lambda redelivery: redelivery.earlier_received_at or 0)
    judged.messages.sort(key=lambda message: message.first_received_at or 0)
    ledger, places = _in_order(DELIVERIES, map(delivery_row, judged.ledger))
    redeliveries, order = _in_order(REDELIVERIES, map(redelivery_row, judged.redeliveries))
    messages, _ = _in_order(MESSAGES, (message_row(m, None) for m in judged.messages if not m.is_beside_messages))
    written(folder, "deliveries", ledger)
    written(folder, "redeliveries", redeliveries)
    written(folder, "rulings", _rulings([judged.redeliveries[n] for n in order], redeliveries))
    write_mapped(messages, folder / VERDICT_ROWS)
    drawn = {(message.queue_arn, message.item_id) for message in judged.messages}
    marks = frame(mark_rows(judged.ledger, drawn), MARK_SCHEMA)
    write_mapped(marks.with_columns(places.arg_sort().gather(marks["place"]).alias("place")), folder / MARKS)
    verdicts = frame(map(attrgetter(*VERDICT_SCHEMA), judged.messages), VERDICT_SCHEMA)
    write_mapped(verdicts.sort("queue_arn", "item_id"), folder / VERDICTS)
    # all rulings stand in their own table, and are most of what there is to say
    once = {id(r.rulings): r.rulings for r in judged.redeliveries}
    undecided = {key: [one for one in every if one.stance == UNDECIDABLE] for key, every in once.items()}
    for redelivery in judged.redeliveries:
        redelivery.rulings = undecided[id(redelivery.rulings)]
    shares, others = sure_shares(works)
    written(folder, "shares", frame(((*name, packed(share)) for *name, share in shares), SHARE_SCHEMA))
    written(folder, "works", frame(((*name, packed(told(work))) for name, work in others.items()), WORK_SCHEMA))
    unfinished = {name: work for name, work in works.items() if work.is_unfinished}
    written(folder, "ends", frame(((*name, packed(work)) for name, work in unfinished.items()), WORK_SCHEMA))
    received = ledger.filter(
        pl.Series([not d.is_beside_messages for d in judged.ledger], dtype=pl.Boolean).gather(places)
    )
    written(folder, "measures", measures := delivery_measures(received, last_causes(redeliveries)))
    written(folder, "returned", returned_batches(ledger))
    return {
        "deliveries": len(judged.ledger),
        "messages": messages.height,
        "queues": sorted({arn for d in judged.ledger for arn in (d.queue_arn, d.polled_arn)}),
        "measured": span_of(measures),
        "unfinished": sorted({queue_arn for queue_arn, _ in unfinished}),
    }


def _in_order(table: Table, rows: Iterable[tuple[Any, ...]]) -> tuple[pl.DataFrame, pl.Series]:
    """Return rows of a table by its key, and where each stood."""
    made = frame(rows, schema_of(table))
    order = made.select(pl.arg_sort_by(table.key)).to_series()
    return made[order], order


def _rulings(again: Sequence[Redelivery], redeliveries: pl.DataFrame) -> pl.DataFrame:
    """Return every rule's answers, of redeliveries in order: what many have in common is made once and taken for each."""
    names = {name: pl.String for name in RULINGS.column_names if name.startswith(Ruled._fields)}
    answers: dict[Ruled, int] = {}
    places: dict[int, list[int]] = {}  # those of redeliveries that are alike are one list
    for redelivery in again:
        if id(redelivery.rulings) not in places:
            in_order = _by_code(redelivery.rulings)
            places[id(redelivery.rulings)] = [answers.setdefault(one, len(answers)) for one in in_order]
    found = frame(answers, names)[list(chain.from_iterable(places[id(r.rulings)] for r in again))]
    counts = [len(r.rulings) for r in again]
    rest = [name for name in RULINGS.column_names if name not in names]
    of_each = redeliveries.select(rest)[np.repeat(np.arange(len(again)), counts)]
    return pl.concat([found, of_each], how="horizontal").select(*schema_of(RULINGS))


def open_works_in(folder: Path) -> Iterator[Told]:
    """Yield what judged works tell incidents, of those that are in no share."""
    return map(_TOLD, read_part(folder, "works").collect()["judged"])


def ends_in(folder: Path, wanted: pl.Expr) -> Iterator[Judged]:
    """Yield the judged works of which some message was not deleted in the end."""
    return map(_JUDGED, read_part(folder, "ends").filter(wanted).collect()["judged"])


_TOLD, _JUDGED = msgspec.msgpack.Decoder(Told).decode, msgspec.msgpack.Decoder(Judged).decode
