"""The one place that builds a Spark session."""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from pyspark import SparkContext
from pyspark.sql import SparkSession

from spark_jobs.java import find_java
from spark_jobs.scratch import scratch_folder

DRIVER_MEMORY = os.environ.get("DOUBLETAKE_SPARK_MEMORY", "1g")

_SHORT_LIVED = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xss4m"
"""Java only hands out work: its slow compiler never pays for itself."""
_QUIET = f"-Dlog4j2.configurationFile={Path(__file__).with_name('log4j2.properties').as_uri()}"
"""Errors only: Spark else greets with lines about its logging before the first word of ours."""


def spark_session(master: str | None = None, say: Callable[[str], None] | None = None) -> SparkSession:
    """Return the running session or start one: UTC, this interpreter, loopback only, no web page.

    ``master`` None means every core of this machine inside this process; ``say`` is told which Java was taken.
    """
    if active := SparkSession.getActiveSession():
        return active
    java = find_java()
    if say:
        say(f"Spark runs on {java}")
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    local = master is None or master.startswith("local")
    if local:
        os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    os.environ.setdefault("POLARS_MAX_THREADS", "1")  # a task has one core; kernels that start more threads only wait
    os.environ["PYTHONSAFEPATH"] = "1"  # the workers' modules are ours, not those of the folder the command was run in
    root = str(Path(__file__).resolve().parent.parent)
    paths = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    if root not in paths:
        os.environ["PYTHONPATH"] = os.pathsep.join([root, *filter(None, paths)])
    scratch = scratch_folder()
    builder = (
        SparkSession.builder.appName("doubletake")
        .master(master or "local[*]")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.driver.memory", DRIVER_MEMORY)
        .config("spark.driver.extraJavaOptions", f"{_SHORT_LIVED} {_QUIET} -Djava.io.tmpdir={scratch}")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.speculation", "false")
        .config("spark.sql.warehouse.dir", str(scratch))  # else spark-warehouse appears where the command was run
    )
    if local:
        builder = (
            builder.config("spark.driver.host", "127.0.0.1")
            .config("spark.driver.bindAddress", "127.0.0.1")
            .config("spark.local.dir", str(scratch))
            .config("spark.python.daemon.module", "spark_jobs.python_daemon")
        )
    else:
        # Our modules lie beside the interpreter, at the same place there.
        builder = builder.config("spark.executorEnv.PYTHONPATH", root)
        builder = builder.config("spark.executor.extraJavaOptions", _SHORT_LIVED)
    with java_home(java.launcher_home()):
        session = builder.getOrCreate()
    # A killed Java breaks the connection that counts progress, too: socketserver would print a traceback beside our sentence.
    if counting := getattr(session.sparkContext, "_accumulatorServer", None):
        counting.handle_error = _say_nothing
    return session


def _say_nothing(request: object, address: object) -> None:
    """Take the place of a server's ``handle_error``."""


@contextmanager
def java_home(home: Path) -> Iterator[None]:
    """Let Spark start from this JAVA_HOME; what a person set stays for whoever looks for Java next."""
    before = os.environ.get("JAVA_HOME")
    os.environ["JAVA_HOME"] = str(home)
    try:
        yield
    finally:
        if before is None:
            del os.environ["JAVA_HOME"]
        else:
            os.environ["JAVA_HOME"] = before


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
