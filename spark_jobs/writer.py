"""Where a run writes: findings into their staging folders, and what is needed between steps into a work folder."""

import shutil
import uuid
from datetime import datetime
from pathlib import Path

import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from forensics.lake import Lake, arrow_schema
from forensics.tables import Table
from spark_jobs.kept_rows import AGE, age, move_aged, write_by_age
from spark_jobs.small_frames import is_known_empty, no_rows


class Writer:
    """Writes findings into their staging folders, and what is needed between steps into a work folder.

    Every step reads back what the one before wrote: nothing is computed twice, and no plan grows with the pipeline.
    ``in_memory`` is for few lines: what is needed between steps stays in Spark's memory, which spills to disk, and findings
    are written without a job of Spark's. Making and opening files costs it more than a few rows do.
    """

    def __init__(self, lake: Lake, run_id: str, spark: SparkSession, in_memory: bool = False) -> None:
        self.lake, self.run_id, self.spark, self.in_memory = lake, run_id, spark, in_memory
        self.tables: list[str] = []
        self.held: list[DataFrame] = []

    @property
    def work_folder(self) -> Path:
        """The folder of this run's intermediate frames; it goes when the run ends."""
        return self.lake.root / "findings" / ".work" / self.run_id

    def keep(
        self, name: str, frame: DataFrame, by: str | None = None, apart: str | None = None, path: Path | None = None
    ) -> DataFrame:
        """Keep an intermediate frame, in the work folder or in memory unless a ``path`` is given, and read it back.

        ``by`` names the column it is partitioned by: what is grouped by it afterwards then stays where it is. Rows that
        differ in ``apart`` go into different folders, so that reading one kind does not read the other.
        """
        if self.in_memory and path is None:
            if is_known_empty(frame):
                return no_rows(self.spark, frame.schema)
            self.held.append(frame.localCheckpoint())
            return self.held[-1]
        folder = str(path or self.work_folder / name)
        if by is None:
            frame.write.parquet(folder)
            return self.spark.read.schema(frame.schema).parquet(folder)
        table = f"{name}_{self.run_id.replace('-', '_')}"
        parts = int(self.spark.conf.get("spark.sql.shuffle.partitions") or 1)
        writer = frame.write.bucketBy(parts, by).option("path", folder)
        (writer.partitionBy(apart) if apart else writer).saveAsTable(table)
        self.tables.append(table)
        return self.spark.table(table)

    def forget(self) -> None:
        """Take the names of kept tables out of the session, their files off the disk, and rows out of the memory."""
        for frame in self.held:
            frame._jdf.queryExecution().logical().rdd().unpersist(False)
        for table in self.tables:
            self.spark.sql(f"DROP TABLE IF EXISTS {table}")
        shutil.rmtree(self.work_folder, ignore_errors=True)

    def write(self, table: Table, frame: DataFrame, few: bool = True, mode: str = "error") -> DataFrame:
        """Write a findings table and read it back."""
        folder = str(self.lake.staging_folder(table, self.run_id))
        if few:
            frame = frame.coalesce(1).sortWithinPartitions(*table.key)
        if self.in_memory:
            rows = frame.toArrow().select(table.column_names).cast(arrow_schema(table))
            Path(folder).mkdir(parents=True, exist_ok=True)
            pq.write_table(rows, Path(folder) / f"part-{uuid.uuid4().hex}.parquet", compression="zstd")
            if not rows.num_rows and mode == "error":
                return no_rows(self.spark, frame.schema)
        else:
            frame.write.mode(mode).parquet(folder)
        return self.spark.read.schema(frame.schema).parquet(folder)

    def write_aged(
        self, table: Table, frame: DataFrame, at: str, data_until: datetime | None, in_order: bool = False
    ) -> list[Path]:
        """Write rows of a findings table into files by age; returns the files. ``at`` is the column that tells it.

        ``in_order``: one file per age, by the table's key, for tables of which readers want a part.
        """
        folder = self.work_folder / f"{table.name}_aged"
        aged = frame.withColumn(AGE, age(F.col(at), data_until))
        write_by_age(aged, table, folder, in_order)
        return move_aged(folder, self.lake.staging_folder(table, self.run_id), self.run_id)

    def split(
        self, table: Table, frame: DataFrame, flag: str, at: str, data_until: datetime | None
    ) -> tuple[DataFrame, list[Path]]:
        """Write a frame once: rows whose flag is false are the table's already, the others are returned.

        The table's files are by age; also returns those.
        """
        folder = self.work_folder / f"{table.name}_split"
        aged = frame.withColumn(AGE, age(F.col(at), data_until))
        aged.write.partitionBy(flag, AGE).parquet(str(folder))
        files = move_aged(folder / f"{flag}=false", self.lake.staging_folder(table, self.run_id), self.run_id)
        schema = frame.drop(flag).schema
        marked = folder / f"{flag}=true"
        if not marked.is_dir():
            return no_rows(self.spark, schema), files
        return self.spark.read.schema(schema).parquet(str(marked)).select(*schema.names), files
