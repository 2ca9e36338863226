"""A data version stands for what findings rest on: other evidence has another one, in whatever lake."""

import pytest

from forensics.settings import Settings
from spark_jobs.runner import fingerprint
from tests.spark_jobs.small_lake import SmallLake


def version_of(folder, line, settings=""):
    small = SmallLake()
    small.worker("orders", (0, line))
    return fingerprint(small.write(folder), Settings.parse(settings), None)


@pytest.mark.lake
def test_lakes_that_differ_in_one_line_have_other_data_versions(tmp_path):
    one = version_of(tmp_path / "one", "charged p-1")

    assert one == version_of(tmp_path / "the same", "charged p-1")
    assert one != version_of(tmp_path / "another line", "charged p-2")
    assert one != version_of(tmp_path / "other settings", "charged p-1", "keep_bodies = false")
