"""Rows of Arrow as dictionaries: what pyarrow itself makes of them, sooner."""

from datetime import UTC, datetime, timedelta, timezone

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from forensics.clock import micros
from forensics.lake import arrow_schema
from forensics.lake.rows import distinct_values, first_and_last, plain_rows, rows_where
from forensics.tables import BY_NAME

TOKYO = timezone(timedelta(hours=9))
MOMENTS = st.none() | st.datetimes(datetime(1, 1, 2), datetime(9999, 12, 30)).map(lambda at: at.replace(tzinfo=UTC))


@given(st.lists(st.tuples(MOMENTS, st.none() | st.text(), st.none() | st.lists(st.none() | st.text(), max_size=2))))
def test_rows_are_what_arrow_makes_of_them(cells):
    schema = pa.schema({"at": pa.timestamp("us", "UTC"), "text": pa.string(), "list": pa.list_(pa.string())})
    table = pa.table(
        [
            pa.array(column, t)
            for column, t in zip(list(zip(*cells, strict=True)) or [()] * 3, schema.types, strict=True)
        ],
        schema,
    )

    assert plain_rows(table) == table.to_pylist()
    assert [row for batch in table.to_batches(max_chunksize=2) for row in plain_rows(batch)] == table.to_pylist()


@pytest.mark.parametrize("name", BY_NAME)
def test_every_table_s_empty_rows_are_none(name):
    assert plain_rows(arrow_schema(BY_NAME[name]).empty_table()) == []


@pytest.mark.parametrize(
    "kind", [pa.timestamp("ms", "UTC"), pa.timestamp("us", "Asia/Tokyo"), pa.timestamp("us"), pa.date32()]
)
def test_times_of_another_kind_stay_what_they_are(kind):
    at = datetime(2026, 11, 20, 5, 12, 0, 200_000, tzinfo=TOKYO if kind == pa.timestamp("us", "Asia/Tokyo") else None)
    table = pa.table({"at": pa.array([at, None], kind)})

    assert plain_rows(table) == table.to_pylist()


def test_times_are_of_utc_itself():
    (row,) = plain_rows(pa.table({"at": pa.array([0], pa.timestamp("us", "UTC"))}))

    assert row["at"].tzinfo is UTC


LINES = st.lists(st.tuples(st.sampled_from(("a", "b", None)), st.integers(0, 9)), max_size=12)


def lines_of(told):
    rows = [{"name": name, "at": datetime(2026, 11, 20, tzinfo=UTC) + timedelta(0, 0, n)} for name, n in told]
    return pa.RecordBatch.from_pylist(rows, pa.schema({"name": pa.string(), "at": pa.timestamp("us", "UTC")}))


@given(LINES)
def test_what_is_asked_of_a_batch_is_what_its_rows_say_one_by_one(told):
    batch = lines_of(told)
    rows = plain_rows(batch)
    border = micros(datetime(2026, 11, 20, tzinfo=UTC)) + 5

    asked = rows_where(batch, ["name", "at"], lambda name, at: name == "a" and at > border)
    assert asked == [row for row in rows if row["name"] == "a" and micros(row["at"]) > border]
    of_name = {name: [row["at"] for row in rows if row["name"] == name] for name, _ in told}
    assert sorted(first_and_last(batch, "name", "at"), key=str) == sorted(
        ((name, min(times), max(times)) for name, times in of_name.items()), key=str
    )
    named = distinct_values(batch.select(["name"]))
    assert sorted(named, key=str) == sorted({(name,) for name, _ in told}, key=str)
