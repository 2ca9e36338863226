"""The runs of an incident whose logs name no message: all that can be shown of it, each with its log lines."""

from typing import Any

import streamlit as st

from forensics.tables.findings import INVOCATIONS
from pages._ui import lines
from pages._ui.said import count_text as count
from pages._ui.said import say, term
from pages._ui.shell import Page
from pages._ui.tables import data_table

FAILED = {"timeout": "function timeout", "error": "error", "crash": "crash"}
MOST_RUNS = 1000


def failed_runs(case: dict[str, Any], page: Page) -> None:
    """Show the runs that failed inside the incident, and the lines of the chosen one."""
    found = page.board.records(
        INVOCATIONS,
        ("function_name", "in", tuple(case["functions"] or ())),
        ("started_at", ">=", case["started_at"]),
        ("started_at", "<=", case["ended_at"]),
        ("end_status", "in", tuple(FAILED)),
    )
    st.info(
        say(
            "No line names a message, so there is no lane to draw. The count is an upper bound: every failed run "
            "with a full batch."
        )
        if case["messages_at_most"] is not None
        else say("No line names a message, so there is no lane to draw, and nothing tells how many a run was given."),
        icon=":material/timeline:",
    )
    if not found:
        return
    st.subheader(say("Failed runs"), anchor="runs")
    runs = sorted(found, key=lambda r: (r["started_at"], r["invocation_id"]))[:MOST_RUNS]
    time, _ = page.clock.fitting(r["started_at"] for r in runs)
    event = data_table(
        [
            {
                "Started": time(r["started_at"]),
                "Ended": time(r["ended_at"]),
                "How": term(FAILED[r["end_status"]]),
                "Function": r["function_name"],
                "Request id": r["request_id"],
                "Log stream": r["log_stream"],
            }
            for r in runs
        ],
        hide_index=True,
        key="runs",
        placeholder="–",
        on_select="rerun",
        selection_mode=["single-row", "single-cell"],
        height=318 if len(runs) > 10 else "auto",
        column_config={
            "Started": st.column_config.TextColumn(help=say("Times in {zone}.", zone=page.clock.label())),
            "Request id": st.column_config.TextColumn(width=290),
        },
        alt=say("Failed runs, one row each"),
    )
    if len(found) > MOST_RUNS:
        st.caption(say("The first {shown} of {run}.", shown=MOST_RUNS, run=count(len(found), "failed run")))
    picked = [*event["selection"]["rows"], *(row for row, _ in event["selection"]["cells"])]
    run = runs[picked[0]] if picked and picked[0] < len(runs) else runs[0]
    st.caption(say("Its log lines; choose a run to see those of another.") if len(runs) > 1 else say("Its log lines."))
    lines.lines_of(run["evidence_ids"], run["started_at"], run["ended_at"], page)
