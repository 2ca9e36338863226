"""Settings as they were at a moment: snapshots become intervals, and rows meet the one in force."""

from datetime import UTC, datetime
from typing import Any

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from forensics.tables import Table
from spark_jobs.session import SPARK_TYPES, T

EARLIEST = datetime(1970, 1, 1, tzinfo=UTC)
LATEST = datetime(9999, 1, 1, tzinfo=UTC)


def intervals(rows: list[dict[str, Any]], key: tuple[str, ...]) -> list[dict[str, Any]]:
    """Turn snapshots into intervals ``in_force_from``/``in_force_until`` (UTC, half-open) per key.

    A snapshot holds from the one before it up to the next; the first holds from ever, the last for ever. Where
    AWS says that the resource last changed inside the gap before a snapshot, the snapshot holds from that change.
    ``is_later_snapshot`` marks an interval that began before anybody looked and before the last known change.
    """
    by_key: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for row in rows:
        by_key.setdefault(tuple(row[k] for k in key), []).append(row)
    out: list[dict[str, Any]] = []
    for states in by_key.values():
        states.sort(key=lambda r: (r["observed_at"], r["evidence_id"]))
        began = EARLIEST
        for index, state in enumerate(states):
            changed = state.get("last_modified_at")
            if index and changed and states[index - 1]["observed_at"] < changed <= state["observed_at"]:
                began = changed
                out[-1]["in_force_until"] = changed
            ends = state["observed_at"] if index + 1 < len(states) else LATEST
            out.append({**state, "in_force_from": began, "in_force_until": ends})
            began = ends
    return out


def settings_frame(spark: SparkSession, table: Table, rows: list[dict[str, Any]], key: tuple[str, ...]) -> DataFrame:
    """Return a settings table's intervals as a small frame, its columns plus in_force_from and in_force_until."""
    fields = [T.StructField(c.name, SPARK_TYPES[c.type]) for c in table.columns]
    fields += [T.StructField(n, T.TimestampType()) for n in ("in_force_from", "in_force_until")]
    names = [f.name for f in fields]
    data = [tuple(row.get(n) for n in names) for row in intervals(rows, key)]
    return spark.createDataFrame(data, T.StructType(fields))


def join_in_force(
    left: DataFrame, settings: DataFrame, on: dict[str, str], at: Column, take: dict[str, str]
) -> DataFrame:
    """Add to each row the settings in force at its time, null where there are none.

    ``on`` maps columns of ``left`` to columns of ``settings``; ``take`` maps settings columns to new names.
    """
    renamed = settings.select(
        *[F.col(theirs).alias(f"_key_{ours}") for ours, theirs in on.items()],
        F.col("in_force_from").alias("_from"),
        F.col("in_force_until").alias("_until"),
        *[F.col(theirs).alias(ours) for theirs, ours in take.items()],
    )
    condition = (at >= F.col("_from")) & (at < F.col("_until"))
    for ours in on:
        condition = condition & (left[ours] == F.col(f"_key_{ours}"))
    joined = left.join(F.broadcast(renamed), condition, how="left")
    return joined.drop("_from", "_until", *[f"_key_{ours}" for ours in on])
