"""When the functions of a queue were throttled, and when anybody looked: as far as the Throttles metric was read."""

from datetime import datetime

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from spark_jobs.in_force import EARLIEST, LATEST
from spark_jobs.inputs import Inputs
from spark_jobs.read_spans import intersect, read_spans
from spark_jobs.small_frames import frame_of


def with_throttles(spans: DataFrame, key: list[str], start: Column, end: Column, inputs: Inputs) -> DataFrame:
    """Add ``is_throttled`` (null where nobody looked) and ``throttle_ids`` to rows that each have a span of time.

    ``spans`` has queue_arn; ``key`` names one row.
    """
    throttles = frame_of(
        inputs.spark,
        throttled_spans(inputs),
        "queue_arn string, throttled_at timestamp, throttled_until timestamp, throttle_id string",
    )
    asked = spans.select(*key, start.alias("_start"), end.alias("_end"))
    throttled = (
        asked.join(F.broadcast(throttles), "queue_arn")
        .where((F.col("throttled_at") <= F.col("_end")) & (F.col("throttled_until") >= F.col("_start")))
        .groupBy(*key)
        .agg(F.sort_array(F.collect_set("throttle_id")).alias("throttle_ids"))
    )
    looked = frame_of(
        inputs.spark, metric_spans(inputs), "queue_arn string, metrics_from timestamp, metrics_until timestamp"
    )
    measured = (
        asked.join(F.broadcast(looked), "queue_arn")
        .where((F.col("_start") >= F.col("metrics_from")) & (F.col("_end") <= F.col("metrics_until")))
        .select(*key)
        .distinct()
        .withColumn("_measured", F.lit(True))
    )
    return (
        spans.join(throttled, key, how="left")
        .join(measured, key, how="left")
        .withColumn("is_throttled", F.when(F.size("throttle_ids") > 0, True).when(F.col("_measured"), False))
        .drop("_measured")
    )


def metric_spans(inputs: Inputs) -> list[tuple[str, datetime, datetime]]:
    """Spans in which the metric tells of every consumer of a queue; workers are never throttled."""
    read = read_spans(inputs, "metric_points")
    kinds: dict[str, set[str]] = {}
    functions: dict[str, set[str]] = {}
    for row in inputs.small["consumers"]:
        kinds.setdefault(row["queue_arn"], set()).add(row["kind"])
        if row["function_name"]:
            functions.setdefault(row["queue_arn"], set()).add(row["function_name"])
    spans = [
        (q, *span) for q, names in functions.items() for span in intersect([read.get(n, []) for n in sorted(names)])
    ]
    spans += [(queue, EARLIEST, LATEST) for queue, found in kinds.items() if found == {"worker"}]
    return sorted(spans)


def throttled_spans(inputs: Inputs) -> list[tuple[str, datetime, datetime, str]]:
    """Return per queue when a function of it was throttled, and the point that says so."""
    queues: dict[str, set[str]] = {}
    for row in inputs.small["consumers"]:
        if row["function_name"]:
            queues.setdefault(row["function_name"], set()).add(row["queue_arn"])
    out = []
    for point in inputs.metrics_where("Throttles"):
        end = datetime.fromtimestamp(point["point_at"].timestamp() + point["period_s"], tz=point["point_at"].tzinfo)
        for queue in sorted(queues.get(point["resource"], ())):
            out.append((queue, point["point_at"], end, point["evidence_id"]))
    return out
