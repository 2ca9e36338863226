import json
from functools import cache
from zoneinfo import ZoneInfo

import pandas as pd
import pytest

from forensics.charts import consumers_figure, overview_figure, timeline_figure
from forensics.charts.consumers import consumer_lanes
from forensics.charts.hover import item_of
from forensics.charts.ledger import timeline_of
from forensics.charts.lines import NAME_ROW
from forensics.charts.overview import MOST_BINS, MOST_DIAMONDS, OTHERS, in_flight, lane_names
from forensics.charts.palette import CHOSEN_OPACITY
from forensics.charts.static import timeline_svg
from forensics.charts.words import zone_label
from forensics.incidents.drawn import drawn_rows
from forensics.language import Language
from forensics.sentence import plain
from tests.forensics.charts.pointing import pointed_at
from tests.pages import tales
from tests.pages.worlds import DOUBLE_BILLING, EXPIRED_HANDLE, START, Story

UTC = ZoneInfo("UTC")
TOKYO = ZoneInfo("Asia/Tokyo")


def told(tell, incident=None):
    story = Story()
    tell(story)
    frame = pd.DataFrame(story.findings["timeline"])
    return frame if incident is None else frame[frame["incident_id"] == incident]


@pytest.fixture(scope="module")
def double_billing():
    return told(tales.double_billing, DOUBLE_BILLING)


def names(figure):
    return [t.name for t in figure.data if t.showlegend]


def points(figure, name):
    return sum(len(t.y) for t in figure.data if t.name == name)


def test_every_kind_of_bar_and_mark_is_drawn_once_per_row(double_billing):
    figure = timeline_figure(double_billing, UTC)

    assert points(figure, "Work done") == 10
    assert points(figure, "Work done again") == 7
    assert points(figure, "Deleted") == 10
    assert points(figure, "Sent") == 10
    assert points(figure, "In flight until deleted") == 10
    assert points(figure, "In flight until the visibility timeout") == 2 * 10


def test_a_legend_on_a_narrow_screen_stays_below_the_times(double_billing):
    layout = timeline_figure(double_billing, UTC).layout
    below = -layout.legend.y * (layout.height - layout.margin.t - layout.margin.b)

    assert below + layout.legend.maxheight <= layout.margin.b + 1


def test_a_legend_names_each_look_once(double_billing):
    found = names(timeline_figure(double_billing, UTC))

    assert len(found) == len(set(found))
    assert "Handler running" in found


def test_windows_are_drawn_before_handlers_and_marks_last(double_billing):
    order = [t.name for t in timeline_figure(double_billing, UTC).data]

    assert max(i for i, n in enumerate(order) if n.startswith("In flight")) < order.index("Handler running")
    assert order.index("Handler running") < order.index("Work done")


def test_the_kill_is_marked_on_the_lane_it_stopped_and_a_line_runs_over_all(double_billing):
    figure = timeline_figure(double_billing, UTC, function_timeout_s=30, visibility_timeout_s=600)
    texts = [a.text for a in figure.layout.annotations]

    assert points(figure, "Function timeout") == 1
    assert "Function timeout 30 s" in texts
    assert "Visible again, 10 min" in texts
    assert [s.line.dash for s in figure.layout.shapes].count("dash") == 2


def test_every_line_over_all_lanes_is_named_where_its_name_has_room(double_billing):
    later = double_billing.copy()
    shift = pd.Timedelta(hours=2)
    for column in ("at", "until_at"):
        later[column] = later[column] + shift
    later["item_id"] = "again-" + later["item_id"].astype(str)
    later["lane"] = later["lane"] + double_billing["lane"].max() + 1
    twice = pd.concat([double_billing, later], ignore_index=True)
    timeouts = {"function_timeout_s": 30, "visibility_timeout_s": 600, "is_wide": True}
    texts = [a.text for a in timeline_figure(twice, UTC, **timeouts).layout.annotations]
    near = double_billing.copy()
    near["at"], near["until_at"] = near["at"] + pd.Timedelta(seconds=3), near["until_at"] + pd.Timedelta(seconds=3)
    near["item_id"], near["lane"] = "near-" + near["item_id"].astype(str), near["lane"] + near["lane"].max() + 1
    close = timeline_figure(pd.concat([double_billing, near], ignore_index=True), UTC, **timeouts)

    assert texts.count("Function timeout 30 s") == 2
    assert texts.count("Visible again, 10 min") == 2
    assert [a.text for a in close.layout.annotations].count("Function timeout 30 s") == 1


def timed_out(double_billing, times):
    """The same batch, which timed out again and again, each time 20 min later."""
    again = []
    for n in range(times):
        shifted = double_billing[double_billing["delivery_index"].isin([1])].copy()
        for column in ("at", "until_at"):
            shifted[column] = shifted[column] + n * pd.Timedelta(minutes=20)
        again.append(shifted.assign(delivery_index=n + 1))
    return pd.concat(again, ignore_index=True)


def boxes(figure, chart_px):
    """Where the words above and below the lanes are, in pixels of a chart so wide: left, right, distance from the lanes."""
    lanes_px = chart_px - figure.layout.margin.l - figure.layout.margin.r
    found = []
    for note in figure.layout.annotations:
        at = note.x
        if note.xref != "paper":
            axis = figure.layout[f"xaxis{note.xref[1:]}"]
            low, high = (pd.Timestamp(edge) for edge in axis.range)
            start, end = axis.domain
            at = start + (end - start) * ((pd.Timestamp(note.x) - low) / (high - low))
        wide = PX_PER_LETTER * len(note.text)
        left = at * lanes_px - {"left": 0, "center": wide / 2, "right": wide}[note.xanchor] + (note.xshift or 0)
        found.append((left, left + wide, (note.yanchor, note.yshift)))
    return found


PX_PER_LETTER = 5.2
"""What a letter of these names takes in Chromium, measured: "Function timeout 30 s" is 108 pixels wide."""
CHARTS = {
    "a window of 360": (328, True),
    "a phone of 360": (328, False),
    "a window of 390": (358, True),
    "a phone of 390": (358, False),
    "a window of 768, whose sidebar is closed": (736, True),
    "a window of 900": (440, True),
    "a window of 1,400": (940, True),
    "a window of 1,600": (1140, True),
}


@pytest.fixture(scope="module")
def drawn(double_billing):
    """The figure of the batch that timed out so often; one is asked about at many widths, and drawn once."""

    @cache
    def figure(times, is_wide, cut_gaps):
        timeouts = {"function_timeout_s": 30, "visibility_timeout_s": 600, "is_wide": is_wide, "cut_gaps": cut_gaps}
        return spelt_out(timeline_figure(timed_out(double_billing, times), UTC, **timeouts).to_plotly_json())

    return figure


class SpeltOut(dict):
    """What a figure says, as it says it: to ask plotly's own objects for that a thousand times takes as long as to draw it."""

    __getattr__ = dict.get


def spelt_out(said):
    if isinstance(said, dict):
        return SpeltOut({name: spelt_out(value) for name, value in said.items()})
    return [spelt_out(value) for value in said] if isinstance(said, (list, tuple)) else said


@pytest.mark.slow
@pytest.mark.parametrize("cut_gaps", [True, False])
@pytest.mark.parametrize("times", [1, 2, 3, 4, 6])
@pytest.mark.parametrize(("chart_px", "is_wide"), CHARTS.values(), ids=CHARTS)
def test_no_words_above_or_below_the_lanes_lie_on_one_another(drawn, chart_px, is_wide, times, cut_gaps):
    figure = drawn(times, is_wide, cut_gaps)
    found = boxes(figure, chart_px)

    assert [
        a for n, a in enumerate(found) for b in found[n + 1 :] if a[2] == b[2] and a[0] < b[1] and b[0] < a[1]
    ] == []
    highest = max(row for _, _, (anchor, row) in found if anchor == "bottom")
    assert figure.layout.margin.t >= highest + 16
    assert all(left >= -figure.layout.margin.l for left, *_ in found)


def stems(figure, chart_px):
    """Where the stems of names are, in pixels of a chart so wide: how far to the right, and from how far above the lanes to how far."""
    lanes_px = chart_px - figure.layout.margin.l - figure.layout.margin.r
    found = []
    for shape in figure.layout.shapes:
        if shape.ysizemode == "pixel":
            axis = figure.layout[f"xaxis{shape.xref[1:]}"]
            low, high = (pd.Timestamp(edge) for edge in axis.range)
            start, end = axis.domain
            at = start + (end - start) * ((pd.Timestamp(shape.x0) - low) / (high - low))
            found.append((at * lanes_px, shape.y0, shape.y1))
    return found


@pytest.mark.parametrize("cut_gaps", [True, False])
@pytest.mark.parametrize("times", [1, 2, 3, 4, 6])
@pytest.mark.parametrize(("chart_px", "is_wide"), CHARTS.values(), ids=CHARTS)
def test_every_name_is_joined_to_its_line_and_stands_on_no_other_s_stem(drawn, chart_px, is_wide, times, cut_gaps):
    figure = drawn(times, is_wide, cut_gaps)
    names = [note for note in figure.layout.annotations if note.yanchor == "bottom" and note.xref != "paper"]
    lines = {(shape.xref, shape.x0) for shape in figure.layout.shapes if shape.line.dash == "dash"}
    joined = {(s.xref, s.x0, s.y1) for s in figure.layout.shapes if s.ysizemode == "pixel"}
    rows = [(left, right, row) for left, right, (anchor, row) in boxes(figure, chart_px) if anchor == "bottom"]

    assert names
    assert {(note.xref, note.x) for note in names} <= lines
    assert {(note.xref, note.x, note.yshift + NAME_ROW - 2) for note in names} == joined
    assert [
        (at, row)
        for at, low, high in stems(figure, chart_px)
        for left, right, row in rows
        if left < at < right and low <= row < high
    ] == []


TOOLBAR_PX = 28
"""Where Plotly's toolbar ends, from the chart's top; measured in Chromium."""


@pytest.mark.parametrize("times", [1, 2, 3, 4, 6])
def test_the_toolbar_lies_over_no_name_of_a_line(drawn, times):
    layout = drawn(times, True, True).layout
    ends = [
        layout.margin.t - note.yshift - NAME_ROW
        for note in layout.annotations
        if note.yanchor == "bottom" and note.xref != "paper"
    ]

    assert min(ends) >= TOOLBAR_PX


@pytest.mark.parametrize("is_wide", [False, True])
def test_a_figure_has_names_for_the_narrowest_window_for_nobody_tells_how_wide_it_is(double_billing, is_wide):
    timeouts = {"function_timeout_s": 30, "visibility_timeout_s": 600, "is_wide": is_wide}
    figure = timeline_figure(timed_out(double_billing, 4), UTC, **timeouts)

    texts = [a.text for a in figure.layout.annotations]

    assert (texts.count("Function timeout 30 s"), texts.count("Visible again, 10 min")) == (2, 3)


def test_names_that_have_no_room_beside_each_other_stand_in_rows_and_the_chart_is_higher(double_billing):
    timeouts = {"function_timeout_s": 30, "visibility_timeout_s": 600, "is_wide": True}
    once, again = (timeline_figure(timed_out(double_billing, times), UTC, **timeouts) for times in (1, 4))
    rows = [a.yshift for a in again.layout.annotations if a.yanchor == "bottom" and a.xref != "paper"]

    assert sorted(set(rows)) == [NAME_ROW * n for n in range(5)]
    assert again.layout.height == once.layout.height + NAME_ROW * 3


def test_the_gap_between_two_episodes_says_its_length(double_billing):
    figure = timeline_figure(double_billing, UTC)

    assert any(a.text.startswith("⋯9 min") for a in figure.layout.annotations)
    assert len([k for k in figure.layout.to_plotly_json() if k.startswith("xaxis")]) == 2


def test_shown_gaps_leave_one_time_axis(double_billing):
    figure = timeline_figure(double_billing, UTC, cut_gaps=False)

    assert len([k for k in figure.layout.to_plotly_json() if k.startswith("xaxis")]) == 1


def test_every_point_carries_its_message_id(double_billing):
    ids = set(double_billing["message_id"])
    figure = timeline_figure(double_billing, UTC)

    assert all(item_of(point[0]) in ids for trace in figure.data for point in trace.customdata)


def test_times_are_those_of_the_zone_and_the_axis_names_it(double_billing):
    figure = timeline_figure(double_billing, TOKYO)
    low = pd.Timestamp(figure.layout.xaxis.range[0])

    assert (low.hour, low.minute) == (14, 11)
    assert any("Asia/Tokyo, UTC+09:00" in a.text for a in figure.layout.annotations)


def test_hover_tells_time_offset_duration_and_source(double_billing):
    figure = timeline_figure(double_billing, UTC)
    bar = pointed_at(next(t for t in figure.data if t.name == "Handler running"))
    mark = pointed_at(next(t for t in figure.data if t.name == "Work done"))

    assert "05:12:00.240 → 05:12:04.240 (4 s)" in bar
    assert "(T+4.04 s)" in mark
    assert "[$LATEST]" in mark


def test_text_from_a_log_cannot_become_markup(double_billing):
    hostile = double_billing.assign(label="<a href='http://a.example'>x</a><img src=x>", source="<b>&amp;")
    text = timeline_figure(hostile, UTC).to_json()

    assert "<img" not in text
    assert "<a href" not in text


def test_two_hundred_lanes_have_at_most_forty_labels():
    figure = timeline_figure(_many(200), UTC)

    assert len(figure.layout.yaxis.tickvals) <= 40
    assert figure.layout.yaxis.automargin is False


def test_a_frame_without_rows_gives_a_figure_that_says_so(double_billing):
    figure = timeline_figure(double_billing.head(0), UTC)

    assert "no bar or mark" in figure.layout.annotations[0].text


def test_figures_are_plain_json(double_billing):
    folded = consumer_lanes(double_billing)
    for figure, rows in (
        (timeline_figure, double_billing),
        (consumers_figure, folded),
        (overview_figure, double_billing),
    ):
        assert json.loads(figure(rows, UTC).to_json())["data"]


def test_overlapping_deliveries_of_a_worker_get_half_a_lane_each():
    figure = timeline_figure(told(tales.expired_handle, EXPIRED_HANDLE), UTC)
    refused = next(t for t in figure.data if t.name.startswith("Delete refused"))
    deleted = next(t for t in figure.data if t.name == "Deleted")

    assert refused.y[0] < deleted.y[0]


def test_a_dead_lettered_message_shows_errors_the_unseen_receive_and_the_move():
    found = names(timeline_figure(told(tales.dead_lettered), UTC))

    assert {"Handler error", "Received, but no log shows it", "Moved to the dead-letter queue"} <= set(found)


def test_consumers_fold_a_batch_into_one_bar_per_run(double_billing):
    folded = consumer_lanes(double_billing)
    windows = folded[folded["kind"] == "in_flight"]

    assert len(windows) == 2
    assert set(windows["batch"]) == {10}
    assert set(map(plain, windows["label"])) == {"10 messages"}


def test_a_run_says_on_hover_how_many_messages_it_had(double_billing):
    figure = consumers_figure(consumer_lanes(double_billing), UTC)
    hover = pointed_at(next(t for t in figure.data if t.name == "In flight until deleted"))

    assert "10 messages" in hover
    assert hover.startswith("<b>request ")


def test_consumers_keep_every_repeat(double_billing):
    assert points(consumers_figure(consumer_lanes(double_billing), UTC), "Work done again") == 7


def test_a_window_counts_in_every_bin_it_touches_and_in_no_other():
    edges, counts = in_flight(pd.Series([0, 100]), pd.Series([2400, 100]), pd.Series([0, 1]), 2)

    assert list(counts.loc[0]) == [1] * MOST_BINS
    assert counts.loc[1].sum() == 1
    assert counts.loc[1][10] == 1
    assert (edges[10], edges[11]) == (100, 110)


def test_the_overview_draws_at_most_two_thousand_diamonds_and_says_so():
    frame = _many(2500, kinds=("in_flight", "repeat"))
    figure = overview_figure(frame, UTC)
    diamonds = figure.data[1]

    assert len(diamonds.x) == MOST_DIAMONDS
    assert "2,000 of 2,500" in diamonds.name


def test_more_than_forty_consumers_share_a_last_lane():
    frame = _many(300).assign(consumer=[f"/aws/lambda/f|stream-{n}|r|1" for n in range(300)])
    lanes = lane_names(frame)

    assert len(lanes) == 40
    assert lanes[-1] == OTHERS


def test_hundreds_of_consumers_folded_into_one_lane_leave_the_named_ones_their_colours():
    frame = _many(300).assign(consumer=[f"/aws/lambda/f|stream-{n}|r|1" for n in range(300)], at=pd.Timestamp(START))
    drawn = overview_figure(frame, UTC).data[0]

    assert max(drawn.z[-1]) == 300 - 39
    assert drawn.zmax == 1, "the brightest colour is that of the busiest lane that is named"


@pytest.mark.parametrize(("consumers", "side"), [(4, "bottom"), (300, "top")])
def test_times_of_the_overview_stand_where_no_legend_covers_them(consumers, side):
    """Of many lanes the legend stands right below them: days under the times were covered there."""
    frame = _many(300).assign(consumer=[f"/aws/lambda/f|stream-{n % consumers}|r|1" for n in range(300)])

    assert overview_figure(frame, UTC).layout.xaxis.side == side


def test_a_ledger_draws_the_same_marks_as_the_timeline_of_its_incident(double_billing):
    story = Story()
    tales.double_billing(story)
    marks = timeline_of(drawn_rows(story.findings["deliveries"]))

    assert marks["kind"].value_counts().to_dict() == double_billing["kind"].value_counts().to_dict()


def test_a_ledger_draws_work_as_done_again_by_the_slower_of_two_deliveries(double_billing):
    story = Story()
    tales.double_billing(story)
    item = next(d["item_id"] for d in story.findings["deliveries"] if d["effect"] == "yes" and d["delivery_index"] == 2)
    mine = [d for d in story.findings["deliveries"] if d["item_id"] == item and d["effect"] == "yes"]
    slow = [d | {"effect_at": START + pd.Timedelta(seconds=90 - d["delivery_index"])} for d in mine]

    marks = timeline_of(drawn_rows(slow))

    assert dict(zip(marks["kind"], marks["delivery_index"], strict=True)).items() >= {"repeat": 1, "effect": 2}.items()


def test_utc_needs_no_offset():
    assert zone_label(UTC, START) == "UTC"


def _many(count, kinds=("in_flight",)):
    at = pd.Timestamp(START)
    return pd.DataFrame(
        {
            "item_id": f"m-{n}",
            "message_id": f"m-{n}",
            "delivery_index": 1,
            "receive_count": 1,
            "lane": n + 1,
            "kind": kind,
            "at": at + pd.Timedelta(seconds=n),
            "until_at": at + pd.Timedelta(seconds=n + 5),
            "ended_by": "deleted",
            "function_name": "f",
            "consumer": f"/aws/lambda/f|stream-{n % 8}|r{n}|1",
            "source": "s",
            "label": "l",
            "evidence_ids": [],
        }
        for n in range(count)
        for kind in kinds
    )


def test_the_business_key_stands_first_on_hover(double_billing):
    item = double_billing["item_id"].iloc[0]
    figure = timeline_figure(double_billing, UTC, keys={item: "pay-1041"})
    said = next(pointed_at(t, n) for t in figure.data for n, c in enumerate(t.customdata) if item_of(c[0]) == item)

    assert said.startswith(f"<b>pay-1041</b><br>{item}")


def test_what_all_points_of_a_look_say_alike_is_in_the_figure_once(double_billing):
    figure = consumers_figure(consumer_lanes(double_billing), UTC)
    bars = [trace for trace in figure.data if trace.type == "bar"]

    assert bars and all(isinstance(trace.hovertemplate, str) for trace in bars)
    assert not [value for trace in bars for point in trace.customdata for value in point if "<" in value]


def test_what_is_chosen_among_thousands_stands_out_and_the_others_stay_as_they_are(double_billing):
    figure = consumers_figure(consumer_lanes(double_billing), UTC)
    chosen = [trace.selected.marker.to_plotly_json() for trace in figure.data]

    assert {trace.unselected.marker.opacity for trace in figure.data} == {1}
    assert {trace.type for trace in figure.data} == {"bar", "scatter"}
    assert all(how == {"opacity": CHOSEN_OPACITY} for how in chosen), (
        "anything else restyles each point, and takes its hatching"
    )


def test_every_point_carries_the_name_of_its_mark(double_billing):
    figure = timeline_figure(double_billing, UTC, cut_gaps=False)
    carried = [c[0] for t in figure.data for c in t.customdata]
    repeat = double_billing[double_billing["kind"] == "repeat"].iloc[0]
    name = f"repeat.{repeat['at'].value // 1000}.{repeat['delivery_index']}.{repeat['item_id']}"

    assert carried.count(name) == 1
    assert len(carried) == len(set(carried))


def test_a_crowd_of_marks_becomes_one_with_how_many_there_are(double_billing):
    one = double_billing[double_billing["kind"] == "repeat"].head(1)
    crowd = pd.concat([one.assign(at=one["at"] + pd.Timedelta(milliseconds=5 * n)) for n in range(12)])
    figure = timeline_figure(pd.concat([double_billing, crowd], ignore_index=True), UTC)
    texts = [text for t in figure.data if t.name == "Work done again" for text in t.text or () if text]

    assert texts == ["13×"]


def test_marks_all_along_a_lane_become_ten_with_their_counts_and_no_band(double_billing):
    """One message that failed every quarter of an hour for two days: 180 crosses are 2.6 to a mark's width."""
    one = double_billing[double_billing["kind"] == "repeat"].head(1)
    many = pd.concat([one.assign(at=one["at"] + pd.Timedelta(minutes=15 * n)) for n in range(180)], ignore_index=True)
    figure = timeline_figure(many, UTC, cut_gaps=False)
    texts = [text for t in figure.data if t.name == "Work done again" for text in t.text or ()]

    assert len(texts) <= 11
    assert sum(int(text.rstrip("×") or 1) for text in texts) == 180


def test_the_axis_names_the_day_of_the_first_event_and_not_that_of_its_margin(double_billing):
    midnight = double_billing["at"].min().normalize() + pd.Timedelta(days=1, seconds=1)
    moved = midnight - double_billing["at"].min()
    rows = double_billing.assign(at=double_billing["at"] + moved, until_at=double_billing["until_at"] + moved)
    figure = timeline_figure(rows, UTC, cut_gaps=False)

    assert any(note.text.startswith("21 Nov 2026 · time") for note in figure.layout.annotations)


def test_the_axis_of_an_incident_across_midnight_names_both_days(double_billing):
    """The repeat came ten minutes after the receive, at 00:07 of the next day in Tokyo: a time alone would be of the first day."""
    moved = pd.Timestamp("2026-11-20 14:57:00.2", tz="UTC") - double_billing["at"].min()
    rows = double_billing.assign(at=double_billing["at"] + moved, until_at=double_billing["until_at"] + moved)
    titles = [note.text for note in timeline_figure(rows, TOKYO).layout.annotations]
    japanese = [note.text for note in timeline_figure(rows, TOKYO, say=Language("ja")).layout.annotations]

    assert "20 Nov – 21 Nov 2026 · time (Asia/Tokyo, UTC+09:00)" in titles
    assert any(text.startswith("2026-11-20 – 11-21 · ") for text in japanese)
    assert "2026-11-20 – 2026-11-21 Asia/Tokyo, UTC+09:00" in timeline_svg(rows, TOKYO)[0]


def test_a_tall_chart_has_its_times_above_the_lanes():
    rows = told(tales.double_billing, DOUBLE_BILLING)
    many = pd.concat([rows.assign(lane=rows["lane"] + 20 * n, item_id=rows["item_id"] + f"/{n}") for n in range(3)])

    assert timeline_figure(rows, UTC).layout.xaxis.side == "bottom"
    assert timeline_figure(many, UTC).layout.xaxis.side == "top"


def episodes(*minutes, lanes=20):
    """One message per minute named, so that gaps of several lengths lie near one another."""
    rows = [
        {
            "incident_id": "i",
            "item_id": "m",
            "message_id": "m",
            "delivery_index": n,
            "lane": lane,
            "kind": "effect",
            "at": pd.Timestamp(START) + pd.Timedelta(minutes=minute, seconds=second),
        }
        for n, minute in enumerate(minutes)
        for second in range(3)
        for lane in range(lanes)
    ]
    frame = pd.DataFrame(rows).reindex(columns=told(tales.double_billing).columns)
    return frame.assign(item_id="m" + frame["lane"].astype(str), label="")


@pytest.mark.parametrize(("lanes", "highest"), [(20, -6), (3, -44)], ids=["times above", "times below"])
def test_labels_of_gaps_that_are_near_one_another_stand_in_two_rows_below_the_lanes(lanes, highest):
    layout = timeline_figure(episodes(0, 10, 30, 60, lanes=lanes), UTC).layout
    labels = sorted((a.x, a.yshift) for a in layout.annotations if "⋯" in a.text)

    assert len(labels) == 3
    assert all(a[1] != b[1] for a, b in zip(labels, labels[1:], strict=False) if b[0] - a[0] < 0.28)
    assert max(shift for _, shift in labels) == highest, "below the times, where these stand below the lanes"
    below = -layout.legend.y * (layout.height - layout.margin.t - layout.margin.b)
    assert below > 15 - min(shift for _, shift in labels)


def test_no_line_says_when_messages_were_visible_again_where_nobody_knows_the_visibility_timeout(double_billing):
    figure = timeline_figure(double_billing, UTC, function_timeout_s=30)

    assert [a.text for a in figure.layout.annotations if "Visible" in a.text] == []
    assert [s.line.dash for s in figure.layout.shapes].count("dash") == 1
