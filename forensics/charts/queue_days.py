"""A queue's days: traffic, repeats, age and handler, with the timeouts as lines and incidents as marks."""

from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from html import escape
from math import log10
from typing import Any

import pandas as pd
import plotly.graph_objects as go

from forensics.charts.drawing import Drawing, legend_of
from forensics.charts.palette import ALARM, DELETED, HANDLER, OUTLINE, QUIET, REFUSED
from forensics.charts.timeline import empty_figure
from forensics.charts.words import day_format
from forensics.language import ENGLISH, Language
from forensics.settings_in_force import Step

_TRAFFIC = (
    ("sent_count", "sent", QUIET, "dot"),
    ("received_count", "received", HANDLER, "solid"),
    ("deleted_count", "deleted", DELETED, "dash"),
)
_HANDLER = (
    ("handler_p50_ms", "p50", HANDLER, "dot"),
    ("handler_p95_ms", "p95", HANDLER, "dash"),
    ("handler_p99_ms", "p99", HANDLER, "solid"),
)
_BACKLOG = (
    ("backlog_max_count", "Waiting, at most", ALARM, "solid"),
    ("in_flight_max_count", "In flight, at most", HANDLER, "dash"),
)
_SECONDS = [digit * 10**power for power in range(-3, 5) for digit in (1, 2, 5)]
"""Ticks of the logarithmic axis; Plotly's own name 20 as a small 2."""
MOST_DAY_TICKS = 8
"""Days of which each has a tick of its own."""
TITLES = ("Messages a day", "Redeliveries and messages processed twice", "Age of the oldest message", "Handler run")


def incident_frame(incidents: Sequence[Mapping[str, str]]) -> pd.DataFrame:
    """Return incidents as the frame that the figure takes."""
    return pd.DataFrame(list(incidents), columns=["incident_id", "headline", "day"])


def queue_days_figure(
    days: pd.DataFrame,
    incidents: pd.DataFrame,
    first_day: date,
    last_day: date,
    limits: Mapping[str, Sequence[Step]] | None = None,
    zone: tzinfo = UTC,
    data_until_at: datetime | None = None,
    say: Language = ENGLISH,
    is_narrow: bool = False,
) -> go.Figure:
    """Draw the rows of queue_health of one queue from ``first_day`` to ``last_day``, a point a day.

    ``incidents`` has incident_id, headline and ``day`` (of the team's zone, as queue_health writes it). A day
    without a row is a hole in the lines: unknown is not zero. ``limits`` are timeouts by name, drawn as steps from when
    each value was in force to when it no longer was, or to ``data_until_at``; where it is unknown there is no line.
    ``is_narrow``: on a phone each legend has rows of its own below its title.
    """
    if days.empty:
        return empty_figure(say("Nothing was read of this queue in these weeks."))
    span = [(first_day + timedelta(days=n)).isoformat() for n in range((last_day - first_day).days + 1)]
    table = days.set_index("day").reindex(span)
    drawing = Drawing.of_rows([say(title) for title in TITLES], gap=0.085)
    for column, name, colour, dash in _TRAFFIC:
        _line(drawing, 1, span, table[column], say(name), colour, dash, "%{y:,.0f}")
    _repeats(drawing, span, table, say)
    _line(drawing, 3, span, table["age_max_s"], say("oldest"), REFUSED, "solid", "%{y:,.0f} s")
    _line(drawing, 3, span, table["age_p95_s"], say("p95 age"), REFUSED, "dot", "%{y:,.0f} s")
    for column, name, colour, dash in _HANDLER:
        _line(drawing, 4, span, table[column] / 1000, name, colour, dash, "%{y:,.2f} s")
    for name, steps in (limits or {}).items():
        _limit(drawing, name, say, steps, first_day, last_day, zone, data_until_at)
    _incident_marks(drawing, incidents, span, say)
    _lay_out(drawing, first_day, last_day, say)
    if is_narrow:
        _stack(drawing)
    return drawing.figure()


def _line(
    drawing: Drawing, row: int, span: list[str], values: pd.Series, name: str, colour: str, dash: str, shown: str
) -> None:
    drawing.trace(
        "scatter",
        row,
        x=span,
        y=values.astype("float64"),
        mode="lines+markers",
        marker={"size": 4},
        line={"color": colour, "dash": dash, "width": 1.8},
        name=name,
        legend=legend_of(row),
        connectgaps=False,
        hovertemplate=f"%{{x}}<br>{name} {shown}<extra></extra>",
    )


def _limit(
    drawing: Drawing,
    name: str,
    say: Language,
    steps: Sequence[Step],
    first_day: date,
    last_day: date,
    zone: tzinfo,
    data_until_at: datetime | None,
) -> None:
    """Draw one timeout as it was day by day, its value written where each step begins."""
    said = say.maybe(name)
    if said == name:
        said = say("{name} timeout", name=name.removesuffix(" timeout"))
    left, right = datetime.combine(first_day, time()), datetime.combine(last_day + timedelta(days=1), time())
    middle = left + (right - left) / 2
    if data_until_at is not None:
        right = min(right, max(left, _local(data_until_at, zone)))
    x: list[datetime | None] = []
    y: list[float | None] = []
    for step in steps:
        start = left if step.from_at is None else max(left, _local(step.from_at, zone))
        end = right if step.until_at is None else min(right, _local(step.until_at, zone))
        if start >= end or step.value <= 0:
            continue  # a visibility timeout of 0 has no place on a logarithmic axis
        joined = bool(x) and x[-1] == start
        x += [start, end] if joined or not x else [None, start, end]
        y += [step.value] * 2 if joined or not y else [None, step.value, step.value]
        drawing.note(
            f"{escape(said)} {say.units(f'{step.value} s')}",
            11,
            x=start.isoformat(),
            xref="x4",
            xanchor="left" if start < middle else "right",
            y=log10(step.value),  # a logarithmic axis places annotations by the exponent
            yref="y4",
            yanchor="bottom",
        )
    if x:
        drawing.trace(
            "scatter",
            4,
            x=x,
            y=y,
            mode="lines",
            name=said,
            showlegend=False,
            connectgaps=False,
            line={"color": ALARM, "width": 1.4, "dash": "longdash" if "visibility" in name else "dashdot"},
            hovertemplate=f"{escape(said)} %{{y:,.0f}} s<extra></extra>",
        )


def _local(at: datetime, zone: tzinfo) -> datetime:
    return at.astimezone(zone).replace(tzinfo=None)


def _repeats(drawing: Drawing, span: list[str], table: pd.DataFrame, say: Language) -> None:
    bars = (
        ("redelivery_count", "redelivered", QUIET, ""),
        ("twice_at_most", "twice, at most", ALARM, "/"),
        ("twice_at_least", "twice, for sure", ALARM, ""),
    )
    for column, name, colour, pattern in bars:
        drawing.trace(
            "bar",
            2,
            x=span,
            y=table[column].astype("float64"),
            name=say(name),
            legend=legend_of(2),
            marker={"color": colour, "pattern": {"shape": pattern, "fillmode": "overlay", "fgcolor": OUTLINE}},
            hovertemplate=f"%{{x}}<br>{say(name)} %{{y:,.0f}}<extra></extra>",
        )


def _incident_marks(drawing: Drawing, incidents: pd.DataFrame, span: list[str], say: Language) -> None:
    """Put a diamond on the axis of every panel at the days with incidents."""
    here = incidents[incidents["day"].isin(span)] if len(incidents) else incidents
    if here.empty:
        return
    per_day = here.sort_values(["day", "incident_id"]).groupby("day", sort=True)
    told = [
        (
            day,
            "<br>".join(
                f"<b>{escape(str(i))}</b> {escape(str(h))}"
                for i, h in zip(g["incident_id"], g["headline"], strict=True)
            ),
        )
        for day, g in per_day
    ]
    for row in range(1, 5):
        for day, _ in told:
            drawing.line_across(row, day, {"color": ALARM, "width": 1, "dash": "dot"})
    drawing.trace(
        "scatter",
        2,
        x=[day for day, _ in told],
        y=[0] * len(told),
        mode="markers",
        name=say("incident"),
        legend=legend_of(2),
        marker={"symbol": "diamond", "size": 11, "color": ALARM, "line": {"width": 1, "color": OUTLINE}},
        customdata=[[words] for _, words in told],
        hovertemplate="%{x}<br>%{customdata[0]}<extra></extra>",
        cliponaxis=False,
    )


def _lay_out(drawing: Drawing, first_day: date, last_day: date, say: Language) -> None:
    drawing.lay_out(
        height=900,
        margin={"l": 64, "r": 12, "t": 40, "b": 36},
        barmode="overlay",
        bargap=0.35,
        hovermode="closest",
        dragmode="zoom",
        hoverlabel={"align": "left"},
    )
    for row in range(1, 5):
        drawing.legend(
            row,
            orientation="h",
            x=1,
            xanchor="right",
            y=drawing.y_axis(row)["domain"][1] + 0.008,
            yanchor="bottom",
            font={"size": 11},
        )
    for title in drawing.notes[: len(TITLES)]:
        title |= {"x": 0, "xanchor": "left", "font": {"size": 13}}
    drawing.y_axis(1, rangemode="tozero", automargin=False)
    drawing.y_axis(2, rangemode="tozero")
    drawing.y_axis(3, rangemode="tozero", title={"text": say("seconds")})
    drawing.y_axis(4, type="log", title={"text": say("seconds")}, tickvals=_SECONDS)
    each = 1 if (last_day - first_day).days < MOST_DAY_TICKS else 7
    drawing.x_axes(type="date", tickformat=day_format(say), tick0=first_day.isoformat(), dtick=each * 86_400_000)


def backlog_figure(days: Sequence[Mapping[str, Any]], say: Language = ENGLISH) -> go.Figure:
    """Draw how many messages waited and were in flight at most, a point for each row of queue_health."""
    span = [row["day"] for row in days]
    drawing = Drawing.of_columns([1], gap=0)
    for column, name, colour, dash in _BACKLOG:
        _line(drawing, 1, span, pd.Series([row[column] for row in days]), say(name), colour, dash, "%{y:,.0f}")
    drawing.lay_out(
        height=240,
        margin={"l": 64, "r": 12, "t": 8, "b": 36},
        hovermode="closest",
        dragmode="zoom",
        hoverlabel={"align": "left"},
        legend={"orientation": "h", "x": 0, "y": -0.2, "yanchor": "top", "font": {"size": 12}},
    )
    drawing.y_axes(rangemode="tozero")
    drawing.x_axes(type="date", tickformat=day_format(say), dtick=86_400_000 if len(span) < MOST_DAY_TICKS else None)
    return drawing.figure()


_PLOT_PX, _TITLE_PX, _ENTRIES_PX = 150, 46, 44
"""Heights on a phone: a row's plot, its title, with room above, and a legend of two rows below it."""


def _stack(drawing: Drawing) -> None:
    """Put title and legend of each row one below the other, where they have no room side by side."""
    head = _TITLE_PX + _ENTRIES_PX
    whole = 4 * (head + _PLOT_PX)
    drawing.lay_out(height=whole + 64, margin=drawing.layout["margin"] | {"t": 28})
    for row, title in enumerate(drawing.notes[: len(TITLES)], 1):
        top = 1 - (row * head + (row - 1) * _PLOT_PX) / whole
        drawing.y_axis(row, domain=[top - _PLOT_PX / whole, top])
        drawing.legend(row, x=0, xanchor="left", y=top + 2 / whole)
        title |= {"y": top, "yshift": _ENTRIES_PX}
