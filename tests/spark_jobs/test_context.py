"""What makes a small correlation cheap, seen at work."""

import signal
from pathlib import Path
from types import SimpleNamespace

import pytest
from pyspark import SparkContext

from spark_jobs.context import end_spark, may_hold_sockets

pytestmark = pytest.mark.spark


def test_no_sql_of_spark_s_is_started(spark):
    assert not spark._jvm.org.apache.spark.sql.SparkSession.getDefaultSession().isDefined()


def test_python_workers_have_no_archive_to_read_again_before_each_task(spark):
    def path_of_worker(_):
        import sys

        yield "\n".join(sys.path)

    (seen,) = spark.parallelize([0], 1).mapPartitions(path_of_worker).collect()

    assert not [entry for entry in seen.splitlines() if entry.endswith((".zip", ".jar"))]


def test_python_workers_load_no_pandas(spark):
    def is_loaded_by_worker(_):
        import sys

        import pyarrow.dataset  # noqa: F401 - what every kernel loads, and what loads pandas where it is to be had

        yield "pandas" in sys.modules

    assert spark.parallelize([0], 1).mapPartitions(is_loaded_by_worker).collect() == [False]


def test_python_workers_keep_the_memory_of_one_unit_for_the_next(spark):
    def settings_of_worker(_):
        import os

        yield os.environ.get("_RJEM_MALLOC_CONF", "")

    (seen,) = spark.parallelize([0], 1).mapPartitions(settings_of_worker).collect()

    assert "dirty_decay_ms:10000" in seen


def test_java_and_its_workers_talk_over_a_socket_of_their_own_where_its_name_is_not_too_long(spark):
    def how_worker_was_reached(_):
        import os

        yield os.environ.get("PYTHON_UNIX_DOMAIN_ENABLED")

    assert may_hold_sockets(spark.getConf().get("spark.local.dir"))
    assert spark.parallelize([0], 1).mapPartitions(how_worker_was_reached).collect() == ["True"]


def test_a_folder_with_a_long_name_holds_no_sockets():
    assert may_hold_sockets(Path("/tmp/doubletake-spark-a1b2c3d4"))
    assert not may_hold_sockets(Path("/var/folders/zz/zyxvpxvq6csfxvn_n0000000000000/T/doubletake-spark-a1b2c3d4"))
    assert not may_hold_sockets(Path("/" + "重" * 20))  # counted in bytes


def test_ctrl_c_after_spark_has_ended_is_a_keyboard_interrupt(spark, monkeypatch):
    for name, value in (
        ("_active_spark_context", SimpleNamespace(_gateway=None, stop=lambda: None)),
        ("_gateway", None),
    ):
        monkeypatch.setattr(SparkContext, name, value)
    monkeypatch.setattr(SparkContext, "_jvm", None)
    before = signal.getsignal(signal.SIGINT)
    assert before.__module__.startswith("pyspark")
    try:
        end_spark()
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    finally:
        signal.signal(signal.SIGINT, before)
