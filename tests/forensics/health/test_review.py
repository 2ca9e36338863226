from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from forensics.errors import SettingsError
from forensics.health import WeekUnknownError, opening_week, review_week, week_bounds
from forensics.health.accepted import CODES, check_codes
from forensics.report.week_render import compared_with
from forensics.settings import Settings
from tests.forensics.health.rows import ACCOUNT, SLOW, finding, week_row

WEEK, BEFORE = "2026-W47", "2026-W46"
UNTIL = datetime(2026, 11, 23, 2, 37, tzinfo=UTC)
ACCEPTED = """
[[queue]]
name = "orders"
owner = "orders team"
note = "nightly batch"
[[queue.accepted]]
check = "{check}"
until = {until}
reason = "moves in January"
"""


def review(rows, findings=(), incidents=(), settings=None, week=WEEK, until=UNTIL, days=()):
    return review_week(
        week, rows, list(findings), list(incidents), settings or Settings(), data_until_at=until, days=days
    )


SIGNALS = {
    "processed twice for sure": ({"twice_at_least": 7, "twice_at_most": 8}, "act now", "7 to 8 of 1,000 messages"),
    "maybe processed twice": ({"twice_at_most": 3}, "watch", "0 to 3 of 1,000 messages maybe processed twice"),
    "a timeout": ({"timeout_count": 1}, "watch", "1 function timeout in 500 runs, 0 the week before"),
    "dead letters": (
        {"dead_lettered_count": 2, "dead_letter_reasons": ["function_error=2"]},
        "watch",
        "2 messages moved to the dead-letter queue (function_error 2)",
    ),
    "dead letters that only the metric shows": ({"dead_letter_rise_count": 4}, "watch", "4 messages moved"),
    "expired handles": ({"expired_handle_count": 1}, "watch", "1 delete refused"),
    "throttles": ({"throttle_count": 12}, "watch", "12 throttles, 0 the week before"),
    "hidden poison": (
        {"poison_count": 1, "poison_age_s": 7300, "age_max_s": 40},
        "watch",
        "1 message received three times or more: the oldest is 2 h 1 min old, the age metric says 40 s",
    ),
    "one in a hundred redelivered": ({"redelivery_count": 10}, "watch", "1.0 % redelivered, 0 % the week before"),
    "age doubled": ({"age_p95_s": 60}, "watch", "p95 age 1 min, 4 s the week before"),
    "errors": ({"error_count": 4, "crash_count": 1}, "watch", "5 runs of 500 ended in an error or a crash"),
}


@pytest.mark.parametrize(("numbers", "need", "why"), SIGNALS.values(), ids=SIGNALS)
def test_a_sign_of_trouble_is_said_with_both_numbers(numbers, need, why):
    (queue,) = review([week_row("orders", BEFORE), week_row("orders", WEEK, **numbers)]).queues

    assert queue.need == need
    assert queue.why.startswith(why)


ADVICE = {
    "throttles, and no check says why": ({"throttle_count": 12}, "orders", [], "Find what uses up the concurrency"),
    "throttles that the settings explain": (
        {"throttle_count": 12},
        "orders",
        [finding("orders", "concurrency_limit", advice="Set the mapping's maximum concurrency to 5.")],
        "Set the mapping's maximum concurrency to 5.",
    ),
    "timeouts of single messages": (
        {"timeout_count": 1},
        "orders",
        [finding("orders", "run_near_timeout", advice="Raise the function timeout (at most 900 s).")],
        "Raise the function timeout (at most 900 s).",
    ),
    "a check that passes advises nothing": (
        {"timeout_count": 1},
        "orders",
        [finding("orders", "run_near_timeout", None)],
        "Make a full batch of slow items fit",
    ),
    "poison, and no dead-letter queue": ({"poison_count": 1}, "orders", [], "Look at why they fail, and give them"),
    "poison, and a dead-letter queue": (
        {"poison_count": 1},
        "orders",
        [finding("orders", "dead_letter_queue_missing", None)],
        "Look at why they fail.",
    ),
    "a standard queue's messages wait": ({"age_p95_s": 90}, "orders", [], "Raise the concurrency"),
    "a FIFO queue's messages wait": ({"age_p95_s": 90}, "orders.fifo", [], "Make its items quicker, or spread them"),
}


@pytest.mark.parametrize(("numbers", "queue", "checks", "advice"), ADVICE.values(), ids=ADVICE)
def test_what_a_signal_advises_is_possible_under_the_settings_in_force(numbers, queue, checks, advice):
    (found,) = review([week_row(queue, WEEK, **numbers)], checks).queues
    (signal,) = [s for s in found.signals if not s.is_setting]

    assert signal.advice.startswith(advice)


QUIET = {
    "nothing": {},
    "fewer than one in a hundred redelivered": {"redelivery_count": 9},
    "age below a minute": {"age_p95_s": 59},
    "few errors": {"error_count": 4},
}


@pytest.mark.parametrize("numbers", QUIET.values(), ids=QUIET)
def test_a_quiet_week_needs_nothing(numbers):
    before = {"redelivery_count": 6, "age_p95_s": 40}
    (queue,) = review([week_row("orders", BEFORE, **before), week_row("orders", WEEK, **numbers)]).queues

    assert (queue.need, queue.why) == ("ok", "")


def test_a_small_share_that_doubled_is_worth_a_look():
    rows = [week_row("orders", BEFORE, redelivery_count=3), week_row("orders", WEEK, redelivery_count=6)]

    assert review(rows).queues[0].why == "0.6 % redelivered, 0.3 % the week before"


def test_queues_are_ranked_by_need_and_the_gravest_reason_is_the_why():
    rows = [
        week_row("audit", WEEK),
        week_row("mail", WEEK, age_p95_s=90),
        week_row("billing", WEEK, timeout_count=1),
        week_row("payments.fifo", WEEK, twice_at_least=7, twice_at_most=8, timeout_count=3),
        week_row("dead", WEEK, is_dead_letter_queue=True, twice_at_least=9),
    ]
    checks = [finding("billing", "handling_outgrows_visibility")]
    found = review(rows, checks)

    assert [(q.queue, q.need) for q in found.queues] == [
        ("payments.fifo", "act now"),
        ("billing", "act now"),
        ("mail", "watch"),
        ("audit", "ok"),
    ]
    assert found.queues[1].why == SLOW.sentence
    assert [s.code for s in found.queues[0].signals] == ["processed_twice", "function_timeouts"]
    assert len(found.needy) == 3


def test_what_was_not_read_is_unknown_and_not_ok():
    unread = dict.fromkeys([c for c in week_row("orders", WEEK) if c.endswith("_count") or c.startswith("twice")]) | {
        "metrics_read_s": 0,
        "logs_read_s": 0,
    }
    gone = week_row("billing", BEFORE)
    rows = [week_row("orders", WEEK, **unread), gone]

    assert {(q.queue, q.need) for q in review(rows).queues} == {("orders", "unknown"), ("billing", "unknown")}


def test_the_trend_has_eight_weeks_and_a_hole_where_nothing_was_read():
    rows = [week_row("orders", "2026-W45", redelivery_count=20), week_row("orders", WEEK, redelivery_count=40)]
    (queue,) = review(rows).queues

    assert queue.redelivered_trend == [None] * 5 + [0.02, None, 0.04]


def test_totals_compare_with_the_week_before():
    rows = [
        week_row("orders", BEFORE, timeout_count=1),
        week_row("orders", WEEK, timeout_count=3),
        week_row("mail", WEEK, timeout_count=2, delivery_count=3000, redelivery_count=80),
    ]
    found = review(rows)

    assert (found.total("timeout_count"), found.change("timeout_count")) == (5, 4)
    assert found.redelivered() == 0.02
    assert found.change("throttle_count") == 0


def test_what_settings_ask_for_at_the_end_of_the_evidence_is_a_reason_of_the_newest_week_alone():
    rows = [week_row("orders", BEFORE), week_row("orders", WEEK, timeout_count=1)]
    checks = [finding("orders", "drift")]
    (now,), (earlier,) = (review(rows, checks, week=w, until=SATURDAY).queues for w in (WEEK, BEFORE))

    assert [(s.code, s.is_setting) for s in now.signals] == [("drift", True), ("function_timeouts", False)]
    assert (earlier.need, earlier.why, earlier.signals) == ("ok", "", ())
    assert [c["code"] for c in earlier.checks] == ["drift"]


def test_a_week_stays_the_newest_until_a_whole_day_of_the_next_one_is_known():
    rows, checks = [week_row("orders", WEEK)], [finding("orders", "drift")]
    monday = datetime(2026, 11, 23, 2, tzinfo=UTC)

    assert review(rows, checks, until=monday).is_newest
    assert not review(rows, checks, until=monday + timedelta(days=1)).is_newest


def test_timeouts_of_a_week_that_is_over_are_not_weighed_by_what_came_after_it():
    rows = [week_row("orders", BEFORE, timeout_count=2), week_row("orders", WEEK)]
    since = ["timeout_set_at=2026-11-20T00:00:00Z", "earlier_timeout_count=2", "since_run_count=90"]
    checks = [finding("orders", "run_near_timeout", None, numbers=since)]
    (earlier,) = review(rows, checks, week=BEFORE, until=SATURDAY).queues

    assert "since the function timeout was set" not in earlier.why


SATURDAY = datetime(2026, 11, 21, 12, tzinfo=UTC)
NEXT = "2026-W48"


def a_day(day, **numbers):
    week = NEXT if day >= "2026-11-23" else WEEK
    return week_row("orders", week, **numbers) | {"day": day}


def test_a_week_of_a_few_hours_is_compared_with_nothing():
    rows = [week_row("orders", WEEK, timeout_count=13), week_row("orders", NEXT, timeout_count=1)]
    found = review(rows, week=NEXT, days=[a_day("2026-11-23"), a_day("2026-11-16", timeout_count=13)])
    (queue,) = found.queues

    assert (found.days, found.total("timeout_count"), found.change("timeout_count")) == (0, 1, None)
    assert found.redelivered_change() is None
    assert queue.why == "1 function timeout in 500 runs"
    assert {n.change for n in queue.numbers} == {None}


def test_a_week_that_has_begun_is_compared_with_the_same_days_of_the_week_before():
    rows = [week_row("orders", WEEK, timeout_count=13), week_row("orders", NEXT, timeout_count=3)]
    days = [a_day(f"2026-11-{n}", timeout_count=2) for n in (16, 17, 18)]
    days += [a_day("2026-11-23", timeout_count=1), a_day("2026-11-24", timeout_count=2), a_day("2026-11-25")]
    found = review(rows, week=NEXT, days=days, until=datetime(2026, 11, 25, 9, tzinfo=UTC))
    (queue,) = found.queues

    assert (found.days, found.total("timeout_count"), found.change("timeout_count")) == (2, 3, -1)
    assert queue.why == "3 function timeouts in 500 runs, 4 in the same 2 days of the week before"


def test_of_one_day_that_is_over_the_same_day_of_the_week_before_is_named():
    rows = [week_row("orders", WEEK, timeout_count=13), week_row("orders", NEXT, timeout_count=3)]
    days = [a_day("2026-11-16", timeout_count=2), a_day("2026-11-23", timeout_count=3)]
    found = review(rows, week=NEXT, days=days, until=datetime(2026, 11, 24, 9, tzinfo=UTC))

    assert found.queues[0].why == "3 function timeouts in 500 runs, 2 on the same day of the week before"
    assert compared_with(found) == "Changes compare the day that is over with the same day of the week before."


def test_a_day_that_nobody_read_leaves_nothing_to_compare():
    rows = [week_row("orders", WEEK), week_row("orders", NEXT, timeout_count=3)]
    days = [a_day("2026-11-16"), a_day("2026-11-23"), a_day("2026-11-24")]

    assert (
        review(rows, week=NEXT, days=days, until=datetime(2026, 11, 25, 9, tzinfo=UTC)).change("timeout_count") is None
    )


REPAIRED = ["timeout_set_at=2026-11-22T14:35:00Z", "since_run_count=1348", "since_timeout_count=0"]


def test_timeouts_that_all_came_before_the_repair_no_longer_rank():
    rows = [week_row("payments.fifo", WEEK, timeout_count=13), week_row("mail", WEEK, age_p95_s=90)]
    numbers = [*REPAIRED, "earlier_timeout_count=13"]
    found = review(rows, [finding("payments.fifo", "run_near_timeout", None, numbers=numbers)])

    assert [q.queue for q in found.queues] == ["mail", "payments.fifo"]
    assert found.queues[1].why == (
        "13 function timeouts in 500 runs, none in the 1,348 runs since the function timeout was set"
    )


def test_a_timeout_that_no_earlier_limit_explains_ranks_as_before():
    numbers = [*REPAIRED, "earlier_timeout_count=12"]
    checks = [finding("orders", "run_near_timeout", None, numbers=numbers)]
    (queue,) = review([week_row("orders", WEEK, timeout_count=13)], checks).queues

    assert queue.why == "13 function timeouts in 500 runs"


def test_queues_with_surely_repeated_work_come_before_those_that_may_have():
    rows = [
        week_row("crm", WEEK, twice_at_least=5, twice_at_most=110),
        week_row("worker", WEEK, twice_at_least=75, twice_at_most=75),
    ]

    assert [q.queue for q in review(rows).queues] == ["worker", "crm"]


def test_an_owner_says_how_much_one_repeat_matters():
    rows = [
        week_row("payments", WEEK, twice_at_least=7, twice_at_most=8),
        week_row("newsletter", WEEK, twice_at_least=75, twice_at_most=75),
    ]
    settings = Settings.parse('[[queue]]\nname = "payments"\nweight = 20\n')

    assert [q.queue for q in review(rows).queues] == ["newsletter", "payments"]
    assert [q.queue for q in review(rows, settings=settings).queues] == ["payments", "newsletter"]


OPENED_ON = {
    "a week of 2.6 hours": (datetime(2026, 11, 23, 2, 37, tzinfo=UTC), WEEK),
    "a week with one whole day": (datetime(2026, 11, 24, 0, 0, tzinfo=UTC), NEXT),
    "no end is known": (None, NEXT),
}


@pytest.mark.parametrize(("until", "week"), OPENED_ON.values(), ids=OPENED_ON)
def test_a_review_opens_on_the_newest_week_with_a_whole_day(until, week):
    assert opening_week([BEFORE, WEEK, NEXT], until, ZoneInfo("UTC")) == week


def test_an_accepted_risk_is_shown_beside_and_no_longer_ranks():
    settings = Settings.parse(ACCEPTED.format(check="drift", until="2026-11-21"))
    (queue,) = review(
        [week_row("orders", WEEK)], [finding("orders", "drift")], settings=settings, until=SATURDAY
    ).queues

    assert queue.need == "ok"
    assert queue.why == f"accepted until 2026-11-21: {SLOW.sentence}"
    assert [(s.code, risk.reason) for s, risk in queue.accepted] == [("drift", "moves in January")]
    assert (queue.owner, queue.note) == ("orders team", "nightly batch")


def test_an_accepted_risk_ends_with_its_day():
    settings = Settings.parse(ACCEPTED.format(check="drift", until="2026-11-20"))
    (queue,) = review([week_row("orders", WEEK)], [finding("orders", "drift")], settings=settings).queues

    assert (queue.need, queue.accepted) == ("act now", ())


def test_a_signal_can_be_accepted_as_well():
    settings = Settings.parse(ACCEPTED.format(check="dead_letters", until="2026-12-31"))

    assert review([week_row("orders", WEEK, dead_lettered_count=2)], settings=settings).queues[0].need == "ok"


def test_an_accepted_risk_must_name_a_check():
    settings = Settings.parse(ACCEPTED.format(check="driftt", until="2026-12-31"))

    with pytest.raises(SettingsError, match="'driftt' for queue 'orders'") as caught:
        check_codes(settings)
    assert all(code in caught.value.hint for code in CODES)


def test_incidents_belong_to_the_week_of_the_teams_zone():
    settings = Settings.parse('[team]\nzone = "Asia/Tokyo"')
    at = datetime(2026, 11, 15, 15, 30, tzinfo=UTC)  # Monday half past midnight in Tokyo
    incident = {"queue_arn": ACCOUNT + "orders", "incident_id": "orders-20261115T1530Z", "started_at": at}
    rows = [week_row("orders", BEFORE), week_row("orders", WEEK)]

    assert review(rows, incidents=[incident], settings=settings).queues[0].incidents == (incident,)
    assert review(rows, incidents=[incident]).queues[0].incidents == ()


def test_a_week_that_the_evidence_ends_in_is_still_running():
    rows = [week_row("orders", BEFORE), week_row("orders", WEEK)]

    assert review(rows, until=SATURDAY).is_running
    assert not review(rows, week=BEFORE, until=SATURDAY).is_running


@pytest.mark.parametrize("week", ["2026-W54", "2026-47", "2026-W00", "last", "2026-W4x"])
def test_what_is_no_week_is_refused_by_its_value(week):
    with pytest.raises(WeekUnknownError, match=week):
        week_bounds(week)
