"""FIFO message groups in a round: looked at are those of which a delivery, or the incident of a message, differs from before.

Every delivery of such a group is looked at; what was found about the others holds.
"""

from dataclasses import dataclass
from pathlib import Path

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from forensics.tables import Table
from forensics.tables import findings as T
from spark_jobs.kept_beside import put_whole, whole_before
from spark_jobs.kept_incidents import KeptIncidents
from spark_jobs.kept_rows import old_rows
from spark_jobs.kept_runs import KeptRuns
from spark_jobs.message_groups import ASKED, IN_GROUP, MessageGroups, group_key, is_fifo
from spark_jobs.session import spark_schema
from spark_jobs.shelves import ITEM
from spark_jobs.small_frames import no_rows
from spark_jobs.writer import Writer

_NEXT = "next receives"
_ABOUT_GROUPS = ("fifo_group_blocked", "out_of_order_commit")


@dataclass(frozen=True)
class KeptGroups(MessageGroups):
    """Groups to look at in one round, as ``again``; what was found about the others is taken over."""

    kept: KeptRuns
    again: DataFrame
    incidents: DataFrame
    """Those with an affected message in such a group, or of other messages than before, as ``incident_id``."""
    next_before: DataFrame

    def held_ms(self, members: DataFrame) -> DataFrame:
        """Return it of all incidents; those of groups that are not looked at keep theirs."""
        now = super().held_ms(members).join(F.broadcast(self.incidents), "incident_id", how="left_semi")
        before = old_rows(self.kept, T.INCIDENTS).where(F.col("blocked_ms").isNotNull())
        others = before.join(F.broadcast(self.incidents), "incident_id", how="left_anti")
        return now.unionByName(others.select(*now.columns))

    def next_receives(self, dead: DataFrame) -> DataFrame:
        """Return it of all messages; those of groups that are not looked at keep theirs."""
        now = super().next_receives(self._again(dead, "left_semi"))
        before = self.next_before.join(self._again(dead, "left_anti").select(*ITEM), ITEM, how="left_semi")
        return put_whole(self.kept, _NEXT, now.unionByName(before))

    def findings_before(self) -> DataFrame | None:
        """Return what was found about groups that are not looked at."""
        found = old_rows(self.kept, T.QUEUE_FINDINGS).where(F.col("code").isin(*_ABOUT_GROUPS))
        return self._again(found, "left_anti")

    def _again(self, rows: DataFrame, how: str) -> DataFrame:
        marked = rows.withColumn("group_key", group_key())
        return marked.join(F.broadcast(self.again), IN_GROUP, how=how).drop("group_key")


@dataclass(frozen=True)
class FirstGroups(MessageGroups):
    """All groups, in a run that keeps what the next round takes over."""

    kept: KeptRuns

    def next_receives(self, dead: DataFrame) -> DataFrame:
        """Return and keep it."""
        return put_whole(self.kept, _NEXT, super().next_receives(dead))


def groups_in_round(
    kept: KeptRuns, out: Writer, whole: DataFrame, ledger: DataFrame, told: DataFrame, of_incidents: KeptIncidents
) -> MessageGroups:
    """Return the message groups that a run looks at; ``whole`` are all deliveries, ``ledger`` those of the verdicts ``told``."""
    fifo = whole.where(is_fifo())
    kept.keep_files(T.MESSAGES.name, _staged(out, T.MESSAGES))
    before = whole_before(kept, _NEXT)
    if before is None:
        return FirstGroups(fifo, kept)
    changed = out.keep("groups_changed", _changed(kept, out, ledger, told))
    affected = of_incidents.all_members.where("is_affected").select(*ITEM, "incident_id")
    mine = out.keep("groups_of_incidents", _groups(ledger).join(F.broadcast(affected), ITEM).drop("item_id").distinct())
    touched = mine.join(F.broadcast(changed), IN_GROUP, how="left_semi").select("incident_id")
    incidents = touched.unionByName(of_incidents.members.select("incident_id"))
    incidents = out.keep("incidents_of_groups", incidents.distinct())
    theirs = mine.join(F.broadcast(incidents), "incident_id", how="left_semi").select(*IN_GROUP)
    again = out.keep("groups_again", changed.unionByName(theirs).distinct())
    rows = fifo.select(*ASKED, group_key()).join(F.broadcast(again), IN_GROUP, how="left_semi")
    return KeptGroups(out.keep("in_groups", rows.drop("group_key")), kept, again, incidents, before)


def _changed(kept: KeptRuns, out: Writer, ledger: DataFrame, told: DataFrame) -> DataFrame:
    """Return the groups with another delivery than before, or with a message of another incident."""
    deliveries = _differing(*_other_files(kept, out), IN_GROUP)
    columns = [*ITEM, "queue", "incident_id"]
    moved = _differing(told.select(*columns), old_rows(kept, T.MESSAGES).select(*columns), ITEM)
    of_moved = _groups(ledger).join(F.broadcast(moved), ITEM, how="left_semi")
    return deliveries.unionByName(of_moved.select(*IN_GROUP)).distinct()


def _groups(deliveries: DataFrame) -> DataFrame:
    return deliveries.where(is_fifo()).select(*ITEM, group_key())


def _differing(now: DataFrame, before: DataFrame, names: list[str]) -> DataFrame:
    """Return the ``names`` of rows of FIFO queues that stand in one and not in the other."""

    def digests(rows: DataFrame, count: int) -> DataFrame:
        digest = F.xxhash64(*rows.columns).alias("_digest")
        keyed = rows.withColumn("group_key", group_key()) if "group_id" in rows.columns else rows
        return keyed.where(is_fifo()).select(*names, digest, F.lit(count).alias("_count"))

    both = digests(now, 1).unionByName(digests(before, -1))
    uneven = both.groupBy(*names, "_digest").agg(F.sum("_count").alias("_sum")).where("_sum <> 0")
    return uneven.select(*names).distinct()


def _other_files(kept: KeptRuns, out: Writer) -> tuple[DataFrame, DataFrame]:
    """Return the deliveries in files that only this run has, and in those that only the round before had."""
    schema, table = spark_schema(T.DELIVERIES), T.DELIVERIES.name
    now = {file.name: file for file in _staged(out, T.DELIVERIES)}
    before = {file.name: file for name in (table, f"{table} of works") for file in kept.files_of(name)}

    def only(mine: dict[str, Path], others: dict[str, Path]) -> DataFrame:
        files = [str(file) for name, file in sorted(mine.items()) if name not in others]
        rows = out.spark.read.schema(schema).parquet(*files) if files else no_rows(out.spark, schema)
        return rows.select(*ASKED)

    return only(now, before), only(before, now)


def _staged(out: Writer, table: Table) -> list[Path]:
    return sorted(out.lake.staging_folder(table, out.run_id).glob("*.parquet"))
