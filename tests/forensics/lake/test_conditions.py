import pyarrow as pa
import pyarrow.dataset as ds
import pytest

from forensics.lake.conditions import all_of, any_of

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
