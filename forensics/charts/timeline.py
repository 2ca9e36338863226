"""The incident's timeline: a lane per message, a column per episode."""

from collections.abc import Sequence
from html import escape
from typing import Any
from zoneinfo import ZoneInfo

import pandas as pd
import plotly.graph_objects as go

from forensics.charts.drawing import Drawing
from forensics.charts.hover import Hover
from forensics.charts.lanes import BESIDE, LANE_FILL, Episode, LaneModel, lane_model, lane_names, span_of
from forensics.charts.lines import NAME_ROW, RIGHT, lines_over_all, words_share
from forensics.charts.marks import MARKS, BarLook, bar_look
from forensics.charts.palette import OUTLINE
from forensics.charts.words import day_format, local, zone_label
from forensics.clock import moment
from forensics.language import ENGLISH, Language

MOST_LABELS = 40
LEAST_LANES = 3
_TOP, _BOTTOM = 62, 128
"""Pixels above and below the lanes; above stand two rows of names, and over them Plotly's toolbar of 28 pixels."""
_NAME_ROWS = 2
"""Rows of names of lines that the top margin has room for."""
_LEFT, _MOST_LEFT, _PER_CHAR = 72, 164, 7.3
"""Left margin: its least, its most, and pixels per character of the longest label."""
_LEGEND_BELOW, _TICKS_BELOW, _GAP_ROW = 66, 44, 15
"""Pixels between the lanes and the legend: those of tick labels, where they stand below, and a row of gap labels."""
_TIMES, _TIMES_WIDE = 5, 8
"""How many times stand at the axis at most, on a phone and on a desk."""
_WIDE_COLUMN = 0.3
"""The share of the width from which on a column keeps its times to itself, where a phone would draw the last one on the first of the
next; a slimmer one has a time or two, which would be hidden all."""
_TALL, _TICKS_TOP = 16, 42
"""From this many lanes on the times stand above them, where they are seen first, and how many pixels they take."""
CELLS, MOST_TOGETHER = 70, 3
"""Cells of a lane, each about a mark wide, and how many marks of a kind one shows apart."""
FEW_CELLS, MOST_IN_LANE = 10, 40
"""Cells of a lane that has so many marks of a kind that they would be one band: each is one mark with its count."""


def timeline_figure(
    timeline: pd.DataFrame,
    zone: ZoneInfo,
    *,
    cut_gaps: bool = True,
    labels: dict[str, str] | None = None,
    keys: dict[str, str] | None = None,
    function_timeout_s: int | None = None,
    visibility_timeout_s: int | None = None,
    say: Language = ENGLISH,
    is_wide: bool = False,
) -> go.Figure:
    """Draw ``timeline`` rows: when each message was hidden, handled, done, done again, deleted.

    ``labels`` names lanes by item id where something says more than the id, and ``keys`` is the business key that
    stands first on hover; the timeouts label the lines at the kill and at the moment the messages came back, all of them
    that have room. ``is_wide`` where it is not read on a phone: more times stand at its axis.
    ``customdata[0]`` of every bar and mark is what ``mark_key`` names it. An empty frame gives a figure that says so.
    """
    model = lane_model(timeline, cut_gaps=cut_gaps)
    if not model.episodes:
        return empty_figure(say("This incident has no bar or mark with a known time."))
    drawing = _frame(model, zone, labels or {}, say, is_wide)
    hover = Hover(zone, _first_receive(timeline), keys or {}, say)
    shown: set[str] = set()
    for look, of_look in _bar_groups(model.bars):
        _add_bars(drawing, look, of_look, hover, shown)
    drawn = gathered(thinned(model), model.episodes)
    there = set(drawn["kind"])
    for kind, mark in MARKS.items():
        if kind not in there:
            continue
        of_kind = drawn[drawn["kind"] == kind]
        for column, here in of_kind.groupby("episode"):
            carried, template = hover.of(here, here["at_us"], mark.words)
            drawing.trace(
                "scatter",
                int(column) + 1,
                x=local(here["at_us"], zone),
                y=here["y"],
                mode="markers+text" if (here["together"] > 1).any() else "markers",
                text=["" if n == 1 else f"{n:,}×" for n in here["together"]],
                textposition="top center",
                textfont={"size": 12},
                marker={
                    "symbol": mark.symbol,
                    "size": mark.size,
                    "color": mark.colour,
                    "line": {
                        "width": 2 if "open" in mark.symbol else 1,
                        "color": mark.colour if "open" in mark.symbol else OUTLINE,
                    },
                },
                name=say(mark.words),
                legendgroup=mark.words,
                showlegend=mark.words not in shown,
                customdata=carried,
                hovertemplate=template,
                cliponaxis=False,
            )
            shown.add(mark.words)
    above = ticks_above(len(model.lanes))
    rows = lines_over_all(drawing, model, zone, function_timeout_s, visibility_timeout_s, say, above)
    more = NAME_ROW * max(rows - _NAME_ROWS, 0)
    _raise(drawing, more)
    clock_title(drawing, span_of(model), zone, say, above + more)
    return drawing.figure()


def _raise(drawing: Drawing, more_px: int) -> None:
    """Give a chart more room above its lanes."""
    margin = drawing.layout["margin"]
    drawing.lay_out(height=drawing.layout["height"] + more_px, margin=margin | {"t": margin["t"] + more_px})


def thinned(model: LaneModel) -> pd.DataFrame:
    """Leave the end of a run only on the lanes where it stopped a handler.

    A run that is killed ends for every message of its batch; the mark belongs to the one it was handling, and the
    line at the kill says the rest. A run that shows no handler keeps all its marks.
    """
    marks, bars = model.marks, model.bars
    handlers = bars[bars["kind"] == "handling"]
    ends = marks["kind"].isin(["timeout", "error", "crash"])
    stopped = pd.MultiIndex.from_frame(handlers[["consumer", "lane", "until_us"]])
    ending = pd.MultiIndex.from_frame(marks[["consumer", "lane", "at_us"]])
    known = marks["consumer"].isin(set(handlers[handlers["until_us"].isin(marks[ends]["at_us"])]["consumer"]))
    return marks[~ends | ~known | ending.isin(stopped)]


def empty_figure(sentence: str) -> go.Figure:
    """Return a figure that only says why it is empty."""
    drawing = Drawing()
    drawing.note(escape(sentence), x=0.5, y=0.5, xref="paper", yref="paper")
    drawing.lay_out(height=160, xaxis={"visible": False}, yaxis={"visible": False})
    return drawing.figure()


def lane_pixels(lanes: int, sub_lanes: int = 1) -> int:
    """Return the height of one lane; one that holds deliveries beside each other is higher."""
    return (26 if lanes <= 30 else 18) + 12 * (min(sub_lanes, 6) - 1)


def ticks_above(lanes: int) -> int:
    """Return the pixels that tick labels take above the lanes; 0 where they stand below."""
    return _TICKS_TOP if lanes > _TALL else 0


def lay_out(drawing: Drawing, names: Sequence[str], columns: int, sub_lanes: int = 1, gap_rows: int = 1) -> None:
    """Give a lane chart its height, its numeric y axis with at most 40 labels, its margins and its manners.

    ``gap_rows`` is in how many rows the labels of its gaps stand, above the legend.
    """
    count = len(names)
    step = -(-count // MOST_LABELS) if count else 1
    ticks = list(range(0, count, step))
    spare = max(LEAST_LANES - count, 0) / 2
    drawing.y_axes(
        range=[count - 0.4 + spare, -0.6 - spare],
        showgrid=False,
        zeroline=False,
        automargin=False,
        fixedrange=False,
        tickvals=ticks,
        ticktext=[escape(names[i]) for i in ticks],
        tickfont={"family": "Source Code Pro, monospace", "size": 12},
    )
    for column in range(2, columns + 1):
        drawing.y_axis(column, showticklabels=False)
    plot = max(count, LEAST_LANES) * lane_pixels(count, sub_lanes) + 2
    below = _LEGEND_BELOW - (_TICKS_BELOW - _GAP_ROW if ticks_above(count) else 0) + _GAP_ROW * (gap_rows - 1)
    bottom = _BOTTOM - _LEGEND_BELOW + below
    drawing.lay_out(
        height=_TOP + ticks_above(count) + bottom + plot,
        margin={"l": left_margin(names), "r": RIGHT, "t": _TOP + ticks_above(count), "b": bottom},
        hovermode="closest",
        dragmode="zoom",
        barmode="overlay",
        bargap=0,
        legend={
            "orientation": "h",
            "x": 0,
            "xanchor": "left",
            "y": -below / plot,
            "yanchor": "top",
            "maxheight": _BOTTOM - _LEGEND_BELOW,  # on a phone it would else climb over the times
            "font": {"size": 12},
        },
        hoverlabel={"align": "left"},
    )


def left_margin(names: Sequence[str]) -> float:
    """Return the pixels left of the lanes that their names take."""
    return min(max(_LEFT, 16 + _PER_CHAR * max(map(len, names), default=0)), _MOST_LEFT)


def _frame(model: LaneModel, zone: ZoneInfo, labels: dict[str, str], say: Language, is_wide: bool) -> Drawing:
    """Make the columns with their time axes and the labels of the gaps between them."""
    episodes = model.episodes
    drawing = Drawing.of_columns([e.width for e in episodes], gap=0.03)
    for i, episode in enumerate(episodes, 1):
        low, high = local(pd.Series([episode.start_us, episode.end_us]), zone)
        drawing.x_axis(
            i,
            type="date",
            range=[low, high],
            showgrid=False,
            zeroline=False,
            nticks=max(2, round((_TIMES_WIDE if is_wide else _TIMES) * episode.width)),
            tickangle=0,
            ticks="outside",
            ticklabeloverflow="hide past domain" if len(episodes) > 1 and episode.width >= _WIDE_COLUMN else "allow",
            tickformatstops=tick_formats(say),
            side="top" if ticks_above(len(model.lanes)) else "bottom",
        )
    names = lane_names([str(item) for item in model.lanes["item_id"]], labels)
    slimmest = min([LANE_FILL, *model.bars[model.bars["kind"] != BESIDE]["height"], *model.marks["height"]])
    rows = _gap_labels(drawing, episodes, 6 if ticks_above(len(names)) else _TICKS_BELOW, say, left_margin(names))
    lay_out(drawing, names, len(episodes), round(LANE_FILL / slimmest), rows)
    return drawing


def tick_formats(say: Language) -> list[dict[str, Any]]:
    """Return short labels, so that columns fit a phone; the second line is drawn where it changes."""
    day = day_format(say)
    return [
        {"dtickrange": [None, 999], "value": ":%S.%L\n%H:%M"},
        {"dtickrange": [1000, 59_999], "value": ":%S\n%H:%M"},
        {"dtickrange": [60_000, 86_399_999], "value": f"%H:%M\n{day}"},
        {"dtickrange": [86_400_000, None], "value": f"{day}\n%Y"},
    ]


def _gap_labels(drawing: Drawing, episodes: Sequence[Episode], below_px: int, say: Language, margin_px: float) -> int:
    """Say how long each gap is, below the lanes; labels that would lie on one another stand in two rows. Return how many rows."""
    named_to, lowered, rows = -1.0, False, 1
    for i, (left, right) in enumerate(zip(episodes, episodes[1:], strict=False), 1):
        middle = (drawing.x_axis(i)["domain"][1] + drawing.x_axis(i + 1)["domain"][0]) / 2
        words = f"⋯{say.span(_rounded((right.start_us - left.end_us) / 1000))}⋯"
        half = words_share(words, margin_px) / 2
        lowered = not lowered and middle - half < named_to
        named_to, rows = middle + half, max(rows, 1 + lowered)
        drawing.note(
            words,
            12,
            x=middle,
            xref="paper",
            xanchor="center",
            y=0,
            yref="paper",
            yanchor="top",
            yshift=-below_px - _GAP_ROW * lowered,
        )
    return rows


def _rounded(span_ms: float) -> float:
    """Leave fractions of seconds out of a span of minutes: there is little room, and bars and marks tell them."""
    return span_ms if span_ms < 60_000 else round(span_ms / 1000) * 1000


def clock_title(drawing: Drawing, span_us: tuple[int, int], zone: ZoneInfo, say: Language, above_px: int = 0) -> None:
    """Name the time axis: its first and last day, and the zone with its offset; ``above_px`` is what stands below the name."""
    days = say.dates(*(moment(us).astimezone(zone) for us in span_us))
    drawing.note(
        f"{days} · {say('time ({zone})', zone=zone_label(zone, moment(span_us[0])))}",
        12,
        x=0,
        xref="paper",
        xanchor="left",
        y=1,
        yref="paper",
        yanchor="bottom",
        yshift=30 + above_px,
    )


def _bar_groups(bars: pd.DataFrame) -> list[tuple[BarLook, pd.DataFrame]]:
    """Group bars by look, windows first, so that handlers are drawn over them."""
    looks = [bar_look(kind, ended) for kind, ended in zip(bars["kind"], bars["ended_by"], strict=True)]
    order = sorted(set(looks), key=lambda look: (-look.share, look.words))
    which = pd.Series([look.words for look in looks], index=bars.index, dtype=object)
    return [(look, bars[which == look.words]) for look in order]


def _add_bars(drawing: Drawing, look: BarLook, bars: pd.DataFrame, hover: Hover, shown: set[str]) -> None:
    for column, here in bars.groupby("episode"):
        carried, template = hover.of(here, here["at_us"], look.words, here["until_us"])
        drawing.trace(
            "bar",
            int(column) + 1,
            orientation="h",
            base=local(here["start_us"], hover.zone),
            x=(here["end_us"] - here["start_us"]) / 1000,
            y=here["y"],
            width=here["height"] * look.share,
            marker={
                "color": look.fill,
                "line": {"color": look.line, "width": 1.2},
                "pattern": {"shape": look.pattern, "fgcolor": look.ink, "size": 6, "solidity": 0.2}
                if look.pattern
                else None,
            },
            name=hover.say(look.words),
            legendgroup=look.words,
            showlegend=look.words not in shown,
            customdata=carried,
            hovertemplate=template,
        )
        shown.add(look.words)


def gathered(marks: pd.DataFrame, episodes: Sequence[Episode]) -> pd.DataFrame:
    """Draw marks of one kind that would lie on one another as the first of them, with how many there are.

    Adds the column ``together``. Marks lie on one another where more than MOST_TOGETHER fall into one cell of a lane; a lane
    with more than MOST_IN_LANE has FEW_CELLS, whatever falls into one of which is one mark.
    """
    marks = marks.assign(together=1)
    if len(marks) <= MOST_TOGETHER:
        return marks
    is_band = marks.groupby(["kind", "y"])["at_us"].transform("size") > MOST_IN_LANE
    cells = [
        int((FEW_CELLS if band else CELLS) * _share(episodes, column, at))
        for column, at, band in zip(marks["episode"], marks["at_us"], is_band, strict=True)
    ]
    by = [marks["kind"], marks["y"], marks["episode"], pd.Series(cells, index=marks.index)]
    ordered = marks.sort_values("at_us", kind="stable")
    sizes = marks.groupby(by)["at_us"].transform("size")
    first = ~ordered.assign(_cell=pd.Series(cells, index=marks.index)).duplicated(["kind", "y", "episode", "_cell"])
    crowded = sizes > is_band.map({True: 1, False: MOST_TOGETHER})
    return marks.assign(together=sizes.where(crowded, 1))[~crowded | first.reindex(marks.index)]


def _first_receive(timeline: pd.DataFrame) -> int:
    received = timeline[timeline["kind"] == "in_flight"]["at"]
    first = (received if len(received) else timeline["at"]).min()
    return int(first.value // 1000)


def _share(episodes: Sequence[Episode], column: int, us: int) -> float:
    """Return how far to the right a moment is drawn, from 0 to 1."""
    here = episodes[column]
    before = sum(e.width for e in episodes[:column])
    return before + here.width * (us - here.start_us) / (here.end_us - here.start_us)
