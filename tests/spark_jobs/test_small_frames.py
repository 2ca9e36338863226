"""Rows at hand as frames: the same rows, and a planner that sees how few they are."""

from datetime import UTC, datetime
from pathlib import Path

import pytest
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

import spark_jobs
from spark_jobs.small_frames import frame_of, is_known_empty, no_rows

SCHEMA = "name string, seen_at timestamp, ids array<string>, times int, is_late boolean, share double"


@pytest.mark.spark
def test_rows_come_back_as_they_were_given(spark):
    at = datetime(2026, 11, 20, 5, 12, 0, 123456, tzinfo=UTC)
    far = datetime(9999, 1, 1, tzinfo=UTC)
    rows = [("a", at, ["x", "y"], 1, True, 0.5), (None, far, [], None, None, None)]
    frame = frame_of(spark, rows, SCHEMA)
    micros = frame.select(F.unix_micros("seen_at")).collect()

    assert [row[0] for row in micros] == [1_795_151_520_123_456, 253_370_764_800_000_000]
    assert [tuple(row) for row in frame.drop("seen_at").collect()] == [(a, *rest) for a, _, *rest in rows]
    assert frame.schema == StructType.fromDDL(SCHEMA)


@pytest.mark.spark
def test_what_is_joined_to_no_rows_is_planned_as_none(spark):
    many = spark.range(1_000_000).withColumn("name", F.lit("a"))

    assert is_known_empty(many.join(no_rows(spark, SCHEMA), "name"))
    assert not is_known_empty(many.join(no_rows(spark, SCHEMA), "name", how="left"))
    assert not is_known_empty(many.where(F.col("id") < 0))  # only looking would tell


def test_every_job_makes_its_small_frames_in_one_place():
    sources = Path(spark_jobs.__file__).parent.glob("*.py")

    assert [p.name for p in sources if ".createDataFrame(" in p.read_text()] == ["small_frames.py"]
