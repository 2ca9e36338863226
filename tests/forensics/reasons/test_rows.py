"""The rows behind a reason of the weekly review are those its number counted."""

from types import SimpleNamespace

import pytest

from forensics.health import Signal
from forensics.lake import to_arrow
from forensics.reasons import reason_ids
from tests.forensics.health.rows import week_row
from tests.spark_jobs import health_world as w

LAKE = {
    "deliveries": [*w.DELIVERIES, w.delivery("b", 2, w.MONDAY, queue_arn=w.CARTS)],
    "invocations": [*w.INVOCATIONS, w.invocation("bad", w.minute(7), 90, "error")],
    "messages": [
        w.verdict("a", "confirmed", w.SUNDAY, "log:a:1"),
        # The same work came under another id in the week after: it counted once, when it was first received.
        w.verdict("a2", "confirmed", w.minute(1), "log:a:2") | {"work_id": "a"},
        w.verdict("c", "possible", w.minute(2), "log:c:1", "log:c:2"),
        w.verdict("d", "absorbed", w.minute(4), "log:d:1"),
    ],
    "metric_points": w.POINTS,
    "consumers": w.KNOWN.consumers,
    "queue_settings": w.KNOWN.queue_settings,
}


class Lake:
    def read(self, table, columns=None, where=None):
        rows = to_arrow(table, LAKE.get(table.name, []))
        return (rows if where is None else rows.filter(where)).select(columns or list(table.column_names))


def ids(code, **numbers):
    span = {"queue_arn": w.ORDERS, "starts_at": w.MONDAY, "ends_at": w.UNTIL}
    return reason_ids(Lake(), Signal(code, "watch", 1, "", ""), week_row("orders", "2026-W47", **(span | numbers)))


BEHIND = {
    "processed_twice": (("log:c:1", "log:c:2"), {}),
    "function_timeouts": (("log:late",), {}),
    "errors": (("log:bad",), {}),
    "dead_letters": (("log:c:2", "log:e:1"), {"dead_lettered_count": 2}),
    "expired_handles": (("log:d:1",), {}),
    "redelivered": (("log:a:2", "log:c:2", "log:f:3", "log:g:2"), {}),
    "age": (
        (
            "metric:orders:ApproximateAgeOfOldestMessage:151638:60:98",
            "metric:orders:ApproximateAgeOfOldestMessage:151639:60:99",
        ),
        {"age_p95_s": 98},
    ),
    "hidden_poison": (("log:f:3", "metric:orders:ApproximateAgeOfOldestMessage:151639:60:99"), {"age_max_s": 99}),
    "throttles": (("metric:ship:Throttles:151503:60:2", "metric:ship:Throttles:151610:60:4"), {}),
}


@pytest.mark.parametrize("code", BEHIND)
def test_a_reason_brings_the_rows_that_its_number_counted_and_no_others(code):
    rows, numbers = BEHIND[code]

    assert sorted(ids(code, **numbers)) == sorted(rows)


def test_dead_letters_that_only_the_metric_shows_bring_its_points():
    found = ids("dead_letters", dead_letter_rise_count=3)

    assert [i for i in found if i.startswith("metric:")] == [
        "metric:orders-dlq:ApproximateNumberOfMessagesVisible:151501:60:3",
        "metric:orders-dlq:ApproximateNumberOfMessagesVisible:151503:60:3",
    ]


def test_redeliveries_of_which_no_log_tells_bring_the_metrics_they_are_taken_from():
    points = ids("redelivered", delivery_count=None)

    assert {i.split(":")[2] for i in points if i.startswith("metric:")} == {
        "NumberOfMessagesReceived",
        "NumberOfMessagesDeleted",
    }


def test_a_work_that_people_set_aside_is_not_among_them():
    assert ids("processed_twice", set_aside=(SimpleNamespace(work_id="c"),)) == ()


def test_a_settings_check_keeps_the_rows_it_cites():
    signal = Signal("drift", "watch", 1, "", "", ("queue:1",), is_setting=True)

    assert reason_ids(Lake(), signal, {}) == ("queue:1",)
