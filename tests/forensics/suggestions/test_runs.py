"""Which runs are read: a sample of a fixed size that hangs on their ids alone."""

from hypothesis import given
from hypothesis import strategies as st

from forensics.suggestions.runs import Smallest

MOST = 3


def sample(names):
    smallest = Smallest(MOST)
    for name in names:
        smallest.add(name)
    return smallest.names()


@given(st.lists(st.text("abc", max_size=4), max_size=60), st.randoms())
def test_the_sample_is_the_same_in_whatever_order_and_however_often_names_come(names, rng):
    again = [*names, *names]
    rng.shuffle(again)

    assert sample(again) == sample(names)
    assert len(sample(names)) == min(MOST, len({*names}))


def test_of_ever_more_names_no_more_are_held_than_a_few_samples():
    smallest = Smallest(MOST)
    for number in range(1_000):
        smallest.add(str(number))

    assert len(smallest._found) <= 4 * MOST + 1


def test_which_names_they_are_is_fixed():
    assert sample(["orders-1", "orders-2", "orders-3", "orders-4", "orders-5"]) == ["orders-1", "orders-5", "orders-4"]
