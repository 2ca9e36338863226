"""When a fault came back: its incidents over time."""

from collections.abc import Sequence
from datetime import datetime

import plotly.graph_objects as go

from forensics.charts.palette import ALARM

HEIGHT_PX = 170


def fault_times(starts: Sequence[datetime], counts: Sequence[int], zone: str) -> go.Figure:
    """Draw how many incidents began in each stretch of time; ``starts`` are wall-clock times of ``zone``."""
    figure = go.Figure(
        go.Bar(x=list(starts), y=list(counts), marker_color=ALARM, hovertemplate="%{x}: %{y} incidents<extra></extra>")
    )
    figure.update_layout(
        height=HEIGHT_PX,
        margin={"l": 8, "r": 8, "t": 8, "b": 40},
        bargap=0.15,
        xaxis={"title": f"began ({zone})"},
        yaxis={"title": "incidents", "rangemode": "tozero", "dtick": max(1, -(-max(counts) // 3)), "automargin": True},
    )
    return figure
