"""The overview: how many messages were in flight per consumer over time, and where work was done again."""

from html import escape
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from forensics.charts.consumers import environment_label, environments
from forensics.charts.lanes import microseconds
from forensics.charts.marks import MARKS
from forensics.charts.palette import ALARM, OUTLINE
from forensics.charts.timeline import MOST_LABELS, TICK_FORMATS, clock_title, empty_figure, lay_out
from forensics.charts.words import clock, local

MOST_BINS = 240
MOST_DIAMONDS = 2000
OTHERS = "others"


def overview_figure(timeline: pd.DataFrame, zone: ZoneInfo) -> go.Figure:
    """Draw the in-flight counts of ``timeline`` rows as a heatmap, and its repeats as diamonds (at most 2,000).

    At most 40 lanes: the consumers with the most deliveries, then one lane for all others. ``customdata[0]`` of a
    diamond is its message id; a horizontal box selects a window of time.
    """
    windows = timeline[(timeline["kind"] == "in_flight") & timeline["at"].notna()]
    if windows.empty:
        return empty_figure("No delivery of this incident has a known time.")
    lanes = lane_names(windows)
    start = microseconds(windows["at"]).to_numpy()
    end = microseconds(windows["until_at"].where(windows["until_at"].notna(), windows["at"])).to_numpy()
    index = _lane_of(windows["consumer"], lanes)
    edges, counts = in_flight(start, np.maximum(start, end), index, len(lanes))
    middles = (edges[:-1] + edges[1:]) // 2
    figure = go.Figure()
    figure.add_heatmap(
        x=local(pd.Series(middles), zone),
        y=list(range(len(lanes))),
        z=counts,
        colorscale="Cividis",
        colorbar={"title": {"text": "in flight"}, "thickness": 14, "outlinewidth": 0},
        hovertemplate="%{x}<br>%{z} in flight<extra></extra>",
        name="In flight",
        showlegend=False,
    )
    _diamonds(figure, timeline, lanes, zone)
    names = [OTHERS if name == OTHERS else environment_label(name) for name in lanes]
    lay_out(figure, names, 1)
    figure.update_xaxes(type="date", showgrid=False, tickformatstops=TICK_FORMATS, tickangle=0)
    figure.update_layout(dragmode="select", selectdirection="h")
    clock_title(figure, int(edges[0]), zone)
    return figure


def lane_names(windows: pd.DataFrame) -> list[str]:
    """Return the overview's lanes: environments by name, the least busy folded into ``others`` above 40."""
    busy = environments(windows["consumer"].fillna(OTHERS)).value_counts().sort_index(kind="stable")
    if len(busy) <= MOST_LABELS:
        return [str(n) for n in busy.index]
    kept = busy.sort_values(ascending=False, kind="stable").index[: MOST_LABELS - 1]
    return [*sorted(str(n) for n in kept if n != OTHERS), OTHERS]


def in_flight(start: np.ndarray, end: np.ndarray, lane: np.ndarray, lanes: int) -> tuple[np.ndarray, np.ndarray]:
    """Count windows per lane and bin: a window counts in every bin that it touches.

    Returns the bins' edges (microseconds) and the counts, lanes × bins; at most 240 bins.
    """
    low, high = int(start.min()), max(int(end.max()), int(start.min()) + MOST_BINS)
    edges = np.linspace(low, high, MOST_BINS + 1).astype("int64")
    first = np.clip(np.searchsorted(edges, start, side="right") - 1, 0, MOST_BINS - 1)
    last = np.clip(np.searchsorted(edges, end, side="right") - 1, 0, MOST_BINS - 1)
    change = np.zeros((lanes, MOST_BINS + 1), dtype="int64")
    np.add.at(change, (lane, first), 1)
    np.add.at(change, (lane, last + 1), -1)
    return edges, change.cumsum(axis=1)[:, :-1]


def _lane_of(consumers: pd.Series, lanes: list[str]) -> np.ndarray:
    places = {name: n for n, name in enumerate(lanes)}
    other = places.get(OTHERS, 0)
    return environments(consumers.fillna(OTHERS)).map(places).fillna(other).astype("int64").to_numpy()


def _diamonds(figure: go.Figure, timeline: pd.DataFrame, lanes: list[str], zone: ZoneInfo) -> None:
    repeats = timeline[(timeline["kind"] == "repeat") & timeline["at"].notna()].sort_values("at", kind="stable")
    total = len(repeats)
    if total > MOST_DIAMONDS:
        repeats = repeats.iloc[np.linspace(0, total - 1, MOST_DIAMONDS).astype(int)]
    at = microseconds(repeats["at"])
    ids = [m or i for m, i in zip(repeats["message_id"], repeats["item_id"], strict=True)]
    shown = f" ({MOST_DIAMONDS:,} of {total:,})" if total > MOST_DIAMONDS else ""
    figure.add_scatter(
        x=local(at, zone),
        y=_lane_of(repeats["consumer"], lanes),
        mode="markers",
        marker={"symbol": "diamond", "size": 9, "color": ALARM, "line": {"width": 1, "color": OUTLINE}},
        name=MARKS["repeat"].words + shown,
        showlegend=True,
        customdata=[
            [m, f"<b>{escape(str(m))}</b><br>{MARKS['repeat'].words}<br>{clock(us, zone)}"]
            for m, us in zip(ids, at, strict=True)
        ],
        hovertemplate="%{customdata[1]}<extra></extra>",
    )
