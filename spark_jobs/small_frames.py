"""Few rows that a run has at hand, as frames whose rows stand in the plan."""

from collections.abc import Iterable, Sequence
from typing import Any, cast

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import types as T
from pyspark.sql.pandas.types import to_arrow_schema


def frame_of(spark: SparkSession, rows: Iterable[Sequence[Any]], schema: T.StructType | str) -> DataFrame:
    """Return rows as a frame; times must know their zone. ``schema`` also as Spark's DDL.

    A list given to Spark as it is becomes an RDD of Python's: every use of it starts tasks that hand pickled rows through
    a Python worker, and the planner takes it for endless. Of rows in the plan it sees how few they are, and of none that
    whatever is joined to them is none.
    """
    fields = cast(T.StructType, T.StructType.fromDDL(schema)) if isinstance(schema, str) else schema
    columns = to_arrow_schema(fields)
    named = [dict(zip(columns.names, row, strict=True)) for row in rows]
    return spark.createDataFrame(pa.Table.from_pylist(named, schema=columns), fields)


def no_rows(spark: SparkSession, schema: T.StructType | str) -> DataFrame:
    """Return a frame without rows that the planner knows to be empty."""
    return frame_of(spark, [], schema)


def is_known_empty(frame: DataFrame) -> bool:
    """Tell whether the planner sees without looking at any row that a frame has none."""
    most = frame._jdf.queryExecution().optimizedPlan().maxRows()
    return bool(most.isDefined() and most.get() == 0)
