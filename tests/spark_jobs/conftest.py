"""One lake of simulated worlds for every test that holds findings against the truth."""

import pytest

from forensics.lake import Lake
from spark_jobs.runner import correlate
from tests.oracle import World
from tests.oracle.bundle import fill_lake, settings_of
from tests.spark_jobs import seeds


@pytest.fixture(scope="session")
def many_worlds(spark, tmp_path_factory) -> tuple[list[World], Lake]:
    """Worlds, and the lake in which one run has judged them all: beginning a run costs more than judging a world."""
    worlds = [World(seed) for seed in (*seeds.DRAWN, *seeds.DEAD_LETTERS)] + seeds.TROUBLED
    lake = fill_lake(worlds, tmp_path_factory.mktemp("worlds") / "lake")
    correlate(lake, settings_of(worlds), spark=spark)
    return worlds, lake
