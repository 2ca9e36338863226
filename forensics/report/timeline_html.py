"""The interactive timeline of the HTML report: plotly.js inside the file, and nothing else may run in it."""

import hashlib
import json
from base64 import b64encode
from functools import cache
from typing import Any
from zoneinfo import ZoneInfo

import pandas as pd
import plotly.graph_objects as go
from markupsafe import Markup
from plotly.offline import get_plotlyjs

from forensics.charts import consumers_figure, overview_figure
from forensics.charts import timeline_figure as timeline_of_messages
from forensics.charts.consumers import consumer_lanes
from forensics.charts.groups import with_groups
from forensics.charts.lanes import key_labels
from forensics.language import ENGLISH, Language
from forensics.report.case import Case
from forensics.sentence import counted, marked, said

MOST_MESSAGES = 200
MOST_DELIVERIES = 3000
_CLEAR, _GRID = "rgba(0, 0, 0, 0)", "rgba(128, 128, 128, 0.25)"
DRAW = """
const spec = JSON.parse(document.getElementById("timeline-data").textContent);
Plotly.newPlot("timeline", spec.data, spec.layout, {displaylogo: false, responsive: true});
"""
"""What draws it; beside plotly.js and UNFOLD the only script that the report's content security policy lets run."""
UNFOLD = """
function unfold() {
  const row = location.hash.startsWith("#E") && document.getElementById(location.hash.slice(1));
  const folded = row && row.closest("details:not([open])");
  if (folded) { folded.open = true; row.scrollIntoView(); }
}
addEventListener("hashchange", unfold);
unfold();
"""
"""Opens the folded rows that a link leads to, in browsers that do not by themselves."""


def timeline_parts(case: Case, language: Language) -> dict[str, Any]:
    """Return the template's ``figure`` (plain values or None), ``lanes``, ``scripts`` and ``policy``."""
    drawn = timeline_figure(case, language)
    if drawn is None:
        return {"figure": None, "lanes": "", "scripts": (), "policy": policy(())}
    figure, lanes = drawn
    figure.layout.template = None
    plain = json.loads(str(figure.to_json()))
    plain["layout"] = _on_page(plain["layout"])
    return {"figure": plain, "lanes": lanes} | _scripts()


def _on_page(layout: dict[str, Any]) -> dict[str, Any]:
    """Let the page be seen through the figure, white or dark; its words take their colour from there.

    In plain values: Plotly takes as long to look through its template as to check all that is drawn.
    """
    grid = {"gridcolor": _GRID, "zerolinecolor": _GRID}
    axes = [name for name in dict.fromkeys((*layout, "xaxis", "yaxis")) if name.startswith(("xaxis", "yaxis"))]
    return {
        **layout,
        **{name: layout.get(name, {}) | grid for name in axes},
        "template": _template(),
        "paper_bgcolor": _CLEAR,
        "plot_bgcolor": _CLEAR,
        "legend": layout.get("legend", {}) | {"bgcolor": _CLEAR},
    }


@cache
def _template() -> dict[str, Any]:
    white: dict[str, Any] = json.loads(str(go.Figure(layout_template="plotly_white").to_json()))
    return dict(white["layout"]["template"])


@cache
def _scripts() -> dict[str, Any]:
    """Return ``scripts`` and ``policy``: plotly.js is five million characters, and the same for every report."""
    scripts = (Markup(UNFOLD), Markup(get_plotlyjs()), Markup(DRAW))  # noqa: S704 - ours, no evidence in them
    return {"scripts": scripts, "policy": policy(scripts)}


def policy(scripts: tuple[str, ...]) -> str:
    """Return a content security policy under which exactly these inline scripts run, and nothing is loaded."""
    hashes = [f"'sha256-{b64encode(hashlib.sha256(s.encode()).digest()).decode()}'" for s in scripts]
    allowed = f"; script-src {' '.join(hashes)}" if hashes else ""
    return f"default-src 'none'; style-src 'unsafe-inline'; img-src data: blob:{allowed}"


def timeline_figure(case: Case, say: Language = ENGLISH) -> tuple[go.Figure, str] | None:
    """Return the incident's timeline in UTC and what its lanes are; None if the logs name no message to draw.

    A lane per message up to MOST_MESSAGES, a lane per consumer up to MOST_DELIVERIES, an overview above.
    """
    if not any(row["at"] for row in case.timeline):
        return None
    rows, zone = timeline_frame(case), ZoneInfo("UTC")
    more: dict[str, Any] = {
        "function_timeout_s": case.incident["function_timeout_s"],
        "visibility_timeout_s": case.incident["visibility_timeout_s"],
        "say": say,
    }
    messages, deliveries = rows["item_id"].nunique(), int((rows["kind"] == "in_flight").sum())
    if messages <= MOST_MESSAGES:
        rows, groups = with_groups(rows, case.blocked, say)
        return timeline_of_messages(rows, zone, labels=lane_labels(case) | groups, **more), "One lane per message."
    of = said(
        "{messages} in {deliveries}",
        messages=counted(messages, "message"),
        deliveries=counted(deliveries, "delivery", "deliveries"),
    )
    if deliveries <= MOST_DELIVERIES:
        return consumers_figure(consumer_lanes(rows), zone, **more), said(
            "{of}: one lane per consumer, one bar per run.", of=of
        )
    return overview_figure(rows, zone, say), said(
        "{of}: messages in flight per consumer; diamonds mark work done again.", of=of
    )


def timeline_frame(case: Case) -> pd.DataFrame:
    """Return the timeline's rows as a frame, which keeps only texts: each label in the form that every language can say."""
    return pd.DataFrame([{**row, "label": marked(row["label"] or "")} for row in case.timeline])


def lane_labels(case: Case) -> dict[str, str]:
    """Name a lane by its message's business key where it has exactly one."""
    return key_labels(
        {m["item_id"]: m["business_keys"][0] for m in case.messages if len(m["business_keys"] or ()) == 1}
    )
