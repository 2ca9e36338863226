from datetime import date
from math import log10

import pandas as pd
import pytest

from forensics.charts.queue_days import TITLES, incident_frame, queue_days_figure
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


def test_a_day_without_a_row_is_a_hole_and_not_zero():
    sent = trace(drawn(), "sent")

    assert list(sent.x)[0] == "2026-11-09"
    assert len(sent.x) == 14
    assert [x for x, y in zip(sent.x, sent.y, strict=True) if y == y] == ["2026-11-16", "2026-11-18"]
    assert sent.connectgaps is False


def test_both_timeouts_are_lines_with_their_names_at_their_height():
    figure = drawn(visibility_timeout_s=600, function_timeouts={"ship": 30})
    lines = sorted(s.y0 for s in figure.layout.shapes if s.yref == "y4")
    named = {a.text: a.y for a in figure.layout.annotations if a.text not in TITLES}

    assert lines == [30, 600]
    assert named == {"ship timeout 30 s": log10(30), "visibility timeout 600 s": log10(600)}
    assert figure.layout.yaxis4.type == "log"


def test_no_settings_and_a_timeout_of_zero_draw_no_line():
    assert [s for s in drawn(visibility_timeout_s=0).layout.shapes if s.yref == "y4"] == []


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
