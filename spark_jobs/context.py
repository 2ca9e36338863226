"""The one place that starts Spark."""

import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread

from py4j import protocol
from pyspark import SparkConf, SparkContext
from pyspark.find_spark_home import _find_spark_home

from forensics.sentence import said
from spark_jobs.java import find_java
from spark_jobs.scratch import scratch_folder

DEFAULT_MEMORY = "1g"
DRIVER_MEMORY = os.environ.get("DOUBLETAKE_SPARK_MEMORY", DEFAULT_MEMORY)

SHORT_LIVED = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xss4m"
"""Java only hands out work: its slow compiler never pays for itself."""
_QUIET = f"-Dlog4j2.configurationFile={Path(__file__).with_name('log4j2.properties').as_uri()}"
"""Errors only: Spark else greets with lines about its logging before the first word of ours."""
_LONGEST_FOLDER_OF_SOCKETS = 60
"""Bytes: macOS knows sockets by names of up to 103, and Spark's take 42 and a slash."""


def spark_context(
    master: str | None = None, say: Callable[[str], None] | None = None, java_options: str = ""
) -> SparkContext:
    """Return the running context or start one: this interpreter, loopback only, no web page, none of Spark's SQL.

    ``master`` None means every core of this machine inside this process; ``say`` is told which Java was taken.
    """
    if active := SparkContext._active_spark_context:
        return active
    java = find_java()
    if say:
        say(said("Spark runs on {java}", java=java.__str__()))
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    local = master is None or master.startswith("local")
    if local:
        os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    threads = os.environ.setdefault("POLARS_MAX_THREADS", "1")  # a task has one core; more threads only wait
    os.environ["PYTHONSAFEPATH"] = "1"  # the workers' modules are ours, not those of the folder the command was run in
    root = str(Path(__file__).resolve().parent.parent)
    paths = filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))
    os.environ["PYTHONPATH"] = os.pathsep.join(dict.fromkeys([root, *paths]))
    scratch = scratch_folder()
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.memory": DRIVER_MEMORY,
        "spark.driver.extraJavaOptions": f"{SHORT_LIVED} {_QUIET} -Djava.io.tmpdir={scratch} {java_options}",
        "spark.speculation": "false",
        "spark.python.daemon.module": "spark_jobs.python_daemon",
    }
    if local:
        settings |= {
            "spark.driver.host": "127.0.0.1",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.local.dir": str(scratch),
            # Over TCP Java and its Python workers wait 40 ms for each other in every task; a longer name is no socket.
            "spark.python.unix.domain.socket.enabled": "true" if may_hold_sockets(scratch) else "false",
        }
    else:
        # Our modules lie beside the interpreter, at the same place there.
        settings |= {
            "spark.executorEnv.PYTHONPATH": root,
            "spark.executorEnv.POLARS_MAX_THREADS": threads,
            "spark.executor.extraJavaOptions": SHORT_LIVED,
        }
    # To ask of all that goes to Java whether it is numpy's, pyspark loads its own tests, and with them pandas.
    protocol.INPUT_CONVERTER[:] = [one for one in protocol.INPUT_CONVERTER if "Numpy" not in type(one).__name__]
    conf = SparkConf().setAppName("doubletake").setMaster(master or "local[*]").setAll(list(settings.items()))
    with java_home(java.launcher_home()):
        context = SparkContext(conf=conf)
    # A killed Java breaks the connection that counts progress, too: socketserver would print a traceback beside our sentence.
    # It looks once a second whether it is to end, for which nobody has to wait.
    if counting := getattr(context, "_accumulatorServer", None):
        counting.handle_error = lambda request, address: None
        counting.shutdown = Thread(target=counting.shutdown, daemon=True).start
    return context


def class_path() -> str:
    """Return the archives of Spark's Java, in the words of Spark's launcher."""
    return f"{_find_spark_home()}/jars/*"


def may_hold_sockets(folder: Path) -> bool:
    """Tell whether a socket in a folder can have the name that Spark gives it."""
    return len(os.fsencode(folder)) <= _LONGEST_FOLDER_OF_SOCKETS


@contextmanager
def java_home(home: Path) -> Iterator[None]:
    """Let Spark start from this JAVA_HOME; what a person set stays for whoever looks for Java next."""
    before = os.environ.get("JAVA_HOME")
    os.environ["JAVA_HOME"] = str(home)
    try:
        yield
    finally:
        del os.environ["JAVA_HOME"]
        if before is not None:
            os.environ["JAVA_HOME"] = before


def forget_context() -> None:
    """Let the next context start a Java of its own: that of the running one is gone, or about to go."""
    SparkContext._active_spark_context = None
    SparkContext._gateway = SparkContext._jvm = None


def end_spark() -> None:
    """Stop the running context, if there is one, and its Java process: what is served afterwards needs neither."""
    if (active := SparkContext._active_spark_context) is None:
        return
    gateway = active._gateway
    active.stop()
    forget_context()
    if (getattr(signal.getsignal(signal.SIGINT), "__module__", None) or "").startswith("pyspark"):
        signal.signal(signal.SIGINT, signal.default_int_handler)  # theirs asks the stopped context for its jobs
    if gateway is not None:
        gateway.shutdown()
        if java := getattr(gateway, "proc", None):
            java.stdin.close()  # the order to end, as Spark's launcher reads it
            java.wait(30)
