"""Of lines of a function that say the same of a message in one moment one is told."""

import polars as pl
import pytest

from forensics.counting.told_once import told_once

LINE = {
    "place": 1,
    "run": 0,
    "at": 5,
    "message_id": "m",
    "says": 1,
    "is_own": True,
    "besides": "app",
    "effect_key": None,
    "started_key": None,
    "is_again": True,
}
OTHERS = {
    "the same": ({}, [1]),
    "the same, earlier in the file": ({"place": 0}, [0]),
    "of another run": ({"run": 1}, [1, 2]),
    "of another moment": ({"at": 6}, [1, 2]),
    "of another message": ({"message_id": "n"}, [1, 2]),
    "with another key": ({"effect_key": "k"}, [1, 2]),
    "without its request": ({"is_own": False}, [1, 2]),
    "of another kind": ({"besides": "other"}, [1, 2]),
    "of no message": ({"message_id": None}, [1, 2]),
}


@pytest.mark.parametrize(("other", "places"), OTHERS.values(), ids=OTHERS)
def test_a_line_that_repeats_another_is_left_out(other, places):
    said = pl.DataFrame([LINE, LINE | {"place": 2} | other], infer_schema_length=2)

    assert sorted(told_once(said)["place"]) == places


def test_lines_of_no_message_are_all_told():
    said = pl.DataFrame([LINE | {"place": place, "message_id": None} for place in (1, 2)])

    assert told_once(said).height == 2
