"""Java that is killed or runs out of memory: one sentence, and the next run starts another."""

import subprocess
import sys
from types import SimpleNamespace

import pytest
from pyspark import SparkContext
from pyspark.sql import SparkSession

from forensics.errors import SparkEndedError
from spark_jobs.java_failures import java_failures_told


@pytest.fixture
def java(monkeypatch):
    """A process that stands for Java."""
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        monkeypatch.setattr(SparkContext, "_gateway", SimpleNamespace(proc=process))
        monkeypatch.setattr(SparkContext, "_jvm", None)
        monkeypatch.setattr(SparkContext, "_active_spark_context", "a context")
        monkeypatch.setattr(SparkSession, "_instantiatedSession", "a session")
        yield process
        process.kill()


def test_a_killed_java_is_a_sentence_and_its_session_is_forgotten(java):
    java.kill()

    with pytest.raises(SparkEndedError, match="status -9"), java_failures_told():
        raise EOFError

    assert SparkContext._active_spark_context is None
    assert SparkContext._gateway is None
    assert SparkSession._instantiatedSession is None


def test_no_memory_left_names_the_setting_that_gives_more(java):
    with pytest.raises(SparkEndedError) as told, java_failures_told():
        raise RuntimeError("java.lang.OutOfMemoryError: Java heap space")

    assert "DOUBLETAKE_SPARK_MEMORY" in told.value.hint
    assert SparkContext._active_spark_context == "a context"


def test_any_other_failure_while_java_runs_stays_a_bug_of_ours(java):
    with pytest.raises(KeyError), java_failures_told():
        raise KeyError("no such column")
