"""What bars and marks of a timeline say when pointed at, and what a click on them carries."""

from dataclasses import dataclass
from html import escape
from typing import Any
from zoneinfo import ZoneInfo

import pandas as pd
import plotly.graph_objects as go

from forensics.charts.lanes import BESIDE
from forensics.charts.palette import ALARM
from forensics.charts.words import clock
from forensics.language import ENGLISH, Language

OURS = ("derived", "CloudWatch", "CloudTrail", "snapshot")
"""What a source begins with that is no place in a log but our own words."""


@dataclass(frozen=True)
class Hover:
    """What bars and marks say when pointed at; ``begin`` is the first receive, in microseconds."""

    zone: ZoneInfo
    begin: int
    keys: dict[str, str]
    say: Language = ENGLISH

    def of(self, rows: pd.DataFrame, at: pd.Series, words: str, until: pd.Series | None = None) -> list[list[str]]:
        """Return per point: the message id, the hover text, the consumer, and the mark's key."""
        ends = [None] * len(rows) if until is None else list(until)
        words = self.say.maybe(words)
        return [
            [
                str(row["message_id"] or row["item_id"]),
                "<br>".join(self._lines(row, int(start), end, words)),
                str(row["consumer"] or ""),
                str(row.get("mark") or mark_key(row["item_id"], row["delivery_index"], row["kind"], int(start))),
            ]
            for row, start, end in zip(rows.to_dict("records"), at, ends, strict=True)
        ]

    def _lines(self, row: dict[str, Any], start: int, end: int | None, words: str) -> list[str]:
        count = row["receive_count"]
        received = "" if count is None or pd.isna(count) else " · " + self.say("receive #{n}", n=int(count))
        lines = [self._who(row) + received, words]
        if row.get("together", 1) > 1:
            lines[-1] += self.say(", {n} times from here", n=int(row["together"]))
        offset = start - self.begin
        when = f"{clock(start, self.zone)} (T{'+' if offset >= 0 else '−'}{self.say.span(abs(offset) / 1000)})"
        if end is not None:
            when = f"{clock(start, self.zone)} → {clock(end, self.zone)} ({self.say.span((end - start) / 1000)})"
        lines.append(when)
        label = row["label"]
        if label and not label.startswith(("in flight", "handling", row["kind"])):
            lines.append(escape(self.say.sentence(str(label))))
        if row["source"]:
            source = str(row["source"])
            source = self.say.sentence(source) if source.startswith(OURS) else source
            lines.append(f"<i>{escape(source).replace(' ', '<br>', 1)}</i>")
        return lines

    def _who(self, row: dict[str, Any]) -> str:
        if row["kind"] in ("change", BESIDE):
            return f"<b>{self.say('Settings') if row['kind'] == 'change' else self.say('Queue')}</b>"
        who = escape(str(row.get("who") or row["message_id"] or row["item_id"]))
        key = self.keys.get(row["item_id"])
        return f"<b>{escape(key)}</b><br>{who}" if key else f"<b>{who}</b>"


def mark_key(item_id: str, delivery_index: int, kind: str, at_us: int) -> str:
    """Name a bar or mark of an incident: what a click on it and a link to it carry."""
    return f"{kind}.{at_us}.{int(delivery_index)}.{item_id}"


def ringed(figure: go.Figure, mark: str) -> go.Figure:
    """Return a copy of a figure with a ring around the bar or mark of that name; as it is where it has none."""
    for trace in figure.data:
        for n, custom in enumerate(trace.customdata if trace.customdata is not None else ()):
            if len(custom) > 3 and custom[3] == mark:
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
