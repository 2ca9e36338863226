"""Java that is killed or runs out of memory: one sentence, and the next run starts another."""

import os
import signal
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from pyspark import SparkContext

from forensics.errors import SparkEndedError
from forensics.lake import Lake
from forensics.tables import BY_NAME
from spark_jobs import java_failures
from spark_jobs.carrier import Here
from spark_jobs.java_failures import java_failures_told
from spark_jobs.runner import correlate
from tests.oracle import World
from tests.oracle.bundle import TABLES, fill_lake, settings_of
from tests.spark_jobs.cluster import wait_for
from tests.spark_jobs.commands import correlating, files_of
from tests.waiting import PATIENCE_S


@pytest.fixture
def java(monkeypatch):
    """A process that stands for Java."""
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        monkeypatch.setattr(SparkContext, "_gateway", SimpleNamespace(proc=process))
        monkeypatch.setattr(SparkContext, "_jvm", None)
        monkeypatch.setattr(SparkContext, "_active_spark_context", "a context")
        yield process
        process.kill()


@pytest.fixture
def living_java(java, monkeypatch):
    """Java that does not end, as is known at once."""
    monkeypatch.setattr(java_failures, "_GRACE_S", 0)
    return java


def test_a_killed_java_is_a_sentence_and_its_context_is_forgotten(java):
    java.kill()

    with pytest.raises(SparkEndedError, match="status -9"), java_failures_told():
        raise EOFError

    assert SparkContext._active_spark_context is None
    assert SparkContext._gateway is None


def test_no_memory_left_names_the_setting_that_gives_more(living_java):
    with pytest.raises(SparkEndedError) as told, java_failures_told():
        raise RuntimeError("java.lang.OutOfMemoryError: Java heap space")

    assert "DOUBLETAKE_SPARK_MEMORY" in told.value.hint
    assert "[default: 1g]" in told.value.hint
    assert SparkContext._active_spark_context == "a context"


def test_any_other_failure_while_java_runs_stays_a_bug_of_ours(living_java):
    with pytest.raises(KeyError), java_failures_told():
        raise KeyError("no such column")


def javas_of(pid: int) -> list[int]:
    """Return the processes called java among those that a process started."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [int(child) for child in children if Path(f"/proc/{child}/comm").read_text().strip() == "java"]


@pytest.mark.spark
@pytest.mark.process
def test_java_killed_in_the_middle_of_a_run_leaves_the_findings_before_it_and_the_next_run_completes_them(tmp_path):
    before, later = [World(seed) for seed in range(420, 425)], [World(seed) for seed in range(425, 440)]
    said = settings_of(before + later)
    lake = fill_lake(before, tmp_path / "lake")
    correlate(lake, said, carrier=Here())
    earlier = files_of(lake)
    for part, worlds in enumerate((later[:7], later[7:])):  # two files: Spark is not asked for one
        for name in TABLES:
            if rows := [row for world in worlds for row in world.rows(name)]:
                lake.append(BY_NAME[name], rows, f"{name}|later {part}")
    made = {entry.name for entry in (lake.root / "findings" / ".cache" / "scan").iterdir()}

    run = correlating(lake, said)
    scans = lake.root / "findings" / ".cache" / "scan"
    wait_for(lambda: {e.name for e in scans.iterdir()} > made or run.poll() is not None, "a file to be read")
    (java,) = javas_of(run.pid)
    os.kill(java, signal.SIGKILL)
    told, _ = run.communicate(timeout=PATIENCE_S)

    assert run.returncode == 2, told
    assert "doubletake: Spark's Java ended while it was needed (status -9); nothing was published." in told
    assert "Traceback" not in told and "Exception" not in told
    assert files_of(Lake(lake.root)) == earlier
    correlate(lake, said, carrier=Here())
    correlate(anew := fill_lake(before + later, tmp_path / "anew"), said, carrier=Here())
    assert lake.findings().read(BY_NAME["messages"]).equals(anew.findings().read(BY_NAME["messages"]))
