import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from forensics.charts.lanes import (
    LANE_FILL,
    MIN_WIDTH,
    MOST_EPISODES,
    SECOND,
    clip,
    find_episodes,
    lane_model,
    short_names,
    sub_lanes,
)

moments = st.integers(0, 40_000 * SECOND)
spans = st.tuples(moments, st.integers(0, 3_000 * SECOND)).map(lambda s: (s[0], s[0] + s[1]))


@given(st.lists(moments, min_size=1, max_size=60))
def test_every_moment_lies_in_exactly_one_episode(times):
    episodes = find_episodes(times)

    assert all(sum(e.holds(t) for e in episodes) == 1 for t in times)


@given(st.lists(moments, min_size=1, max_size=60))
def test_episodes_are_few_in_order_and_share_the_whole_width(times):
    episodes = find_episodes(times)

    assert 1 <= len(episodes) <= MOST_EPISODES
    assert all(a.end_us < b.start_us for a, b in zip(episodes, episodes[1:], strict=False))
    assert abs(sum(e.width for e in episodes) - 1) < 1e-9
    assert min(e.width for e in episodes) >= MIN_WIDTH - 1e-9


@given(st.lists(moments, min_size=2, max_size=60))
def test_only_long_gaps_are_cut(times):
    episodes = find_episodes(times)
    span = max(times) - min(times)
    inner = [
        (max(t for t in times if t <= a.end_us), min(t for t in times if t >= b.start_us))
        for a, b in zip(episodes, episodes[1:], strict=False)
    ]

    lengths = sorted((later - earlier for earlier, later in inner), reverse=True)
    left = [span - sum(lengths[:n]) for n in range(len(lengths))]

    assert all(length > 60 * SECOND and length > 0.2 * shown for length, shown in zip(lengths, left, strict=True))


def test_every_one_of_several_nights_is_cut():
    hour, night = 3600 * SECOND, 82_440 * SECOND
    moments = [n * (hour + night) + part for n in range(5) for part in (0, hour // 2, hour)]

    assert [e.end_us - e.start_us < 2 * hour for e in find_episodes(moments)] == [True] * 5


@given(st.lists(moments, min_size=1, max_size=60))
def test_with_gaps_shown_there_is_one_episode(times):
    assert len(find_episodes(times, cut_gaps=False)) == 1


@given(st.lists(spans, min_size=1, max_size=30))
def test_clipping_keeps_totals(bars):
    episodes = find_episodes([t for bar in bars for t in bar])
    gaps = [(a.end_us, b.start_us) for a, b in zip(episodes, episodes[1:], strict=False)]
    for start, end in bars:
        shown = sum(p.end_us - p.start_us for p in clip(start, end, episodes))
        hidden = sum(max(0, min(end, high) - max(start, low)) for low, high in gaps)

        assert shown + hidden == end - start


@given(spans, st.lists(moments, max_size=20))
def test_a_bar_that_has_events_of_its_own_is_always_seen(bar, others):
    episodes = find_episodes([*bar, *others])

    assert clip(*bar, episodes)


@given(st.lists(spans, max_size=40))
def test_nothing_overlaps_inside_a_sub_lane(intervals):
    lanes = sub_lanes(intervals)
    for lane in set(lanes):
        mine = sorted(s for s, chosen in zip(intervals, lanes, strict=True) if chosen == lane)

        assert all(a[1] <= b[0] for a, b in zip(mine, mine[1:], strict=False))


@given(st.lists(spans, min_size=1, max_size=40))
def test_sub_lanes_are_as_few_as_the_deepest_overlap(intervals):
    edges = sorted([(s, 1) for s, e in intervals if e > s] + [(e, -1) for s, e in intervals if e > s])
    depth = deepest = 0
    for _, step in sorted(edges, key=lambda edge: (edge[0], edge[1])):
        depth += step
        deepest = max(deepest, depth)
    long = [i for i in intervals if i[1] > i[0]]

    assert len(set(sub_lanes(long))) == deepest


def row(lane, index, kind, start_s, end_s=None):
    at = pd.Timestamp("2026-11-20 05:12:00", tz="UTC")
    return {
        "item_id": f"item-{lane}",
        "message_id": f"item-{lane}",
        "lane": lane,
        "delivery_index": index,
        "receive_count": index,
        "kind": kind,
        "at": at + pd.Timedelta(seconds=start_s),
        "until_at": pd.NaT if end_s is None else at + pd.Timedelta(seconds=end_s),
    }


def test_deliveries_that_overlap_are_drawn_beside_each_other_inside_their_lane():
    model = lane_model(pd.DataFrame([row(1, 1, "in_flight", 0, 41), row(1, 2, "in_flight", 30, 52)]))
    first, second = model.bars["y"]

    assert first < second
    assert second - first == model.bars["height"].iloc[0] == LANE_FILL / 2


def test_a_receive_time_some_milliseconds_late_is_no_overlap():
    model = lane_model(pd.DataFrame([row(1, 1, "in_flight", 0, 30.1), row(1, 2, "in_flight", 30, 60)]))

    assert model.bars["y"].nunique() == 1


def test_lanes_follow_their_numbers_and_marks_without_a_time_are_left_out():
    rows = [row(7, 1, "in_flight", 5, 9), row(2, 1, "in_flight", 0, 9), row(2, 3, "unseen", 0)]
    rows[2]["at"] = pd.NaT
    model = lane_model(pd.DataFrame(rows))

    assert list(model.lanes["lane"]) == [2, 7]
    assert model.marks.empty


def test_an_incident_of_two_runs_ten_minutes_apart_has_two_episodes():
    rows = [row(1, 1, "in_flight", 0, 600), row(1, 1, "handling", 0, 30), row(1, 2, "in_flight", 600.6, 613)]
    model = lane_model(pd.DataFrame(rows))

    assert len(model.episodes) == 2
    assert list(model.bars[model.bars["kind"] == "in_flight"]["episode"]) == [0, 1, 1]


@given(st.lists(st.uuids().map(str), unique=True, min_size=1, max_size=30))
def test_short_names_tell_ids_apart(ids):
    assert len(set(short_names(ids))) == len(ids)


@given(st.lists(moments, min_size=1, max_size=40), st.lists(moments, min_size=1, max_size=5))
def test_what_only_happens_beside_takes_no_more_than_the_least_width(times, asides):
    episodes = find_episodes(times, asides)

    assert all(sum(e.holds(t) for e in episodes) == 1 for t in [*times, *asides])
    assert abs(sum(e.width for e in episodes) - 1) < 1e-9
    assert min(e.width for e in episodes) >= MIN_WIDTH - 1e-9
    assert all(e.width <= MIN_WIDTH + 1e-9 for e in episodes if not any(e.holds(t) for t in times))


def test_changes_of_settings_an_hour_later_leave_the_incident_its_room():
    begin, hour = 0, 3600
    rows = [row(1, 1, "in_flight", begin, 20), row(1, 1, "change", hour), row(1, 1, "change", hour + 40)]
    incident, later = lane_model(pd.DataFrame(rows)).episodes

    assert later.end_us - later.start_us > incident.end_us - incident.start_us
    assert (incident.width, later.width) == (1 - MIN_WIDTH, MIN_WIDTH)


@pytest.mark.parametrize("chars", [13, 38])
def test_long_keys_that_begin_alike_are_named_by_their_ends(chars):
    keys = [f"tenant-0f9c4b1e/order-2026-11-20/authorisation/attempt-1/pay_{n}" for n in (1041, 1042, 1043)]
    names = short_names(keys, chars, "…")

    assert [name[-4:] for name in names] == ["1041", "1042", "1043"]
    assert all(name.startswith("…") and len(name) == chars + 1 for name in names)
