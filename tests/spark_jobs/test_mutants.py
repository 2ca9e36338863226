"""Jobs that were broken on purpose: the simulated worlds must catch each."""

from collections.abc import Callable

import pytest
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from spark_jobs import reading, runner
from spark_jobs.runner import correlate
from tests.oracle import World
from tests.oracle.bundle import fill_lake, read_findings, settings_of
from tests.oracle.judge import judge, stories
from tests.spark_jobs.seeds import REUSED_IDS, TROUBLED, UNCOUNTED

pytestmark = pytest.mark.spark


def _of(worlds: list[World]) -> Column:
    """What stands in a log group of these worlds: each break harms its own, so that one run tells of both."""
    return F.col("log_group").isin([group for world in worlds for group in world.consumer_groups])


def _keyed_by_request_id(lines_in_runs: Callable[..., DataFrame]) -> Callable[..., DataFrame]:
    def broken(*args: object) -> DataFrame:
        lines = lines_in_runs(*args)
        same = {"start_index": F.lit(1), "stream_hash": F.lit(0).cast("bigint")}
        return lines.withColumns(
            {name: F.when(_of(REUSED_IDS), one).otherwise(F.col(name)) for name, one in same.items()}
        )

    return broken


def _counted_as_first(deliveries: Callable[..., DataFrame]) -> Callable[..., DataFrame]:
    def broken(*args: object) -> DataFrame:
        unknown = F.col("receive_count").isNull() & _of(UNCOUNTED)
        return deliveries(*args).withColumn(
            "receive_count", F.when(unknown, F.lit(1)).otherwise(F.col("receive_count"))
        )

    return broken


BREAKS = {
    "the request id as the only key of a run": (reading, "lines_in_runs", _keyed_by_request_id, REUSED_IDS),
    "an unknown receive count taken as 1": (runner, "_raw_deliveries", _counted_as_first, UNCOUNTED),
}


@pytest.fixture(scope="module")
def seed_of_unsound(spark, tmp_path_factory) -> set[int]:
    """Seeds of the worlds of which the broken jobs say what is not true."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        for module, name, broken, _ in BREAKS.values():
            monkeypatch.setattr(module, name, broken(getattr(module, name)))
        lake = fill_lake(TROUBLED, tmp_path_factory.mktemp("mutants") / "lake")
        correlate(lake, settings_of(TROUBLED), spark=spark)
    problems, _ = judge(TROUBLED, read_findings(lake))
    return {p.world.seed for p in problems if p.is_unsound}


def test_the_jobs_as_they_are_keep_every_promise_in_these_worlds(many_worlds):
    problems, _ = judge(TROUBLED, read_findings(many_worlds.lake))
    unsound = [p for p in problems if p.is_unsound]

    assert not unsound, stories(unsound)


@pytest.mark.parametrize("worlds", [worlds for *_, worlds in BREAKS.values()], ids=BREAKS)
def test_a_broken_job_is_caught(seed_of_unsound, worlds):
    assert seed_of_unsound & {world.seed for world in worlds}
