"""Redriving is called safe only where the work was not done for sure."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forensics.verdict import REDRIVES, redrive_of, redrive_sentence

CASES = {
    "not done": (0, 0, "safe", "for the first time"),
    "maybe done once": (0, 1, "may_repeat", "may have been done once"),
    "maybe done twice": (0, 2, "may_repeat", "up to 2 times"),
    "nothing is known": (0, None, "may_repeat", "unknown number of times"),
    "done once": (1, 1, "repeats", "does the work again"),
    "done, no upper bound": (1, None, "repeats", "at least once"),
    "done twice": (2, 2, "repeats", "exactly 2 times"),
}


@pytest.mark.parametrize(("at_least", "at_most", "redrive", "words"), CASES.values(), ids=CASES)
def test_what_redriving_does(at_least, at_most, redrive, words):
    assert redrive_of(at_least, at_most) == redrive
    assert words in redrive_sentence(at_least, at_most)


@given(at_least=st.integers(0, 9), more=st.none() | st.integers(0, 9))
def test_safe_means_not_done_at_all(at_least, more):
    at_most = None if more is None else at_least + more

    assert redrive_of(at_least, at_most) in REDRIVES
    assert (redrive_of(at_least, at_most) == "safe") == (at_most == 0)
