"""What bars and marks of a timeline say when pointed at, and what a click on them carries."""

from dataclasses import dataclass
from functools import cache
from html import escape
from typing import Any
from zoneinfo import ZoneInfo

import pandas as pd
import plotly.graph_objects as go

from forensics.charts.lanes import BESIDE
from forensics.charts.palette import ALARM
from forensics.charts.words import clock
from forensics.language import ENGLISH, Language

Line = tuple[str, list[str]]
"""A line of a hover text, with a place for each of its values, and those values."""
_VALUE = "\0"
_READ = (
    "mark",
    "item_id",
    "delivery_index",
    "kind",
    "together",
    "label",
    "source",
    "who",
    "message_id",
    "receive_count",
)
"""What is read of a row; to make dicts of whole rows took a fifth of a chart's time."""


@dataclass(frozen=True)
class Hover:
    """What bars and marks say when pointed at; ``begin`` is the first receive, in microseconds."""

    zone: ZoneInfo
    begin: int
    keys: dict[str, str]
    say: Language = ENGLISH

    def of(
        self, rows: pd.DataFrame, at: pd.Series, words: str, until: pd.Series | None = None
    ) -> tuple[list[list[str]], str | list[str]]:
        """Return per point what it carries, its name by ``mark_key`` first, and the template that makes its text of that.

        What all points say alike stands in the template, once: thousands of points would say it thousands of times.
        """
        ends = [None] * len(rows) if until is None else list(until)
        words = self.say.maybe(words)
        carried, templates = [], []
        columns = [name for name in _READ if name in rows]
        for values, start, end in zip(
            zip(*(rows[name].tolist() for name in columns), strict=True), at, ends, strict=True
        ):
            row = dict(zip(columns, values, strict=True))
            name = row.get("mark") or mark_key(row["item_id"], row["delivery_index"], row["kind"], int(start))
            lines = self._lines(row, int(start), end, words)
            carried.append([str(name), *(value for _, values in lines for value in values)])
            templates.append(_template(tuple(line for line, _ in lines)))
        return carried, templates[0] if len(set(templates)) == 1 else templates

    def _lines(self, row: dict[str, Any], start: int, end: int | None, words: str) -> list[Line]:
        lines = self._who(row)
        together = self.say(", {n} times from here", n=int(row["together"])) if row.get("together", 1) > 1 else ""
        lines.append((f"{words}{_VALUE}", [together]) if together else (words, []))
        offset = start - self.begin
        when = f"{clock(start, self.zone)} (T{'+' if offset >= 0 else '−'}{self.say.span(abs(offset) / 1000)})"
        if end is not None:
            when = f"{clock(start, self.zone)} → {clock(end, self.zone)} ({self.say.span((end - start) / 1000)})"
        lines.append((_VALUE, [when]))
        label = row["label"]
        if label and not label.startswith(("in flight", "handling", row["kind"])):
            lines.append((_VALUE, [escape(self.say.sentence(str(label)))]))
        if row["source"]:
            parts = escape(self.say.place(str(row["source"]))).split(" ", 1)
            lines.append((f"<i>{'<br>'.join([_VALUE] * len(parts))}</i>", parts))
        return lines

    def _who(self, row: dict[str, Any]) -> list[Line]:
        if row["kind"] in ("change", BESIDE):
            return [(f"<b>{self.say('Settings') if row['kind'] == 'change' else self.say('Queue')}</b>", [])]
        who = escape(str(row.get("who") or row["message_id"] or row["item_id"]))
        count = row["receive_count"]
        received = [] if count is None or pd.isna(count) else [self.say("receive #{n}", n=int(count))]
        after = f" · {_VALUE}" if received else ""
        if key := self.keys.get(row["item_id"]):
            return [(f"<b>{_VALUE}</b>", [escape(key)]), (f"{_VALUE}{after}", [who, *received])]
        return [(f"<b>{_VALUE}</b>{after}", [who, *received])]


@cache
def _template(lines: tuple[str, ...]) -> str:
    """Number the places of values in the lines of a hover text; place 0 of what a point carries is its name."""
    parts = "<br>".join(lines).split(_VALUE)
    return (
        "".join(f"{part}%{{customdata[{n}]}}" for n, part in enumerate(parts[:-1], 1)) + f"{parts[-1]}<extra></extra>"
    )


def mark_key(item_id: str, delivery_index: int, kind: str, at_us: int) -> str:
    """Name a bar or mark of an incident: what a click on it and a link to it carry."""
    return f"{kind}.{at_us}.{int(delivery_index)}.{item_id}"


def item_of(mark: str) -> str:
    """Return the item id in the name of a bar or mark; empty where it is no such name.

    >>> item_of(mark_key("a.b", 2, "repeat", 1794889085000000))
    'a.b'
    """
    parts = mark.split(".", 3)
    return parts[3] if len(parts) == 4 and parts[1].isdigit() and parts[2].isdigit() else ""


def ringed(figure: go.Figure, mark: str) -> go.Figure:
    """Return a copy of a figure with a ring around the bar or mark of that name; as it is where it has none."""
    for trace in figure.data:
        for n, custom in enumerate(trace.customdata if trace.customdata is not None else ()):
            if custom[0] == mark:
                is_bar = trace.type == "bar"
                ring = go.Scatter(
                    x=[(trace.base if is_bar else trace.x)[n]],
                    y=[trace.y[n]],
                    mode="markers",
                    marker={"symbol": "circle-open", "size": 30, "color": ALARM, "line": {"width": 3}},
                    name="ring",
                    showlegend=False,
                    hoverinfo="skip",
                    cliponaxis=False,
                    xaxis=trace.xaxis,
                    yaxis=trace.yaxis,
                )
                return go.Figure(figure).add_trace(ring)
    return figure
