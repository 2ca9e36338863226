"""A chart in plain values until it is whole: Plotly takes ten times as long to check its own figure at every change."""

from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go

Values = dict[str, Any]


class Drawing:
    """Traces and a layout, as Plotly's JSON has them; ``figure`` checks them once and raises ValueError as Plotly does."""

    def __init__(self) -> None:
        self.traces: list[Values] = []
        self.layout: Values = {}
        self.notes: list[Values] = []
        self.shapes: list[Values] = []
        self._panels = 0

    @classmethod
    def of_columns(cls, widths: Sequence[float], gap: float) -> "Drawing":
        """Return one of panels side by side, as wide as their shares; they share a y axis, and ``gap`` lies between them."""
        drawing, room, left = cls(), 1 - gap * (len(widths) - 1), 0.0
        drawing._panels = len(widths)
        for n, width in enumerate(widths, 1):
            wide = room * width / sum(widths)
            drawing.x_axis(n, anchor=_axis("y", n), domain=[left, min(left + wide, 1.0)])
            shared = {"matches": "y", "showticklabels": False} if n > 1 else {}
            drawing.y_axis(n, anchor=_axis("x", n), domain=[0.0, 1.0], **shared)
            left += wide + gap
        return drawing

    @classmethod
    def of_rows(cls, titles: Sequence[str], gap: float) -> "Drawing":
        """Return one of panels one below the other, each with its title; they share an x axis, which the last one tells."""
        drawing, count = cls(), len(titles)
        drawing._panels = count
        high = (1 - gap * (count - 1)) / count
        for n, title in enumerate(titles, 1):
            low = (count - n) * (high + gap)
            top = min(low + high, 1.0)
            shared = {"matches": _axis("x", count), "showticklabels": False} if n < count else {}
            drawing.x_axis(n, anchor=_axis("y", n), domain=[0.0, 1.0], **shared)
            drawing.y_axis(n, anchor=_axis("x", n), domain=[low, top])
            drawing.note(title, x=0.5, xref="paper", xanchor="center", y=top, yref="paper", yanchor="bottom")
        return drawing

    def trace(self, kind: str, panel: int | None = None, **values: Any) -> None:
        """Add a trace of one of Plotly's types to a panel, counted from 1; None where there are none."""
        axes = {"xaxis": _axis("x", panel), "yaxis": _axis("y", panel)} if panel else {}
        self.traces.append({"type": kind, **axes, **values})

    def note(self, text: str, size: int | None = None, **values: Any) -> None:
        """Add words without an arrow, in pixels of ``size`` where it is given; ``text`` is Plotly's markup."""
        font = {"font": {"size": size}} if size else {}
        self.notes.append({"text": text, "showarrow": False, **font, **values})

    def line_across(self, panel: int, at: Any, look: Values) -> None:
        """Draw a line up and down the whole of a panel where its x axis is at ``at``."""
        axes = {"xref": _axis("x", panel), "yref": f"{_axis('y', panel)} domain"}
        self.shapes.append({"type": "line", "x0": at, "x1": at, "y0": 0, "y1": 1, "line": look, **axes})

    def line_over_all(self, panel: int, at: Any, look: Values) -> None:
        """Draw a line up and down the whole chart where the x axis of a panel is at ``at``."""
        axes = {"xref": _axis("x", panel), "yref": "paper"}
        self.shapes.append({"type": "line", "x0": at, "x1": at, "y0": 0, "y1": 1, "line": look, **axes})

    def stem(self, panel: int, at: Any, low_px: int, high_px: int, look: Values) -> None:
        """Draw a line above the chart where the x axis of a panel is at ``at``, from so many pixels above it to so many."""
        axes = {"xref": _axis("x", panel), "yref": "paper", "ysizemode": "pixel", "yanchor": 1}
        self.shapes.append({"type": "line", "x0": at, "x1": at, "y0": low_px, "y1": high_px, "line": look, **axes})

    def x_axis(self, panel: int = 1, **values: Any) -> Values:
        """Set values of a panel's x axis, and return all of them."""
        return self._set("xaxis", panel, values)

    def y_axis(self, panel: int = 1, **values: Any) -> Values:
        """Set values of a panel's y axis, and return all of them."""
        return self._set("yaxis", panel, values)

    def x_axes(self, **values: Any) -> None:
        """Set values of every panel's x axis."""
        for panel in range(1, (self._panels or 1) + 1):
            self.x_axis(panel, **values)

    def y_axes(self, **values: Any) -> None:
        """Set values of every panel's y axis."""
        for panel in range(1, (self._panels or 1) + 1):
            self.y_axis(panel, **values)

    def legend(self, panel: int, **values: Any) -> None:
        """Set values of the legend of its own that a panel's traces name with ``legend_of``."""
        self._set("legend", panel, values)

    def lay_out(self, **values: Any) -> None:
        """Set values of the layout; one that is there is replaced."""
        self.layout |= values

    def figure(self) -> go.Figure:
        """Return it as Plotly's own figure."""
        drawn = {"annotations": self.notes, "shapes": self.shapes}
        return go.Figure({"data": self.traces, "layout": self.layout | {k: v for k, v in drawn.items() if v}})

    def _set(self, name: str, panel: int, values: Values) -> Values:
        there: Values = self.layout.setdefault(_axis(name, panel), {})
        there |= values
        return there


def legend_of(panel: int) -> str:
    """Name a panel's own legend.

    >>> legend_of(1), legend_of(2)
    ('legend', 'legend2')
    """
    return _axis("legend", panel)


def _axis(name: str, panel: int) -> str:
    """Name the axis, or the legend, of a panel as Plotly does: the first has no number."""
    return name if panel == 1 else f"{name}{panel}"
