"""What makes a small correlation cheap, each seen at work."""

import pytest
from py4j.clientserver import JavaClient
from pyspark.sql import functions as F

from spark_jobs.session import side_by_side

pytestmark = pytest.mark.spark


def test_java_is_asked_once_for_a_name(spark, monkeypatch):
    F.upper(F.col("first use"))
    asked = []
    send = JavaClient.send_command
    monkeypatch.setattr(JavaClient, "send_command", lambda self, command: asked.append(command) or send(self, command))

    F.upper(F.col("second use"))

    assert asked
    assert not [command for command in asked if command.startswith("r\n")]  # py4j's sign for a question about a name


def test_python_workers_have_no_archive_to_read_again_before_each_task(spark):
    def path_of_worker(_):
        import sys

        yield "\n".join(sys.path)

    (seen,) = spark.sparkContext.parallelize([0], 1).mapPartitions(path_of_worker).collect()

    assert not [entry for entry in seen.splitlines() if entry.endswith((".zip", ".jar"))]


def test_jobs_side_by_side_give_their_results_in_order(spark):
    counted = side_by_side(spark, *[lambda n=n: spark.range(n).count() for n in (3, 1, 2)])

    assert counted == [3, 1, 2]


def test_a_job_that_fails_is_raised_when_the_others_have_ended(spark):
    done = []

    def broken():
        raise ValueError("no such column")

    with pytest.raises(ValueError, match="no such column"):
        side_by_side(spark, broken, lambda: done.append(spark.range(1).count()))

    assert done == [1]
