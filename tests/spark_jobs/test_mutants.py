"""Jobs that were broken on purpose: the simulated worlds must catch each."""

from collections.abc import Callable

import pytest
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from spark_jobs import reading, runner
from spark_jobs.runner import correlate
from tests.oracle.bundle import fill_lake, read_findings, settings_of
from tests.oracle.judge import judge, stories
from tests.spark_jobs.seeds import TROUBLED

pytestmark = pytest.mark.spark


def _keyed_by_request_id(true: Callable[..., DataFrame]) -> Callable[..., DataFrame]:
    """The request id as the only key of a run."""

    def broken(*args: object) -> DataFrame:
        return true(*args).withColumn("start_index", F.lit(1)).withColumn("stream_hash", F.lit(0).cast("bigint"))

    return broken


def _counted_as_first(true: Callable[..., DataFrame]) -> Callable[..., DataFrame]:
    """An unknown receive count taken as 1."""

    def broken(*args: object) -> DataFrame:
        return true(*args).withColumn("receive_count", F.coalesce("receive_count", F.lit(1)))

    return broken


MUTANTS = {
    "the request id as the only key": (reading, "lines_in_runs", _keyed_by_request_id),
    "an unknown receive count taken as 1": (runner, "_raw_deliveries", _counted_as_first),
}


@pytest.fixture(scope="module")
def lake(tmp_path_factory):
    return fill_lake(TROUBLED, tmp_path_factory.mktemp("mutants") / "lake")


def unsound(lake, spark) -> list:
    correlate(lake, settings_of(TROUBLED), spark=spark, force=True)
    problems, _ = judge(TROUBLED, read_findings(lake))
    return [p for p in problems if p.is_unsound]


def test_the_jobs_as_they_are_keep_every_promise_in_these_worlds(many_worlds):
    problems, _ = judge(TROUBLED, read_findings(many_worlds[1]))
    unsound_ones = [p for p in problems if p.is_unsound]

    assert not unsound_ones, stories(unsound_ones)


@pytest.mark.parametrize(("module", "name", "broken"), MUTANTS.values(), ids=MUTANTS)
def test_a_broken_job_is_caught(lake, spark, monkeypatch, module, name, broken):
    monkeypatch.setattr(module, name, broken(getattr(module, name)))

    assert unsound(lake, spark)
