"""The steps from evidence to findings, in the order they run. A kernel takes what all share and one unit, and writes an entry."""

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import polars as pl

from forensics.counting import item_hashes, shared_hashes
from forensics.counting.calls import asked_by, recorded_in, sends_in
from forensics.counting.frame_files import mapped, write_mapped
from forensics.counting.measures import delivery_measures, invocation_measures
from forensics.counting.periods import span_of
from forensics.counting.recent import timeouts_of
from forensics.counting.spoken import spoken_in, streams_in
from forensics.counting.survey import surveyed
from forensics.counting.told import told_of
from forensics.judging.surroundings import Surroundings
from forensics.streams.reading import Reading
from forensics.tables.findings import DELIVERIES, INVOCATIONS
from spark_jobs import candidates, joins
from spark_jobs.assemble import handles_of
from spark_jobs.cache import Cache, Summary, kernel, linked
from spark_jobs.evidence import whole
from spark_jobs.judge import loaded, write_judged
from spark_jobs.parts import Part, all_deliveries, all_invocations, other_deliveries, write_deliveries, written
from spark_jobs.scan import LINE_COLUMNS, scanned

Unit = dict[str, Any]

_PART_KEYS = {
    "handlings": ("consumer",),
    "rest": ("log_group", "log_stream", "at", "order_in_ms", "evidence_id"),
    "facts": ("at", "log_group", "log_stream", "order_in_ms", "evidence_id"),
    "borders": ("stream", "start_at", "end_at"),
    "handles": ("log_group", "handle", "message_id"),
}


@dataclass(frozen=True)
class Shared:
    """What every kernel of a run is given."""

    cache: Cache
    since: datetime | None = None
    reading: Reading | None = None
    around: Surroundings | None = None
    plan: candidates.Plan | None = None
    entries: tuple[tuple[str, str], ...] = ()
    """Parts, as (step, name)."""
    call_files: tuple[str, ...] = ()

    def part(self, number: int) -> Path:
        """Return a part's folder."""
        return self.cache.entry(*self.entries[number])


@kernel("survey")
def survey(shared: Shared, unit: Unit, _: Path) -> Summary:
    """Say which log groups a file of evidence holds, and when."""
    with whole(unit["path"], None):
        return {"groups": surveyed(unit["path"], shared.since)}


@kernel("scan")
def scan(shared: Shared, unit: Unit, folder: Path) -> Summary:
    """Read one file of evidence, or of its streams those of one piece."""
    assert shared.reading is not None
    events = pl.scan_parquet(unit["path"]).select(LINE_COLUMNS)
    if shared.since is not None:
        events = events.filter(pl.col("logged_at") >= shared.since)
    if unit["pieces"] > 1:
        events = events.filter(pl.col("log_stream").hash() % unit["pieces"] == unit["piece"])
    with whole(unit["path"], unit["sha256"]):
        lines = events.collect()
    return _write_part(folder, scanned(lines, shared.reading))


@kernel("settled_joins")
def settle_joins(shared: Shared, unit: Unit, folder: Path) -> Summary:
    """Put together what waits, and what is over, in files that have been there for long."""
    joins.settle(shared, unit["parts"], folder)
    return {}


@kernel("plan_joins")
def plan_joins(shared: Shared, unit: Unit, folder: Path) -> Summary:
    """Say which lines that wait belong together."""
    source = shared.cache.entry("settled_joins", unit["before"])
    return joins.planned(shared, unit["parts"], source, unit["settled"], folder)


@kernel("join")
def join(shared: Shared, unit: Unit, folder: Path) -> Summary:
    """Put together lines of streams that reach over several files."""
    assert shared.reading is not None
    return _write_part(folder, joins.joined(shared, unit))


@kernel("without")
def without(shared: Shared, unit: Unit, folder: Path) -> Summary:
    """Take the rows of some streams out of a part: they are put together anew with lines of other files."""
    source = shared.cache.entry("scan", unit["part"])
    streams = pl.DataFrame(unit["streams"], schema=["log_group", "log_stream"], orient="row")
    on = ["log_group", "log_stream"]
    frames = {
        "invocations": all_invocations(source).collect().join(streams, on=on, how="anti"),
        "deliveries": all_deliveries(source).collect().join(streams, on=on, how="anti"),
    }
    return _write_part(folder, Part(**frames))


def _write_part(folder: Path, part: Part) -> Summary:
    for name in ("handlings", "facts"):
        if not (frame := getattr(part, name)).is_empty():
            written(folder, name, frame, _PART_KEYS[name])
    for name in ("rest", "borders"):
        if not (frame := getattr(part, name)).is_empty():
            write_mapped(frame.sort(_PART_KEYS[name], maintain_order=True), folder / f"{name}.arrow")
    if not part.facts.is_empty():
        written(folder, "streams", streams_in(part.facts))
        write_mapped(spoken_in(part.facts), folder / joins.SPOKEN)
    others = write_deliveries(folder, part.deliveries)
    written(folder, "measures", measures := delivery_measures(others))
    runs = part.invocations
    written(folder, "invocations", runs.select(*INVOCATIONS.column_names))
    written(folder, "runs", runs.drop(*INVOCATIONS.column_names))
    written(folder, "timeouts", timeouts_of(runs))
    written(folder, "run_measures", run_measures := invocation_measures(runs))
    handles = handles_of(part.facts) if not part.facts.is_empty() else part.handles
    if not handles.is_empty():
        written(folder, "handles", handles)
    candidates.write_hashes(hashes := item_hashes.hashes_of(part.deliveries), folder)
    held = {name: getattr(part, name).height for name in ("rest", "borders", "facts")}
    more = {"hashes": hashes.height, "measured": span_of(measures, run_measures)}
    return {**told_of(part.invocations, part.deliveries, part.handlings), **held, **more}


@kernel("moved")
def find_moved(shared: Shared, unit: Unit, folder: Path) -> Summary:
    """Find what a move task may have brought back into its queue, in one part."""
    assert shared.around is not None
    found = item_hashes.moved_hashes(all_deliveries(shared.part(unit["part"])), shared.around.moves)
    candidates.write_hashes(found, folder)
    return {"hashes": found.height}


@kernel("calls")
def calls(shared: Shared, unit: Unit, folder: Path) -> Summary:
    """Read one file of recorded calls: what there is, and which messages it may link."""
    found = item_hashes.send_hashes(sends_in(unit["path"], unit["patterns"]))
    candidates.write_hashes(found, folder)
    return {"queues": recorded_in(unit["path"])}


@kernel("resent")
def resent(shared: Shared, unit: Unit, folder: Path) -> Summary:
    """Make a part that has no lines of the messages that recorded sends link to others."""
    told = _write_part(folder, Part())
    of = ([candidates.hashes_in(shared.cache.entry(*entry)) for entry in unit[name]] for name in ("sends", "parts"))
    found = item_hashes.resent(*of)
    candidates.write_hashes(found, folder)
    return told | {"hashes": found.height}


@kernel("hashes")
def settle_hashes(shared: Shared, unit: Unit, folder: Path) -> Summary:
    """Put the hashes of parts that have been there for long into one, in one range of hashes."""
    parts = [candidates.between(shared.part(n), unit["low"], unit["high"]) for n in unit["settled"]]
    candidates.write_frames(shared_hashes.settled(parts), folder)
    return {}


@kernel("recent_hashes")
def gather_hashes(shared: Shared, unit: Unit, folder: Path) -> Summary:
    """Put the hashes of parts together that have been there for some time, in one range of hashes."""
    there = candidates.frames_in(shared.cache.entry("hashes", unit["hashes"]), shared_hashes.Settled)
    parts = [candidates.between(shared.part(n), unit["low"], unit["high"]) for n in unit["recent"]]
    candidates.write_frames(shared_hashes.gathered(parts, there.hashes["hash"]), folder)
    return {}


@kernel("shared")
def find_shared(shared: Shared, unit: Unit, folder: Path) -> Summary:
    """Find what makes items candidates besides what is settled, in one range of hashes."""
    old, recent = unit["settled"], unit["recent"]
    parts = [(n, shared.part(n)) for n in range(len(shared.entries)) if n not in {*old, *recent}]
    parts += [(n, shared.cache.entry("moved", name)) for n, name in unit["moved"]]
    new = [(n, candidates.between(part, unit["low"], unit["high"])) for n, part in parts]
    before = candidates.frames_in(shared.cache.entry("hashes", unit["hashes"]), shared_hashes.Settled)
    gathered = candidates.frames_in(shared.cache.entry("recent_hashes", unit["gathered"]), shared_hashes.Gathered)
    found = shared_hashes.shared(before, old, lambda n: candidates.hashes_in(shared.part(n)), gathered, recent, new)
    write_mapped(found, folder / candidates.SHARED)
    return {"rows": found.height}


@kernel("settled_plan")
def settle_plan(shared: Shared, unit: Unit, folder: Path) -> Summary:
    """Say which works of parts that have been there for long are judged together."""
    return candidates.settle_plan([shared.cache.entry("hashes", name) for name in unit["hashes"]], folder)


@kernel("plan")
def plan(shared: Shared, unit: Unit, folder: Path) -> Summary:
    """Say which works are judged together."""
    files = [shared.cache.entry("shared", name) / candidates.SHARED for name in unit["shards"]]
    source = shared.cache.entry("settled_plan", unit["before"])
    rows = pl.concat(map(mapped, files))
    return candidates.planned(rows, source, unit["told"], unit["settled"], folder)


@kernel("judge")
def judge(shared: Shared, unit: Unit, folder: Path) -> Summary:
    """Judge the works of one unit."""
    assert shared.plan is not None and shared.reading is not None and shared.around is not None
    low, high = unit["began"]
    mine = shared.plan.owners(pl.col("began").is_between(low, high, closed="left"))
    sources = [
        (shared.part(int(str(part))), owners)
        for (part,), owners in mine.sort("part", "owner").group_by("part", maintain_order=True)
    ]
    deliveries = loaded(sources, shared.reading)
    return write_judged(deliveries, shared.around.with_calls(asked_by(deliveries, shared.call_files)), folder)


@kernel("settle")
def settle(shared: Shared, unit: Unit, folder: Path) -> Summary:
    """Write what of a part needs no judging as rows of the findings tables, and measure it."""
    assert shared.plan is not None
    source = shared.part(unit["part"])
    mine = shared.plan.owners((pl.col("part") == unit["part"]) & pl.col("is_other"))["owner"].unique()
    if mine.is_empty():
        for name, here in (("others", "deliveries"), ("measures", "measures")):
            linked(source / f"{name}.parquet", folder / f"{here}.parquet")
        return {}
    rows = other_deliveries(source).filter(~pl.col("item_hash").is_in(mine.implode()))
    deliveries = rows.select(*DELIVERIES.column_names).collect()
    written(folder, "deliveries", deliveries)
    written(folder, "measures", delivery_measures(deliveries))
    return {}
