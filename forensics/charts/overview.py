"""The overview: how many messages were in flight per consumer over time, and where work was done again."""

from html import escape
from itertools import starmap
from zoneinfo import ZoneInfo

import pandas as pd
import plotly.graph_objects as go

from forensics.charts.consumers import environment_label, environments
from forensics.charts.drawing import Drawing
from forensics.charts.hover import mark_key
from forensics.charts.lanes import microseconds
from forensics.charts.marks import MARKS
from forensics.charts.palette import ALARM, OUTLINE
from forensics.charts.timeline import MOST_LABELS, clock_title, empty_figure, lay_out, tick_formats, ticks_above
from forensics.charts.words import clock, local
from forensics.language import ENGLISH, Language

MOST_BINS = 240
MOST_DIAMONDS = 2000
OTHERS = "others"


def overview_figure(timeline: pd.DataFrame, zone: ZoneInfo, say: Language = ENGLISH) -> go.Figure:
    """Draw the in-flight counts of ``timeline`` rows as a heatmap, and its repeats as diamonds (at most 2,000).

    At most 40 lanes: the consumers with the most deliveries, then one lane for all others. ``customdata[0]`` of a
    diamond is what ``mark_key`` names it; a horizontal box selects a window of time.
    """
    windows = timeline[(timeline["kind"] == "in_flight") & timeline["at"].notna()]
    if windows.empty:
        return empty_figure(say("No delivery of this incident has a known time."))
    lanes = lane_names(windows)
    start = microseconds(windows["at"])
    end = microseconds(windows["until_at"].where(windows["until_at"].notna(), windows["at"]))
    edges, counts = in_flight(start, end, _lane_of(windows["consumer"], lanes), len(lanes))
    middles = [(low + high) // 2 for low, high in zip(edges, edges[1:], strict=False)]
    drawing = Drawing()
    drawing.trace(
        "heatmap",
        x=local(pd.Series(middles), zone),
        y=list(range(len(lanes))),
        z=counts.to_numpy(),
        zmin=0,
        zmax=_busiest(counts, lanes),
        colorscale="Cividis",
        colorbar={"title": {"text": say("in flight")}, "thickness": 14, "outlinewidth": 0},
        hovertemplate=f"%{{x}}<br>%{{z}} {say('in flight')}<extra></extra>",
        name=say("In flight"),
        showlegend=False,
    )
    _diamonds(drawing, timeline, lanes, zone, say)
    names = [say(OTHERS) if name == OTHERS else environment_label(name) for name in lanes]
    lay_out(drawing, names, 1)
    above = ticks_above(len(names))
    side = "top" if above else "bottom"
    drawing.x_axis(type="date", showgrid=False, tickformatstops=tick_formats(say), tickangle=0, side=side)
    drawing.lay_out(dragmode="select", selectdirection="h")
    clock_title(drawing, (edges[0], edges[-1]), zone, say, above)
    return drawing.figure()


def _busiest(counts: pd.DataFrame, lanes: list[str]) -> int:
    """Return the count of the brightest colour: of the lanes that are named, as hundreds folded into one would leave those dark."""
    of_one = counts.iloc[:-1] if OTHERS in lanes and len(lanes) > 1 else counts
    return max(1, int(of_one.to_numpy().max()))


def lane_names(windows: pd.DataFrame) -> list[str]:
    """Return the overview's lanes: environments by name, the least busy folded into ``others`` above 40."""
    busy = environments(windows["consumer"].fillna(OTHERS)).value_counts().sort_index(kind="stable")
    if len(busy) <= MOST_LABELS:
        return [str(n) for n in busy.index]
    kept = busy.sort_values(ascending=False, kind="stable").index[: MOST_LABELS - 1]
    return [*sorted(str(n) for n in kept if n != OTHERS), OTHERS]


def in_flight(start_us: pd.Series, end_us: pd.Series, lane: pd.Series, lanes: int) -> tuple[list[int], pd.DataFrame]:
    """Count windows per lane and bin: a window counts in every bin that it touches.

    Returns the bins' edges (microseconds) and the counts, one row per lane and one column per bin; 240 bins.
    """
    low = int(start_us.min())
    span = max(int(end_us.max()) - low, MOST_BINS)
    edges = [low + span * n // MOST_BINS for n in range(MOST_BINS + 1)]
    first = _bin_of(start_us, low, span)
    after = _bin_of(end_us.where(end_us > start_us, start_us), low, span) + 1
    come = pd.DataFrame({"lane": lane, "bin": first, "change": 1})
    gone = pd.DataFrame({"lane": lane, "bin": after, "change": -1})
    changes = pd.concat([come, gone]).groupby(["lane", "bin"])["change"].sum().unstack(fill_value=0)
    whole = changes.reindex(index=range(lanes), columns=range(MOST_BINS + 1), fill_value=0)
    return edges, whole.cumsum(axis=1).iloc[:, :MOST_BINS]


def _bin_of(at_us: pd.Series, low: int, span: int) -> pd.Series:
    return ((at_us - low) * MOST_BINS // span).clip(0, MOST_BINS - 1)


def _lane_of(consumers: pd.Series, lanes: list[str]) -> pd.Series:
    places = {name: n for n, name in enumerate(lanes)}
    other = places.get(OTHERS, 0)
    return environments(consumers.fillna(OTHERS)).map(places).fillna(other).astype("int64")


def _diamonds(drawing: Drawing, timeline: pd.DataFrame, lanes: list[str], zone: ZoneInfo, say: Language) -> None:
    repeats = timeline[(timeline["kind"] == "repeat") & timeline["at"].notna()].sort_values("at", kind="stable")
    total = len(repeats)
    if total > MOST_DIAMONDS:
        repeats = repeats.iloc[[n * (total - 1) // (MOST_DIAMONDS - 1) for n in range(MOST_DIAMONDS)]]
    at = microseconds(repeats["at"])
    ids = [m or i for m, i in zip(repeats["message_id"], repeats["item_id"], strict=True)]
    names = starmap(mark_key, zip(repeats["item_id"], repeats["delivery_index"], repeats["kind"], at, strict=True))
    shown = say(" ({shown} of {total})", shown=MOST_DIAMONDS, total=total) if total > MOST_DIAMONDS else ""
    words = say(MARKS["repeat"].words)
    drawing.trace(
        "scatter",
        x=local(at, zone),
        y=_lane_of(repeats["consumer"], lanes),
        mode="markers",
        marker={"symbol": "diamond", "size": 9, "color": ALARM, "line": {"width": 1, "color": OUTLINE}},
        name=words + shown,
        showlegend=True,
        customdata=[[name, escape(str(m)), clock(us, zone)] for name, m, us in zip(names, ids, at, strict=True)],
        hovertemplate=f"<b>%{{customdata[1]}}</b><br>{words}<br>%{{customdata[2]}}<extra></extra>",
    )
