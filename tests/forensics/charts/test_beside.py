from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from zoneinfo import ZoneInfo

import pandas as pd
import pytest

from forensics.charts import timeline_figure
from forensics.charts.beside import is_message, with_changes, with_strips
from forensics.charts.hover import item_of
from forensics.charts.lanes import lane_model
from forensics.tables.findings import TIMELINE
from tests.forensics.charts.pointing import pointed_at

START = datetime(2026, 11, 20, 5, 12, tzinfo=UTC)


def at(seconds):
    return START + timedelta(seconds=seconds)


@pytest.fixture
def timeline():
    rows = [
        dict.fromkeys(TIMELINE.column_names)
        | {
            "item_id": "m-1",
            "message_id": "m-1",
            "delivery_index": 1,
            "receive_count": 1,
            "lane": 1,
            "kind": kind,
            "at": at(start),
            "until_at": until,
            "label": kind,
            "evidence_ids": [],
        }
        for kind, start, until in (("in_flight", 0, at(600)), ("repeat", 640, None))
    ]
    return pd.DataFrame(rows)


def change(seconds, what="queue payments: visibility timeout (s) 20 → 400"):
    return SimpleNamespace(at=at(seconds), what=what, source="CloudTrail, by deploy/ci", evidence_ids=("change:1",))


def point(seconds, value, metric="ApproximateNumberOfMessagesVisible", collected=0, resource="payments", period=60):
    throttles = metric == "Throttles"
    return {
        "evidence_id": f"metric:{metric}{seconds}{value}",
        "namespace": "AWS/Lambda" if throttles else "AWS/SQS",
        "metric": metric,
        "resource": resource,
        "statistic": "Sum" if throttles else "Maximum",
        "period_s": period,
        "point_at": at(seconds),
        "value": float(value),
        "collected_at": at(9000 + collected),
    }


def traces(figure, name):
    return [t for t in figure.data if t.name == name]


def test_a_change_of_settings_stands_on_the_time_axis_with_a_line_through_the_lanes(timeline):
    rows, labels = with_changes(timeline, [change(300)])
    figure = timeline_figure(rows, ZoneInfo("UTC"), labels=labels)
    (mark,) = traces(figure, "Settings changed")

    assert list(figure.layout.yaxis.ticktext) == ["settings", "m-1"]
    assert "visibility timeout (s) 20 → 400" in pointed_at(mark)
    assert "deploy/ci" in pointed_at(mark)
    assert [s.line.dash for s in figure.layout.shapes] == ["dot"]
    assert not is_message(item_of(mark.customdata[0][0]))


def test_a_change_long_before_is_left_to_the_list_below(timeline):
    rows, labels = with_changes(timeline, [change(-7200)])

    assert labels == {}
    assert len(rows) == len(timeline)


def test_the_queue_s_state_is_a_strip_below_the_lanes_as_high_as_its_value(timeline):
    rows, labels = with_strips(timeline, [point(0, 5), point(60, 20), point(0, 61, "ApproximateAgeOfOldestMessage")])
    figure = timeline_figure(rows, ZoneInfo("UTC"), cut_gaps=False, labels=labels)
    bars = [b for t in traces(figure, "Queue, by the minute") for b in zip(t.width, t.y, t.customdata, strict=True)]

    assert list(figure.layout.yaxis.ticktext) == ["m-1", "waiting ≤20", "oldest ≤2 min"], (
        "short enough to be read whole"
    )
    assert [round(float(width), 3) for width, _, _ in bars] == [0.19, 0.76, 0.76]
    assert all(abs(float(y) + float(width) / 2 - 1.38) < 1e-6 for width, y, _ in bars[:2]), "on the lane's floor"
    assert "waiting 20" in bars[1][2]


def test_of_a_revised_value_the_last_one_counts_and_throttles_are_added_up(timeline):
    points = [point(0, 1), point(0, 3, collected=60)] + [point(0, 2, "Throttles", resource=name) for name in "ab"]
    rows, _ = with_strips(timeline, points)

    assert list(rows[rows["kind"] == "measure"]["label"]) == ["waiting 3", "throttled 4"]


def test_a_measure_that_stayed_zero_or_was_not_read_has_no_strip(timeline):
    assert with_strips(timeline, [point(0, 0)])[1] == {}
    assert with_strips(timeline, [])[1] == {}


def test_a_strip_keeps_gaps_cut(timeline):
    later = timeline.assign(at=timeline["at"] + timedelta(hours=9), until_at=timeline["until_at"] + timedelta(hours=9))
    both = pd.concat([timeline, later.assign(delivery_index=2)], ignore_index=True)
    rows, _ = with_strips(both, [point(60 * n, 4) for n in range(550)])

    assert len(lane_model(rows).episodes) == len(lane_model(both).episodes) > 1


def test_a_strip_whose_points_all_lie_in_cut_gaps_is_left_out(timeline):
    later = timeline.tail(1).assign(at=at(7200))
    apart = pd.concat([timeline.tail(1), later], ignore_index=True)
    with_strip, labels = with_strips(apart, [point(2400, 7), point(3600, 9)])
    cut, whole = (timeline_figure(with_strip, ZoneInfo("UTC"), labels=labels, cut_gaps=gaps) for gaps in (True, False))

    assert "waiting ≤9" not in cut.layout.yaxis.ticktext
    assert "waiting ≤9" in whole.layout.yaxis.ticktext
