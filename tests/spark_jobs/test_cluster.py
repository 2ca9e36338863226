"""A cluster gives the bytes that one process gives; a worker that is killed costs time, not findings."""

from collections.abc import Iterator

import pytest

from forensics.lake import Lake
from forensics.settings import Settings
from spark_jobs.carrier import Here
from spark_jobs.runner import correlate
from tests.oracle import World
from tests.oracle.bundle import fill_lake, settings_of
from tests.spark_jobs.cluster import LOOPBACK, Cluster, wait_for
from tests.spark_jobs.commands import OneByOne, files_of
from tests.waiting import PATIENCE_S

pytestmark = [pytest.mark.spark, pytest.mark.process]

SEEDS = range(400, 420)
ONLY_NAMES = ("spark.driver.maxResultSize=1m", "spark.rpc.message.maxSize=1")
"""Between driver and executors nothing as large as a file of this lake can travel: a task that tries fails the run."""
BOTH_AT_ONCE = (
    "spark.cores.max=2",
    "spark.scheduler.minRegisteredResourcesRatio=1.0",
    f"spark.scheduler.maxRegisteredResourcesWaitingTime={PATIENCE_S}s",
)
"""No task begins before both workers are there: on a busy machine the first could be done with all of them alone."""


@pytest.fixture(scope="module")
def cluster(tmp_path_factory) -> Iterator[Cluster]:
    with Cluster(tmp_path_factory.mktemp("cluster"), workers=2) as cluster:
        yield cluster


@pytest.fixture(scope="module")
def said() -> Settings:
    return settings_of(World(seed) for seed in SEEDS)


@pytest.fixture
def lake(tmp_path) -> Lake:
    return fill_lake([World(seed) for seed in SEEDS], tmp_path / "lake")


@pytest.fixture(scope="module")
def expected(said, tmp_path_factory) -> dict[str, list[str]]:
    lake = fill_lake([World(seed) for seed in SEEDS], tmp_path_factory.mktemp("here") / "lake")
    correlate(lake, said, carrier=Here())
    return files_of(lake)


@pytest.fixture(scope="module")
def commands(cluster, tmp_path_factory) -> Iterator[OneByOne]:
    """The command, given to a process on a machine of the cluster, whose Java and executors both runs have."""
    said_to_spark = [word for each in (*ONLY_NAMES, *BOTH_AT_ONCE) for word in ("--conf", each)]
    where = {"SPARK_LOCAL_IP": LOOPBACK, "PYSPARK_SUBMIT_ARGS": " ".join((*said_to_spark, "pyspark-shell"))}
    with OneByOne(tmp_path_factory.mktemp("commands") / "told", "--master", cluster.url, **where) as commands:
        yield commands


def test_two_workers_give_the_bytes_that_one_process_gives(cluster, commands, lake, said, expected):
    before = [cluster.tasks(f"worker-{number}") for number in range(2)]
    run = commands.correlating(lake, said)
    wait_for(lambda: run.is_over, "the run to end")

    assert run.status == "0", run.told
    assert all(cluster.tasks(f"worker-{number}") > had for number, had in enumerate(before))
    assert files_of(lake) == expected


def test_a_worker_killed_in_the_middle_of_a_run_costs_no_findings(cluster, commands, lake, said, expected):
    before = cluster.tasks("worker-1")
    judged = lake.root / "findings" / ".cache" / "judge"
    run = commands.correlating(lake, said)
    wait_for(lambda: any(judged.glob("*")) or run.is_over, "the first work to be judged")
    had_tasks = cluster.tasks("worker-1") > before
    cluster.kill("worker-1")
    was_running = not run.is_over
    wait_for(lambda: run.is_over, "the run to end")

    assert was_running and had_tasks
    assert run.status == "0", run.told
    assert files_of(lake) == expected
