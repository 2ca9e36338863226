"""What is asked of polars in this thread is done in it, and what goes wrong there is told as it is."""

import resource
import threading

import polars as pl
import pytest

from forensics.counting.in_this_thread import in_this_thread


def in_a_thread_of_ours(work):
    """Return what work returns in a new thread: all tests together may run in a function that polars has called."""
    found = []
    ours = threading.Thread(target=lambda: found.append(work()))
    ours.start()
    ours.join(60)
    return found[0]


def test_it_returns_what_the_work_returns_also_within_another():
    assert in_this_thread(lambda: [in_this_thread(lambda: 3), 4]) == [3, 4]


@pytest.mark.parametrize("problem", [ZeroDivisionError("of ours"), KeyboardInterrupt(), SystemExit(2)])
def test_whatever_the_work_raises_is_raised_itself(problem):
    def fails():
        raise problem

    with pytest.raises(type(problem)) as raised:
        in_this_thread(fails)

    assert raised.value is problem


def test_in_a_thread_of_ours_it_is_that_thread():
    asked, worked = in_a_thread_of_ours(lambda: (threading.get_ident(), in_this_thread(threading.get_ident)))

    assert asked == worked


@pytest.mark.skipif(
    not hasattr(resource, "RUSAGE_THREAD"), reason="this system does not count what a thread waited for"
)
def test_a_step_of_polars_waits_for_no_other_thread():
    frame = pl.DataFrame({"number": range(100)})

    def waits_of_steps():
        before = resource.getrusage(resource.RUSAGE_THREAD).ru_nvcsw
        for number in range(200):
            frame.filter(pl.col("number") > number)
        return resource.getrusage(resource.RUSAGE_THREAD).ru_nvcsw - before

    assert in_a_thread_of_ours(lambda: in_this_thread(waits_of_steps)) < 20
    assert in_a_thread_of_ours(waits_of_steps) >= 20


def test_what_another_thread_asks_meanwhile_is_done():
    frame = pl.DataFrame({"number": range(100)})
    found = []

    def asks():
        found.append(frame.filter(pl.col("number") > 50).height)

    def waits():
        other = threading.Thread(target=asks)
        other.start()
        other.join(60)

    in_this_thread(waits)

    assert found == [49]
