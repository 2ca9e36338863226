"""When a fault came back: its incidents over time."""

from collections.abc import Sequence
from datetime import datetime

import plotly.graph_objects as go

from forensics.charts.palette import ALARM
from forensics.charts.timeline import tick_formats
from forensics.language import ENGLISH, Language

HEIGHT_PX = 170


def fault_times(starts: Sequence[datetime], counts: Sequence[int], zone: str, say: Language = ENGLISH) -> go.Figure:
    """Draw how many incidents began in each stretch of time; ``starts`` are wall-clock times of ``zone``."""
    figure = go.Figure(
        go.Bar(
            x=list(starts),
            y=list(counts),
            marker_color=ALARM,
            hovertemplate=f"%{{x}}: {say.count_place('%{y}', 'incidents')}<extra></extra>",
        )
    )
    figure.update_layout(
        height=HEIGHT_PX,
        margin={"l": 8, "r": 8, "t": 8, "b": 40},
        bargap=0.15,
        xaxis={"title": say("began ({zone})", zone=zone), "tickformatstops": tick_formats(say)},
        yaxis={
            "title": say("incidents"),
            "rangemode": "tozero",
            "dtick": max(1, -(-max(counts) // 3)),
            "automargin": True,
        },
    )
    return figure
