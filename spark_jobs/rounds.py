"""What a run of the correlation looks at: everything, or in a round what new lines bear on; and what it keeps for the next."""

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from forensics.tables import Table
from forensics.tables import findings as T
from spark_jobs.deliveries import ledger_columns, with_read_until
from spark_jobs.grounds import Grounds, Horizon, first_hidden_change
from spark_jobs.guards import groups_with_guard_lines
from spark_jobs.handlings import Handlings
from spark_jobs.inputs import Inputs
from spark_jobs.invocations import invocations
from spark_jobs.judging import Judge, Judged
from spark_jobs.kept_beside import open_ends, put_ends, queues
from spark_jobs.kept_groups import groups_in_round
from spark_jobs.kept_incidents import KeptIncidents
from spark_jobs.kept_index import groups_hit
from spark_jobs.kept_measures import of_deliveries, of_invocations, of_works
from spark_jobs.kept_rows import FEW_FILES, Reach, carry_over, reach
from spark_jobs.kept_runs import KeptRuns
from spark_jobs.manifest import SHELF
from spark_jobs.message_groups import MessageGroups, is_fifo
from spark_jobs.redeliveries import redeliveries, rulings
from spark_jobs.redrives import has_fifo_dead_letters
from spark_jobs.session import spark_schema
from spark_jobs.shelves import Shelves
from spark_jobs.suspects import hashes_of, sharing, statements_of_runs, statements_of_workers, suspects
from spark_jobs.writer import Writer


@dataclass(frozen=True)
class Found:
    """What runs state, and the items to judge as ``item_hash``."""

    stated: DataFrame
    items: DataFrame


class Rounds:
    """One run's view of the rounds before it. ``kept`` is None where nothing is taken over or kept."""

    def __init__(self, inputs: Inputs, out: Writer, kept: KeptRuns | None) -> None:
        self.inputs, self.out, self.kept = inputs, out, kept
        self.shelves = Shelves(kept, out) if kept else None
        self.replaced: DataFrame | None = None
        self.again: Reach | None = None
        self.horizon = Horizon()
        self.grounds = Grounds()
        self._once: list[Path] = []
        self._invocations: list[Path] = []

    def find(self, fresh_runs: DataFrame, replaced: DataFrame | None, handlings: Handlings | None) -> Found:
        """Find the items to judge; in a round those that new lines speak of, or that share something with such."""
        kept, out = self.kept, self.out
        self.replaced = replaced
        made = statements_of_runs(fresh_runs)
        if handlings:
            made = made.unionByName(statements_of_workers(handlings.facts))
        fresh = kept.add("statements", made) if kept else out.keep("statements", made)
        stated = kept.together("statements", fresh) if kept else fresh
        with_redrives = has_fifo_dead_letters(self.inputs)
        if self.shelves is None or replaced is None:
            return Found(stated, out.keep("suspects", suspects(stated, with_redrives)))
        near = out.keep("near", sharing(stated, out.keep("shared", hashes_of(fresh))))
        touched = suspects(near, with_redrives).unionByName(self.shelves.touched(near, replaced))
        return Found(stated, out.keep("suspects", touched.distinct()))

    def compare(self, grounds: Grounds, fresh_runs: DataFrame) -> None:
        """Find from when on what was judged before rests on something else."""
        self.grounds = grounds
        if self.kept is None or self.kept.manifest is None or self.replaced is None:
            return
        horizon = grounds.alike_until(Grounds(**self.kept.manifest.grounds))
        self.horizon = horizon.with_moment(first_hidden_change(fresh_runs, self.replaced))

    def at_hand(
        self, fresh_runs: DataFrame, handlings: Handlings | None, found: Found
    ) -> tuple[DataFrame, DataFrame | None]:
        """Return the runs and the facts of workers whose deliveries are looked at: all, or in a round what it bears on.

        Those are runs and handlings that were read again, and those of new suspects.
        """
        facts = handlings.facts if handlings else None
        if self.kept is None or self.shelves is None or self.replaced is None:
            return fresh_runs, facts
        items = self.shelves.others(found.items)
        ends = open_ends(self.kept, self.kept.files_of(T.DELIVERIES.name))
        read = fresh_runs.select("invocation_id")
        if facts is not None:
            read = read.unionByName(facts.select(F.col("consumer").alias("invocation_id")).distinct())
        self.again = reach(ends, read, self.replaced, items, self.horizon, self.out.keep)
        runs = self.out.keep("runs_at_hand", self.again.runs(fresh_runs, self.kept.older("runs"), found.stated))
        return runs, self.out.keep("facts_at_hand", self.again.facts(handlings)) if handlings else None

    def apart(self, once: DataFrame, data_until: datetime | None) -> DataFrame:
        """Write the deliveries that need no judging; return the others. What still holds of the round before is taken over."""
        if self.again:
            once = self.again.made_anew(once).coalesce(FEW_FILES)
        seen, files = self.out.split(T.DELIVERIES, once, "is_judged", "received_at", data_until)
        if self.kept:
            staged = self.out.lake.staging_folder(T.DELIVERIES, self.out.run_id)
            if self.again:
                files += self._carried(self.kept, T.DELIVERIES, self.again, "received_at", data_until)
            self.kept.keep_files(T.DELIVERIES.name, files)
            self._once = sorted(staged.glob("*.parquet"))
            put_ends(self.kept, self._once)
        return seen

    def invocations(self, fresh_runs: DataFrame, data_until: datetime | None) -> DataFrame:
        """Write the invocations; in a round those of the round before are taken over."""
        out, kept = self.out, self.kept
        if not kept:
            return out.write(T.INVOCATIONS, invocations(fresh_runs), few=False)
        found = invocations(fresh_runs.coalesce(FEW_FILES) if self.again else fresh_runs)
        files = out.write_aged(T.INVOCATIONS, found, "started_at", data_until)
        staged = out.lake.staging_folder(T.INVOCATIONS, out.run_id)
        if self.again:
            files += self._carried(kept, T.INVOCATIONS, self.again, "started_at", data_until)
        kept.keep_files(T.INVOCATIONS.name, files)
        self._invocations = files
        return out.spark.read.schema(spark_schema(T.INVOCATIONS)).parquet(str(staged))

    def _carried(self, kept: KeptRuns, table: Table, again: Reach, at: str, data_until: datetime | None) -> list[Path]:
        staged = self.out.lake.staging_folder(table, self.out.run_id)
        hit = groups_hit(kept, table, kept.files_of(table.name), again)
        return carry_over(kept, table, staged, hit, again.outdated, at, data_until)

    def judged(
        self, all_runs: DataFrame, borders: DataFrame, seen: DataFrame, found: Found, data_until: datetime | None
    ) -> tuple[Judged, DataFrame, DataFrame]:
        """Judge, and write deliveries, redeliveries and rulings; returns all that is judged, and all of the first two."""
        out, kept, shelves = self.out, self.kept, self.shelves
        if kept is None or shelves is None:
            judge = Judge(self.inputs, out, all_runs, borders, out.keep)
            judged = judge.verdicts(judge.ledger(seen))
            whole = out.write(T.DELIVERIES, ledger_columns(judged.ledger), mode="append")
            out.write(T.RULINGS, rulings(judged.pairs))
            return judged, whole, out.write(T.REDELIVERIES, redeliveries(judged.pairs))
        judge = Judge(self.inputs, out, all_runs, borders, shelves.keep)
        shelves.data_until = data_until
        raw = seen
        if self.again:
            raw = self._raw(seen, shelves.take_down(found.items, seen, self.horizon), borders, "raw")
        ledger = judge.ledger(raw)
        shown = groups_with_guard_lines(ledger)
        if self.again and kept.manifest:
            shown |= groups_with_guard_lines(shelves.left("ledger"))
            if shown != set(kept.manifest.guarded):  # a guard line bears on every verdict of its log group
                raw = self._raw(seen, shelves.take_down_all(), borders, "raw_of_all")
                ledger = judge.ledger(raw, "_of_all")
                shown = groups_with_guard_lines(ledger)
        judge.verdicts(ledger, shown)
        judged = shelves.finish(raw)
        kept.rest_on(self.grounds, sorted(shown))
        now = shelves.put_now("pairs")
        whole = shelves.stage(T.DELIVERIES, shelves.put_now("ledger").select(*T.DELIVERIES.column_names, SHELF))
        shelves.stage(T.RULINGS, rulings(now, SHELF))
        return judged, whole, shelves.stage(T.REDELIVERIES, now.select(*T.REDELIVERIES.column_names, SHELF))

    def unfinished(self, whole: DataFrame, ledger: DataFrame) -> tuple[DataFrame, bool]:
        """Return the deliveries that may have come to a bad end, and whether any delivery at all is of a FIFO queue.

        ``whole`` are all deliveries, ``ledger`` those that were judged. Where no round keeps which those are, it is all.
        """
        if self.kept is None:
            return whole, not whole.where(is_fifo()).isEmpty()
        names = queues(self.kept, self._once).unionByName(ledger.select("queue"))
        ends = open_ends(self.kept, self._once).unionByName(ledger_columns(ledger))
        return ends, not names.where(is_fifo()).isEmpty()

    def incidents(self, members: DataFrame) -> KeptIncidents | None:
        """Return the incidents of which some may be taken over; ``members`` says which messages belong to which."""
        if self.kept is None or self.shelves is None:
            return None
        return KeptIncidents(self.kept, self.out, self.shelves, members)

    def message_groups(
        self, whole: DataFrame, ledger: DataFrame, told: DataFrame, of_incidents: KeptIncidents | None
    ) -> MessageGroups:
        """Return the FIFO message groups to look at; ``whole`` are all deliveries, ``ledger`` those of the verdicts ``told``."""
        if self.kept is None or of_incidents is None:
            return MessageGroups(whole.where(is_fifo()))
        return groups_in_round(self.kept, self.out, whole, ledger, told, of_incidents)

    def write_queue_findings(self, rows: DataFrame, groups: MessageGroups | None) -> None:
        """Write what was found about queues and ``groups``, and what still holds of the round before."""
        before = groups.findings_before() if groups else None
        self.out.write(T.QUEUE_FINDINGS, rows if before is None else rows.unionByName(before))
        if self.kept:
            staged = self.out.lake.staging_folder(T.QUEUE_FINDINGS, self.out.run_id)
            self.kept.keep_files(T.QUEUE_FINDINGS.name, staged.glob("*.parquet"))

    def measures(self) -> DataFrame | None:
        """Return what deliveries, runs and verdicts measure, None where nothing is kept of it."""
        if self.kept is None or self.shelves is None:
            return None
        of_files = of_deliveries(self.kept, self._once)
        of_files = of_files.unionByName(of_invocations(self.kept, self._invocations), allowMissingColumns=True)
        return of_files.unionByName(of_works(self.shelves), allowMissingColumns=True)

    def _raw(self, seen: DataFrame, again: DataFrame, borders: DataFrame, name: str) -> DataFrame:
        """Return the deliveries to judge: those seen now, and of items taken down those of runs that were not read again."""
        assert self.shelves is not None and self.again is not None and self.replaced is not None
        read = F.broadcast(
            self.again.read.select(F.col("invocation_id").alias("consumer"), F.lit(True).alias("_is_read"))
        )
        known = F.broadcast(again.select("item_id").distinct().withColumn("_is_known", F.lit(True)))
        marked = seen.join(read, "consumer", how="left").join(known, "item_id", how="left")
        is_new = F.col("_is_read") | F.col("_is_known").isNull()
        now = marked.where(is_new).select(*seen.columns)
        older = with_read_until(self.shelves.raw(again, self.replaced).drop("_read_until"), borders)
        return self.out.keep(name, now.unionByName(older))
