"""What counts for queue health, kept per group of findings files: a round takes measure only of what it wrote."""

from collections.abc import Callable, Sequence
from pathlib import Path

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from forensics.tables import Table
from forensics.tables import findings as T
from spark_jobs.health_measures import delivery_measures, last_causes, run_measures, verdict_measures
from spark_jobs.kept_index import put_index
from spark_jobs.kept_rows import APART_NAME, group_of
from spark_jobs.kept_runs import KeptRuns
from spark_jobs.manifest import SHELF, shelf_folders
from spark_jobs.queue_health import counted_together, dated
from spark_jobs.session import spark_schema
from spark_jobs.shelves import Shelves


def of_deliveries(kept: KeptRuns, files: Sequence[Path]) -> DataFrame:
    """Measure the deliveries that needed no judging; ``files`` are theirs in the findings."""
    nothing = kept.inputs.spark.createDataFrame([], "queue_arn string, item_id string, last_cause string")
    return _of_files(kept, T.DELIVERIES, files, lambda rows: delivery_measures(rows, nothing, SHELF))


def of_invocations(kept: KeptRuns, files: Sequence[Path]) -> DataFrame:
    """Measure runs; ``files`` are theirs in the findings."""
    return _of_files(kept, T.INVOCATIONS, files, lambda rows: run_measures(rows, SHELF))


def of_works(shelves: Shelves) -> DataFrame:
    """Measure judged works: deliveries and verdicts."""
    ledger = shelves.put_now("ledger").select(*T.DELIVERIES.column_names, SHELF)
    measures = delivery_measures(ledger, last_causes(shelves.put_now("pairs")), SHELF)
    verdicts = verdict_measures(shelves.put_now("verdicts"), SHELF)
    shelves.put_also(
        "measures", counted_together(dated(measures.unionByName(verdicts, allowMissingColumns=True)), SHELF)
    )
    return shelves.frame("measures")


def _of_files(
    kept: KeptRuns, table: Table, files: Sequence[Path], measure: Callable[[DataFrame], DataFrame]
) -> DataFrame:
    """Take measure of files that this run wrote, and put that beside what was kept of the others."""
    spark, name = kept.inputs.spark, f"{kept.run_id}-{table.name}"
    groups = {group_of(file) for file in files}
    mine = {group for group in groups if group.startswith(kept.run_id)}
    schema = spark_schema(table)
    written = [str(file) for file in files if group_of(file) in mine]
    rows = spark.read.schema(schema).parquet(*written) if written else spark.createDataFrame([], schema)
    kind = F.regexp_extract(F.input_file_name(), f"{kept.run_id}-([^-]+)-[^/]+$", 1)
    placed = rows.withColumn(SHELF, kind)
    put_index(kept, table, placed)
    measures = counted_together(dated(measure(placed)), SHELF)
    kept.note(f"{table.name} measures", measures.drop(SHELF).schema)
    measures.write.partitionBy(SHELF).parquet(str(kept.folder / name / "measures"))
    asked = {f"{run_id}-{table.name}/{kind}" for run_id, _, kind in (group.rpartition("-") for group in groups)}
    known = kept.manifest.shelves if kept.manifest else {}
    lost = {shelf for shelf in asked if not shelf.startswith(name)} - known.keys()
    assert not lost, f"no measures of {lost} were kept"
    kept.stand_on({shelf: 0 for shelf in asked if not shelf.endswith(f"/{APART_NAME}")})
    folders = [str(folder) for shelf in sorted(asked) for folder in shelf_folders(kept.folder, shelf)]
    folders = [folder for folder in folders if Path(folder).parent.name == "measures"]
    kept_schema = kept.schema(f"{table.name} measures")
    return spark.read.schema(kept_schema).parquet(*folders) if folders else spark.createDataFrame([], kept_schema)
