import pyarrow as pa
import pyarrow.dataset as ds
import pytest

from forensics.lake.conditions import all_of, any_of
from forensics.lake.schemas import ARROW_TYPES
from forensics.tables.findings import TIMELINE
from tests.forensics.report import world

ROWS = ds.dataset(
    pa.table({"id": ["xa", "b", None, "xc"], "n": [1, 2, 3, 4], "keys": [["a.b", "b"], [], None, ["za.b", "a+b"]]})
)

CASES = {
    "equal": ([("id", "==", "b")], [2]),
    "start of a text, null never starts": ([("id", "starts", "x")], [1, 4]),
    "end of a text, null never ends": ([("id", "ends", "c")], [4]),
    "a list holds the whole item, not a part of one": ([("keys", "holds", "a.b")], [1]),
    "an item with characters of a pattern is only itself": ([("keys", "holds", "a+b")], [4]),
    "a pattern is not run": ([("keys", "holds", ".*")], []),
    "one of": ([("n", "in", (2, 3))], [2, 3]),
    "one of no texts": ([("id", "in", ())], []),
    "one of no numbers": ([("n", "in", [])], []),
    "one of no values beside another condition": ([("n", ">", 1), ("id", "in", ())], []),
    "none of no texts, null among them": ([("id", "not in", ())], [1, 2, 3, 4]),
    "one of nothing but null": ([("id", "in", (None,))], [3]),
    "both must hold": ([("id", "starts", "x"), ("n", ">", 1)], [4]),
}


@pytest.mark.parametrize(("conditions", "kept"), CASES.values(), ids=CASES)
def test_rows_that_pass_every_condition(conditions, kept):
    assert ROWS.to_table(filter=all_of(*conditions))["n"].to_pylist() == kept


def test_no_condition_keeps_every_row():
    assert all_of() is None


def test_one_condition_of_several_is_enough():
    found = ROWS.to_table(filter=any_of(("id", "==", "b"), ("keys", "holds", "a+b")))

    assert found["n"].to_pylist() == [2, 4]


@pytest.mark.parametrize("type_", ARROW_TYPES)
def test_an_empty_list_of_values_holds_no_row_whatever_the_column(type_):
    rows = ds.dataset(pa.table({"c": pa.nulls(2, ARROW_TYPES[type_])}))

    assert rows.count_rows(filter=all_of(("c", "in", ()))) == 0
    assert rows.count_rows(filter=all_of(("c", "not in", ()))) == 2


@pytest.mark.lake
def test_the_few_rows_of_a_lake_are_asked_for_no_value_at_all(tmp_path):
    findings = world.save(tmp_path / "lake").findings()
    here = ("incident_id", "!=", "")

    assert findings.read(TIMELINE, ["item_id"], all_of(here)).num_rows
    assert not findings.read(TIMELINE, ["item_id"], all_of(here, ("consumer", "in", ()))).num_rows
