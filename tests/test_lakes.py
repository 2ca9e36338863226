"""A test that writes a lake of its own is marked so, or it fails."""

import pytest

from forensics.lake import Lake
from forensics.tables.evidence import CONSUMERS
from tests.lakes import written_once

ROW = {"evidence_id": "consumer:1", "log_group": "/aws/lambda/f"}


def test_a_test_that_is_not_marked_writes_no_lake_of_its_own(tmp_path):
    with pytest.raises(pytest.fail.Exception, match="mark it `lake`"):
        Lake(tmp_path).append(CONSUMERS, [ROW], "consumers|test")


def test_nor_does_it_add_to_one_that_is_there(tmp_path):
    lake = Lake(tmp_path)
    with written_once():
        lake.append(CONSUMERS, [ROW], "consumers|test")

    with pytest.raises(pytest.fail.Exception, match="mark it `lake`"):
        lake.append(CONSUMERS, [ROW | {"evidence_id": "consumer:2"}], "consumers|test")


@pytest.mark.lake
def test_one_that_is_marked_does(tmp_path):
    assert Lake(tmp_path).append(CONSUMERS, [ROW], "consumers|test").stored_count == 1


@pytest.fixture(scope="module")
def of_all(tmp_path_factory) -> Lake:
    lake = Lake(tmp_path_factory.mktemp("lakes") / "lake")
    lake.append(CONSUMERS, [ROW], "consumers|test")
    return lake


def test_what_a_whole_file_reads_may_be_written_for_it(of_all):
    assert of_all.count(CONSUMERS) == 1
