"""Queue health per day and per ISO week of the team's zone: every measure in one pass, one row per queue and period."""

from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from forensics.tables import Table
from forensics.tables.health import QUEUE_HEALTH, QUEUE_WEEKS
from spark_jobs.health_measures import delivery_measures, last_causes, read_measures, run_measures, verdict_measures
from spark_jobs.in_force import EARLIEST
from spark_jobs.inputs import Inputs
from spark_jobs.metric_measures import metric_measures

RECENT = timedelta(days=7)
"""How far back from the end of the evidence the settings checks look, from a whole quarter of an hour on."""
_QUARTER_S = 900
MOST_IDS = 200
_COUNTS = (
    "delivery",
    "redelivery",
    "unseen",
    "item",
    "expired_handle",
    "poison",
    "run",
    "timeout",
    "error",
    "crash",
    "twice_surely",
    "twice_maybe",
    "stopped",
)
_EVIDENCE_TYPE = "array<string>"


def health_periods(
    deliveries: DataFrame,
    invocations: DataFrame,
    messages: DataFrame,
    redeliveries: DataFrame,
    inputs: Inputs,
    data_until: datetime | None,
    has_few_lines: bool = True,
) -> DataFrame:
    """Return the measures of each queue and period; ``kind`` is day, week, or recent (per consumer, 7 days).

    ``deliveries`` and the others are the findings tables of this run. Of many lines, measures alike are counted together
    before they are put into periods: each goes into three.
    """
    of_deliveries = delivery_measures(deliveries, last_causes(redeliveries))
    measures = of_deliveries.unionByName(run_measures(invocations), allowMissingColumns=True)
    measures = dated(measures.unionByName(verdict_measures(messages), allowMissingColumns=True))
    return periods_of(measures if has_few_lines else counted_together(measures), inputs, data_until)


def periods_of(measures: DataFrame, inputs: Inputs, data_until: datetime | None) -> DataFrame:
    """Return the same from what deliveries, runs and verdicts measure; metrics and what was read are added here."""
    zone = ZoneInfo(inputs.settings.team.zone or "UTC")
    for part in (metric_measures(inputs), read_measures(inputs, zone)):
        measures = measures.unionByName(dated(part), allowMissingColumns=True)
    is_recent = F.col("at") >= F.lit(recent_from(data_until)).cast("timestamp")
    return _aggregated(_in_periods(measures.withColumn("is_recent", F.coalesce(is_recent, F.lit(False))), zone))


def recent_from(data_until: datetime | None) -> datetime | None:
    """Return from when on something is recent, UTC."""
    if data_until is None:
        return None
    at = data_until - RECENT
    return at - (at - EARLIEST) % timedelta(seconds=_QUARTER_S)


def dated(measures: DataFrame) -> DataFrame:
    """Keep what has a queue and a time; add ``times``, which is how often the measure was taken."""
    return measures.where(F.col("at").isNotNull() & F.col("queue_arn").isNotNull()).withColumn("times", F.lit(1))


def counted_together(measures: DataFrame, *apart: str) -> DataFrame:
    """Put measures that cite no line into one row where they are of the same quarter of an hour and took as long.

    Every zone's days begin at a quarter of an hour. What differs in the columns ``apart`` stays apart.
    """
    alone = F.col("evidence").isNotNull()
    if "dead_letter_reason" in measures.columns:
        alone = alone | F.col("dead_letter_reason").isNotNull()
    quarter = F.timestamp_seconds(F.floor(F.unix_seconds("at") / _QUARTER_S) * _QUARTER_S)
    same = [c for c in ("queue_arn", "consumer", "run_ms", "item_ms") if c in measures.columns]
    highest = [c for c in ("run_id", "poison_age", "receives", "batch_count", "last_group") if c in measures.columns]
    together = (
        measures.where(~alone)
        .withColumn("at", quarter)
        .groupBy(*same, *apart, "at")
        .agg(
            F.count(F.lit(1)).cast("int").alias("times"),
            *[F.sum(name).alias(name) for name in _COUNTS if name in measures.columns],
            *[F.max(name).alias(name) for name in highest],
            *[F.min(name).alias(name) for name in ("first_group",) if name in measures.columns],
        )
    )
    return measures.where(alone).unionByName(together, allowMissingColumns=True)


def _in_periods(measures: DataFrame, zone: ZoneInfo) -> DataFrame:
    """Put each measure into its day, its week, and where it is recent, into its consumer's last seven days."""
    day = F.to_date(F.from_utc_timestamp("at", str(zone)))
    monday = F.date_sub(day, F.weekday(day))
    thursday = F.date_add(monday, 3)
    week = F.concat(F.year(thursday).cast("string"), F.lit("-W"), F.lpad(F.weekofyear(monday).cast("string"), 2, "0"))
    nobody = F.lit(None).cast("string")
    kinds = [_period("day", day, week, day, F.date_add(day, 1), nobody, zone)]
    kinds.append(_period("week", week, week, monday, F.date_add(monday, 7), nobody, zone))
    recent = _period("recent", F.lit(""), F.lit(""), day, day, F.col("consumer"), zone)
    kinds.append(F.when(F.col("is_recent") & F.col("consumer").isNotNull(), recent))
    periods = F.explode(F.array_compact(F.array(*kinds)))
    return measures.withColumn("_in", periods).drop("consumer").select("*", "_in.*").drop("_in")


def _period(kind: str, name: Column, week: Column, first: Column, after: Column, who: Column, zone: ZoneInfo) -> Column:
    return F.struct(
        F.lit(kind).alias("kind"),
        name.cast("string").alias("period"),
        week.alias("week"),
        F.to_utc_timestamp(first.cast("timestamp"), str(zone)).alias("starts_at"),
        F.to_utc_timestamp(after.cast("timestamp"), str(zone)).alias("ends_at"),
        who.alias("consumer"),
        F.lit(str(zone)).alias("zone"),
    )


def _aggregated(measures: DataFrame) -> DataFrame:
    run_parts = F.percentile("run_ms", F.array(F.lit(0.5), F.lit(0.95), F.lit(0.99)), F.col("times"))
    reasons = F.collect_list("dead_letter_reason")
    grouped = measures.groupBy("queue_arn", "kind", "period", "week", "consumer", "zone").agg(
        F.min("starts_at").alias("starts_at"),
        F.max("ends_at").alias("ends_at"),
        F.coalesce(F.sum("metrics_read_s"), F.lit(0)).cast("int").alias("metrics_read_s"),
        F.coalesce(F.sum("logs_read_s"), F.lit(0)).cast("int").alias("logs_read_s"),
        F.sum("sent").alias("sent_count"),
        F.sum("received").alias("received_count"),
        F.sum("deleted").alias("deleted_count"),
        F.sum("throttles").alias("throttle_count"),
        F.sum("dead_letter_rise").alias("dead_letter_rise_count"),
        F.floor(F.percentile("age", 0.95)).cast("int").alias("age_p95_s"),
        F.max("age").cast("int").alias("age_max_s"),
        F.max_by("age_id", F.struct("age", "age_id")).alias("_age_id"),
        F.max_by("run_id", F.struct(F.coalesce("run_ms", F.lit(0)), "run_id")).alias("_slowest_id"),
        F.max("visible").alias("backlog_max_count"),
        F.max_by("visible_id", F.struct("visible", "visible_id")).alias("_visible_id"),
        F.max("sum_id").alias("_sum_id"),
        F.max("in_flight").alias("in_flight_max_count"),
        *[F.sum(name).alias(f"_{name}") for name in _COUNTS],
        reasons.alias("_reasons"),
        run_parts.alias("_run_ms"),
        F.max("run_ms").alias("handler_max_ms"),
        F.floor(F.percentile("item_ms", 0.99, F.col("times"))).alias("item_p99_ms"),
        F.max("poison_age").cast("int").alias("poison_age_s"),
        F.max("receives").alias("highest_receive_count"),
        F.max("batch_count").alias("largest_batch"),
        (F.min("first_group") == F.max("last_group")).alias("has_one_group"),
        F.array_sort(F.array_distinct(F.flatten(F.collect_list("evidence")))).alias("_cited"),
    )
    logs_known = (F.col("logs_read_s") > 0) | F.col("_delivery").isNotNull() | F.col("_run").isNotNull()

    def counted(name: str, kind: str = "bigint") -> Column:
        return F.when(logs_known, F.coalesce(f"_{name}", F.lit(0))).cast(kind)

    reason_codes = F.array_sort(F.array_distinct("_reasons"))
    tallied = F.transform(
        reason_codes,
        lambda code: F.struct((-F.size(F.filter("_reasons", lambda r: r == code))).alias("minus"), code.alias("code")),
    )
    ids = F.array_sort(
        F.array_union("_cited", F.array_compact(F.array("_age_id", "_visible_id", "_sum_id", "_slowest_id")))
    )
    return grouped.withColumns(
        {
            "delivery_count": counted("delivery"),
            "redelivery_count": counted("redelivery"),
            "unseen_count": counted("unseen"),
            "item_count": counted("item"),
            "twice_at_least": counted("twice_surely", "int"),
            "twice_at_most": counted("twice_maybe", "int"),
            "stopped_count": counted("stopped", "int"),
            "run_count": counted("run"),
            "timeout_count": counted("timeout"),
            "error_count": counted("error"),
            "crash_count": counted("crash"),
            "expired_handle_count": counted("expired_handle"),
            "dead_lettered_count": F.when(logs_known, F.size("_reasons")).cast("bigint"),
            "dead_letter_reasons": F.transform(
                F.array_sort(tallied), lambda t: F.concat_ws("=", t["code"], (-t["minus"]).cast("string"))
            ),
            "handler_p50_ms": F.floor(F.col("_run_ms")[0]),
            "handler_p95_ms": F.floor(F.col("_run_ms")[1]),
            "handler_p99_ms": F.floor(F.col("_run_ms")[2]),
            "poison_count": counted("poison"),
            "evidence_ids": F.slice(ids, 1, MOST_IDS).cast(_EVIDENCE_TYPE),
        }
    )


def queue_health(periods: DataFrame, inputs: Inputs) -> DataFrame:
    """One row per queue and day."""
    return _named(periods.where(F.col("kind") == "day").withColumnRenamed("period", "day"), QUEUE_HEALTH, inputs)


def queue_weeks(periods: DataFrame, inputs: Inputs) -> DataFrame:
    """One row per queue and ISO week."""
    return _named(periods.where(F.col("kind") == "week"), QUEUE_WEEKS, inputs)


def _named(rows: DataFrame, table: Table, inputs: Inputs) -> DataFrame:
    dead = sorted({r["dead_letter_queue_arn"] for r in inputs.small["queue_settings"] if r["dead_letter_queue_arn"]})
    return rows.withColumns(
        {
            "queue": F.element_at(F.split("queue_arn", ":"), -1),
            "is_dead_letter_queue": F.col("queue_arn").isin(dead),
        }
    ).select(*table.column_names)
