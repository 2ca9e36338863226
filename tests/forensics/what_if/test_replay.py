"""The replay against cases whose outcome can be worked out by hand; times in seconds."""

import pytest

from forensics.what_if.answer import SetupImpossibleError, check
from forensics.what_if.model import Attempt, Observed, Setup
from forensics.what_if.replay import MESSAGE, MOMENT, Replay


def messages(count, took_s=1.0, group="g", every_s=0.0, raises=()):
    return [
        Observed(f"m-{n}", n * every_s, group, (Attempt(n * every_s, took_s, n in raises), Attempt(1_000, 1.0)))
        for n in range(count)
    ]


def slow_batch():
    """Ten messages at once that take 4 s each; once more they take 1 s."""
    return messages(10, 4.0)


def test_a_batch_that_fits_is_deleted_and_nothing_comes_again():
    outcome = Replay(messages(10), Setup(600, 10, 30)).run()

    assert (outcome.runs, outcome.redelivered, outcome.repeats, outcome.blocked_s) == (1, 0, 0, 0)
    assert outcome.waits_s == pytest.approx([1, 2, 3, 4, 5, 6, 7, 8, 9, 10], abs=0.1)
    assert outcome.unfinished == 0


def test_a_batch_killed_at_its_timeout_comes_again_whole_and_blocks_its_group_until_it_is_visible():
    """Seven of ten are through after 28 s; the run is killed at 30 s; 570 s later all ten come again."""
    outcome = Replay(slow_batch(), Setup(600, 10, 30)).run()

    assert (outcome.runs, outcome.failed_runs) == (2, 1)
    assert (outcome.redelivered, outcome.repeats) == (10, 7)
    assert outcome.blocked_s == pytest.approx(570, abs=0.1)


def test_a_shorter_visibility_timeout_shortens_the_block_and_repeats_as_much():
    outcome = Replay(slow_batch(), Setup(180, 10, 30)).run()

    assert outcome.blocked_s == pytest.approx(150, abs=0.1)
    assert outcome.repeats == 7


def test_a_batch_of_one_neither_repeats_nor_blocks():
    outcome = Replay(slow_batch(), Setup(600, 1, 30)).run()

    assert (outcome.runs, outcome.repeats, outcome.blocked_s) == (10, 0, 0)


def test_partial_responses_keep_what_was_done_before_an_error_and_help_no_timeout():
    failing = messages(10, raises={6})

    assert Replay(failing, Setup(60, 10, 30)).run().repeats == 6
    assert Replay(failing, Setup(60, 10, 30, partial_responses=True)).run().repeats == 0
    assert Replay(slow_batch(), Setup(600, 10, 30, partial_responses=True)).run().repeats == 7


def test_without_enough_receives_what_only_lacked_a_retry_is_lost_to_the_dead_letter_queue():
    outcome = Replay(slow_batch(), Setup(600, 10, 30, max_receives=1)).run()

    assert outcome.dead_lettered == 10
    assert outcome.repeats == 0


def test_work_that_outlives_its_visibility_timeout_is_done_twice_at_once_where_two_may_run():
    """A standard queue, work of 50 s, 30 s of visibility: the second run begins before the first has ended."""
    slow = [Observed("m", 0.0, None, (Attempt(0.0, 50.0), Attempt(30.0, 10.0)))]
    outcome = Replay(slow, Setup(30, 1, None, concurrency=2)).run()

    assert (outcome.runs, outcome.repeats, outcome.redelivered) == (2, 1, 1)
    assert Replay(slow, Setup(60, 1, None, concurrency=2)).run().repeats == 0


def test_other_groups_go_on_while_one_is_blocked():
    mixed = [*slow_batch(), Observed("other", 40.0, "h", (Attempt(40.0, 1.0),))]
    outcome = Replay(mixed, Setup(600, 10, 30)).run()

    assert sorted(outcome.waits_s)[0] == pytest.approx(1, abs=0.1)
    assert outcome.blocked_s == pytest.approx(570, abs=0.1)


def test_slowness_that_goes_with_the_moment_is_over_when_the_moment_is():
    """One message was slow and the next ones were not: done later, the first is quick."""
    seen = [
        Observed("slow", 0.0, "g", (Attempt(0.0, 40.0),)),
        *(Observed(f"m-{n}", 100.0 + n, "g", (Attempt(100.0 + n, 0.5),)) for n in range(3)),
    ]

    assert Replay(seen, Setup(60, 1, 30), MESSAGE).run().failed_runs >= 2
    assert Replay(seen, Setup(60, 1, 30), MOMENT).run().failed_runs == 1


def test_the_same_messages_give_the_same_outcome():
    assert Replay(slow_batch(), Setup(60, 4, 9)).run() == Replay(slow_batch(), Setup(60, 4, 9)).run()


@pytest.mark.parametrize(
    ("setup", "words"),
    [
        (Setup(43_201), "visibility timeout of 43201 s"),
        (Setup(30, 0), "batch size of 0"),
        (Setup(30, 1, 901), "function timeout of 901 s"),
        (Setup(30, max_receives=0), "maxReceiveCount of 0"),
    ],
    ids=("visibility", "batch size", "timeout", "receives"),
)
def test_what_aws_refuses_is_one_sentence(setup, words):
    with pytest.raises(SetupImpossibleError, match=words):
        check(setup)
