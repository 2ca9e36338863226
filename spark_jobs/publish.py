"""Judged works to what people read: incidents with their timelines, findings about queues, queue health, checks."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import msgspec
import polars as pl

from forensics.clock import moment
from forensics.counting import fifo_groups
from forensics.counting.digests import digests_by
from forensics.counting.frame_files import mapped, write_mapped
from forensics.counting.frames import frame, schema_of
from forensics.counting.measures import NO_MEASURES, returned_batches, verdict_measures
from forensics.counting.members import INCIDENT, MESSAGES_PER_UNIT
from forensics.counting.metrics import metric_measures, read_measures
from forensics.counting.periods import days_together, of_days, periods_of, queue_health_rows, queue_weeks_rows, span_of
from forensics.counting.readiness import together
from forensics.counting.recent import setting_findings
from forensics.counting.runs import failed_runs
from forensics.identity import FIFO_ENDING
from forensics.incidents.blind_windows import balance_points, blind_owners, blind_windows
from forensics.incidents.gaps import Gaps
from forensics.incidents.shares import Share
from forensics.incidents.sure import open_shares
from forensics.incidents.timeline import MARKED
from forensics.incidents.whole import told_of
from forensics.judging.finality import Finality
from forensics.judging.written import Writer
from forensics.known import Known
from forensics.queue_findings.queue import Measured, rows_of_queue, told_of_groups
from forensics.readiness import logging_readiness
from forensics.tables.evidence import METRIC_POINTS
from forensics.tables.findings import (
    COUNTERFACTUALS,
    DELIVERIES,
    INCIDENTS,
    LOGGING_READINESS,
    MESSAGES,
    QUEUE_FINDINGS,
    TIMELINE,
)
from forensics.tables.health import QUEUE_HEALTH, QUEUE_WEEKS, SETTING_FINDINGS
from spark_jobs.cache import Cache, Summary, kernel
from spark_jobs.candidates import frames_in, write_frames
from spark_jobs.judge import MARKS, VERDICT_ROWS, ends_in, open_works_in
from spark_jobs.members import Members
from spark_jobs.parts import packed, read_part, written

MEASURED_PER_UNIT = 8
"""So many parts and judged units are counted together by day."""
SHARE_SCHEMA = dict.fromkeys(INCIDENT, pl.String) | {"share": pl.Binary}
NEXT_SCHEMA = {"queue_arn": pl.String, "item_id": pl.String, "at": pl.Int64}
_SHARE = msgspec.msgpack.Decoder(Share).decode
Unit = dict[str, Any]
Row = dict[str, Any]


@dataclass(frozen=True)
class Surrounding:
    """What incidents and findings rest on besides judged works; times in µs."""

    cache: Cache
    known: Known
    gaps: Gaps
    rule_points: Sequence[Row]
    measured: Measured
    finality: Finality
    zone: ZoneInfo
    members: Members

    @property
    def until(self) -> datetime | None:
        """The end of the evidence, UTC."""
        return None if self.measured.data_until is None else moment(self.measured.data_until)


@kernel("messages")
def messages(around: Surrounding, unit: Unit, folder: Path) -> Summary:
    """Write the verdicts of one judged unit with their incidents, the bars and marks of those, and what its works tell of each."""
    judged = around.cache.entry("judge", unit["judged"])
    rows = mapped(judged / VERDICT_ROWS).drop("incident_id")
    mine = around.members.rows(pl.col("part") == unit["part"]).sort(*INCIDENT, "lane")
    named = mine.select("queue_arn", "item_id", "incident_id", "lane")
    rows = rows.join(named, on=["queue_arn", "item_id"], how="left").select(*schema_of(MESSAGES))
    written(folder, "messages", rows, MESSAGES.key)
    drawn = read_part(judged, "deliveries").select(MARKED).with_row_index("place").collect()
    marks = mapped(judged / MARKS).join(drawn.join(named, on=["queue_arn", "item_id"]), on="place")
    written(folder, "timeline", marks.select(*schema_of(TIMELINE)), TIMELINE.key)
    written(folder, "shares", _shares(judged, mine))
    written(folder, "measures", measures := verdict_measures(rows))
    return {"messages": rows.height, "measured": span_of(measures)}


def _shares(judged: Path, mine: pl.DataFrame) -> pl.DataFrame:
    """Return what the works of a judged unit tell of each incident, given the members among them."""
    sure = read_part(judged, "shares").collect().join(mine, on=["queue_arn", "item_id"]).select(*SHARE_SCHEMA)
    members_ = mine.select(*INCIDENT, "item_id", "work_id", "is_member_affected").iter_rows()
    found = [(*name, packed(share)) for *name, share in open_shares(members_, open_works_in(judged))]
    return pl.concat([sure, pl.DataFrame(found, SHARE_SCHEMA, orient="row")])


@kernel("incidents")
def incidents(around: Surrounding, unit: Unit, folder: Path) -> Summary:
    """Write incidents that began in one stretch of time, with counterfactuals."""
    wanted = around.members.incidents(unit["unit"]).lazy()
    files = [around.cache.entry("messages", name) / "shares.parquet" for name in unit["shares"]]
    found = pl.scan_parquet(files).join(wanted, on=list(INCIDENT), how="semi").select(*INCIDENT, "share")
    shares: dict[tuple[str, str], list[Share]] = defaultdict(list)
    for queue_arn, incident_id, share in found.collect().iter_rows():
        shares[queue_arn, incident_id].append(_SHARE(share))
    told: list[Row] = []
    answers: list[Row] = []
    for (queue_arn, incident_id), mine in sorted(shares.items()):
        blocked_ms = unit["blocked_ms"].get(f"{queue_arn} {incident_id}")
        one = told_of(incident_id, queue_arn, mine, around.gaps, blocked_ms)
        told.append(one.row)
        answers += one.counterfactuals
    written(folder, "incidents", frame(told, schema_of(INCIDENTS)), INCIDENTS.key)
    written(folder, "counterfactuals", frame(answers, schema_of(COUNTERFACTUALS)), COUNTERFACTUALS.key)
    return {"incidents": len(told), "ids": [row["incident_id"] for row in told]}


@kernel("group_runs")
def group_runs(around: Surrounding, unit: Unit, folder: Path) -> Summary:
    """Sum up what one entry tells of the message groups of FIFO queues."""
    alone, others = (_deliveries_in(around.cache, unit, step).select(fifo_groups.COLUMNS) for step in _ENTRIES)
    write_mapped(found := fifo_groups.runs_of(pl.concat([alone, others]).collect()), folder / "runs.arrow")
    write_mapped(fifo_groups.items_of(others).collect(), folder / "items.arrow")
    return {"runs": found.height, "until": found["received_at"].max() or 0}


@kernel("settled_groups")
def settle_groups(around: Surrounding, unit: Unit, folder: Path) -> Summary:
    """Put into one what ``runs`` that have been there for long tell of message groups."""
    before = fifo_groups.settled(_runs_in(around.cache, enumerate(unit["runs"])))
    write_frames(before, folder)
    items = _items_in(around.cache.entry("group_runs", name) for name in unit["runs"])
    write_mapped(items, folder / "items.arrow")
    return {}


def _runs_in(cache: Cache, named: Iterable[tuple[int, str]]) -> pl.DataFrame:
    """Return what ``group_runs`` told of entries, by their number."""
    told = [
        mapped(cache.entry("group_runs", name) / "runs.arrow").with_columns(entry=pl.lit(n, pl.UInt32))
        for n, name in named
    ]
    return pl.concat([pl.DataFrame(schema=fifo_groups.RUN_SCHEMA | {"entry": pl.UInt32}), *told])


def _items_in(entries: Iterable[Path]) -> pl.DataFrame:
    """Return which items of messages that were delivered again are of which run: no others belong to incidents."""
    none = fifo_groups.items_of(pl.LazyFrame(schema=schema_of(DELIVERIES))).collect()
    return pl.concat([none, *(mapped(entry / "items.arrow") for entry in entries)])


@kernel("stretches")
def stretches(around: Surrounding, unit: Unit, folder: Path) -> Summary:
    """Part by time what findings have to look at of all queues' message groups; ``runs`` names what entries tell of them."""
    new = [(n, name) for n, name in enumerate(unit["runs"]) if n not in unit["settled"]]
    number = pl.Series("entry", unit["settled"], pl.UInt32)
    settled = around.cache.entry("settled_groups", unit["before"])
    before = frames_in(settled, fifo_groups.Settled)
    of_entries = {name: getattr(before, name) for name in ("runs", "taken")}
    of_entries = {name: rows.with_columns(number.gather(rows["entry"])) for name, rows in of_entries.items()}
    new_runs, before = _runs_in(around.cache, new), replace(before, **of_entries)
    taken = fifo_groups.stretches_to_look_at(new_runs, MESSAGES_PER_UNIT, before)
    written(folder, "stretches", taken, row_group_size=MESSAGES_PER_UNIT)
    items = _items_in([settled, *(around.cache.entry("group_runs", name) for _, name in new)])
    held = (
        items.join(taken, on=["group", "run"])
        .join(_placed(around, _IS_FIFO, items["item_id"]), on=_OF_ITEM)
        .sort("unit", "stretch", "item_id")
    )
    held = held.select("unit", "stretch", *_OF_ITEM, "incident_id", "is_member_affected").unique(maintain_order=True)
    of_unit = digests_by("unit", held, *held.columns)
    runs = taken.select("unit", "stretch", "group", "run").unique(maintain_order=True)
    of_runs = digests_by("unit", runs, "stretch", "group", "run")
    parts = taken.group_by("unit", maintain_order=True)
    units = [
        {
            "unit": name,
            "placed": of_unit.get(name),
            "rows": of_runs[name],
            "entries": [unit["entries"][n] for n in entries],
            "between": between,
        }
        for name, entries, *between in parts.agg(
            pl.col("entry").unique().sort(), pl.col("first").min(), pl.col("last").max()
        ).iter_rows()
    ]
    return {"units": units}


@kernel("groups")
def groups(around: Surrounding, unit: Unit, folder: Path) -> Summary:
    """Find what went wrong with message groups in one stretch of time, and when which message's group was received next."""
    taken = pl.scan_parquet(around.cache.entry("stretches", unit["stretches"]) / "stretches.parquet")
    mine = taken.filter(pl.col("unit") == unit["unit"]).select("group", "run", "stretch").unique().collect()
    alone, others = (_deliveries_in(around.cache, unit, step) for step in _ENTRIES)
    rows = fifo_groups.deliveries_of(alone, others, mine)
    placed = _placed(around, _IS_FIFO, rows["item_id"])
    incident_of: dict[str, dict[str, str]] = defaultdict(dict)
    for arn, item_id, incident_id, _ in placed.iter_rows():
        incident_of[arn][item_id] = incident_id
    affected = {f"{arn} {item}": f"{arn} {incident}" for arn, item, incident, is_one in placed.iter_rows() if is_one}
    found, following = told_of_groups(fifo_groups.groups_in(rows), incident_of)
    written(folder, "queue_findings", frame(found, schema_of(QUEUE_FINDINGS)), QUEUE_FINDINGS.key)
    written(folder, "following", nexts := pl.DataFrame(following, NEXT_SCHEMA, orient="row"))
    return {"held_ms": fifo_groups.held_in(rows, affected), "following": digests_by("queue_arn", nexts, *NEXT_SCHEMA)}


@kernel("queue")
def queue(around: Surrounding, unit: Unit, folder: Path) -> Summary:
    """Find what went wrong with one queue; ``judged`` names the units with works of it that are not over, ``groups`` what was
    found of its message groups."""
    arn = unit["queue_arn"]
    judged = [around.cache.entry("judge", name) for name in unit["judged"]]
    works = [work for entry in judged for work in ends_in(entry, pl.col("queue_arn") == arn)]
    files = [around.cache.entry("groups", name) / "following.parquet" for name in unit["groups"]]
    nexts = pl.scan_parquet(files).filter(pl.col("queue_arn") == arn).collect() if files else None
    following = {} if nexts is None else dict(nexts.select("item_id", "at").iter_rows())
    log_groups = {r["log_group"] for r in around.known.consumers if r["queue_arn"] == arn}
    items = [delivery.item_id for work in works for delivery in work.ledger]
    placed = _placed(around, pl.col("queue_arn") == arn, items) if items else None
    incident_of = {} if placed is None else dict(placed.select("item_id", "incident_id").iter_rows())
    rows = rows_of_queue(works, following, log_groups, incident_of, around.measured)
    written(folder, "queue_findings", frame(rows, schema_of(QUEUE_FINDINGS)), QUEUE_FINDINGS.key)
    return {"queue_findings": len(rows)}


_OF_ITEM = ["queue_arn", "item_id"]
_IS_FIFO = pl.col("queue_arn").str.ends_with(FIFO_ENDING)


def _placed(around: Surrounding, of_queues: pl.Expr, items: Iterable[str]) -> pl.DataFrame:
    """Return to which incident messages of some queues belong."""
    mine = pl.Series(items, dtype=pl.String).unique()
    found = around.members.rows(of_queues & pl.col("item_id").is_in(mine.implode()))
    return found.select(*_OF_ITEM, "incident_id", "is_member_affected")


_ENTRIES = ("settle", "judge")
"""Where deliveries are alone of their message, and where all of a message are together."""


def _deliveries_in(cache: Cache, unit: Unit, of: str) -> pl.LazyFrame:
    """Return the deliveries of FIFO queues in those of the unit's entries (step, name) that are of one step; settled ones ``between`` two moments."""
    at = pl.col("received_at").dt.epoch("us")
    wanted = _IS_FIFO
    if of == "settle" and "between" in unit:
        wanted &= at.is_between(*unit["between"]) | at.is_null()
    files = [cache.entry(step, name) / "deliveries.parquet" for step, name in unit["entries"] if step == of]
    return pl.scan_parquet(files).filter(wanted) if files else pl.LazyFrame(schema=schema_of(DELIVERIES))


def blind(
    around: Surrounding, parts: Sequence[tuple[str, str]], names_items: Mapping[Writer, bool], ids: Iterable[str]
) -> pl.DataFrame:
    """Return incidents of queues whose logs name no message, in the columns of INCIDENTS."""
    owners = blind_owners(around.known.consumers, names_items)
    if not owners:
        return pl.DataFrame(schema=schema_of(INCIDENTS))
    failed = failed_runs((read_part(around.cache.entry(*part), "invocations") for part in parts), owners)
    points = balance_points(around.rule_points)
    return frame(
        blind_windows(failed, around.measured.in_force, points, set(ids), around.finality), schema_of(INCIDENTS)
    )


@kernel("days")
def days(around: Surrounding, unit: Unit, folder: Path) -> Summary:
    """Count together by day what parts and judged units of one stretch of time measured."""
    files = [around.cache.entry(step, name) / f"{rows}.parquet" for step, name, rows in unit["files"]]
    written(folder, "days", counted := of_days(pl.read_parquet(files), around.zone, around.until))
    return {"rows": counted.height}


@kernel("settled_days")
def settle_days(around: Surrounding, unit: Unit, folder: Path) -> Summary:
    """Count together what was counted of stretches of time that were there for long."""
    files = [around.cache.entry("days", name) / "days.parquet" for name in unit["days"]]
    written(folder, "days", days_together(pl.read_parquet(files)))
    return {}


@kernel("health")
def health(around: Surrounding, unit: Unit, folder: Path) -> Summary:
    """Write queue health by day and week, what logs tell, and the checks of settings."""
    cache, known = around.cache, around.known
    days = [cache.entry(*entry) / "days.parquet" for entry in unit["days"]]
    measured = pl.read_parquet(days) if days else of_days(NO_MEASURES, around.zone, around.until)
    points = (
        pl.read_parquet(list(unit["metric_files"]))
        if unit["metric_files"]
        else pl.DataFrame(schema=schema_of(METRIC_POINTS))
    )
    metrics, read = metric_measures(points, known), read_measures(known, around.zone)
    periods = periods_of(measured, metrics, read, around.zone, around.until)
    returned = [cache.entry("judge", name) / "returned.parquet" for name in unit["judge"]]
    of_runs = [
        [cache.entry(*part) / f"{name}.parquet" for part in unit["parts"]] for name in ("invocations", "timeouts")
    ]
    ready = logging_readiness(together(unit["of_invocations"]), together(unit["of_handlings"]), known, unit["written"])
    rows = {
        QUEUE_HEALTH: queue_health_rows(periods, known),
        QUEUE_WEEKS: queue_weeks_rows(periods, known),
        LOGGING_READINESS: ready,
        SETTING_FINDINGS: setting_findings(
            periods,
            pl.read_parquet(returned) if returned else returned_batches(pl.DataFrame(schema=schema_of(DELIVERIES))),
            ready,
            known,
            around.until,
            *(pl.scan_parquet(mine) if mine else None for mine in of_runs),
        ),
    }
    for table, mine in rows.items():
        written(folder, table.name, pl.DataFrame(table.in_both_forms(mine), schema_of(table)), table.key)
    return {table.name: len(mine) for table, mine in rows.items()}
