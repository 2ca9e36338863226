from collections import defaultdict

import polars as pl
import pyarrow as pa
import pytest

from forensics.lake import arrow_schema, to_arrow
from forensics.tables import ALL_TABLES, BY_NAME, EVIDENCE, FINDINGS, Column, Table

TABLES = {t.name: t for t in ALL_TABLES}


@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)
def test_a_table_says_its_grain_and_every_column_its_meaning(table):
    assert len(table.grain.split()) > 3
    assert all(c.meaning for c in table.columns)


@pytest.mark.parametrize("table", FINDINGS, ids=lambda t: t.name)
def test_a_finding_ends_in_its_evidence(table):
    assert table.column_names[-1] == "evidence_ids"


@pytest.mark.parametrize("table", EVIDENCE, ids=lambda t: t.name)
def test_evidence_is_named_once_and_for_ever(table):
    assert table.key == ("evidence_id",)


def test_names_carry_their_unit():
    units = {"_at": {"timestamp"}, "_s": {"int"}, "_ms": {"long"}, "_count": {"int", "long"}, "_ids": {"strings"}}
    counted_in_place = {"order_in_ms"}
    wrong = [
        f"{t.name}.{c.name}: {c.type}"
        for t in ALL_TABLES
        for c in t.columns
        for suffix, types in units.items()
        if c.name.endswith(suffix) and c.name not in counted_in_place and c.type not in types
    ]

    assert wrong == []


def test_a_column_name_has_one_type_everywhere():
    types = defaultdict(set)
    for table in ALL_TABLES:
        for column in table.columns:
            types[column.name].add(column.type)

    assert {name: found for name, found in types.items() if len(found) > 1} == {}


def test_times_of_evidence_are_where_a_window_is_looked_for():
    assert {t.name: t.time_column for t in EVIDENCE if t.time_column} == {
        "log_events": "logged_at",
        "metric_points": "point_at",
        "setting_changes": "changed_at",
        "send_records": "called_at",
        "task_stops": "stopped_at",
    }


def test_a_lookup_by_name_finds_every_table():
    assert len(BY_NAME) == len(ALL_TABLES)
    assert len(FINDINGS) == 13


@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)
def test_arrow_columns_follow_the_declaration(table):
    schema = arrow_schema(table)

    assert tuple(schema.names) == table.column_names
    assert all(schema.field(c.name).type.tz == "UTC" for c in table.columns if c.type == "timestamp")


@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)
def test_columns_of_frames_follow_the_declaration(table):
    from forensics.counting.frames import schema_of

    schema = arrow_schema(table)
    frame = pl.DataFrame(schema=schema_of(table)).to_arrow(compat_level=pl.CompatLevel.oldest()).cast(schema)

    assert frame.schema == schema


def test_a_row_may_lack_columns_and_never_have_others():
    table = Table("t", "evidence", "one row", ("a",), (Column("a", "string", "a name"), Column("n", "int", "a number")))

    assert to_arrow(table, [{"a": "x"}]).to_pylist() == [{"a": "x", "n": None}]
    with pytest.raises(ValueError, match="'b'"):
        to_arrow(table, [{"a": "x", "b": 1}])


def test_a_value_of_another_kind_is_refused_before_it_is_written():
    table = Table("t", "evidence", "one row", ("n",), (Column("n", "int", "a number"),))

    with pytest.raises((pa.ArrowInvalid, pa.ArrowTypeError)):
        to_arrow(table, [{"n": "many"}])


WRONG = {
    "an unknown type": lambda: Column("a", "text", "a name"),
    "a column declared twice": lambda: Table(
        "t", "evidence", "one row", ("a",), (Column("a", "string", "x"), Column("a", "string", "y"))
    ),
    "a key that is no column": lambda: Table("t", "evidence", "one row", ("b",), (Column("a", "string", "x"),)),
    "a time that is no column": lambda: Table(
        "t", "evidence", "one row", ("a",), (Column("a", "string", "x"),), time_column="at"
    ),
}


@pytest.mark.parametrize("declare", WRONG.values(), ids=WRONG)
def test_a_wrong_declaration_fails_where_it_is_made(declare):
    with pytest.raises(ValueError, match="."):
        declare()
