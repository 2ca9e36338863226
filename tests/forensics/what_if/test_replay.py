"""The replay against cases whose outcome can be worked out by hand; times in seconds."""

import pytest

from forensics.what_if import answer
from forensics.what_if.answer import Row, SetupImpossibleError, check
from forensics.what_if.model import Attempt, Observed, Outcome, Setup
from forensics.what_if.observed import Observation
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


def test_what_always_fails_is_dropped_when_its_retention_ends():
    """One message that fails at each receive: at 0, 60, 120 s, and SQS keeps it for 150 s."""
    poison = [
        Observed("p", 0.0, None, (Attempt(0.0, 1.0, True),)),
        Observed("last", 900.0, None, (Attempt(900.0, 1.0),)),
    ]
    kept, lost = Replay(poison, Setup(60)).run(), Replay(poison, Setup(60, retention_s=150)).run()

    assert (lost.failed_runs, lost.unfinished, lost.dead_lettered) == (3, 1, 0)
    assert kept.failed_runs > 15


def test_work_that_was_done_before_its_handler_raised_is_done_at_each_receive():
    raised = [Observed("m", 0.0, None, (Attempt(0.0, 1.0, True, is_done=True), Attempt(60.0, 1.0, True, is_done=True)))]
    outcome = Replay(raised, Setup(60, max_receives=2)).run()

    assert (outcome.failed_runs, outcome.repeats, outcome.dead_lettered) == (2, 1, 1)


def seen_under(setup, **more):
    failing = messages(10, raises={6})
    told = Replay(failing, setup).run()
    return Observation(
        more.pop("queue", "orders"), failing, setup, told, 0.0, more.pop("is_lambda", True), 0, 0, **more
    )


def best(seen):
    same = answer._row("replayed as it was", seen, seen.setup)
    return {row.name: row.setup for row in answer._best(seen, same, {seen.setup})}


def test_partial_batch_responses_are_tried_where_they_are_off_and_never_taken_away():
    off, on = Setup(60, 10, 30), Setup(60, 10, 30, partial_responses=True)

    assert any(setup.partial_responses for setup in best(seen_under(off)).values())
    assert all(setup.partial_responses for setup in best(seen_under(on)).values())


def test_what_gives_the_same_as_the_settings_in_force_is_not_offered():
    quiet = Setup(180, 1, 30)
    good = Observation("orders", messages(3), quiet, Replay(messages(3), quiet).run(), 0.0, True, 0, 0)

    assert best(good) == {}


OFFERED = {
    "longer than advised: as it is, or as advised": (Setup(600, 10, 30), 180, {600, 180}),
    "shorter than advised: nothing between": (Setup(30, 10, 60), 360, {30, 360}),
    "nothing tells what is advised": (Setup(60, 10), None, {60}),
}


@pytest.mark.parametrize(("setup", "advised_s", "visibilities"), OFFERED.values(), ids=OFFERED)
def test_no_visibility_timeout_is_offered_that_is_not_as_advised_elsewhere(setup, advised_s, visibilities, monkeypatch):
    tried = []
    monkeypatch.setattr(answer, "_row", lambda name, seen, setup: tried.append(setup) or _told(name, setup))
    answer._best(seen_under(setup, advised_visibility_s=advised_s), _told("as it was", setup), {setup})

    assert {one.visibility_s for one in tried} <= visibilities
    assert visibilities - {setup.visibility_s} <= {one.visibility_s for one in tried}


def _told(name, setup):
    numbers = Outcome().numbers()
    return Row(name, setup, numbers, numbers)


FIT = {
    "a repeat that is not replayed": ({"repeats": 1}, {"repeats": 0}, False),
    "one repeat of two": ({"repeats": 2}, {"repeats": 1}, False),
    "ten of eleven": ({"repeats": 11}, {"repeats": 10}, True),
    "waits that differ by less than a tenth of a second": ({"waits_s": [0.1]}, {"waits_s": [0.19]}, True),
    "waits that differ by more": ({"waits_s": [0.1]}, {"waits_s": [0.21]}, False),
}


@pytest.mark.parametrize(("observed", "replayed", "fits"), FIT.values(), ids=FIT)
def test_a_replay_fits_within_a_tenth(observed, replayed, fits):
    numbers = Outcome(**replayed).numbers()

    assert answer._faithful(Outcome(**observed), Row("x", Setup(60), numbers, numbers))[0] is fits


LIMITS = {
    "ten of a FIFO queue": ("orders.fifo", True, {"batch_size": 10}, None),
    "more of a FIFO queue than Lambda allows": ("orders.fifo", True, {"batch_size": 11}, "batch size of 11"),
    "as many of a standard queue": ("orders", True, {"batch_size": 11}, None),
    "more than a worker receives at once": ("orders", False, {"batch_size": 11}, "batch size of 11"),
    "a function timeout of a worker": ("orders", False, {"timeout_s": 30}, "consumed by workers"),
    "partial responses of a worker": ("orders", False, {"partial_responses": True}, "consumed by workers"),
}


@pytest.mark.parametrize(("queue", "is_lambda", "changes", "refused"), LIMITS.values(), ids=LIMITS)
def test_a_setting_that_this_consumer_cannot_have_is_refused(monkeypatch, queue, is_lambda, changes, refused):
    seen = seen_under(Setup(60, 1, 30 if is_lambda else None), queue=queue, is_lambda=is_lambda)
    monkeypatch.setattr(answer, "observation", lambda *_: seen)

    if refused is None:
        assert "as asked" in {row.name for row in answer.ask(None, queue, changes).rows}
    else:
        with pytest.raises(SetupImpossibleError, match=refused):
            answer.ask(None, queue, changes)


def test_repeats_that_no_setting_bears_on_are_in_every_row_and_are_said(monkeypatch):
    """Two works were sent again under another id: the observed numbers have them, and so has every replay."""
    quiet = Setup(60, 1, 30)
    told = Replay(messages(3), quiet).run()
    told.repeats += 2
    monkeypatch.setattr(
        answer, "observation", lambda *_: Observation("orders", messages(3), quiet, told, 0.0, True, 0, 0, beside=2)
    )
    found = answer.ask(None, "orders", {"batch_size": 2})

    assert {row.span("repeats") for row in found.rows} == {"2"}
    assert found.is_faithful
    assert found.beside.startswith("Every row counts 2 repeats of work that was sent again")
