"""CloudWatch's points of the same minutes count once, and seconds that were read count once."""

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forensics.counting.metrics import METRICS, READ, metric_measures, read_measures, start_of
from forensics.known import Known
from forensics.tables.evidence import METRIC_POINTS
from tests.spark_jobs.health_world import (
    CARTS,
    CONSUMER,
    DEAD,
    GROUP,
    KNOWN,
    MONDAY,
    ORDERS,
    coverage,
    frame,
    level,
    minute,
    point,
    queue,
)

AGE, VISIBLE = "ApproximateAgeOfOldestMessage", "ApproximateNumberOfMessagesVisible"
SENT = "NumberOfMessagesSent"
SAO_PAULO = ZoneInfo("America/Sao_Paulo")


def measured(*points, known=KNOWN):
    return metric_measures(frame(METRIC_POINTS, list(points)), known)


def found(measures, *names):
    """The rows in which the first of some columns is known, sorted."""
    return sorted(measures.filter(pl.col(names[0]).is_not_null()).select(names).rows(), key=str)


def test_no_points_are_no_rows_in_the_same_columns():
    assert (measured().height, measured().schema) == (0, METRICS)


def test_points_of_one_hour_are_one_sum_that_names_its_peak():
    measures = measured(point(SENT, minute(1), 5), point(SENT, minute(2), 7), point(SENT, minute(60), 1))

    assert found(measures, "sent", "at") == [(1, minute(60)), (12, MONDAY)]
    assert measures["sum_id"].to_list().count("metric:orders:NumberOfMessagesSent:151502:60:7") == 1


def test_of_two_readings_at_different_periods_the_one_that_saw_more_counts():
    minutes = [point(SENT, minute(n), 5) for n in range(3)]

    assert found(measured(*minutes, point(SENT, MONDAY, 14, period_s=300)), "sent") == [(15,)]
    assert found(measured(*minutes, point(SENT, MONDAY, 16, period_s=300)), "sent") == [(16,)]


def test_the_value_that_was_read_last_counts_also_where_it_is_lower():
    assert found(measured(point(SENT, MONDAY, 9), point(SENT, MONDAY, 4, collected=1)), "sent") == [(4,)]


def test_levels_come_from_the_finest_period_of_their_hour():
    measures = measured(level(AGE, minute(1), 7), level(AGE, MONDAY, 99, period_s=300), level(AGE, minute(60), 50))

    assert [age for age, _ in found(measures, "age", "age_id")] == [50, 7]


def test_throttles_belong_to_each_queue_of_the_function_and_are_cited():
    known = Known(consumers=[CONSUMER, CONSUMER | {"queue_arn": CARTS}, CONSUMER | {"function_name": None}])
    throttled = [point("Throttles", minute(n), n, resource="ship", namespace="AWS/Lambda") for n in (0, 60)]

    measures = measured(*throttled, known=known)

    cited = ["metric:ship:Throttles:151600:60:60"]
    assert sorted(measures.select("queue_arn", "consumer", "throttles", "evidence").rows(), key=str) == [
        (CARTS, "ship", 0, None),
        (CARTS, "ship", 60, cited),
        (ORDERS, "ship", 0, None),
        (ORDERS, "ship", 60, cited),
    ]


def test_two_queues_with_one_dead_letter_queue_both_see_all_that_it_gained():
    known = Known(queue_settings=[queue(ORDERS, dead_letter_queue_arn=DEAD), queue(CARTS, dead_letter_queue_arn=DEAD)])
    levels = [level(VISIBLE, minute(n), v, resource="orders-dlq") for n, v in enumerate((5, 7, 4, 8))]

    rises = measured(*levels, known=known).group_by("queue_arn").agg(pl.col("dead_letter_rise").sum())

    assert sorted(rises.rows()) == [(CARTS, 6), (ORDERS, 6)]


def test_one_level_alone_is_a_baseline_and_no_rise():
    measures = measured(level(VISIBLE, MONDAY, 5, resource="orders-dlq"))

    assert found(measures, "dead_letter_rise", "evidence") == [(0, None)]


@given(
    st.permutations([point(SENT, minute(n % 3), n, collected=n % 4, period_s=60 + 240 * (n % 2)) for n in range(12)])
)
def test_points_mean_the_same_in_any_order(points):
    in_order = sorted(points, key=lambda p: p["evidence_id"])

    assert found(measured(*points), *METRICS.names()) == found(measured(*in_order), *METRICS.names())


def read(*coverage_rows, zone="UTC", known=KNOWN):
    told = Known(known.queue_arn_by_name, known.queue_arn_by_group, consumers=known.consumers, coverage=coverage_rows)
    return read_measures(told, ZoneInfo(zone))


def test_nothing_read_is_no_rows_in_the_same_columns():
    assert (read().height, read().schema) == (0, READ)


def test_readings_that_overlap_count_once_and_refused_ones_not_at_all():
    rows = read(
        coverage("metric_points", "orders", ORDERS, MONDAY, 2),
        coverage("metric_points", "orders", None, minute(60), 2),
        coverage("metric_points", "orders", CARTS, minute(200), 2),  # another queue of that name
        coverage("metric_points", "orders", ORDERS, minute(400), 1, "denied"),
    )

    assert rows["metrics_read_s"].to_list() == [3 * 3600]


def test_logs_are_read_as_long_as_every_group_is():
    known = Known({"orders": ORDERS}, {GROUP: ORDERS, "/app/worker": ORDERS})
    rows = read(
        coverage("log_events", GROUP, ORDERS, MONDAY, 5),
        coverage("log_events", "/app/worker", ORDERS, MONDAY, 2),
        known=known,
    )

    assert rows["logs_read_s"].to_list() == [2 * 3600]


def test_a_group_that_was_never_read_leaves_nothing_read():
    known = Known({"orders": ORDERS}, {GROUP: ORDERS, "/app/worker": ORDERS})

    assert read(coverage("log_events", GROUP, ORDERS, MONDAY, 5), known=known)["logs_read_s"].to_list() == [0]


def test_a_day_on_which_clocks_change_has_its_own_length():
    start = datetime(2026, 3, 28, 23, tzinfo=UTC)  # Berlin's 29 March begins, and has 23 hours
    rows = read(coverage("metric_points", "orders", ORDERS, start, 48), zone="Europe/Berlin")

    assert rows.select("at", "metrics_read_s").rows() == [
        (start, 23 * 3600),
        (start + timedelta(hours=23), 24 * 3600),
        (start + timedelta(hours=47), 3600),
    ]


def test_a_day_whose_midnight_the_clocks_skip_starts_when_they_do():
    assert start_of(date(2018, 11, 4), SAO_PAULO) == datetime(2018, 11, 4, 3, tzinfo=UTC)


@pytest.mark.parametrize("zone", ["UTC", "Asia/Kathmandu", "America/Havana", "Australia/Lord_Howe", "Pacific/Apia"])
@settings(max_examples=25)
@given(spans=st.lists(st.tuples(st.integers(0, 10_000), st.integers(0, 60)), max_size=5))
def test_every_minute_that_was_read_is_in_one_day(zone, spans):
    start = datetime(2011, 12, 27, tzinfo=UTC)  # Samoa had no 30 December that year
    readings = [(start + timedelta(minutes=n), hours) for n, hours in spans]
    minutes = {m for n, hours in spans for m in range(n, n + hours * 60)}

    rows = read(*(coverage("metric_points", "orders", ORDERS, *reading) for reading in readings), zone=zone)

    assert rows["metrics_read_s"].sum() == 60 * len(minutes)
    assert rows["at"].is_unique().all()
