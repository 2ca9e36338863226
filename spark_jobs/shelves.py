"""Judged works between rounds: shelves from which a round takes only what something new bears on.

A work stands whole on one shelf, its items with everything that judging made of them, so that what is to be judged again
names the shelves to read. What else stood on those is put on new shelves with it; all others stay as they are. Works that
were over at about the same time stand together: what is still going on does not stand among what is not.
"""

import shutil
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F
from pyspark.sql.types import IntegerType

from forensics.tables import Table
from spark_jobs.grounds import Horizon, over_at
from spark_jobs.judging import Judged
from spark_jobs.kept_rows import age, link
from spark_jobs.kept_runs import KeptRuns
from spark_jobs.manifest import SHELF, shelf_folders
from spark_jobs.redrives import move_spans
from spark_jobs.session import side_by_side, spark_schema
from spark_jobs.small_frames import no_rows
from spark_jobs.suspects import item_hash
from spark_jobs.writer import Writer

ITEM = ["queue_arn", "item_id"]
_WORK = ["queue_arn", "work_id"]
_WORKS = "-works"
_SMALL_ITEMS = 5_000
_MOST_SHELVES = 24


class Shelves:
    """The judged works of a lake: those of earlier rounds, and where this one puts its own."""

    def __init__(self, kept: KeptRuns, out: Writer) -> None:
        self.kept, self.out = kept, out
        known = kept.manifest.shelves if kept.manifest else {}
        self.standing = {shelf: count for shelf, count in known.items() if shelf.partition("/")[0].endswith(_WORKS)}
        self._emptied: dict[str, int] = {}
        self._again: DataFrame | None = None
        self.data_until: datetime | None = None
        self.judged_now: DataFrame | None = None

    @property
    def _name(self) -> str:
        return f"{self.kept.run_id}{_WORKS}"

    def frame(self, name: str, shelves: Iterable[str] | None = None) -> DataFrame:
        """Return what judging made (items, raw, ledger, pairs or verdicts) of the works on some shelves, None: on all."""
        asked = sorted(self.standing if shelves is None else shelves)
        folders = [f for shelf in asked for f in shelf_folders(self.kept.folder, shelf) if f.parent.name == name]
        schema = self.kept.schema(name)
        if not folders:
            return no_rows(self.out.spark, schema)
        return self.out.spark.read.schema(schema).parquet(*[str(folder) for folder in folders])

    def touched(self, near: DataFrame, replaced: DataFrame) -> DataFrame:
        """Return, as item_hash, the items here of which new lines speak or that share something with what they name.

        ``near`` has the item_hash of statements, ``replaced`` the invocation_id of runs that were read again.
        """
        runs = F.broadcast(replaced.select(F.col("invocation_id").alias("consumer")))
        items = self.frame("items").select("item_hash")
        spoken_of = items.join(F.broadcast(near.select("item_hash").distinct()), "item_hash", how="left_semi")
        of_runs = self.frame("raw").join(runs, "consumer", how="left_semi")
        return spoken_of.unionByName(of_runs.select(item_hash(F.col("item_id")).alias("item_hash")))

    def others(self, items: DataFrame) -> DataFrame:
        """Return those of some items, as item_hash, that stand on no shelf."""
        return items.join(self.frame("items").select("item_hash"), "item_hash", how="left_anti")

    def take_down(self, touched: DataFrame, seen: DataFrame, horizon: Horizon) -> DataFrame:
        """Return the items to judge again beside those of ``seen``, as queue_arn, item_id and item_hash; whole works.

        Those are works of touched items, works that share a value with what is seen now, and works that were not over
        before the ``horizon``.
        """
        items = self.frame("items")
        new = F.broadcast(seen.select(F.explode(_links()).alias("link")).distinct())
        linked = items.select(*_WORK, F.explode("links").alias("link")).join(new, "link", how="left_semi")
        hit = items.join(F.broadcast(touched.distinct()), "item_hash", how="left_semi").select(*_WORK)
        hit = hit.unionByName(linked.select(*_WORK))
        names = F.concat(F.array("queue_arn"), "log_groups")
        hit = hit.unionByName(items.where(horizon.is_behind(F.col("over_at"), names)).select(*_WORK))
        hit = self._with_equal_bodies(items, hit, seen)
        found = items.withColumn("_file", F.input_file_name()).join(F.broadcast(hit.distinct()), _WORK, how="left_semi")
        again = self.out.keep("again", found.select(*ITEM, "item_hash", "_file"))
        emptied = _shelves_of(again)
        self._again = again.drop("_file")
        if len(self.standing) > _MOST_SHELVES:
            emptied |= {shelf for shelf, count in self.standing.items() if count < _SMALL_ITEMS}
        self._emptied = {shelf: self.standing.pop(shelf) for shelf in emptied}
        return self._again

    def _with_equal_bodies(self, items: DataFrame, hit: DataFrame, seen: DataFrame) -> DataFrame:
        """Add the works with a body that these or what is seen now have too, and so on.

        That a move task brought a message back shows only among all messages of one body.
        """
        moved = sorted(move_spans(self.kept.inputs))
        if not moved:
            return hit
        mine, body = F.col("queue_arn").isin(moved), ["queue_arn", "body"]
        bodies = items.where(mine).select(*_WORK, F.explode("bodies").alias("body")).distinct()
        bodies = self.out.keep("bodies", bodies)
        new = seen.where(mine).select("queue_arn", _body().alias("body"))
        hit, times, grows = self.out.keep("hit_0", hit.distinct()), 0, True
        while grows:
            times, shared = times + 1, bodies.join(hit, _WORK, how="left_semi").select(*body).unionByName(new)
            others = bodies.join(shared.distinct(), body, how="left_semi").select(*_WORK)
            more = self.out.keep(f"hit_{times}", hit.unionByName(others).distinct())
            grows, hit = more.count() > hit.count(), more
        return hit

    def take_down_all(self) -> DataFrame:
        """Return all items, as ``take_down`` does: what all of them rest on has changed."""
        self.standing, self._emptied = {}, {**self.standing, **self._emptied}
        self._again = self.frame("items", self._emptied).select(*ITEM, "item_hash")
        return self._again

    def raw(self, again: DataFrame, replaced: DataFrame) -> DataFrame:
        """Return the deliveries of items to judge again as they were seen, but for runs that were read again."""
        runs = F.broadcast(replaced.select(F.col("invocation_id").alias("consumer")))
        mine = self.frame("raw", self._emptied)
        return mine.join(F.broadcast(again.select(*ITEM)), ITEM, how="left_semi").join(
            runs, "consumer", how="left_anti"
        )

    def left(self, name: str) -> DataFrame:
        """Return what stays of the emptied shelves and of those that nothing was taken from."""
        return self._left(name, {**self.standing, **self._emptied})

    def _left(self, name: str, shelves: Iterable[str]) -> DataFrame:
        frame = self.frame(name, shelves)
        return (
            frame if self._again is None else frame.join(F.broadcast(self._again.select(*ITEM)), ITEM, how="left_anti")
        )

    def keep(self, name: str, frame: DataFrame) -> DataFrame:
        """Put what judging made of works on this round's shelves, the ledger first, and read it back."""
        if name == "ledger":
            shutil.rmtree(self.kept.folder / self._name, ignore_errors=True)  # of judging that had to be done again
            over = F.max(over_at(frame)).over(Window.partitionBy(*_WORK))
            frame = frame.withColumn("over_at", over).withColumn(SHELF, age(F.col("over_at"), self.data_until))
        else:
            frame = frame.join(self.put_now("items").select(*ITEM, SHELF), ITEM)
        self.put_also(name, frame)
        if name == "ledger":
            self.put_also("items", _items(self.put_now("ledger")))
        return self.put_now(name).drop(SHELF)

    def finish(self, raw: DataFrame) -> Judged:
        """Put there how the judged deliveries were seen, and what else stood on emptied shelves; returns all that stands on any."""
        names = ("raw", "ledger", "pairs", "verdicts")
        self.keep("raw", raw)
        self.judged_now = self.put_now("items").select(*ITEM)
        if self._emptied:
            left = self._left("items", self._emptied).withColumn(SHELF, age(F.col("over_at"), self.data_until))
            items = self.out.keep("items_left", left)
            places = items.select(*ITEM, SHELF)

            def put_back(name: str) -> None:
                self._write(name, self._left(name, self._emptied).join(places, ITEM))

            side_by_side(self.out.spark, *[lambda name=name: put_back(name) for name in names])
            self._write("items", items)
        for row in self.put_now("items").groupBy(SHELF).count().collect():
            self.standing[f"{self._name}/{row[SHELF]}"] = row["count"]
        self.kept.stand_on(self.standing)
        return self.all()

    def all(self, shelves: Iterable[str] | None = None) -> Judged:
        """Return what stands on some shelves, None: on any."""
        names = None if shelves is None else sorted(shelves)
        return Judged(self.frame("ledger", names), self.frame("pairs", names), self.frame("verdicts", names))

    def with_items(self, items: DataFrame) -> set[str]:
        """Return the shelves on which some items stand."""
        mine = self.frame("items").withColumn("_file", F.input_file_name())
        asked = F.broadcast(items.select(*ITEM).distinct())
        return _shelves_of(mine.join(asked, ITEM, how="left_semi"))

    def put_also(self, name: str, frame: DataFrame) -> None:
        """Put something more on the shelves of this round; ``frame`` has their numbers as ``shelf``."""
        self.kept.note(name, frame.drop(SHELF).schema)
        self._write(name, frame)

    def put_now(self, name: str) -> DataFrame:
        """Return what this round put on shelves, with the number of the ``shelf``."""
        folder = self.kept.folder / self._name / name
        folder.mkdir(parents=True, exist_ok=True)
        return self.out.spark.read.schema(self.kept.schema(name).add(SHELF, IntegerType())).parquet(str(folder))

    def stage(self, table: Table, frame: DataFrame) -> DataFrame:
        """Write the rows of this round's shelves into a findings table, link those of the others; returns the whole table.

        ``frame`` has the table's columns and ``shelf``.
        """
        staged = self.out.lake.staging_folder(table, self.kept.run_id)
        staged.mkdir(parents=True, exist_ok=True)
        folder = self.out.work_folder / f"{table.name}_of_works"
        in_order = frame.coalesce(1).sortWithinPartitions(SHELF, *table.key)
        in_order.write.partitionBy(SHELF).parquet(str(folder))
        files = []
        for file in sorted(folder.glob(f"{SHELF}=*/*.parquet")):
            files.append(file.replace(staged / f"{self._name}-{file.parent.name.partition('=')[2]}-{file.name}"))
        whole = tuple(f"{shelf.replace('/', '-')}-" for shelf in self.standing)
        for file in self.kept.files_of(f"{table.name} of works"):
            if file.name.startswith(whole):
                files.append(link(file, staged / file.name))
        self.kept.keep_files(f"{table.name} of works", files)
        return self.out.spark.read.schema(spark_schema(table)).parquet(str(staged))

    def _write(self, name: str, frame: DataFrame) -> None:
        frame.write.mode("append").partitionBy(SHELF).parquet(str(self.kept.folder / self._name / name))


def _shelves_of(rows: DataFrame) -> set[str]:
    folders = {Path(row["_file"]).parent for row in rows.select("_file").distinct().collect()}
    return {f"{folder.parent.parent.name}/{folder.name.partition('=')[2]}" for folder in folders}


def _items(ledger: DataFrame) -> DataFrame:
    """One row per judged item: its work and when that was over, its log groups, hashes of bodies and of what links it to others."""
    items = ledger.groupBy(*ITEM).agg(
        *[F.first(name).alias(name) for name in ("work_id", "over_at", SHELF)],
        F.array_distinct(F.flatten(F.collect_list(_links()))).alias("links"),
        F.collect_set("log_group").alias("log_groups"),
        F.collect_set(_body()).alias("bodies"),
    )
    return items.withColumn("item_hash", item_hash(F.col("item_id")))


def _body() -> Column:
    return F.when(F.col("body_md5").isNotNull(), F.xxhash64("body_md5"))


def _links() -> Column:
    """Hash whatever a delivery can share with one of another item (``shared_links``), but for bodies moved by a task."""
    ids = F.array_compact(F.array("deduplication_id", "message_id", "job_id"))
    every = F.concat(ids, F.coalesce("business_keys", F.array().cast("array<string>")))
    return F.transform(every, lambda value: F.xxhash64(value))
