"""What one correlation run reads: pinned evidence, and the few rows that say who consumes what."""

import hashlib
import json
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import pyarrow.compute as pc
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql import types as T

from forensics.lake import Lake
from forensics.settings import Consumer, Settings
from forensics.tables import BY_NAME
from forensics.tables import evidence as E
from spark_jobs.in_force import intervals, settings_frame
from spark_jobs.recorded_changes import recorded_changes
from spark_jobs.session import spark_schema
from spark_jobs.small_frames import frame_of, no_rows

_LATER_TABLES = ("setting_changes", "move_tasks")
"""Evidence that older lakes do not have."""

RULES_VERSION = "8"

_SETTINGS_KEYS = {
    "queue_settings": ("queue_arn",),
    "function_settings": ("function_name",),
    "event_source_mappings": ("queue_arn", "function_name"),
}

_GROUPS_SCHEMA = T.StructType(
    [
        T.StructField("log_group", T.StringType()),
        T.StructField("consumer_kind", T.StringType()),
        T.StructField("group_function_name", T.StringType()),
        T.StructField("group_queue_arn", T.StringType()),
        T.StructField("order_declared", T.StringType()),
        T.StructField("has_effect", T.BooleanType()),
        T.StructField("is_exhaustive", T.BooleanType()),
        T.StructField("has_started", T.BooleanType()),
        T.StructField("is_idempotent", T.BooleanType()),
    ]
)


@dataclass(frozen=True)
class Inputs:
    """Frames and small tables of one run, all of pinned versions.

    ``groups`` has one row per log group: who logs there, for which queue, and what the settings file declares.
    """

    spark: SparkSession
    lake: Lake
    settings: Settings
    versions: dict[str, int]
    log_events: DataFrame
    groups: DataFrame
    kinds_by_group: dict[str, str | None]
    queue_arn_by_group: dict[str, str]
    consumers_by_group: dict[str, Consumer]
    queue_settings: DataFrame
    function_settings: DataFrame
    mappings: DataFrame
    in_force: dict[str, list[dict[str, Any]]]
    """Settings tables as intervals, what the three frames above are made of."""
    group_rows: tuple[tuple[Any, ...], ...]
    small: dict[str, list[dict[str, Any]]]
    queue_arn_by_name: dict[str, str]

    def metric_points(self) -> DataFrame:
        """Return the metric points of the pinned version."""
        return _frame(self.spark, self.lake, "metric_points", self.versions)

    def metrics_where(self, metric: str) -> list[dict[str, Any]]:
        """Return the points of one metric with a value above zero, newest reading per point."""
        if "metric_points" not in self.versions:
            return []
        where = (pc.field("metric") == metric) & (pc.field("value") > 0)
        return self.lake.read(E.METRIC_POINTS, where=where, version=self.versions["metric_points"]).to_pylist()


def fingerprint(lake: Lake, settings: Settings, versions: dict[str, int], since: datetime | None) -> str:
    """Name a run by what it reads: the same inputs give the same name."""
    parts = {
        "inputs": sorted(versions.items()),
        "settings": settings.text,
        "rules": RULES_VERSION,
        "since": since.isoformat() if since else None,
    }
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def read_inputs(
    spark: SparkSession, lake: Lake, settings: Settings, versions: dict[str, int], since: datetime | None
) -> Inputs:
    """Pin the evidence tables and gather what is small."""
    small = {
        t.name: lake.read(t, version=versions[t.name]).to_pylist() if t.name in versions else []
        for t in (E.QUEUE_SETTINGS, E.FUNCTION_SETTINGS, E.EVENT_SOURCE_MAPPINGS, E.CONSUMERS, E.COVERAGE)
    }
    for name in _LATER_TABLES:
        table = BY_NAME.get(name)
        small[name] = lake.read(table, version=versions[name]).to_pylist() if table and name in versions else []
    changes = recorded_changes(small["setting_changes"], small["event_source_mappings"])
    queue_arns = {r["queue_name"]: r["queue_arn"] for r in small["queue_settings"]}
    for row in small["consumers"]:
        queue_arns.setdefault(row["queue_name"], row["queue_arn"])
    by_group = _consumers_by_group(settings, small)
    rows = _group_rows(settings, small, by_group, queue_arns)
    in_force = {name: intervals(small[name], key, changes[name]) for name, key in _SETTINGS_KEYS.items()}
    log_events = _frame(spark, lake, "log_events", versions)
    if since is not None:
        log_events = log_events.where(F.col("logged_at") >= F.lit(since))
    return Inputs(
        spark=spark,
        lake=lake,
        settings=settings,
        versions=versions,
        log_events=log_events,
        groups=frame_of(spark, rows, _GROUPS_SCHEMA),
        consumers_by_group=by_group,
        kinds_by_group={r[0]: r[1] for r in rows},
        queue_arn_by_group={r[0]: r[3] for r in rows if r[3]},
        queue_settings=settings_frame(spark, E.QUEUE_SETTINGS, in_force["queue_settings"]),
        function_settings=settings_frame(spark, E.FUNCTION_SETTINGS, in_force["function_settings"]),
        mappings=settings_frame(spark, E.EVENT_SOURCE_MAPPINGS, in_force["event_source_mappings"]),
        in_force=in_force,
        group_rows=tuple(rows),
        small=small,
        queue_arn_by_name=queue_arns,
    )


def _frame(spark: SparkSession, lake: Lake, name: str, versions: dict[str, int]) -> DataFrame:
    table = BY_NAME[name]
    schema = spark_schema(table)
    files = lake.files(table, versions[name]) if name in versions else []
    if not files:
        return no_rows(spark, schema)
    return spark.read.schema(schema).parquet(*files)


def _consumers_by_group(settings: Settings, small: dict[str, list[dict[str, Any]]]) -> dict[str, Consumer]:
    groups_of: dict[str, set[str]] = {}
    for table in ("function_settings", "consumers"):
        for row in small[table]:
            if row["function_name"]:
                groups_of.setdefault(row["function_name"], set()).add(row["log_group"])
    found = {}
    for consumer in settings.functions:
        name = consumer.name or ""
        for group in groups_of.get(name, {f"/aws/lambda/{name}"}):
            found[group] = consumer
    for consumer in settings.workers:
        found[consumer.log_group or ""] = consumer
    return found


def _group_rows(
    settings: Settings,
    small: dict[str, list[dict[str, Any]]],
    by_group: dict[str, Consumer],
    queue_arns: dict[str, str],
) -> list[tuple[Any, ...]]:
    kinds: dict[str, set[str]] = {}
    functions: dict[str, set[str]] = {}
    queues: dict[str, set[str]] = {}
    for row in small["consumers"]:
        kinds.setdefault(row["log_group"], set()).add(row["kind"])
        # An import that was told only a queue's name has no ARN for it; settings may have come since.
        arn = row["queue_arn"] if ":" in row["queue_arn"] else queue_arns.get(row["queue_name"], row["queue_arn"])
        queues.setdefault(row["log_group"], set()).add(arn)
        if row["function_name"]:
            functions.setdefault(row["log_group"], set()).add(row["function_name"])
    for consumer in settings.functions:
        for group, declared in by_group.items():
            if declared is consumer:
                kinds.setdefault(group, set()).add("lambda")
                functions.setdefault(group, set()).add(consumer.name or "")
    for consumer in settings.workers:
        group = consumer.log_group or ""
        kinds.setdefault(group, set()).add("worker")
        if consumer.queue:
            queues.setdefault(group, set()).add(queue_arns.get(consumer.queue, consumer.queue))
    return [
        (
            group,
            _only(kinds[group]),
            _only(functions.get(group, set())),
            _only(queues.get(group, set())),
            known.order if (known := by_group.get(group)) else None,
            bool(known and known.effect),
            bool(known and known.effect_is_exhaustive),
            bool(known and known.started),
            known.idempotent if known else None,
        )
        for group in sorted(kinds)
    ]


def _only(values: set[str]) -> str | None:
    return next(iter(values)) if len(values) == 1 else None
