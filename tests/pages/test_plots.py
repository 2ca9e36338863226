"""How charts are prepared to be shown."""

import plotly.graph_objects as go
import pytest
from plotly import io

from forensics.charts.hover import ringed
from pages._ui.plots import finished, fitted, show

pytestmark = pytest.mark.page


def figure():
    return go.Figure(go.Scatter(x=[1, 2], y=[3, 4], customdata=[["a"], ["b"]]))


def test_a_finished_figure_is_sent_as_before_and_put_together_once():
    done = finished(figure())

    assert io.to_json(done, validate=False) == io.to_json(figure(), validate=False)
    assert done.to_dict() is done.to_dict()


def test_a_ring_around_a_mark_of_a_finished_figure_is_sent_too():
    assert '"name":"ring"' in io.to_json(ringed(finished(figure()), "b"), validate=False)


@pytest.mark.parametrize("entries", [2, 9, 14])
def test_on_a_phone_a_legend_of_many_marks_has_a_row_for_each(monkeypatch, entries):
    """Plotly's row of such words is 29 pixels high, as a browser measured it."""
    monkeypatch.setattr("pages._ui.plots.is_phone", lambda: True)
    drawn = go.Figure([go.Scatter(x=[1], y=[n], name=f"A mark with a long name {n}") for n in range(entries)])
    drawn.update_layout(height=400, margin={"t": 54, "b": 128}, legend={"maxheight": 62})
    layout = fitted(drawn).layout

    assert layout.legend.maxheight >= max(29 * entries, 62)
    assert layout.margin.b - 128 == layout.legend.maxheight - 62


@pytest.mark.parametrize("is_phone", [True, False])
def test_on_a_phone_few_buttons_stand_over_a_chart(monkeypatch, is_phone):
    monkeypatch.setattr("pages._ui.plots.is_phone", lambda: is_phone)
    monkeypatch.setattr("pages._ui.plots.st.plotly_chart", lambda figure, **how: how)
    given = {"displaylogo": False, "modeBarButtonsToRemove": ["lasso2d"]}
    shown = show(None, key="chart", config=given)
    left_out = shown["config"]["modeBarButtonsToRemove"]

    assert shown["config"]["displaylogo"] is False
    assert ({"toImage", "pan2d", "zoomIn2d"} <= set(left_out)) is is_phone
    assert "lasso2d" in left_out
    assert "resetScale2d" not in left_out
    assert given["modeBarButtonsToRemove"] == ["lasso2d"]
