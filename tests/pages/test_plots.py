"""How charts are prepared to be shown."""

import plotly.graph_objects as go
from plotly import io

from forensics.charts.hover import ringed
from pages._ui.plots import finished


def figure():
    return go.Figure(go.Scatter(x=[1, 2], y=[3, 4], customdata=[["a"], ["b"]]))


def test_a_finished_figure_is_sent_as_before_and_put_together_once():
    done = finished(figure())

    assert io.to_json(done, validate=False) == io.to_json(figure(), validate=False)
    assert done.to_dict() is done.to_dict()


def test_a_ring_around_a_mark_of_a_finished_figure_is_sent_too():
    assert '"name":"ring"' in io.to_json(ringed(finished(figure()), "b"), validate=False)
