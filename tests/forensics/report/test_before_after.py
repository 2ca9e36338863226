"""Did the fix work? Intervals, not impressions: few runs prove nothing, and a batch that fails counts once."""

from datetime import UTC, datetime, timedelta

import pytest

from forensics.report.before_after import OF_A_PERSON, Side, compare, last_repair, ratio_at_most, runs_wanted, verdict
from forensics.report.changes import Change

NOON = datetime(2026, 11, 22, 12, tzinfo=UTC)


def change(minutes, what="function charge: timeout 20 → 60"):
    return Change(NOON + timedelta(minutes=minutes), None, None, what, "CloudTrail", ())


def run(name, minutes, items=1, index=1, **more):
    at = NOON + timedelta(minutes=minutes)
    ordinary = {
        "consumer": name,
        "received_at": at,
        "delivery_index": index,
        "ended_by": "deleted",
        "hidden_until_at": at,
    }
    return [ordinary | {"item_id": f"{name}-{n}"} | more for n in range(items)]


def led(*items, cause="function_timeout"):
    return [{"item_id": item, "delivery_index": 2, "cause": cause} for item in items]


def test_a_batch_of_ten_that_fails_together_is_one_failed_run():
    deliveries = [*run("bad", 0, items=10), *run("good", 1), *run("after", 20)]
    told = compare(
        [change(10)], deliveries, led(*(f"bad-{n}" for n in range(10))), "function_timeout", NOON - timedelta(1), None
    )

    assert (told.before, told.since) == (Side(2, 1), Side(1, 0))


def test_what_had_finished_in_a_cut_off_batch_counts_as_led_by_what_cut_it_off():
    found = compare(
        [change(10)],
        run("bad", 0),
        led("bad-0", cause="batch_collateral"),
        "function_timeout",
        NOON - timedelta(1),
        None,
    )
    other = compare(
        [change(10)], run("bad", 0), led("bad-0", cause="throttled"), "function_timeout", NOON - timedelta(1), None
    )

    assert (found.before.failed, other.before.failed) == (1, 0)


def test_a_run_whose_messages_may_still_come_again_does_not_count_as_a_good_one():
    until = NOON + timedelta(minutes=30)
    waiting = {"ended_by": "in_flight", "hidden_until_at": until + timedelta(minutes=5)}
    told = compare(
        [change(10)], [*run("x", 0), *run("late", 29, **waiting)], [], "function_timeout", NOON - timedelta(1), until
    )

    assert told.since == Side(0, 0)


def test_changes_close_together_are_one_repair_and_the_last_repair_counts():
    mine = [change(0, "an experiment"), change(155), change(155.7, "visibility 120 → 400")]

    assert last_repair(mine, NOON - timedelta(1)) == mine[1:]
    assert last_repair(mine, NOON + timedelta(1)) == []
    assert compare([], run("x", 0), [], "function_timeout", NOON, None) is None


def _many(count, start, led_every=0):
    names = [(f"r{start + n}", start + n) for n in range(count)]
    came_again = [f"{name}-0" for n, (name, _) in enumerate(names) if led_every and n % led_every == 0]
    return [row for name, at in names for row in run(name, at)], came_again


def _of(changes, *stretches):
    deliveries = [row for rows, _ in stretches for row in rows]
    came_again = led(*(item for _, items in stretches for item in items))
    return compare(changes, deliveries, came_again, "function_timeout", NOON - timedelta(1), None)


def test_what_is_changed_after_it_had_stopped_does_not_begin_the_count_again():
    failing, quiet, since = _many(200, 0, led_every=10), _many(300, 220), _many(2, 800)
    later = [change(600, "deployed"), change(700, "marked fixed by Ana: timeout raised")]
    found = _of([change(210), *later], failing, quiet, since)

    assert (found.began_at, found.changes) == (NOON + timedelta(minutes=210), (change(210),))
    assert (found.before, found.since) == (Side(200, 20), Side(302, 0))
    assert found.sentence.startswith(
        "No run of 302 led to it since 2026-11-22 15:30 UTC (before: 20 of 200): at least 8"
    )


def test_what_is_changed_while_it_still_happens_is_held_against_all_before():
    found = _of([change(210), change(600)], _many(200, 0, led_every=10), _many(300, 220, led_every=30), _many(50, 610))

    assert (found.before, found.since) == (Side(500, 30), Side(50, 0))


def test_a_change_chosen_from_several_is_held_to_more():
    failing, quiet = _many(200, 0, led_every=10), _many(300, 220)
    alone = _of([change(210)], failing, quiet)
    of_three = _of([change(210), change(300), change(400)], failing, quiet)

    assert (alone.since, of_three.since) == (Side(300, 0), Side(300, 0))
    assert "at least 89 % fewer" in alone.sentence
    assert "at least 84 % fewer" in of_three.sentence
    assert runs_wanted(Side(1000, 3)) < runs_wanted(Side(1000, 3), choices=3)


def test_a_change_after_the_evidence_ends_is_said_to_have_no_run_yet():
    found = _of(
        [change(900, "marked fixed by Ana: timeout raised")], _many(199, 0, led_every=10), _many(1, 899, led_every=1)
    )

    assert found.sentence.startswith(
        "Too early to tell: no run since 2026-11-23 03:00 UTC is in the evidence (before: 21 of 200"
    )
    assert found.sentence.endswith("more runs would tell.")


SAID = {
    "gone, and enough runs to say so": (
        Side(1388, 60),
        Side(1348, 0),
        "No run of 1,348",
        "at least 94 % fewer, 95 % sure.",
    ),
    "gone so far": (Side(1388, 13), Side(12, 0), "Too early to tell: no run of 12", "about 29 h more at this traffic."),
    "nothing ran since": (Side(100, 3), Side(0, 0), "Too early to tell", "172 more runs would tell."),
    "less, and not gone": (Side(1000, 100), Side(1000, 10), "10 of 1,000 runs", "but it still happens."),
    "no better": (Side(1000, 10), Side(1000, 9), "9 of 1,000 runs", "these numbers show no improvement."),
    "nothing before": (Side(10, 0), Side(10, 0), "No run of 10", "nothing to compare with."),
}


@pytest.mark.parametrize(("before", "since", "begins", "ends"), SAID.values(), ids=SAID)
def test_no_more_is_said_than_the_numbers_hold(before, since, begins, ends):
    said = verdict(before, since, NOON, timedelta(hours=1))

    assert said.startswith(begins)
    assert said.endswith(ends)


def test_the_runs_asked_for_are_just_enough_to_tell():
    before = Side(1388, 13)
    wanted = runs_wanted(before)

    assert ratio_at_most(before, Side(wanted, 0)) < 1 <= ratio_at_most(before, Side(wanted - 2, 0))


@pytest.mark.parametrize(("side", "low", "high"), [(Side(0, 0), 0, 1), (Side(10, 0), 0, 0.31), (Side(10, 10), 0.69, 1)])
def test_a_rate_has_its_exact_interval(side, low, high):
    assert side.interval == pytest.approx((low, high), abs=0.01)


def test_a_fault_that_came_back_after_a_mark_says_that_the_fix_did_not_hold():
    fixed = Change(NOON + timedelta(minutes=210), None, None, "marked fixed by Ana: timeout raised", OF_A_PERSON, ())
    failing = _many(200, 0, led_every=10)
    again, held = _of([fixed], failing, _many(50, 220, led_every=10)), _of([fixed], failing, _many(300, 220))

    assert again.sentence.endswith(
        "It came back after it was marked fixed at 2026-11-22 15:30 UTC: that fix did not hold."
    )
    assert "did not hold" not in held.sentence
