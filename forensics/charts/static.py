"""The timeline as an SVG of its own: for print, for mail, and where no script may run."""

from collections.abc import Callable
from html import escape
from zoneinfo import ZoneInfo

import pandas as pd

from forensics.charts.lanes import Episode, LaneModel, lane_model, lane_names, span_of
from forensics.charts.marks import MARKS, BarLook, bar_look
from forensics.charts.timeline import thinned
from forensics.charts.words import clock, zone_label
from forensics.clock import moment
from forensics.printable import printable
from forensics.words import cells, span_text

MOST_LANES = 40
WIDTH, LANE, LEFT, RIGHT, TOP, BOTTOM = 980, 22, 130, 14, 30, 34
_GAP = 30
_LEGEND_ROW = 18
_PER_CHAR = 6.1


def timeline_svg(
    timeline: pd.DataFrame,
    zone: ZoneInfo,
    labels: dict[str, str] | None = None,
    title: str = "",
    say: Callable[[str], str] = str,
) -> tuple[str, int] | None:
    """Draw the first lanes of ``timeline`` rows; returns the SVG and how many lanes there are, None if nothing has a time.

    At most MOST_LANES lanes are drawn; ``say`` gives the legend's words in the reader's language. The same rows give the same text; every value in it is escaped.
    """
    numbers = sorted(timeline[timeline["at"].notna()]["lane"].unique())
    model = lane_model(timeline[timeline["lane"].isin(numbers[:MOST_LANES])])
    if not model.episodes:
        return None
    plot = _Plot(model, zone)
    parts = [*_patterns(model), *_axis(plot), *_lane_names(plot, labels or {}), *_bars(plot), *_marks(plot)]
    legend, rows = _legend(plot, say)
    height = plot.bottom + BOTTOM + rows * _LEGEND_ROW
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" '
        f'role="img" font-family="sans-serif" font-size="11"><title>{escape(printable(title))}</title>'
        f'<rect width="{WIDTH}" height="{height}" fill="#fff"/>'
    )
    return "\n".join([head, *parts, *legend, "</svg>"]) + "\n", len(numbers)


class _Plot:
    """Where moments and lanes lie in the picture."""

    def __init__(self, model: LaneModel, zone: ZoneInfo) -> None:
        self.model, self.zone = model, zone
        self.bottom = TOP + LANE * len(model.lanes)
        room = WIDTH - LEFT - RIGHT - _GAP * (len(model.episodes) - 1)
        self.columns: list[tuple[float, float, Episode]] = []
        at = float(LEFT)
        for episode in model.episodes:
            self.columns.append((at, room * episode.width, episode))
            at += room * episode.width + _GAP

    def x(self, column: int, us: int) -> float:
        start, width, episode = self.columns[column]
        return round(start + width * (us - episode.start_us) / (episode.end_us - episode.start_us), 1)

    def y(self, lane: float) -> float:
        return round(TOP + LANE * (lane + 0.5), 1)


def _looks(model: LaneModel) -> list[BarLook]:
    looks = {bar_look(kind, ended) for kind, ended in zip(model.bars["kind"], model.bars["ended_by"], strict=True)}
    return sorted(looks, key=lambda look: (-look.share, look.words))


def _pattern_id(look: BarLook) -> str:
    return "p" + "".join(c for c in look.words.lower() if c.isalpha())


def _patterns(model: LaneModel) -> list[str]:
    lines = {
        "/": '<path d="M-2 10 L10 -2" {s}/>',
        "\\": '<path d="M-2 -2 L10 10" {s}/>',
        "x": '<path d="M0 0 L8 8 M8 0 L0 8" {s}/>',
        ".": '<circle cx="4" cy="4" r="1" fill="{c}"/>',
    }
    found = []
    for look in _looks(model):
        if look.pattern:
            inside = lines[look.pattern].format(s=f'stroke="{look.line}" stroke-opacity=".55" fill="none"', c=look.line)
            found.append(
                f'<pattern id="{_pattern_id(look)}" width="8" height="8" patternUnits="userSpaceOnUse">{inside}</pattern>'
            )
    return ["<defs>", *found, "</defs>"] if found else []


def _axis(plot: _Plot) -> list[str]:
    first, last = map(moment, span_of(plot.model))
    days = " – ".join(dict.fromkeys(f"{at.astimezone(plot.zone):%Y-%m-%d}" for at in (first, last)))
    parts = [f'<text x="{LEFT}" y="14" fill="#555">{days} {escape(zone_label(plot.zone, first))}</text>']
    for n, (start, width, episode) in enumerate(plot.columns):
        parts.append(f'<path d="M{start:.1f} {plot.bottom} h{width:.1f}" stroke="#999" fill="none"/>')
        parts.append(_text(start, plot.bottom + 14, clock(episode.start_us, plot.zone)))
        if width > 150:
            parts.append(_text(start + width, plot.bottom + 14, clock(episode.end_us, plot.zone), "end"))
        if n:
            gap = span_text((episode.start_us - plot.columns[n - 1][2].end_us) / 1000)
            parts.append(_text(start - _GAP / 2, plot.bottom + 28, f"⋯ {gap} ⋯", "middle"))
    return parts


def _text(x: float, y: float, words: str, anchor: str = "start", colour: str = "#555") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{colour}">{escape(printable(words))}</text>'


def _lane_names(plot: _Plot, labels: dict[str, str]) -> list[str]:
    lanes = plot.model.lanes
    names = lane_names([str(item) for item in lanes["item_id"]], labels)
    return [_text(LEFT - 8, plot.y(n) + 4, name[:20], "end", "#222") for n, name in enumerate(names)]


def _bars(plot: _Plot) -> list[str]:
    bars = plot.model.bars
    order = {look.words: n for n, look in enumerate(_looks(plot.model))}
    drawn: list[tuple[int, str]] = []
    asked = ("kind", "ended_by", "episode", "start_us", "end_us", "y", "height")
    for kind, ended, episode, start_us, end_us, y, share in zip(*(bars[name] for name in asked), strict=True):
        look = bar_look(kind, ended)
        x, end = plot.x(episode, start_us), plot.x(episode, end_us)
        height = LANE * share * look.share
        box = f'x="{x}" y="{plot.y(y) - height / 2:.1f}" width="{max(end - x, 0.8):.1f}" height="{height:.1f}"'
        drawn.append((order[look.words], f'<rect {box} fill="{look.fill}" stroke="{look.line}"/>'))
        if look.pattern:
            drawn.append((order[look.words], f'<rect {box} fill="url(#{_pattern_id(look)})"/>'))
    return [part for _, part in sorted(drawn, key=lambda pair: pair[0])]


def _marks(plot: _Plot) -> list[str]:
    marks = thinned(plot.model)
    rows = list(zip(*(marks[name] for name in ("kind", "episode", "at_us", "y")), strict=True))
    return [
        _shape(look.symbol, plot.x(episode, at_us), plot.y(y), look.colour)
        for kind, look in MARKS.items()
        for mine, episode, at_us, y in rows
        if mine == kind
    ]


_SHAPES = {
    "circle": "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0z",
    "circle-open-dot": "M-4.5 0a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0 -9 0zM-1 0a1 1 0 1 0 2 0a1 1 0 1 0 -2 0z",
    "diamond": "M0 -6L6 0L0 6L-6 0z",
    "x": "M-5 -3L-3 -5L0 -2L3 -5L5 -3L2 0L5 3L3 5L0 2L-3 5L-5 3L-2 0z",
    "x-open": "M-4.5 -4.5L4.5 4.5M4.5 -4.5L-4.5 4.5",
    "cross-open": "M0 -5.5V5.5M-5.5 0H5.5",
    "triangle-down": "M-5 -4H5L0 5z",
    "triangle-up": "M-5 4H5L0 -5z",
    "square": "M-4 -4H4V4H-4z",
    "line-ns-open": "M0 -7V7",
}
_OPEN = {"x-open", "cross-open", "line-ns-open", "circle-open-dot"}


def _shape(symbol: str, x: float, y: float, colour: str) -> str:
    look = f'fill="none" stroke="{colour}" stroke-width="1.8"' if symbol in _OPEN else f'fill="{colour}" stroke="#fff"'
    return f'<path transform="translate({x:.1f} {y:.1f})" d="{_SHAPES[symbol]}" {look}/>'


def _legend(plot: _Plot, say: Callable[[str], str]) -> tuple[list[str], int]:
    kinds = set(plot.model.marks["kind"])
    entries: list[tuple[str, str]] = []
    for look in _looks(plot.model):
        fill = f'<rect width="14" height="10" y="-8" fill="{look.fill}" stroke="{look.line}"/>'
        hatch = f'<rect width="14" height="10" y="-8" fill="url(#{_pattern_id(look)})"/>' if look.pattern else ""
        entries.append((fill + hatch, look.words))
    entries += [(_shape(m.symbol, 7, -3, m.colour), m.words) for kind, m in MARKS.items() if kind in kinds]
    parts, x, row = [], float(LEFT), 0
    for swatch, words in entries:
        words = say(words)
        width = 34 + _PER_CHAR * cells(words)
        if x + width > WIDTH:
            x, row = float(LEFT), row + 1
        y = plot.bottom + BOTTOM + 12 + row * _LEGEND_ROW
        parts.append(f'<g transform="translate({x:.1f} {y})">{swatch}{_text(20, 0, words)}</g>')
        x += width
    return parts, row + 2
