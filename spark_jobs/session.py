"""The one place that builds a Spark session."""

import atexit
import os
import shutil
import sys
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from pyspark import SparkContext
from pyspark.sql import SparkSession
from pyspark.sql import types as T
from pyspark.util import inheritable_thread_target

from forensics.tables import Table
from spark_jobs.java import find_java
from spark_jobs.java_names import remember_java_names

DRIVER_MEMORY = os.environ.get("DOUBLETAKE_SPARK_MEMORY", "2g")

SPARK_TYPES: dict[str, T.DataType] = {
    "string": T.StringType(),
    "int": T.IntegerType(),
    "long": T.LongType(),
    "double": T.DoubleType(),
    "bool": T.BooleanType(),
    "timestamp": T.TimestampType(),
    "strings": T.ArrayType(T.StringType()),
}


_COPYING_RULES = [
    f"org.apache.spark.sql.catalyst.optimizer.{rule}" for rule in ("CollapseProject", "InferFiltersFromGenerate")
]
"""Optimizer rules that copy the big parse expressions into every use of them: planning then takes minutes."""
_SIMPLIFYING_RULES = [
    f"org.apache.spark.sql.catalyst.optimizer.{rule}"
    for rule in (
        "BooleanSimplification",
        "CombineConcats",
        "ConstantPropagation",
        "EliminateAggregateFilter",
        "EliminateDistinct",
        "EliminateOuterJoin",
        "EliminateSorts",
        "FoldablePropagation",
        "InferFiltersFromConstraints",
        "LikeSimplification",
        "LimitPushDown",
        "MergeScalarSubqueries",
        "NullPropagation",
        "OptimizeCsvJsonExprs",
        "OptimizeIn",
        "OptimizeOneRowRelationSubquery",
        "PruneFilters",
        "PushFoldableIntoBranches",
        "RemoveDispatchExpressions",
        "RemoveRedundantAliases",
        "ReorderAssociativeOperator",
        "ReplaceNullWithFalseInPredicate",
        "SimplifyBinaryComparison",
        "SimplifyCaseConversionExpressions",
        "SimplifyCasts",
        "SimplifyConditionals",
        "SimplifyExtractValueOps",
        "TransposeWindow",
        "UnwrapCastInBinaryComparison",
    )
]
"""Optimizer rules that make long plans shorter: on little data they took longer than they saved, a third of planning."""

_UNUSED = {
    "spark.sql.dataFrameQueryContext.enabled": "false",
    "spark.sql.debug.maxToStringFields": "0",
    "spark.sql.lightweightPlanChangeValidation": "false",
    "spark.sql.maxPlanStringLength": "100",
    "spark.sql.readSideCharPadding": "false",
    "spark.sql.ui.explainMode": "simple",
    "spark.sql.variant.pushVariantIntoScan": "false",
}
"""Work of the planner for what nothing here has: variants, CHAR columns, a web page that shows plans. Each plan paid for it."""


def rules_left_out(few_lines: bool) -> str:
    """Return the optimizer rules to leave out, as Spark's setting wants them."""
    return ",".join(_COPYING_RULES + (_SIMPLIFYING_RULES if few_lines else []))


def spark_schema(table: Table) -> T.StructType:
    """Return the Spark schema of a declared table."""
    return T.StructType([T.StructField(c.name, SPARK_TYPES[c.type]) for c in table.columns])


_FOR_MANY_LINES = "-XX:-DontCompileHugeMethods"
"""The generated parse code is long; without this Java would interpret it for ever."""
_FOR_FEW_LINES = (
    "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=256m -XX:MetaspaceSize=256m -XX:+UseSerialGC "
    f"-Xms{DRIVER_MEMORY}"
)
"""Little data is over before Java's slow compiler has paid for itself: it took 40 % of the CPU time of a short run.
Without a size Java keeps room for 48 MB of compiled code, which Spark fills: Java then gives up compiling for good. Loading
classes would set off four collections of all memory."""


def _folder_while_running() -> str:
    """Return a folder that goes when the process ends: Spark would else leave spark-warehouse where the command was run."""
    folder = tempfile.mkdtemp(prefix="doubletake-spark-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def spark_session(
    master: str | None = None, say: Callable[[str], None] | None = None, few_lines: bool = False
) -> SparkSession:
    """Return the running session or start one: UTC, microseconds, this interpreter, loopback only, no web page.

    ``master`` None means every core of this machine inside this process; ``say`` is told which Java was taken;
    ``few_lines`` is for a session that will see little data.
    """
    if active := SparkSession.getActiveSession():
        return active
    java = find_java()
    if say:
        say(f"Spark runs on {java}")
    os.environ["JAVA_HOME"] = str(java.home)
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    local = master is None or master.startswith("local")
    if local:
        os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    root = str(Path(__file__).resolve().parent.parent)
    paths = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    if root not in paths:
        os.environ["PYTHONPATH"] = os.pathsep.join([root, *filter(None, paths)])
    builder = (
        SparkSession.builder.appName("doubletake")
        .master(master or "local[*]")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.sql.mapKeyDedupPolicy", "LAST_WIN")
        .config("spark.python.sql.dataFrameDebugging.enabled", "false")
        .config("spark.sql.optimizer.excludedRules", rules_left_out(few_lines))
        .config("spark.driver.memory", DRIVER_MEMORY)
        .config("spark.driver.extraJavaOptions", _FOR_FEW_LINES if few_lines else _FOR_MANY_LINES)
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.sql.parquet.outputTimestampType", "TIMESTAMP_MICROS")
        .config("spark.sql.parquet.compression.codec", "zstd")
        .config("spark.sql.execution.arrow.pyspark.enabled", "true")
        .config("spark.sql.legacy.parquet.nanosAsLong", "false")
        .config("spark.speculation", "false")
        .config("spark.log.level", "ERROR")
        .config("spark.sql.warehouse.dir", _folder_while_running())
        .config(map=dict(_UNUSED))
    )
    if local:
        builder = (
            builder.config("spark.driver.host", "127.0.0.1")
            .config("spark.driver.bindAddress", "127.0.0.1")
            .config("spark.python.daemon.module", "spark_jobs.python_daemon")
        )
    remember_java_names()
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    return session


def side_by_side(spark: SparkSession, *jobs: Callable[[], Any]) -> list[Any]:
    """Run jobs at the same time and return their results in order; raises, when all have ended, what the first raised.

    Planning a step takes one core, and for few lines most of the time: with one job after another the rest would idle.
    """
    with ThreadPoolExecutor(len(jobs), "correlate") as pool:
        running = [pool.submit(inheritable_thread_target(spark)(job)) for job in jobs]
    return [job.result() for job in running]


def forget_session() -> None:
    """Let the next session start a Java of its own: that of the running one is gone, or about to go."""
    SparkContext._active_spark_context = None
    SparkContext._gateway = SparkContext._jvm = None
    SparkSession._instantiatedSession = None


def end_session() -> None:
    """Stop the running session, if there is one, and its Java process: what is served afterwards needs neither."""
    active = SparkSession.getActiveSession()
    if active is None:
        return
    gateway = active.sparkContext._gateway
    active.stop()
    forget_session()
    if gateway is not None:
        gateway.shutdown()
        if java := getattr(gateway, "proc", None):
            java.stdin.close()  # the order to end, as Spark's launcher reads it
            java.wait(30)
