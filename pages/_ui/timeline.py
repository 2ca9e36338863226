"""The timeline with its tables: one fragment, so that a click redraws nothing else."""

from typing import Any

import streamlit as st

from forensics.charts import timeline_figure
from forensics.tables.findings import MESSAGES, TIMELINE
from pages._ui import details
from pages._ui.shell import Page

LANES_PER_PAGE = 40
CONFIG = {"displaylogo": False, "modeBarButtonsToRemove": ["lasso2d", "autoScale2d"], "doubleClick": "reset"}


@st.fragment
def timeline_and_details(case: dict[str, Any], page: Page) -> None:
    """Show the chart, and below it the deliveries and the evidence of what was clicked."""
    timeline = page.board.rows(TIMELINE, ("incident_id", "==", case["incident_id"]))
    figure = timeline_figure(
        timeline,
        page.clock.zone,
        labels=_labels(case, page),
        function_timeout_s=case["function_timeout_s"],
        visibility_timeout_s=case["visibility_timeout_s"],
    )
    turn = st.session_state.get(f"turn-{case['incident_id']}", 0)
    event = st.plotly_chart(
        figure,
        key=f"timeline-{case['incident_id']}-{turn}",
        on_select="rerun",
        selection_mode="points",
        config=CONFIG,
        alt=f"{case['headline']}. {case['cause_sentence']}",
    )
    chosen = _selected(event, case)
    details.tables(case, page, timeline, chosen)


def _labels(case: dict[str, Any], page: Page) -> dict[str, str]:
    """Name a lane by its business key where the message has exactly one."""
    rows = page.board.records(
        MESSAGES, ("incident_id", "==", case["incident_id"]), columns=("item_id", "business_keys")
    )
    return {r["item_id"]: r["business_keys"][0][:14] for r in rows if len(r["business_keys"] or []) == 1}


def _selected(event: Any, case: dict[str, Any]) -> list[str]:
    """Return the message ids that a click or the link chose; a new click is written into the link."""
    clicked = list(dict.fromkeys(str(p["customdata"][0]) for p in event["selection"]["points"] if p.get("customdata")))
    memory = f"clicked-{case['incident_id']}"
    if clicked != st.session_state.get(memory, []):
        st.session_state[memory] = clicked
        _write(clicked)
    return st.query_params.get_all("msg")


def _write(chosen: list[str]) -> None:
    if chosen:
        st.query_params["msg"] = chosen
    else:
        st.query_params.pop("msg", None)
