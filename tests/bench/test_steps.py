"""Where a correlation's time goes is counted by step, and what writes Parquet in them beside it."""

import time

import polars as pl

from spark_jobs.cache import Cache
from spark_jobs.carried import Carried
from spark_jobs.carrier import Here
from tests.bench.steps import one_round

BUSY_S = 0.02


def busy(_, unit):
    until = time.process_time() + BUSY_S
    while time.process_time() < until:
        pl.DataFrame({"a": [1]}).write_parquet(unit["file"])
    return {}


def test_what_kernels_work_is_counted_by_their_names(tmp_path):
    carried = Carried(Cache(tmp_path), Here(), None)
    units = [{"name": str(n), "file": tmp_path / f"{n}.parquet"} for n in range(2)]

    found = one_round(lambda: carried.map("busy", busy, None, units))

    assert 2 * BUSY_S <= found["busy"] <= found["all"]
    assert 0 < found["write_parquet"] <= found["busy"]
    assert all((tmp_path / f"{n}.parquet").exists() for n in range(2))
