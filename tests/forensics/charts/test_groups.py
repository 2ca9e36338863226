from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from zoneinfo import ZoneInfo

import pandas as pd

from forensics.charts import timeline_figure
from forensics.charts.groups import MOST_GROUPS, blocked_words, with_groups
from forensics.charts.hover import item_of
from forensics.tables.findings import TIMELINE
from tests.forensics.charts.pointing import pointed_at

START = datetime(2026, 11, 20, 5, 12, tzinfo=UTC)


def span(group, start_s, end_s):
    return SimpleNamespace(
        group_id=group,
        start_at=START + timedelta(seconds=start_s),
        end_at=START + timedelta(seconds=end_s),
        blocked_ms=1000 * (end_s - start_s),
        messages=3,
    )


def timeline():
    row = dict.fromkeys(TIMELINE.column_names) | {
        "item_id": "m-1",
        "message_id": "m-1",
        "delivery_index": 1,
        "receive_count": 1,
        "lane": 1,
        "kind": "in_flight",
        "at": START,
        "until_at": START + timedelta(seconds=600),
        "ended_by": "visibility_expired",
        "label": "in flight, receive #1",
        "evidence_ids": [],
    }
    return pd.DataFrame([row])


def test_a_blocked_group_gets_a_lane_above_the_messages():
    rows, labels = with_groups(timeline(), [span("acct-1", 30, 600)])
    figure = timeline_figure(rows, ZoneInfo("UTC"), labels=labels)
    blocked = [t for t in figure.data if t.name == "Group blocked"]

    assert list(figure.layout.yaxis.ticktext) == ["■ acct-1", "m-1"]
    assert blocked and all(set(t.y) == {0} for t in blocked)
    assert item_of(blocked[0].customdata[0][0]) == "group:acct-1"
    assert "9 min 30 s" in pointed_at(blocked[0])


def test_only_the_groups_that_stood_still_longest_are_drawn():
    spans = [span(f"g-{n}", 0, 10 + n) for n in range(MOST_GROUPS + 4)]
    rows, labels = with_groups(timeline(), spans)

    assert len(labels) == MOST_GROUPS
    assert list(labels) == [f"group:g-{n}" for n in range(MOST_GROUPS + 3, 3, -1)]
    assert sorted(rows["lane"]) == [*range(-MOST_GROUPS, 0), 1]


def test_without_a_blocked_group_the_timeline_is_as_it_was():
    rows, labels = with_groups(timeline(), [])

    assert labels == {}
    assert list(rows["kind"]) == ["in_flight"]


def test_the_sentence_counts_groups_times_and_length():
    one, two = span("a", 0, 60), span("a", 100, 160)

    assert blocked_words([]) is None
    assert blocked_words([one, two]).startswith("Message group a was blocked 2 times, 2 min in total")
    assert blocked_words([one, span("b", 0, 30)]) == "2 message groups were blocked 2 times, 1 min 30 s in total."
