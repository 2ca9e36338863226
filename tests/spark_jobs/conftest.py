"""Lakes of simulated worlds that several modules ask about, each judged once, in this process: only Spark's own tests need Java."""

from dataclasses import dataclass

import pytest

from forensics.lake import Lake
from forensics.settings import Settings
from forensics.tables import BY_NAME
from spark_jobs.carrier import Here
from spark_jobs.runner import correlate
from tests.oracle import World
from tests.oracle.bundle import TABLES, fill_lake, settings_of
from tests.spark_jobs import seeds, small_worlds
from tests.spark_jobs.from_files import FromFiles, as_imported, from_files, worlds_kept_whole
from tests.spark_jobs.thought_up import thought_up


@dataclass(frozen=True)
class ManyWorlds:
    """Worlds, and the lake in which one run has judged them all; those of ``files`` are in it too, as the API tells them."""

    lake: Lake
    settings: Settings
    seeded: list[World]
    thought_up: list[World]


@pytest.fixture(scope="session")
def many_worlds(tmp_path_factory) -> ManyWorlds:
    """Worlds of every kind, and those written by hand."""
    seeded = [World(seed) for seed in (*seeds.DRAWN, *seeds.DEAD_LETTERS)] + seeds.troubled() + seeds.set_later()
    drawn = thought_up()
    whole = worlds_kept_whole()
    lake = fill_lake(seeded + drawn, tmp_path_factory.mktemp("worlds") / "lake")
    for name in TABLES:
        if rows := [row for world in whole for row in as_imported(world, name)]:
            lake.append(BY_NAME[name], rows, f"{name}|imported")
    small_worlds.world().write(lake.root)
    settings = Settings.parse(settings_of(seeded + drawn + whole).text + small_worlds.SETTINGS.text)
    correlate(lake, settings, carrier=Here())
    return ManyWorlds(lake, settings, seeded, drawn)


@pytest.fixture(scope="session")
def files(tmp_path_factory) -> FromFiles:
    """Worlds imported from files, some with secrets in them."""
    return from_files(tmp_path_factory.mktemp("files"))
