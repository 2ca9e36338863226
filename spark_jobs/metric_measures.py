"""CloudWatch's points of queues and functions as measures of a queue, each truth counted once.

The same minutes can have been read twice, at 60 s and later at 300 s, and values can have been revised.
"""

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from spark_jobs.inputs import Inputs
from spark_jobs.small_frames import frame_of

SUMS = {
    "NumberOfMessagesSent": "sent",
    "NumberOfMessagesReceived": "received",
    "NumberOfMessagesDeleted": "deleted",
    "Throttles": "throttles",
}
LEVELS = {
    "ApproximateAgeOfOldestMessage": "age",
    "ApproximateNumberOfMessagesVisible": "visible",
    "ApproximateNumberOfMessagesNotVisible": "in_flight",
}
_POINT = ("namespace", "resource", "metric", "statistic", "period_s", "point_at")
_HOUR = ("namespace", "resource", "metric", "hour_at")


def metric_measures(inputs: Inputs) -> DataFrame:
    """Return one row per queue, metric and hour (sums) or point (levels).

    Columns: queue_arn, consumer (Throttles only), at, and per metric a value, null in the rows of the others;
    ``dead_letter_rise`` is what a queue's dead-letter queue gained at that point; ``evidence`` cites the point.
    """
    wanted = F.col("metric").isin(*SUMS, *LEVELS) & F.col("statistic").isin("Sum", "Maximum")
    points = inputs.metric_points().where(wanted).withColumn("hour_at", F.date_trunc("hour", "point_at"))
    newest = points.groupBy(*_POINT, "hour_at").agg(
        F.max_by("value", F.struct("collected_at", "evidence_id")).alias("value"),
        F.max_by("evidence_id", F.struct("collected_at", "evidence_id")).alias("evidence_id"),
    )
    return _sums(newest, inputs).unionByName(_levels(newest, inputs), allowMissingColumns=True)


def _sums(newest: DataFrame, inputs: Inputs) -> DataFrame:
    """Sum each hour once: of two readings at different periods the one that saw more."""
    per_period = (
        newest.where(F.col("statistic") == "Sum")
        .groupBy(*_HOUR, "period_s")
        .agg(F.sum("value").alias("value"), F.max_by("evidence_id", F.struct("value", "evidence_id")).alias("peak_id"))
    )
    per_hour = per_period.groupBy(*_HOUR).agg(
        F.max_by("value", F.struct("value", "period_s")).alias("value"),
        F.max_by("peak_id", F.struct("value", "period_s")).alias("peak_id"),
    )
    of_queues, of_functions = _owners(inputs)
    named = per_hour.join(F.broadcast(of_queues.unionByName(of_functions)), ["namespace", "resource"])
    # Only throttles are cited one by one: of the others the reading that brought them is cited.
    cited = F.when((F.col("metric") == "Throttles") & (F.col("value") > 0), F.array("peak_id"))
    return named.select(
        "queue_arn",
        "consumer",
        F.col("hour_at").alias("at"),
        *[_value_of(metric).cast("long").alias(name) for metric, name in SUMS.items()],
        F.col("peak_id").alias("sum_id"),
        cited.alias("evidence"),
    )


def _levels(newest: DataFrame, inputs: Inputs) -> DataFrame:
    """Take each level from the finest period that an hour was read at."""
    finest = F.min("period_s").over(Window.partitionBy(*_HOUR))
    levels = (
        newest.where((F.col("statistic") == "Maximum") & F.col("metric").isin(*LEVELS))
        .withColumn("finest_s", finest)
        .where(F.col("period_s") == F.col("finest_s"))
    )
    of_queues, _ = _owners(inputs)
    own = levels.join(F.broadcast(of_queues), ["namespace", "resource"]).select(
        "queue_arn",
        F.col("point_at").alias("at"),
        *[_value_of(metric).cast("long").alias(name) for metric, name in LEVELS.items()],
        F.when(F.col("metric") == "ApproximateAgeOfOldestMessage", F.col("evidence_id")).alias("age_id"),
        F.when(F.col("metric") == "ApproximateNumberOfMessagesVisible", F.col("evidence_id")).alias("visible_id"),
    )
    sources = [
        (r["queue_arn"], r["dead_letter_queue_arn"].rpartition(":")[2])
        for r in {(s["queue_arn"], s["dead_letter_queue_arn"]): s for s in inputs.small["queue_settings"]}.values()
        if r["dead_letter_queue_arn"]
    ]
    of_sources = frame_of(inputs.spark, sources, "queue_arn string, resource string")
    in_time = Window.partitionBy("resource").orderBy("point_at")
    gained = F.col("value") - F.lag("value").over(in_time)
    rises = (
        levels.where(F.col("metric") == "ApproximateNumberOfMessagesVisible")
        .join(F.broadcast(of_sources), "resource")
        .withColumn("dead_letter_rise", F.greatest(gained, F.lit(0)).cast("long"))
        .select(
            "queue_arn",
            F.col("point_at").alias("at"),
            "dead_letter_rise",
            F.when(F.col("dead_letter_rise") > 0, F.array("evidence_id")).alias("evidence"),
        )
    )
    return own.unionByName(rises, allowMissingColumns=True)


def _value_of(metric: str) -> Column:
    return F.when(F.col("metric") == metric, F.col("value"))


def _owners(inputs: Inputs) -> tuple[DataFrame, DataFrame]:
    """Return whose metric a (namespace, resource) is: a queue's own, and a function's for each queue it consumes."""
    schema = "queue_arn string, consumer string, namespace string, resource string"
    queues = [(arn, None, "AWS/SQS", name) for name, arn in sorted(inputs.queue_arn_by_name.items())]
    functions = {
        (r["queue_arn"], r["function_name"]) for r in inputs.small["consumers"] if r["queue_arn"] and r["function_name"]
    }
    return (
        frame_of(inputs.spark, queues, schema),
        frame_of(inputs.spark, [(arn, f, "AWS/Lambda", f) for arn, f in sorted(functions)], schema),
    )
