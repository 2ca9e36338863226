"""Incidents: messages of one queue that may have been processed twice, close in time."""

from collections.abc import Iterable, Iterator

import pandas as pd
from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from forensics.tables.findings import INCIDENTS
from forensics.verdict import cause_sentence, headline
from spark_jobs.inputs import Inputs
from spark_jobs.message_groups import MessageGroups
from spark_jobs.small_frames import frame_of
from spark_jobs.unread import unread

_QUIET_MS = 15 * 60 * 1000
_NO_STRINGS = "array<string>"


def is_affected(at_most: Column) -> Column:
    """The work may have been done twice: an upper bound of 2 or more, or none."""
    return at_most.isNull() | (at_most >= 2)


def membership(judged: DataFrame) -> DataFrame:
    """Return (queue_arn, item_id, incident_id, is_affected).

    Affected messages whose activity is separated by no more than max(2 x visibility timeout, 15 min) make one
    incident; the others inside its time belong to it but neither open nor bridge one.
    """
    affected = judged.where(is_affected(F.col("effects_at_most")))
    by_time = Window.partitionBy("queue_arn").orderBy("first_received_at", "item_id")
    until_now = by_time.rowsBetween(Window.unboundedPreceding, -1)
    gap_ms = F.greatest(F.coalesce("visibility_timeout_s", F.lit(0)).cast("long") * 2000, F.lit(_QUIET_MS))
    quiet_ms = F.unix_millis("first_received_at") - F.unix_millis(F.max("last_active_at").over(until_now))
    placed = (
        affected.withColumn("_opens", F.when(quiet_ms.isNull() | (quiet_ms > gap_ms), 1).otherwise(0))
        .withColumn("_number", F.sum("_opens").over(by_time.rowsBetween(Window.unboundedPreceding, Window.currentRow)))
        .withColumns(
            {
                "_started_at": F.min("first_received_at").over(Window.partitionBy("queue_arn", "_number")),
                "_ended_at": F.max("last_active_at").over(Window.partitionBy("queue_arn", "_number")),
            }
        )
        .withColumn(
            "incident_id",
            F.concat_ws("-", "queue", F.date_format("_started_at", "yyyyMMdd'T'HHmm'Z'")),
        )
    )
    spans = placed.select("queue_arn", "incident_id", "_started_at", "_ended_at").distinct()
    bystanders = (
        judged.where(~is_affected(F.col("effects_at_most")))
        .join(F.broadcast(spans), "queue_arn")
        .where((F.col("first_received_at") <= F.col("_ended_at")) & (F.col("last_received_at") >= F.col("_started_at")))
        .groupBy("queue_arn", "item_id")
        .agg(F.min("incident_id").alias("incident_id"))
        .withColumn("is_affected", F.lit(False))
    )
    return placed.select("queue_arn", "item_id", "incident_id", F.lit(True).alias("is_affected")).unionByName(
        bystanders
    )


def incidents(judged: DataFrame, members: DataFrame, decided: DataFrame, ledger: DataFrame) -> DataFrame:
    """One row per incident, but for what ``with_surroundings`` adds."""
    item = ["queue_arn", "item_id"]
    mine = judged.join(members, item)
    hit = F.col("is_affected")

    def count_of(verdict: str) -> Column:
        return F.count(F.when(F.col("verdict") == verdict, 1)).cast("int").alias(verdict)

    base = mine.groupBy("incident_id").agg(
        F.first("queue_arn").alias("queue_arn"),
        F.first("queue").alias("queue"),
        F.min(F.when(hit, F.col("first_received_at"))).alias("started_at"),
        F.max(F.when(hit, F.col("last_active_at"))).alias("ended_at"),
        F.count(F.when(hit, 1)).cast("int").alias("messages"),
        *[count_of(v) for v in ("confirmed", "probable", "possible", "absorbed", "harmless")],
        F.min(F.when(F.col("verdict") == "confirmed", F.col("certainty") == "proved")).alias("_proved"),
        F.count_distinct(F.when(hit, F.col("group_id"))).cast("int").alias("group_count"),
        F.array_sort(F.array_distinct(F.flatten(F.collect_list(F.when(hit, F.col("evidence_ids")))))).alias(
            "evidence_ids"
        ),
        F.max("origin").alias("_origin"),
        F.sum(F.when(hit, F.greatest(F.col("effects_at_least") - 1, F.lit(0))))
        .cast("int")
        .alias("extra_effects_at_least"),
    )
    affected = members.where(hit).select(*item, "incident_id")
    pairs = decided.join(affected, item)
    counted = pairs.groupBy("incident_id", "cause").agg(F.count(F.lit(1)).cast("int").alias("n"))
    causes = (
        counted.groupBy("incident_id")
        .agg(F.array_sort(F.collect_list(F.struct((-F.col("n")).alias("minus"), "cause"))).alias("_ranked"))
        .select(
            "incident_id",
            F.transform("_ranked", lambda r: F.concat_ws("=", r["cause"], (-r["minus"]).cast("string"))).alias(
                "causes"
            ),
            F.try_element_at("_ranked", F.lit(1))["cause"].alias("primary_cause"),
        )
    )
    place = F.struct("later_received_at", "item_id", "delivery_index")  # several may come again in one moment
    repeats = pairs.groupBy("incident_id").agg(
        F.min("later_received_at").alias("first_repeat_at"),
        F.min_by("gap_ms", F.when(F.col("later_received_at").isNotNull(), place)).alias("first_gap_ms"),
    )
    settings = (
        ledger.join(affected, item)
        .groupBy("incident_id")
        .agg(
            F.max("is_fifo").alias("is_fifo"),
            F.max("visibility_timeout_s").alias("visibility_timeout_s"),
            F.max("function_timeout_s").alias("function_timeout_s"),
            F.max("batch_size").alias("batch_size"),
            F.array_sort(F.collect_set(F.coalesce("function_name", "log_group"))).alias("functions"),
            F.array_sort(F.array_distinct(F.flatten(F.collect_list("setting_ids")))).alias("_setting_ids"),
        )
    )
    joined = (
        base.join(causes, "incident_id", how="left")
        .join(repeats, "incident_id", how="left")
        .join(settings, "incident_id", how="left")
        .join(_excluded(pairs), "incident_id", how="left")
    )
    nothing = F.array().cast(_NO_STRINGS)
    not_sent_twice = F.when(
        F.col("_origin").isNull(),
        F.array(F.lit("producer_retry: the same message ids came again; nothing was sent twice")),
    ).otherwise(nothing)
    filled = joined.withColumns(
        {
            "messages_at_most": F.col("messages"),
            "certainty": F.when(F.col("_proved"), "proved").otherwise("inferred"),
            "causes": F.coalesce("causes", nothing),
            "excluded": F.concat(F.coalesce("excluded", nothing), not_sent_twice),
            "functions": F.coalesce("functions", nothing),
            "group_count": F.when(F.col("group_count") > 0, F.col("group_count")),
            "evidence_ids": F.array_sort(
                F.array_distinct(F.concat("evidence_ids", F.coalesce("_setting_ids", nothing)))
            ),
        }
    )
    filled = filled.withColumns(
        {
            "origin": F.col("_origin"),
            "primary_cause": F.coalesce("primary_cause", "_origin"),
        }
    )
    worded = filled.mapInPandas(_word, _worded_schema(filled))
    return worded.select(*[c for c in INCIDENTS.column_names if c not in ("blocked_ms", "unread_sources")])


def with_surroundings(rows: DataFrame, members: DataFrame, groups: MessageGroups | None, inputs: Inputs) -> DataFrame:
    """Add what others' deliveries and the evidence's gaps say of each incident: ``blocked_ms`` and ``unread_sources``.

    ``groups`` tell who came next in a message group; None where no delivery is of a FIFO queue.
    """
    if groups is None:
        blocked = rows.withColumn("blocked_ms", F.lit(None).cast("bigint"))
    else:
        blocked = rows.join(groups.held_ms(members), "incident_id", how="left")
    blocked = blocked.withColumn("blocked_ms", F.when(F.col("is_fifo"), F.coalesce("blocked_ms", F.lit(0))))
    return _with_gaps(blocked, inputs).select(*INCIDENTS.column_names)


def _excluded(pairs: DataFrame) -> DataFrame:
    """Return the causes that are excluded for every affected redelivery, with the most frequent reason."""
    ruled = pairs.select("incident_id", F.explode("rulings").alias("ruling")).select("incident_id", "ruling.*")
    out = ruled.groupBy("incident_id", "code").agg(
        F.min(F.col("stance") == "excluded").alias("always"), F.mode("sentence", True).alias("sentence")
    )
    return (
        out.where(F.col("always"))
        .groupBy("incident_id")
        .agg(F.array_sort(F.collect_list(F.concat_ws(": ", "code", "sentence"))).alias("excluded"))
    )


def _with_gaps(joined: DataFrame, inputs: Inputs) -> DataFrame:
    """Add what the evidence lacks inside each incident's time, in words."""
    bad = [
        (r["queue_arn"], r["window_start_at"], r["window_end_at"], f"{r['source']} of {r['resource']}: {r['status']}")
        for r in unread(inputs.small["coverage"])
    ]
    gaps = frame_of(inputs.spark, bad, "gap_queue string, gap_from timestamp, gap_until timestamp, gap string")
    overlapping = (
        joined.select("incident_id", "queue_arn", "started_at", "ended_at")
        .join(
            F.broadcast(gaps),
            (F.col("gap_queue").isNull() | (F.col("gap_queue") == F.col("queue_arn")))
            & (F.col("gap_from") <= F.col("ended_at"))
            & (F.col("gap_until") >= F.col("started_at")),
        )
        .groupBy("incident_id")
        .agg(F.array_sort(F.collect_set("gap")).alias("_gaps"))
    )
    nothing = F.array().cast(_NO_STRINGS)
    unknown = F.array_compact(
        F.array(
            F.when(F.col("visibility_timeout_s").isNull(), F.lit("queue_settings: no snapshot of the queue was read")),
        )
    )
    return (
        joined.join(overlapping, "incident_id", how="left")
        .withColumn("unread_sources", F.concat(F.coalesce("_gaps", nothing), unknown))
        .drop("_gaps")
    )


def _worded_schema(filled: DataFrame) -> str:
    kept = [f"{f.name} {f.dataType.simpleString()}" for f in filled.schema if not f.name.startswith("_")]
    return ", ".join([*kept, "headline string", "cause_sentence string"])


def _word(batches: Iterable[pd.DataFrame]) -> Iterator[pd.DataFrame]:
    for batch in batches:
        batch = batch[[c for c in batch.columns if not c.startswith("_")]]
        heads, whys = [], []
        for row in batch.to_dict("records"):
            total = row["messages"] + row["absorbed"] + row["harmless"]
            noun = "message sent again" if row["origin"] and not len(row["causes"]) else "redelivered message"
            heads.append(headline(row["confirmed"], row["probable"], row["possible"], total, noun))
            gap = _number(row["first_gap_ms"])
            whys.append(
                cause_sentence(
                    row["queue"],
                    list(row["functions"]),
                    row["primary_cause"] or "undecidable",
                    _number(row["visibility_timeout_s"]),
                    _number(row["function_timeout_s"]),
                    _number(row["batch_size"]),
                    None if gap is None else round(gap / 1000, 2),
                )
            )
        yield batch.assign(headline=heads, cause_sentence=whys)


def _number(value: float | None) -> int | None:
    return None if value is None or pd.isna(value) else int(value)
