"""The interactive timeline of the HTML report: plotly.js inside the file, and nothing else may run in it."""

import hashlib
import json
from base64 import b64encode
from typing import Any
from zoneinfo import ZoneInfo

import pandas as pd
import plotly.graph_objects as go
from markupsafe import Markup
from plotly.offline import get_plotlyjs

from forensics.charts.timeline import timeline_figure as draw_timeline
from forensics.report.case import Case

DRAW = """
const spec = JSON.parse(document.getElementById("timeline-data").textContent);
Plotly.newPlot("timeline", spec.data, spec.layout, {displaylogo: false, responsive: true});
"""
"""The report's own script; with plotly.js the only one that its content security policy lets run."""


def timeline_parts(case: Case) -> dict[str, Any]:
    """Return the template's ``figure`` (plain values or None), ``scripts`` and ``policy``."""
    figure = timeline_figure(case)
    scripts = (Markup(get_plotlyjs()), Markup(DRAW)) if figure else ()  # noqa: S704 - ours, no evidence in them
    return {
        "figure": json.loads(str(figure.to_json())) if figure else None,
        "scripts": scripts,
        "policy": policy(scripts),
    }


def policy(scripts: tuple[str, ...]) -> str:
    """Return a content security policy under which exactly these inline scripts run, and nothing is loaded."""
    hashes = [f"'sha256-{b64encode(hashlib.sha256(s.encode()).digest()).decode()}'" for s in scripts]
    allowed = f"; script-src {' '.join(hashes)}" if hashes else ""
    return f"default-src 'none'; style-src 'unsafe-inline'; img-src data: blob:{allowed}"


def timeline_figure(case: Case) -> go.Figure | None:
    """Return the incident's timeline in UTC; None if the logs name no message to draw."""
    if not any(row["at"] for row in case.timeline):
        return None
    return draw_timeline(
        pd.DataFrame(case.timeline),
        ZoneInfo("UTC"),
        function_timeout_s=case.incident["function_timeout_s"],
        visibility_timeout_s=case.incident["visibility_timeout_s"],
    )
