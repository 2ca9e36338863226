"""Findings of the round before that still hold: files without a row to drop are linked, the others written again without it.

Holds for rows that rest on one run alone: invocations, and deliveries of messages that were delivered once.
"""

import os
import shutil
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import pyarrow.parquet as pq
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from forensics.tables import Table
from spark_jobs.deliveries import LONG_POLL
from spark_jobs.grounds import Horizon
from spark_jobs.handlings import Handlings
from spark_jobs.kept_runs import KeptRuns, run_hash
from spark_jobs.session import spark_schema
from spark_jobs.small_frames import no_rows
from spark_jobs.suspects import item_hash

AGE = "age"
_AGES_H = (0.05, 0.25, 1, 3, 12, 48, 192)
"""Rows are put in files by age, so that those that may still change do not lie among those that will not. Hours before the
end of the evidence at which the next file begins; the first holds what most visibility timeouts and runs reach back to."""
_FINAL = ("deleted", "delete_refused")
"""Ends that no later line of another stream can change."""
FEW_FILES = 4
"""So many files per age at most are written by a round, and group by group taken over by the next."""
_SMALL_ROWS = 20_000
_MOST_SMALL_GROUPS = 24


def age(at: Column, data_until: datetime | None) -> Column:
    """Return the kind of file a row goes into: 0 is the newest."""
    hours = (F.unix_micros(F.lit(data_until).cast("timestamp")) - F.unix_micros(at)) / 3_600_000_000
    kind = F.lit(len(_AGES_H))
    for number, limit in reversed(list(enumerate(_AGES_H))):
        kind = F.when(hours < limit, number).otherwise(kind)
    return F.when(hours.isNull(), 0).otherwise(kind)


@dataclass(frozen=True)
class Reach:
    """What a round looks at again besides judged works: runs that were read again, items to judge now, and open ends.

    ``read`` has the invocation_id of the runs and handlings of this round, ``replaced`` of those that do not count any more;
    ``items`` has item_hash. Every other row of the round before holds.
    """

    read: DataFrame
    replaced: DataFrame
    items: DataFrame

    def runs(self, fresh: DataFrame, older: DataFrame, stated: DataFrame) -> DataFrame:
        """Return the runs to look at: those read again, and older ones that speak of the items."""
        wanted = stated.join(F.broadcast(self.items), "item_hash", how="left_semi").select("consumer_hash").distinct()
        mine = older.withColumn("consumer_hash", run_hash()).join(F.broadcast(wanted), "consumer_hash", how="left_semi")
        return fresh.unionByName(mine.drop("consumer_hash"))

    def facts(self, handlings: Handlings) -> DataFrame:
        """Return the facts of the handlings to look at: those put together again, and older ones of the items."""
        if handlings.older is None:
            return handlings.facts
        mine = handlings.older.withColumn("item_hash", item_hash(F.col("item_id")))
        mine = mine.join(F.broadcast(self.items), "item_hash", how="left_semi").drop("item_hash")
        return handlings.facts.unionByName(mine)

    def made_anew(self, deliveries: DataFrame) -> DataFrame:
        """Leave out deliveries that need no judging and are among those of the round before that still hold."""
        marked = self._marked(deliveries, self.read, "consumer", has_items=True)
        return marked.where(F.col("is_judged") | F.col("is_hit")).drop("is_hit")

    def outdated(self, rows: DataFrame) -> DataFrame:
        """Add ``is_hit`` to rows of the round before: their run was read again, or their item is looked at."""
        if "item_id" in rows.columns:
            return self._marked(rows, self.replaced, "consumer", has_items=True)
        return self._marked(rows, self.replaced, "invocation_id", has_items=False)

    def _marked(self, rows: DataFrame, runs: DataFrame, run: str, has_items: bool) -> DataFrame:
        mine = F.broadcast(runs.select(F.col("invocation_id").alias(run), F.lit(True).alias("_is_run")))
        marked = rows.join(mine, run, how="left").withColumn("is_hit", F.col("_is_run").isNotNull()).drop("_is_run")
        if not has_items:
            return marked
        items = F.broadcast(self.items.withColumn("_is_item", F.lit(True)))
        return (
            marked.withColumn("item_hash", item_hash(F.col("item_id")))
            .join(items, "item_hash", how="left")
            .withColumn("is_hit", F.col("is_hit") | F.col("_is_item").isNotNull())
            .drop("item_hash", "_is_item")
        )


def reach(
    open_ends: DataFrame,
    read: DataFrame,
    replaced: DataFrame,
    suspects: DataFrame,
    horizon: Horizon,
    keep: Callable[[str, DataFrame], DataFrame],
) -> Reach:
    """Say what a round must look at again; ``suspects`` are the items to judge of which nothing was judged before.

    ``open_ends`` are the deliveries of the round before that needed no judging and were not deleted. Behind the
    ``horizon`` what deliveries rest on may differ: one that was hidden then may end otherwise.
    """
    names = F.array("queue_arn", "log_group")
    may_differ = horizon.is_behind(F.col("hidden_until_at") + F.lit(LONG_POLL), names)
    once = open_ends.where(~F.col("ended_by").isin(*_FINAL)).where(may_differ)
    items = suspects.unionByName(once.select(item_hash(F.col("item_id")).alias("item_hash")))
    return Reach(read, replaced, keep("items_again", items.distinct()))


def groups_with(kept: KeptRuns, table: Table, outdated_in: Callable[[DataFrame], DataFrame]) -> set[str]:
    """Return the groups of files of the round before with rows that do not hold; see ``carry_over``."""
    old = old_rows(kept, table).withColumn("_file", F.input_file_name())
    return {
        group_of(Path(row["_file"])) for row in outdated_in(old).where("is_hit").select("_file").distinct().collect()
    }


def carry_over(
    kept: KeptRuns,
    table: Table,
    staged: Path,
    outdated: set[str],
    outdated_in: Callable[[DataFrame], DataFrame],
    at: str,
    data_until: datetime | None,
    in_order: bool = False,
) -> list[Path]:
    """Put the rows of the round before that still hold among this round's staged files; returns the files.

    ``outdated_in`` adds ``is_hit`` to rows, true where they do not hold; it is asked about the groups ``outdated`` alone.
    ``in_order`` is as for ``Writer.write_aged``.
    """
    files = kept.files_of(table.name)
    rows_by_group = Counter[str]()
    for file in files:
        rows_by_group[group_of(file)] += pq.read_metadata(file).num_rows
    small = [group for group, rows in rows_by_group.items() if rows < _SMALL_ROWS]
    if len(small) > _MOST_SMALL_GROUPS:
        outdated = outdated.union(small)
    staged.mkdir(parents=True, exist_ok=True)
    carried = [link(file, staged / file.name) for file in files if group_of(file) not in outdated]
    if rewritten := [str(file) for file in files if group_of(file) in outdated]:
        held = outdated_in(_read(kept.inputs.spark, table, rewritten)).where("not is_hit")
        folder = kept.path(f"{table.name}_again")
        aged = held.drop("is_hit").withColumn(AGE, age(F.col(at), data_until))
        write_by_age(aged.coalesce(FEW_FILES), table, folder, in_order)
        carried += move_aged(folder, staged, kept.run_id)
    return carried


def write_by_age(aged: DataFrame, table: Table, folder: Path, in_order: bool) -> None:
    """Write rows into a folder per age."""
    if in_order:
        aged = aged.coalesce(1).sortWithinPartitions(AGE, *table.key)
    aged.write.partitionBy(AGE).parquet(str(folder))


def move_aged(folder: Path, staged: Path, run_id: str) -> list[Path]:
    """Move files that were written by age into a table's staging folder; returns them."""
    staged.mkdir(parents=True, exist_ok=True)
    moved = []
    for file in sorted(folder.glob(f"{AGE}=*/*.parquet")):
        kind = file.parent.name.partition("=")[2]  # files of one task differ in their age alone
        moved.append(file.replace(staged / f"{run_id}-{kind}-{file.name}"))
    return moved


def group_of(file: Path) -> str:
    """Return what files share that one run wrote of one age: run id and age. They are taken over together or not at all."""
    return "-".join(file.name.split("-", 3)[:3])


def old_rows(kept: KeptRuns, table: Table) -> DataFrame:
    """Return the rows of the round before that may be taken over."""
    return _read(kept.inputs.spark, table, [str(file) for file in kept.files_of(table.name)])


def _read(spark: SparkSession, table: Table, files: list[str]) -> DataFrame:
    schema = spark_schema(table)
    return spark.read.schema(schema).parquet(*files) if files else no_rows(spark, schema)


def link(file: Path, to: Path) -> Path:
    """Give a file another name; returns it."""
    try:
        os.link(file, to)
    except OSError:  # a file system without hard links
        shutil.copy2(file, to)
    return to
