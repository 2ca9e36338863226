"""Rows of a listing: in order, and told only as far as they are asked for."""

from itertools import islice

import pyarrow as pa
import pytest

from cli import rows
from cli.output import RowFormat, print_rows
from cli.rows import Records
from cli.table import Layout


@pytest.fixture
def table() -> pa.Table:
    """Numbers in chunks, of which no order is left."""
    return pa.concat_tables(pa.table({"queue": ["b", "a"], "n": [n, 100 - n]}) for n in range(50))


def test_rows_come_by_their_columns_whatever_chunks_they_lie_in(table, monkeypatch):
    monkeypatch.setattr(rows, "_AT_A_TIME", 7)

    records = Records(table, ("queue", "n"), dict)

    assert list(records) == sorted(table.to_pylist(), key=lambda row: (row["queue"], row["n"]))
    assert list(records) == list(records), "they can be asked for again"
    assert len(records) == table.num_rows


def test_a_narrow_row_names_its_queue_where_rows_are_of_several(table):
    layout = Layout(("queue", "n"), row=("n",), facts=("n",))

    assert layout.with_queue(Records(table, ("n",), dict).of_several("queue")).facts == ("queue", "n")
    assert layout.with_queue(Records(table[:1], ("n",), dict).of_several("queue")) is layout


def test_only_rows_that_are_asked_for_are_told(table, monkeypatch):
    monkeypatch.setattr(rows, "_AT_A_TIME", 10)
    told = []

    list(islice(Records(table, ("n",), lambda row: told.append(row) or row), 10))

    assert len(told) == 10


def test_a_table_says_how_many_rows_it_leaves_out_without_telling_them(table, monkeypatch, capsys):
    monkeypatch.setattr("cli.output.MOST_TABLE_ROWS", 3)
    told = []

    records = Records(table, ("n",), lambda row: told.append(row["n"]) or row)
    print_rows(records, RowFormat.TABLE, Layout(("queue", "n"), row=("queue", "n")), ())

    shown = capsys.readouterr()
    assert len(shown.out.splitlines()) == 2 + 3
    assert shown.err == "97 more rows are not shown; --format jsonl prints all.\n"
    assert told == [0, 1, 2]


def test_a_table_of_no_row_is_empty(table):
    records = Records(table.slice(0, 0), ("n",), dict)

    assert not records
    assert list(records) == []
