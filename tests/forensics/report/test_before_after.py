"""Did the fix work? Intervals, not impressions: few runs prove nothing, and a batch that fails counts once."""

from datetime import UTC, datetime, timedelta

import pytest

from forensics.report.before_after import Side, compare, last_repair, ratio_at_most, runs_wanted, verdict
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
