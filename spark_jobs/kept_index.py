"""Of which runs and items the rows of findings files are, as hashes: what does not hold any more is found in these alone."""

from collections.abc import Iterable
from pathlib import Path

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from forensics.tables import Table
from spark_jobs.kept_beside import put_beside
from spark_jobs.kept_rows import Reach, group_of
from spark_jobs.kept_runs import KeptRuns
from spark_jobs.manifest import SHELF, shelf_folders
from spark_jobs.suspects import item_hash

_INDEX = "index"


def put_index(kept: KeptRuns, table: Table, rows: DataFrame) -> None:
    """Write the hashes of rows that this run wrote; ``shelf`` says of each in which kind of file it is."""
    run = "consumer" if "consumer" in table.column_names else "invocation_id"
    put_beside(kept, table, _INDEX, rows.select(SHELF, F.xxhash64(run).alias("run_hash"), *_item_hash(table)))


def groups_hit(kept: KeptRuns, table: Table, files: Iterable[Path], again: Reach) -> set[str]:
    """Return the groups of files with rows of runs that were read again, or of items that are looked at."""
    asked = {group_of(file) for file in files}
    folders: dict[str, Path] = {}
    for group in asked:
        run_id, _, kind = group.rpartition("-")
        for folder in shelf_folders(kept.folder, f"{run_id}-{table.name}/{kind}"):
            if folder.parent.name == _INDEX:
                folders[group] = folder
    hit = asked - folders.keys()
    if folders:
        schema = kept.schema(f"{table.name} {_INDEX}")
        rows = kept.inputs.spark.read.schema(schema).parquet(*[str(folder) for folder in folders.values()])
        rows = rows.withColumn("_file", F.input_file_name())
        runs = F.broadcast(again.replaced.select(F.xxhash64("invocation_id").alias("run_hash")))
        found = rows.join(runs, "run_hash", how="left_semi").select("_file")
        if _item_hash(table):
            found = found.unionByName(rows.join(F.broadcast(again.items), "item_hash", how="left_semi").select("_file"))
        names = {Path(row["_file"]).parent for row in found.distinct().collect()}
        group_by_folder = {(folder.parent.parent.name, folder.name): group for group, folder in folders.items()}
        hit |= {group_by_folder[name.parent.parent.name, name.name] for name in names}
    return hit


def _item_hash(table: Table) -> list[Column]:
    return [item_hash(F.col("item_id")).alias("item_hash")] if "item_id" in table.column_names else []
