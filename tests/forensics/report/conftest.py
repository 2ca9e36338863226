"""The small world of the report tests, written once."""

from pathlib import Path

import pytest

from forensics.lake import Lake
from forensics.report.case import Case, load_case
from tests.forensics.report import world


@pytest.fixture(scope="session")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Lake:
    folder: Path = tmp_path_factory.mktemp("report") / "lake"
    return world.save(folder)


@pytest.fixture(scope="session")
def case(lake: Lake) -> Case:
    return load_case(lake.findings(), world.INCIDENT)
