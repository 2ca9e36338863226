"""Incidents of the round before to which nothing was added and of which nothing was judged again: their rows hold."""

from datetime import datetime

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from forensics.tables import Table
from forensics.tables import findings as T
from spark_jobs.counterfactuals import counterfactuals, repeats
from spark_jobs.incidents import incidents
from spark_jobs.kept_beside import put_whole, whole_before
from spark_jobs.kept_rows import carry_over, groups_with, old_rows
from spark_jobs.kept_runs import KeptRuns
from spark_jobs.shelves import ITEM, Shelves
from spark_jobs.timeline import timeline
from spark_jobs.writer import Writer

_MARKS = "incident marks"


class KeptIncidents:
    """The incidents of one run: ``held`` names those whose rows are taken over, None where there is no round before.

    ``members`` has those of the others alone, ``all_members`` those of all.

    Whatever an incident's rows say comes from its messages and the works these belong to, and works stand whole on
    shelves: of the judged works only the shelves with messages of other incidents are read.
    """

    def __init__(self, kept: KeptRuns, out: Writer, shelves: Shelves, members: DataFrame) -> None:
        self.kept, self.out, self.members, self.all_members = kept, out, members, members
        marks = self._marks(shelves.judged_now)
        self.held: DataFrame | None = None
        if kept.manifest is None:
            self.judged = shelves.all()
            return
        before = whole_before(kept, _MARKS)
        assert before is not None, "the round before kept no marks of its incidents"
        still = marks.where(~F.col("is_new")).join(before, ["incident_id", "items", "digest"], how="left_semi")
        self.held = out.keep("incidents_held", still.select("incident_id"))
        self.members = out.keep("members_again", members.join(F.broadcast(self.held), "incident_id", how="left_anti"))
        self.judged = shelves.all(shelves.with_items(self.members))

    def rows(self) -> DataFrame:
        """Return one row per incident, but for what surrounds it."""
        judged = self.judged
        found = incidents(judged.verdicts, self.members, judged.pairs, judged.ledger)
        if self.held is None:
            return found
        older = old_rows(self.kept, T.INCIDENTS).join(F.broadcast(self.held), "incident_id", how="left_semi")
        return found.unionByName(older.select(*found.columns))

    def keep_rows(self, rows: DataFrame) -> None:
        """Write the incidents' table; ``rows`` are all of it."""
        self._write_few(T.INCIDENTS, rows)

    def write_timeline(self, told: DataFrame, data_until: datetime | None) -> None:
        """Write the timelines; ``told`` are all verdicts."""
        kept, out, held = self.kept, self.out, self.held
        files = out.write_aged(T.TIMELINE, timeline(self.judged.ledger, told, held), "at", data_until, in_order=True)
        if held is not None:
            flagged = F.broadcast(held.withColumn("_is_held", F.lit(True)))

            def outdated_in(rows: DataFrame) -> DataFrame:
                marked = rows.join(flagged, "incident_id", how="left")
                return marked.withColumn("is_hit", F.col("_is_held").isNull()).drop("_is_held")

            staged = out.lake.staging_folder(T.TIMELINE, out.run_id)
            hit = groups_with(kept, T.TIMELINE, outdated_in)
            files += carry_over(kept, T.TIMELINE, staged, hit, outdated_in, "at", data_until, in_order=True)
        kept.keep_files(T.TIMELINE.name, files)

    def write_counterfactuals(self, told: DataFrame) -> None:
        """Write what would have prevented the repeats of each incident."""
        judged = self.judged
        found = counterfactuals(self.out.keep("repeats", repeats(judged.ledger, judged.pairs, told, self.members)))
        if self.held is not None:
            older = old_rows(self.kept, T.COUNTERFACTUALS).join(F.broadcast(self.held), "incident_id", how="left_semi")
            found = found.unionByName(older.select(*found.columns))
        self._write_few(T.COUNTERFACTUALS, found)

    def _write_few(self, table: Table, rows: DataFrame) -> None:
        self.out.write(table, rows)
        self.kept.keep_files(table.name, self.out.lake.staging_folder(table, self.out.run_id).glob("*.parquet"))

    def _marks(self, judged_now: DataFrame | None) -> DataFrame:
        """Write per incident how many items it has, which, and whether any was judged now."""
        assert judged_now is not None
        now = F.broadcast(judged_now.select(*ITEM, F.lit(True).alias("_is_new")))
        marks = (
            self.members.join(now, ITEM, how="left")
            .groupBy("incident_id")
            .agg(
                F.count(F.lit(1)).alias("items"),
                F.bit_xor(F.xxhash64(*ITEM, "is_affected")).alias("digest"),
                F.coalesce(F.max("_is_new"), F.lit(False)).alias("is_new"),
            )
        )
        return put_whole(self.kept, _MARKS, marks)
