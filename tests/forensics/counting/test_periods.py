"""Queue health from a few rows whose answer is known by hand, and percentiles of what was counted."""

import random
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from forensics.counting.measures import (
    MEASURES,
    MOST_IDS,
    delivery_measures,
    invocation_measures,
    last_causes,
    verdict_measures,
)
from forensics.counting.metrics import METRICS, READ, metric_measures, read_measures
from forensics.counting.periods import (
    of_days,
    percentiles,
    periods_of,
    queue_health_rows,
    queue_weeks_rows,
    recent_from,
)
from forensics.lake import to_arrow
from forensics.tables.evidence import METRIC_POINTS
from forensics.tables.findings import DELIVERIES, INVOCATIONS, MESSAGES, REDELIVERIES
from forensics.tables.health import QUEUE_HEALTH, QUEUE_WEEKS
from tests.spark_jobs import health_world as world
from tests.spark_jobs.health_world import (
    KNOWN,
    MONDAY,
    ORDERS,
    SUNDAY,
    TOKYO,
    UNTIL,
    delivery,
    frame,
    in_days,
    minute,
    verdict,
)

NO_METRICS, NOT_READ = pl.DataFrame(schema=METRICS), pl.DataFrame(schema=READ)


def measures_of(deliveries=(), invocations=(), messages=()):
    causes = last_causes(frame(REDELIVERIES, world.REDELIVERIES))
    return [
        delivery_measures(frame(DELIVERIES, list(deliveries)), causes),
        invocation_measures(frame(INVOCATIONS, list(invocations))),
        verdict_measures(frame(MESSAGES, list(messages))),
    ]


def in_periods(parts, zone=TOKYO, until=UNTIL):
    metrics = metric_measures(frame(METRIC_POINTS, world.POINTS), KNOWN)
    return periods_of(in_days(parts, zone, until), metrics, read_measures(KNOWN, zone), zone, until)


def of_logs(parts, zone="UTC", until=UNTIL):
    """Periods of what logs measure, where neither metrics nor coverage are known."""
    return periods_of(in_days(parts, ZoneInfo(zone), until), NO_METRICS, NOT_READ, ZoneInfo(zone), until)


@pytest.fixture(scope="module")
def periods():
    return in_periods(measures_of(world.DELIVERIES, world.INVOCATIONS, world.MESSAGES))


@pytest.fixture(scope="module")
def days(periods):
    return {(r["queue"], r["day"]): r for r in queue_health_rows(periods, KNOWN)}


@pytest.fixture(scope="module")
def weeks(periods):
    return {(r["queue"], r["week"]): r for r in queue_weeks_rows(periods, KNOWN)}


@pytest.fixture(scope="module")
def monday(days):
    return days["orders", "2026-11-16"]


@pytest.fixture(scope="module")
def sunday(days):
    return days["orders", "2026-11-15"]


def test_days_and_weeks_begin_at_midnight_of_the_teams_zone(days, weeks):
    assert set(days) == {
        ("orders", "2026-11-15"),
        ("orders", "2026-11-16"),
        ("orders-dlq", "2026-11-16"),
        ("carts", "2026-11-16"),
    }
    assert {week for name, week in weeks if name == "orders"} == {"2026-W46", "2026-W47"}
    week = weeks["orders", "2026-W47"]
    assert (week["starts_at"], week["ends_at"]) == (MONDAY, MONDAY + timedelta(days=7))
    assert week["zone"] == "Asia/Tokyo"


def test_rows_are_sorted_and_fit_their_tables(days, weeks):
    assert to_arrow(QUEUE_HEALTH, list(days.values())).num_rows == 4
    assert to_arrow(QUEUE_WEEKS, list(weeks.values())).num_rows == 4
    keys = [(r["queue_arn"], r["day"]) for r in days.values()]
    assert keys == sorted(keys)


def test_minutes_that_were_read_twice_count_once_and_a_revised_value_replaces_the_old(monday, sunday):
    assert (monday["sent_count"], monday["received_count"], monday["deleted_count"]) == (12, 13, 10)
    assert (sunday["sent_count"], sunday["received_count"], sunday["throttle_count"]) == (3, None, None)


def test_levels_are_the_highest_and_the_95th_percentile(monday):
    assert (monday["age_max_s"], monday["age_p95_s"], monday["backlog_max_count"]) == (99, 94, 4)
    assert monday["in_flight_max_count"] is None


def test_a_dead_letter_queue_gains_what_its_level_rose(monday, days):
    assert monday["dead_letter_rise_count"] == 3
    assert days["orders-dlq", "2026-11-16"]["is_dead_letter_queue"]
    assert not monday["is_dead_letter_queue"]


def test_deliveries_are_counted_by_what_became_of_them(monday, weeks):
    counts = {name: monday[f"{name}_count"] for name in ("delivery", "redelivery", "item", "unseen", "expired_handle")}

    assert counts == {"delivery": 9, "redelivery": 4, "item": 5, "unseen": 1, "expired_handle": 1}
    assert monday["dead_lettered_count"] == 2
    assert monday["dead_letter_reasons"] == ["function_timeout=1", "throttled=1"]
    assert weeks["orders", "2026-W46"]["item_count"] == 1


def test_reasons_come_most_frequent_first_and_then_by_name():
    statuses = ("error", "crash", "timeout", "error", "init_failed")
    dead = [
        delivery(f"m{n}", 2, MONDAY, ended_by="dead_lettered", run_status=status) for n, status in enumerate(statuses)
    ]

    (row,) = queue_health_rows(of_logs(measures_of(dead)), KNOWN)

    assert row["dead_letter_reasons"] == ["function_error=2", "runtime_crash=2", "function_timeout=1"]
    assert row["dead_lettered_count"] == 5


def test_a_message_counts_on_the_day_it_was_first_received(monday, sunday):
    assert (sunday["twice_at_least"], sunday["twice_at_most"]) == (1, 1)
    assert (monday["twice_at_least"], monday["twice_at_most"], monday["stopped_count"]) == (0, 1, 1)


def test_poison_that_the_age_metric_hides_has_its_true_age(monday):
    assert (monday["poison_count"], monday["poison_age_s"]) == (1, int((minute(90) - SUNDAY).total_seconds()) + 3600)


def test_runs_have_percentiles_and_ends(monday):
    assert (monday["run_count"], monday["timeout_count"], monday["throttle_count"]) == (100, 1, 6)
    assert (monday["handler_p50_ms"], monday["handler_p95_ms"], monday["handler_max_ms"]) == (5050, 9505, 30_000)
    assert monday["item_p99_ms"] == 4000


def test_seconds_read_leave_out_what_was_refused_and_count_overlaps_once(monday, sunday):
    assert (monday["metrics_read_s"], monday["logs_read_s"]) == (7200, 3600)
    assert sunday["logs_read_s"] == 3600


def test_a_queue_without_logs_or_points_is_unknown_and_not_zero(days):
    carts = days["carts", "2026-11-16"]

    assert (carts["metrics_read_s"], carts["logs_read_s"]) == (86_400, 0)
    assert {carts[c] for c in ("sent_count", "delivery_count", "timeout_count", "twice_at_least", "age_max_s")} == {
        None
    }
    assert carts["dead_letter_reasons"] == []


def test_where_logs_were_read_and_show_nothing_there_was_nothing():
    metrics, read = NO_METRICS, read_measures(KNOWN, TOKYO)

    found = periods_of(of_days(pl.DataFrame(schema=MEASURES), TOKYO, UNTIL), metrics, read, TOKYO, UNTIL)

    orders = [r for r in queue_health_rows(found, KNOWN) if r["queue"] == "orders"]
    assert [(r["delivery_count"], r["run_count"], r["dead_lettered_count"]) for r in orders] == [(0, 0, 0)] * 2
    assert [r["handler_max_ms"] for r in orders] == [None, None]


def test_where_only_invocations_are_known_no_delivery_was_logged():
    (row,) = queue_health_rows(of_logs(measures_of(invocations=[world.invocation("i", MONDAY, 5)])), KNOWN)

    assert (row["logs_read_s"], row["run_count"], row["delivery_count"]) == (0, 1, 0)


def test_a_verdict_alone_says_nothing_of_what_the_logs_would_show():
    (row,) = queue_health_rows(of_logs(measures_of(messages=[verdict("a", "confirmed", MONDAY)])), KNOWN)

    assert (row["twice_at_least"], row["delivery_count"], row["run_count"]) == (None, None, None)


def test_every_row_cites_evidence(days, weeks):
    assert all(r["evidence_ids"] for r in (*days.values(), *weeks.values()))
    assert all(r["evidence_ids"] == sorted(set(r["evidence_ids"])) for r in (*days.values(), *weeks.values()))
    assert "log:late" in weeks["orders", "2026-W47"]["evidence_ids"]


def test_a_day_cites_the_first_by_id_of_all_its_quarters():
    dead = [delivery(f"m{n:03}", 2, minute(n), ended_by="dead_lettered") for n in range(MOST_IDS + 50)]

    (row,) = queue_health_rows(of_logs(measures_of(reversed(dead))), KNOWN)

    assert row["evidence_ids"] == [f"log:m{n:03}:2" for n in range(MOST_IDS)]


def test_a_day_knows_what_the_longest_of_all_its_quarters_was():
    runs = [world.invocation(f"run{n}", minute(20 * n), ms) for n, ms in enumerate((70, 90, None, 90, 10))]

    (row,) = queue_health_rows(of_logs(measures_of(invocations=runs)), KNOWN)

    assert row["evidence_ids"] == ["log:run3"]


def test_recent_is_the_last_seven_days_of_each_consumer_from_a_whole_quarter_on():
    until = MONDAY + timedelta(days=7, minutes=14)
    handled = [
        delivery("too old", 1, MONDAY - timedelta(seconds=1)),
        delivery("a", 2, MONDAY, batch_count=7),
        delivery("b", 1, MONDAY, function_name=None, log_group="/app/worker", consumer_kind="worker"),
        world.unlogged("c", 1, MONDAY),  # nobody's
    ]

    recent = of_logs(measures_of(handled), until=until).filter(pl.col("kind") == "recent")

    assert recent_from(until) == MONDAY
    assert recent.select("consumer", "delivery_count", "highest_receive_count", "largest_batch").rows() == [
        ("/app/worker", 1, 1, 1),
        ("ship", 1, 2, 7),
    ]


def test_throttles_are_recent_beside_their_function(periods):
    recent = periods.filter(pl.col("kind") == "recent")

    assert recent.select("queue_arn", "consumer", "throttle_count", "run_count").rows() == [(ORDERS, "ship", 6, 101)]


def test_nothing_is_recent_where_the_evidence_has_no_end():
    parts = measures_of([delivery("a", 1, MONDAY)])

    assert of_logs(parts, until=None)["kind"].to_list() == ["day", "week"]


GROUPS = {
    "one group": (("g1", "g1"), True),
    "two groups": (("g1", "g2"), False),
    "a group, and one that nobody logged": (("g1", None), True),
    "none": ((None, None), None),
}


@pytest.mark.parametrize(("groups", "expected"), GROUPS.values(), ids=GROUPS)
def test_a_consumer_has_one_message_group_where_no_quarter_shows_another(groups, expected):
    found = of_logs(measures_of(delivery(f"m{n}", 1, minute(30 * n), group_id=group) for n, group in enumerate(groups)))

    assert found.filter(pl.col("kind") == "recent")["has_one_group"].to_list() == [expected]


CALENDAR = {
    "the year's first days can be of last year's week": ("UTC", datetime(2027, 1, 2), "2027-01-02", "2026-W53"),
    "and its last days of next year's": ("UTC", datetime(2025, 12, 30), "2025-12-30", "2026-W01"),
    "a zone with a quarter of an hour": ("Asia/Kathmandu", datetime(2026, 11, 15, 18, 15), "2026-11-16", "2026-W47"),
    "just before its midnight": ("Asia/Kathmandu", datetime(2026, 11, 15, 18, 14), "2026-11-15", "2026-W46"),
}


@pytest.mark.parametrize(("zone", "at", "day", "week"), CALENDAR.values(), ids=CALENDAR)
def test_a_time_is_in_the_day_and_the_iso_week_of_the_zone(zone, at, day, week):
    found = of_logs(measures_of([delivery("a", 1, at.replace(tzinfo=UTC))]), zone)

    assert [(r["day"], r["week"]) for r in queue_health_rows(found, KNOWN)] == [(day, week)]
    assert [r["week"] for r in queue_weeks_rows(found, KNOWN)] == [week]


def test_a_day_and_a_week_in_which_clocks_change_have_their_own_length():
    found = of_logs(measures_of([delivery("a", 1, datetime(2026, 3, 29, 12, tzinfo=UTC))]), "Europe/Berlin")

    (day,), (week,) = queue_health_rows(found, KNOWN), queue_weeks_rows(found, KNOWN)

    assert day["ends_at"] - day["starts_at"] == timedelta(hours=23)
    assert week["ends_at"] - week["starts_at"] == timedelta(days=7, hours=-1)


def test_a_lake_of_which_nothing_is_known_has_no_periods():
    assert of_logs([pl.DataFrame(schema=MEASURES)]).is_empty()


@pytest.mark.parametrize("parts", [1, 2, 3, 5])
def test_periods_are_the_same_however_the_lake_is_cut_into_parts(periods, parts):
    shuffled = random.Random(parts)

    def cut(rows, key):
        part_of = {row[key]: shuffled.randrange(parts) for row in rows}
        return [[row for row in rows if part_of[row[key]] == n] for n in range(parts)]

    of_parts = zip(
        cut(world.DELIVERIES, "item_id"),
        cut(world.INVOCATIONS, "invocation_id"),
        cut(world.MESSAGES, "item_id"),
        strict=True,
    )
    found = [part for of_part in of_parts for part in measures_of(*of_part)]
    shuffled.shuffle(found)

    assert in_periods(found).equals(periods)


def percentile(values, share):
    """Interpolate linearly between the two nearest of all values, as one learns it; rounded down."""
    in_order = sorted(values)
    place = (len(in_order) - 1) * share
    low = int(place)
    high = min(low + 1, len(in_order) - 1)
    if in_order[low] == in_order[high] or place == low:
        return in_order[low]
    return int((low + 1 - place) * in_order[low] + (place - low) * in_order[high])


@given(st.lists(st.integers(0, 900_000) | st.integers(0, 3), min_size=1), st.floats(0, 1), st.integers(1, 9))
def test_a_percentile_of_counts_is_that_of_all_values(values, share, times):
    counted = pl.DataFrame({"key": ["all"] * len(values), "ms": values, "times": [times] * len(values)})

    found = percentiles(counted, ["key"], "ms", {"part": share})

    assert found.rows() == [("all", percentile(values * times, share))]


def test_percentiles_of_keys_are_apart_also_where_a_key_is_null():
    rows = [(None, n) for n in range(101)] + [("a", 10 * n) for n in range(101)]
    random.Random(1).shuffle(rows)
    counted = pl.DataFrame(rows, schema={"key": pl.String, "ms": pl.Int64}, orient="row").with_columns(times=1)

    found = percentiles(counted, ["key"], "ms", {"half": 0.5, "most": 0.99})

    assert sorted(found.rows(), key=str) == [("a", 500, 990), (None, 50, 99)]


def test_what_passes_in_the_first_and_last_point_may_be_part_of_their_levels():
    visible, hidden = "ApproximateNumberOfMessagesVisible", "ApproximateNumberOfMessagesNotVisible"
    points = [
        world.point("NumberOfMessagesSent", minute(0), 8),
        world.level(visible, minute(0), 8),
        world.level(hidden, minute(0), 1),
        world.level(visible, minute(5), 1),
        world.level(hidden, minute(5), 4),
        world.point("NumberOfMessagesDeleted", minute(5), 3),
    ]
    metrics = metric_measures(frame(METRIC_POINTS, points), KNOWN)
    periods = periods_of(in_days(measures_of(), TOKYO, UNTIL), metrics, read_measures(KNOWN, TOKYO), TOKYO, UNTIL)
    found = [r for r in queue_health_rows(periods, KNOWN) if r["waiting_start_count"] is not None]

    assert [(r["waiting_start_least"], r["waiting_start_count"]) for r in found] == [(1, 9)]
    assert [(r["waiting_end_least"], r["waiting_end_count"]) for r in found] == [(2, 5)]
