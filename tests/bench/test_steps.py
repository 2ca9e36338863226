"""Where a correlation's time goes is counted by step, and what writes Parquet in them beside it."""

import itertools
from types import SimpleNamespace

import polars as pl

from spark_jobs.cache import Cache, kernel
from spark_jobs.carried import Carried
from spark_jobs.carrier import Here
from tests.bench import steps


@kernel("writing")
def writing(shared, unit, folder):
    for number in range(unit["files"]):
        pl.DataFrame({"a": [1]}).write_parquet(unit["folder"] / f"{unit['name']}-{number}.parquet")
    return {}


def test_what_kernels_work_is_counted_by_their_names_and_so_is_writing_in_them(tmp_path, monkeypatch):
    """A clock that goes on by one second whenever it is looked at: twice for a block, and once more at the begin of all."""
    monkeypatch.setattr(steps, "worked_s", itertools.count().__next__)
    shared = SimpleNamespace(cache=Cache(tmp_path))
    carried = Carried(shared.cache, Here(), None)
    units = [{"name": "one", "files": 1, "folder": tmp_path}, {"name": "two", "files": 2, "folder": tmp_path}]

    found = steps.one_round(lambda: carried.map(writing, shared, units))

    assert found == {"write_parquet": 3, "writing": 3 + 5, "all": 11}
    assert len(list(tmp_path.glob("*.parquet"))) == 3
