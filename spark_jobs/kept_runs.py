"""What a round takes over from the one before: runs and statements per stream, kept beside the findings.

A run is made of its stream alone, so streams without new lines keep theirs, and the others are read on from a START before
their first new line, one that everything earlier is over by. Where a line behind it turns out to belong to something
before it, the whole stream is read again. Whatever else runs rest on (code, rules, settings file, who consumes what, settings
in force until then) is compared first; where any of it differs, everything is read again. The folder can be removed at any
time.
"""

import json
import shutil
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from functools import reduce
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from forensics.lake import Lake
from forensics.tables.evidence import LOG_EVENTS
from spark_jobs.basis import Basis, setting_text
from spark_jobs.grounds import Grounds
from spark_jobs.in_force import clipped
from spark_jobs.inputs import Inputs
from spark_jobs.manifest import Manifest, Part, read_manifest, rows_of, write_manifest
from spark_jobs.runs import RUN_KEY
from spark_jobs.small_frames import no_rows

_STREAM = ("log_group", "log_stream")


class KeptRuns:
    """The kept outcome of earlier rounds in one lake, and what this round adds to it.

    ``is_round`` is false where nothing is kept that may be used: then everything is read. ``line_count`` is that of all
    log events.
    """

    def __init__(self, lake: Lake, run_id: str, inputs: Inputs, line_count: int) -> None:
        self.lake, self.run_id, self.inputs, self.line_count = lake, run_id, inputs, line_count
        self.folder = lake.root / "findings" / ".kept"
        self.manifest: Manifest | None = None
        self._files: dict[str, list[str]] = {}
        self._new_files: list[str] = []
        self._basis = Basis("", {})
        self._schemas: dict[str, str] = {}
        self._shelves: dict[str, int] = {}
        self._grounds: dict[str, Any] = {}
        self._guarded: list[str] = []

    @property
    def is_round(self) -> bool:
        """Tell whether there is something to take over."""
        return self.manifest is not None

    @property
    def new_lines_count(self) -> int:
        """Count the log events that came since."""
        return sum(pq.read_metadata(file).num_rows for file in self._new_files)

    def begin(self, basis: Basis, anew: bool = False) -> None:
        """Take over what is kept, if it is whole and rests on the same, and if nobody asked for all ``anew``."""
        self._basis = basis
        if anew:
            return
        manifest = read_manifest(self.folder, self.lake.root)
        if manifest is None or not basis.still_holds(Basis(manifest.key, manifest.groups)):
            return
        if manifest.in_force != self._in_force(datetime.fromisoformat(manifest.until)):
            return
        version = self.inputs.versions.get(LOG_EVENTS.name)
        if version is None or manifest.log_commit != self.lake.commit_digest(LOG_EVENTS, manifest.log_version):
            return
        files = self.lake.files_added(LOG_EVENTS, manifest.log_version, version)
        if files is None:
            return
        self.manifest, self._new_files, self._schemas = manifest, files, dict(manifest.schemas)

    def _in_force(self, until: datetime) -> list[str]:
        tables = (clipped(self.inputs.in_force[name], until) for name in sorted(self.inputs.in_force))
        return [setting_text(row) for rows in tables for row in rows]

    # -- streams ---------------------------------------------------------------------------------------------

    def new_lines(self, groups: list[str]) -> DataFrame:
        """Return the log events of some log groups that came since."""
        schema = self.inputs.log_events.schema
        if not self._new_files:
            return no_rows(self.inputs.spark, schema)
        new = self.inputs.spark.read.schema(schema).parquet(*self._new_files)
        return new.where(F.col("log_group").isin(groups))

    def streams(self, groups: list[str]) -> DataFrame:
        """Return the streams to read: stream_hash, first_at, and in a round ``cut_at`` and ``starts_before``.

        ``cut_at`` (UTC) is the START from which a stream is read on, null for its beginning; so many STARTs stand before it.
        """
        lines = self.new_lines(groups) if self.is_round else self._of(groups)
        first = F.min("logged_at").alias("first_at")
        streams = lines.groupBy(F.xxhash64(*_STREAM).alias("stream_hash")).agg(first)
        if not self.is_round:
            return self.add("streams", streams.coalesce(1))
        kept = self._older("streams").groupBy("stream_hash").agg(F.min("first_at").alias("_kept"))
        since = streams.withColumnRenamed("first_at", "since")
        found = _cuts(self._older("runs").join(F.broadcast(since), "stream_hash"))
        placed = streams.join(kept, "stream_hash", how="left").join(found, "stream_hash", how="left")
        return placed.select(
            "stream_hash", F.least("first_at", "_kept").alias("first_at"), "cut_at", "starts_before"
        ).coalesce(1)

    def lines(self, groups: list[str], streams: DataFrame) -> DataFrame:
        """Return the log events of streams from their cuts on."""
        if not self.is_round:
            return self._of(groups)
        begin = F.coalesce("cut_at", "first_at")
        first = streams.agg(F.unix_micros(F.min(begin))).collect()[0][0]
        if first is None:
            return self._of(groups).limit(0)
        near = self._of(groups).where(F.col("logged_at") >= F.timestamp_micros(F.lit(first)))
        cuts = streams.select("stream_hash", begin.alias("_cut"))
        return (
            near.withColumn("stream_hash", F.xxhash64(*_STREAM))
            .join(F.broadcast(cuts), "stream_hash")
            .where(F.col("logged_at") >= F.col("_cut"))
            .drop("stream_hash", "_cut")
        )

    def replace_from(self, streams: DataFrame) -> DataFrame:
        """Say which runs of earlier parts are read again: consumer_hash, invocation_id, and what may hide a receive."""
        cuts = F.broadcast(streams.select("stream_hash", "cut_at"))
        again = (
            self._older("runs")
            .join(cuts, "stream_hash")
            .where(F.col("cut_at").isNull() | (F.col("last_line_at") >= F.col("cut_at")))
        )
        self.add("streams", streams.select("stream_hash", "first_at"))
        columns = ("invocation_id", "log_group", "started_at", "shows_records")
        return self.add("replaced", again.select(run_hash().alias("consumer_hash"), *columns).coalesce(1))

    def replace_also(self, handlings: DataFrame) -> DataFrame:
        """Say which handlings of earlier parts are put together again, beside the runs; returns both, as ``replace_from``.

        ``handlings`` have consumer_hash, invocation_id and log_group; a worker's line hides no receive.
        """
        begun = F.lit(None).cast("timestamp").alias("started_at")
        rows = handlings.select("*", begun, F.lit(True).alias("shows_records")).coalesce(1)
        rows.write.mode("append").parquet(str(self.path("replaced")))
        self.note("replaced", rows.schema)
        return self._frame(self.run_id, "replaced")

    def has(self, name: str) -> bool:
        """Tell whether an earlier part holds something."""
        return any(self._has(part.name, name) for part in self._parts())

    def forget(self, *names: str) -> None:
        """Remove what this round wrote of something kept."""
        for name in names:
            shutil.rmtree(self.path(name), ignore_errors=True)

    def _of(self, groups: list[str]) -> DataFrame:
        return self.inputs.log_events.where(F.col("log_group").isin(groups))

    # -- what is kept per stream -----------------------------------------------------------------------------

    def path(self, name: str) -> Path:
        """Return the folder of this round's part of something kept."""
        return self.folder / self.run_id / name

    def add(self, name: str, frame: DataFrame) -> DataFrame:
        """Write this round's part of something kept, and read it back."""
        frame.write.parquet(str(self.path(name)))
        self.note(name, frame.schema)
        return self._frame(self.run_id, name)

    def older(self, name: str) -> DataFrame:
        """Return what earlier parts hold that this round does not replace; for runs and statements."""
        return self._older(name, [self.run_id])

    def note(self, name: str, schema: StructType) -> None:
        """Remember the columns of something kept, so that later rounds read the same."""
        self._schemas[name] = schema.json()

    def together(self, name: str, fresh: DataFrame) -> DataFrame:
        """Return this round's part, and what earlier parts hold that it does not replace."""
        if not self.is_round:
            return fresh
        return fresh.unionByName(self.older(name))

    def all_of(self, name: str, fresh: DataFrame) -> DataFrame:
        """Return this round's part and all earlier ones: for what is kept per line."""
        older = [self._frame(part.name, name) for part in self._parts() if self._has(part.name, name)]
        return reduce(DataFrame.unionByName, older, fresh)

    def _parts(self) -> list[Part]:
        return self.manifest.parts if self.manifest else []

    def _has(self, part: str, name: str) -> bool:
        return (self.folder / part / name).is_dir()

    def schema(self, name: str) -> StructType:
        """Return the columns of something kept."""
        return StructType.fromJson(json.loads(self._schemas[name]))

    def _frame(self, part: str, name: str) -> DataFrame:
        return self.inputs.spark.read.schema(self.schema(name)).parquet(str(self.folder / part / name))

    def _older(self, name: str, newer: Sequence[str] = (), parts: list[Part] | None = None) -> DataFrame:
        """Return what earlier parts hold and neither a later one nor ``newer`` replaces."""
        replaced = [self._frame(part, "replaced") for part in newer if self._has(part, "replaced")]
        frames = []
        for part in reversed(self._parts() if parts is None else parts):
            if not self._has(part.name, name):
                continue
            frame = self._frame(part.name, name)
            if replaced and name != "streams":
                runs = F.broadcast(reduce(DataFrame.unionByName, replaced).select("consumer_hash"))
                if name == "runs":
                    frame = frame.withColumn("consumer_hash", run_hash())
                frame = frame.join(runs, "consumer_hash", how="left_anti")
                frame = frame.drop("consumer_hash") if name == "runs" else frame
            frames.append(frame)
            if self._has(part.name, "replaced"):
                replaced.append(self._frame(part.name, "replaced"))
        return reduce(DataFrame.unionByName, frames) if frames else no_rows(self.inputs.spark, self.schema(name))

    # -- what is kept as a whole -----------------------------------------------------------------------------

    def files_of(self, table: str) -> list[Path]:
        """Return the files of a findings table whose rows may be taken over."""
        return [self.lake.root / file for file in (self.manifest.files.get(table, []) if self.manifest else [])]

    def keep_files(self, table: str, files: Iterable[Path]) -> None:
        """Say which files of a findings table the next round may take over."""
        self._files[table] = sorted(str(file.relative_to(self.lake.root)) for file in files)

    def stand_on(self, shelves: dict[str, int]) -> None:
        """Say which shelves the next round may take from."""
        self._shelves.update(shelves)

    def rest_on(self, grounds: Grounds, guarded: Sequence[str]) -> None:
        """Say what judged works rest on besides their lines."""
        self._grounds, self._guarded = asdict(grounds), list(guarded)

    # -- the end of a round ----------------------------------------------------------------------------------

    def commit(self, until: datetime | None) -> None:
        """Make this round's part count, and remove what is not needed any more. Called when findings are published."""
        if until is None or not self._has(self.run_id, "runs"):
            self.discard()
            return
        if self._has(self.run_id, "joined_runs"):
            shutil.rmtree(self.path("runs"))
            self.path("joined_runs").rename(self.path("runs"))
        parts = [*self._parts(), Part(self.run_id, self._size(self.run_id))]
        version = self.inputs.versions[LOG_EVENTS.name]
        manifest = Manifest(
            self._basis.key,
            dict(self._basis.groups),
            version,
            self.lake.commit_digest(LOG_EVENTS, version),
            until.astimezone(UTC).isoformat(),
            self._in_force(until),
            self._merged(parts),
            self._schemas,
            self._files,
            self._shelves,
            self._grounds,
            self._guarded,
        )
        write_manifest(self.folder, manifest, self.run_id)

    def discard(self) -> None:
        """Remove what this round wrote: it failed, or had nothing."""
        for folder in self.folder.glob(f"{self.run_id}*"):
            shutil.rmtree(folder, ignore_errors=True)

    def _merged(self, parts: list[Part]) -> list[Part]:
        """Write the newest parts as one while the one before is not much larger: there are never more than a few."""
        first, runs_count = len(parts) - 1, parts[-1].runs_count
        while first > 0 and parts[first - 1].runs_count <= 2 * runs_count:
            first -= 1
            runs_count += parts[first].runs_count
        mine = parts[first:]
        if len(mine) == 1:
            return parts
        name = f"{self.run_id}-merged"
        folder = self.folder / name
        for what in ("runs", "statements", "streams", "handled", "handlings"):
            if any(self._has(part.name, what) for part in mine):
                self._older(what, parts=mine).write.parquet(str(folder / what))
        if replaced := [self._frame(part.name, "replaced") for part in mine if self._has(part.name, "replaced")]:
            reduce(DataFrame.unionByName, replaced).distinct().write.parquet(str(folder / "replaced"))
        for what in ("stated", "hints"):
            if frames := [self._frame(part.name, what) for part in mine if self._has(part.name, what)]:
                reduce(DataFrame.unionByName, frames).write.parquet(str(folder / what))
        return [*parts[:first], Part(name, self._size(name))]

    def _size(self, part: str) -> int:
        """Count the runs and handlings of a part."""
        return sum(rows_of(self.folder / part / what) for what in ("runs", "handlings"))


def run_hash() -> Column:
    """What statements call a run: 64 bits of its key."""
    return F.xxhash64(*RUN_KEY)


def _cuts(runs: DataFrame) -> DataFrame:
    """Return per stream the last START before ``since`` that everything earlier is over by, as ``cut_at``, and ``starts_before``.

    ``runs`` are the kept runs of streams with new lines. None where a run has lost its START: it may be in the new lines.
    """
    begins = (F.col("start_index") > 0) & (F.col("start_at") == F.col("first_line_at"))
    is_orphan = (F.col("start_index") == 0) & ~F.col("run_request_id").startswith("?")
    start = F.when(begins & (F.col("start_at") < F.col("since")), F.col("start_at"))
    last = runs.groupBy("stream_hash").agg(
        F.max(start).alias("cut_at"),
        (F.max_by("start_index", start) - 1).alias("starts_before"),
        F.max(is_orphan).alias("_has_orphans"),
    )
    before = F.col("first_line_at") < F.col("cut_at")
    over = (
        runs.join(F.broadcast(last), "stream_hash")
        .groupBy("stream_hash")
        .agg(F.max(F.when(before, F.col("last_line_at"))).alias("_over_by"))
    )
    clean = ~F.col("_has_orphans") & (F.col("_over_by").isNull() | (F.col("_over_by") < F.col("cut_at")))
    return last.join(over, "stream_hash").where(clean).select("stream_hash", "cut_at", "starts_before")
