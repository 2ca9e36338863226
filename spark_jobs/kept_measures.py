"""What counts for queue health, kept per group of findings files: a round takes measure only of what it wrote."""

from collections.abc import Callable, Sequence
from pathlib import Path

from pyspark.sql import DataFrame

from forensics.tables import Table
from forensics.tables import findings as T
from spark_jobs.health_measures import delivery_measures, last_causes, run_measures, verdict_measures
from spark_jobs.kept_beside import all_beside, put_beside, rows_now
from spark_jobs.kept_index import put_index
from spark_jobs.kept_runs import KeptRuns
from spark_jobs.manifest import SHELF
from spark_jobs.queue_health import counted_together, dated
from spark_jobs.shelves import Shelves
from spark_jobs.small_frames import no_rows


def of_deliveries(kept: KeptRuns, files: Sequence[Path]) -> DataFrame:
    """Measure the deliveries that needed no judging; ``files`` are theirs in the findings."""
    nothing = no_rows(kept.inputs.spark, "queue_arn string, item_id string, last_cause string")
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
    placed = rows_now(kept, table, files)
    put_index(kept, table, placed)
    put_beside(kept, table, "measures", counted_together(dated(measure(placed)), SHELF))
    return all_beside(kept, table, "measures", files)
