"""Spark's settings by the size of what is looked at: what saves time over a million rows costs a thousand rows more."""

from collections.abc import Iterator
from contextlib import contextmanager

from pyspark.sql import SparkSession

from spark_jobs.session import rules_left_out

FEW_LINES = 300_000
HELD_LINES = 30_000
"""Below so many lines what is needed between steps stays in memory: opening files would cost more than their rows."""
LINES_PER_PARTITION = 150_000
_FOR_MANY_ROWS = {"spark.sql.codegen.wholeStage": "true", "spark.sql.codegen.factoryMode": "FALLBACK"}
_FOR_LONG_STAGES = (
    "spark.sql.adaptive.enabled",
    "spark.sql.optimizer.dynamicPartitionPruning.enabled",
    "spark.sql.optimizer.nestedSchemaPruning.enabled",
    "spark.sql.optimizer.runtime.bloomFilter.enabled",
)


def tune(spark: SparkSession, line_count: int, is_small: bool) -> None:
    """Fit Spark to the size: for few lines, compiling Java for each step costs more than it saves."""
    spark.conf.set("spark.sql.codegen.wholeStage", str(not is_small).lower())
    spark.conf.set("spark.sql.codegen.factoryMode", "NO_CODEGEN" if is_small else "FALLBACK")
    # Of few lines, each further task costs more than it saves: it reads Hadoop's settings once more.
    for setting in ("spark.sql.leafNodeDefaultParallelism", "spark.sql.files.minPartitionNum"):
        spark.conf.set(setting, "1") if is_small else spark.conf.unset(setting)
    spark.conf.set("spark.sql.optimizer.excludedRules", rules_left_out(is_small))
    # Planning anew after every stage, and reading less by looking first, pay where stages are long.
    for setting in _FOR_LONG_STAGES:
        spark.conf.set(setting, str(not is_small).lower())
    # So many partitions that the runs of one fit in memory: Spark then gathers them by hash, without a second sort.
    spark.conf.set("spark.sql.shuffle.partitions", str(max(1 if is_small else 2, line_count // LINES_PER_PARTITION)))
    spark.conf.set("spark.sql.objectHashAggregate.sortBased.fallbackThreshold", "200000")
    # Files of a few kinds are written side by side; else Spark sorts all rows by kind first.
    spark.conf.set("spark.sql.maxConcurrentOutputFileWriters", "64")


def tune_round(spark: SparkSession, line_count: int, new_lines_count: int) -> None:
    """Fit Spark to what a round looks at: of most of the lake it only looks for what new lines bear on."""
    tune(spark, line_count, is_small=min(line_count, new_lines_count) < FEW_LINES)
    parts = int(spark.conf.get("spark.sql.shuffle.partitions") or 1)
    few = max(2, new_lines_count // LINES_PER_PARTITION, parts // 10)
    spark.conf.set("spark.sql.shuffle.partitions", str(min(parts, few)))


@contextmanager
def going_through_history(spark: SparkSession, line_count: int) -> Iterator[None]:
    """Generate code for the steps of a round that go through all of a long history, whatever it does for the others."""
    settings = {name: spark.conf.get(name, None) for name in _FOR_MANY_ROWS}
    if line_count >= FEW_LINES:
        for name, value in _FOR_MANY_ROWS.items():
            spark.conf.set(name, value)
    try:
        yield
    finally:
        for name, before in settings.items():
            spark.conf.unset(name) if before is None else spark.conf.set(name, before)
