"""Frames as files come back as they were, and those without rows are the files that polars would write."""

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from forensics.counting import frame_files
from forensics.counting.frame_files import mapped, write_mapped, write_parquet
from forensics.counting.frames import schema_of
from forensics.tables.findings import DELIVERIES

ROWS = pl.DataFrame({"hash": [3, 1, 2], "names": [["a"], [], None], "at": [None, 1, 2]})
EMPTY = [pl.DataFrame(schema=schema_of(DELIVERIES)), ROWS.clear(), ROWS.clear().rename({"at": "until"}), pl.DataFrame()]


@pytest.mark.parametrize("has_statistics", [True, False])
@pytest.mark.parametrize("rows", [ROWS, *EMPTY])
def test_rows_come_back_from_parquet_as_they_were(rows, has_statistics, tmp_path):
    write_parquet(rows, file := tmp_path / "rows.parquet", has_statistics=has_statistics)

    assert_frame_equal(pl.read_parquet(file), rows)


@pytest.mark.parametrize("rows", [ROWS, *EMPTY])
def test_rows_that_are_mapped_come_back_as_they_were(rows, tmp_path):
    write_mapped(rows, file := tmp_path / "rows.arrow")

    assert_frame_equal(mapped(file), rows)


@pytest.mark.parametrize("rows", EMPTY)
def test_a_frame_without_rows_is_the_file_that_polars_writes_and_writing_it_again_asks_polars_no_more(
    rows, tmp_path, monkeypatch
):
    frame_files._as_parquet(rows, tmp_path / "of_polars.parquet", None, True)
    frame_files._as_mapped(rows, tmp_path / "of_polars.arrow")
    for _ in range(2):
        write_parquet(rows, tmp_path / "ours.parquet")
        write_mapped(rows, tmp_path / "ours.arrow")
        for form in ("parquet", "arrow"):
            assert (tmp_path / f"ours.{form}").read_bytes() == (tmp_path / f"of_polars.{form}").read_bytes()
        monkeypatch.setattr(pl.DataFrame, "write_parquet", None)
        monkeypatch.setattr(pl.DataFrame, "write_ipc", None)


def test_many_rows_are_mapped_in_one_piece_so_that_nothing_is_copied(tmp_path):
    write_mapped(pl.DataFrame({"hash": range(400_000)}), tmp_path / "many.arrow")

    assert mapped(tmp_path / "many.arrow").n_chunks() == 1
