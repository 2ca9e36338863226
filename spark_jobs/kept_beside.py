"""What is kept beside groups of findings files, made of their rows: a round makes it only of the files it wrote."""

from collections.abc import Iterable
from pathlib import Path

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from forensics.tables import Table
from forensics.tables.findings import DELIVERIES
from spark_jobs.kept_rows import group_of
from spark_jobs.kept_runs import KeptRuns
from spark_jobs.manifest import SHELF, shelf_folders
from spark_jobs.session import spark_schema
from spark_jobs.small_frames import no_rows

_OPEN, _QUEUES = "open", "queues"


def rows_now(kept: KeptRuns, table: Table, files: Iterable[Path]) -> DataFrame:
    """Return the rows of those files that this run wrote; ``shelf`` says of each in which kind of file it is."""
    spark, schema = kept.inputs.spark, spark_schema(table)
    mine = [str(file) for file in files if group_of(file).startswith(kept.run_id)]
    rows = spark.read.schema(schema).parquet(*mine) if mine else no_rows(spark, schema)
    return rows.withColumn(SHELF, F.regexp_extract(F.input_file_name(), f"{kept.run_id}-([^-]+)-[^/]+$", 1))


def put_beside(kept: KeptRuns, table: Table, name: str, made: DataFrame) -> None:
    """Keep something made of ``rows_now``."""
    kept.note(f"{table.name} {name}", made.drop(SHELF).schema)
    made.write.partitionBy(SHELF).parquet(str(kept.folder / f"{kept.run_id}-{table.name}" / name))


def all_beside(kept: KeptRuns, table: Table, name: str, files: Iterable[Path]) -> DataFrame:
    """Return what is kept under a name beside some files, those of earlier rounds among them."""
    spark, now = kept.inputs.spark, f"{kept.run_id}-{table.name}"
    groups = (group_of(file).rpartition("-") for file in files)
    asked = {f"{run_id}-{table.name}/{kind}" for run_id, _, kind in groups}
    known = kept.manifest.shelves if kept.manifest else {}
    lost = {shelf for shelf in asked if not shelf.startswith(now)} - known.keys()
    assert not lost, f"nothing of {lost} was kept"
    kept.stand_on(dict.fromkeys(asked, 0))
    folders = [folder for shelf in sorted(asked) for folder in shelf_folders(kept.folder, shelf)]
    mine = [str(folder) for folder in folders if folder.parent.name == name]
    schema = kept.schema(f"{table.name} {name}")
    return spark.read.schema(schema).parquet(*mine) if mine else no_rows(spark, schema)


def put_ends(kept: KeptRuns, files: Iterable[Path]) -> None:
    """Keep of the deliveries that needed no judging those that were not deleted, and the queues of all: few rows."""
    rows = rows_now(kept, DELIVERIES, files)
    is_deleted = F.coalesce(F.col("ended_by") == "deleted", F.lit(False))
    put_beside(kept, DELIVERIES, _OPEN, rows.where(~is_deleted))
    put_beside(kept, DELIVERIES, _QUEUES, rows.select("queue", SHELF).distinct())


def open_ends(kept: KeptRuns, files: Iterable[Path]) -> DataFrame:
    """Return the deliveries in some files that were not deleted."""
    return all_beside(kept, DELIVERIES, _OPEN, files)


def queues(kept: KeptRuns, files: Iterable[Path]) -> DataFrame:
    """Return the ``queue`` of the deliveries in some files, some more than once."""
    return all_beside(kept, DELIVERIES, _QUEUES, files)


def put_whole(kept: KeptRuns, name: str, frame: DataFrame) -> DataFrame:
    """Keep something of which every round makes all, few rows; returns it as it was read back."""
    folder = str(kept.folder / f"{kept.run_id}-{_folder(name)}" / "all" / f"{SHELF}=0")
    frame.coalesce(1).write.parquet(folder)
    kept.note(name, frame.schema)
    kept.stand_on({f"{kept.run_id}-{_folder(name)}/0": 0})
    return kept.inputs.spark.read.schema(frame.schema).parquet(folder)


def whole_before(kept: KeptRuns, name: str) -> DataFrame | None:
    """Return what the round before kept so, None where it kept nothing."""
    shelves = kept.manifest.shelves if kept.manifest else {}
    mine = [shelf for shelf in shelves if shelf.endswith(f"-{_folder(name)}/0")]
    folders = [str(folder) for shelf in mine for folder in shelf_folders(kept.folder, shelf)]
    return kept.inputs.spark.read.schema(kept.schema(name)).parquet(*folders) if folders else None


def _folder(name: str) -> str:
    return name.replace(" ", "_")
