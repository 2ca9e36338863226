"""The verdict is the interval, whatever the way to it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forensics.verdict import VERDICTS, verdict_of

CASES = {
    "done twice for sure": (2, 2, False, "confirmed"),
    "done twice for sure, no upper bound": (2, None, False, "confirmed"),
    "done twice although a guard stopped a third": (2, 2, True, "confirmed"),
    "done once and maybe again": (1, 2, False, "probable"),
    "done once, no upper bound": (1, None, False, "probable"),
    "maybe done twice": (0, 2, False, "possible"),
    "nothing is known": (0, None, False, "possible"),
    "once, and a guard stopped the repeat": (1, 1, True, "absorbed"),
    "at most once": (0, 1, False, "harmless"),
    "not at all": (0, 0, False, "harmless"),
}


@pytest.mark.parametrize(("at_least", "at_most", "guarded", "verdict"), CASES.values(), ids=CASES)
def test_an_interval_has_one_verdict(at_least, at_most, guarded, verdict):
    assert verdict_of(at_least, at_most, guarded) == verdict


@given(at_least=st.integers(0, 9), more=st.none() | st.integers(0, 9), guarded=st.booleans())
def test_confirmed_means_at_least_twice_and_nothing_else(at_least, more, guarded):
    verdict = verdict_of(at_least, None if more is None else at_least + more, guarded)

    assert verdict in VERDICTS
    assert (verdict == "confirmed") == (at_least >= 2)


def test_an_empty_interval_is_a_bug():
    with pytest.raises(ValueError, match="empty"):
        verdict_of(2, 1, False)
