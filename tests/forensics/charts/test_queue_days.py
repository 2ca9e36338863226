from datetime import UTC, date, datetime
from math import log10

import pandas as pd
import pytest
from plotly.basedatatypes import BaseFigure

from forensics.charts.queue_days import TITLES, backlog_figure, incident_frame, queue_days_figure
from forensics.settings_in_force import Step
from tests.forensics.health.rows import week_row

FIRST, LAST = date(2026, 11, 9), date(2026, 11, 22)
INCIDENT = {"incident_id": "orders-20261118T0512Z", "headline": "<b>7</b> of 10", "day": "2026-11-18"}


def days(*names):
    return pd.DataFrame([week_row("orders", "2026-W47", sent_count=100 + n) | {"day": d} for n, d in enumerate(names)])


def drawn(frame=None, incidents=(), **timeouts):
    frame = days("2026-11-16", "2026-11-18") if frame is None else frame
    return queue_days_figure(frame, incident_frame(incidents), FIRST, LAST, **timeouts)


def trace(figure, name):
    return next(t for t in figure.data if t.name == name)


@pytest.mark.parametrize(("set_at", "side"), [(13, "left"), (18, "right")])
def test_a_timeout_is_named_over_its_own_step_and_not_over_the_days_before_it(set_at, side):
    """Evidence of half a week leaves the other half of the axis free: a name beside it reads as if it had held before."""
    figure = drawn(
        days("2026-11-13"), limits={"ship timeout": [Step(at(set_at), None, 60)]}, data_until_at=at(set_at, 6)
    )
    [name] = [a for a in figure.layout.annotations if a.text == "ship timeout 60 s"]

    assert name.xanchor == side


def test_a_day_without_a_row_is_a_hole_and_not_zero():
    sent = trace(drawn(), "sent")

    assert list(sent.x)[0] == "2026-11-09"
    assert len(sent.x) == 14
    assert [x for x, y in zip(sent.x, sent.y, strict=True) if y == y] == ["2026-11-16", "2026-11-18"]
    assert sent.connectgaps is False


def at(day, hour=0):
    return datetime(2026, 11, day, hour, tzinfo=UTC)


def test_a_timeout_is_a_step_that_begins_where_it_was_set_and_is_not_drawn_where_nothing_tells():
    limits = {
        "ship timeout": [Step(at(12), at(20, 14), 20), Step(at(20, 14), None, 60)],
        "visibility timeout": [Step(None, None, 600)],
    }
    figure = drawn(limits=limits, data_until_at=at(21, 6))
    ship, visibility = trace(figure, "ship timeout"), trace(figure, "visibility timeout")
    named = {a.text: a.y for a in figure.layout.annotations if a.text not in TITLES}

    assert list(zip(ship.x, ship.y, strict=True)) == [
        (datetime(2026, 11, 12), 20),
        (datetime(2026, 11, 20, 14), 20),
        (datetime(2026, 11, 20, 14), 60),
        (datetime(2026, 11, 21, 6), 60),
    ]
    assert [d.day for d in visibility.x] == [9, 21]
    assert named == {
        "ship timeout 20 s": log10(20),
        "ship timeout 60 s": log10(60),
        "visibility timeout 600 s": log10(600),
    }
    assert figure.layout.yaxis4.type == "log"


def test_a_value_that_was_unknown_for_a_while_leaves_a_hole():
    steps = [Step(at(10), at(12), 20), Step(at(15), None, 60)]
    ship = trace(drawn(limits={"ship timeout": steps}), "ship timeout")

    assert list(ship.y) == [20, 20, None, 60, 60]


def test_a_timeout_of_zero_has_no_place_on_a_logarithmic_axis():
    figure = drawn(limits={"visibility timeout": [Step(None, None, 0)]})

    assert "visibility timeout" not in [t.name for t in figure.data]


def test_an_incident_is_a_mark_on_its_day_in_every_panel():
    figure = drawn(incidents=[INCIDENT, INCIDENT | {"day": "2026-01-01"}])
    mark = trace(figure, "incident")

    assert list(mark.x) == ["2026-11-18"]
    assert "&lt;b&gt;7&lt;/b&gt; of 10" in mark.customdata[0][0]
    assert {s.x0 for s in figure.layout.shapes} == {"2026-11-18"}
    assert len(figure.layout.shapes) == 4


def test_lines_that_share_a_colour_differ_in_their_dash():
    dashes = [trace(drawn(), name).line.dash for name in ("p50", "p95", "p99")]

    assert len(set(dashes)) == 3


@pytest.mark.parametrize("incidents", [(), (INCIDENT,)], ids=["no incident", "one incident"])
def test_nothing_read_says_so(incidents):
    figure = drawn(pd.DataFrame(), incidents)

    assert figure.layout.annotations[0].text == "Nothing was read of this queue in these weeks."


def test_on_a_phone_title_legend_and_plot_of_each_row_stand_one_below_the_other():
    figure = drawn(is_narrow=True)
    plot_px = figure.layout.height - figure.layout.margin.t - figure.layout.margin.b
    edges = []
    for row, title in enumerate(figure.layout.annotations[:4], 1):
        low, high = figure.layout["yaxis" if row == 1 else f"yaxis{row}"].domain
        legend = figure.layout["legend" if row == 1 else f"legend{row}"]
        edges += [
            title.y + (title.yshift + title.font.size) / plot_px,
            title.y + title.yshift / plot_px,
            legend.y,
            high,
            low,
        ]

        assert (legend.x, legend.xanchor) == (0, "left")
        assert title.yshift - (legend.y - high) * plot_px > 2 * 20, "a legend of two rows of 20 px"

    assert edges == sorted(edges, reverse=True)
    assert edges[-1] >= 0


def test_a_backlog_has_a_point_a_day_in_lines_that_differ_in_colour_and_dash():
    rows = [
        {"day": "2026-11-16", "backlog_max_count": 3, "in_flight_max_count": 1},
        {"day": "2026-11-17", "backlog_max_count": 0, "in_flight_max_count": None},
    ]
    waiting, in_flight = backlog_figure(rows).data

    assert (waiting.name, list(waiting.y)) == ("Waiting, at most", [3, 0])
    assert in_flight.y[0] == 1 and in_flight.y[1] != in_flight.y[1]
    assert waiting.line.color != in_flight.line.color and waiting.line.dash != in_flight.line.dash


def test_seconds_stand_at_the_logarithmic_axis_as_they_are():
    figure = drawn()

    assert {10, 20, 50} < set(figure.layout.yaxis4.tickvals)
    assert figure.layout.yaxis4.type == "log"


def test_plotly_checks_a_chart_once_and_not_at_every_trace_line_and_axis(monkeypatch):
    def refuse(*_, **__):
        raise AssertionError("changed a figure that Plotly had checked already")

    for change in ("add_traces", "plotly_update", "_add_annotation_like", "_perform_update"):
        monkeypatch.setattr(BaseFigure, change, refuse)
    limits = {"visibility timeout": [Step(None, None, 600)]}

    assert len(drawn(incidents=[INCIDENT], limits=limits, is_narrow=True).data) == 13
    assert len(backlog_figure([week_row("orders", "2026-W47") | {"day": "2026-11-18"}]).data) == 2
