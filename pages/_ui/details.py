"""The two tables below a timeline: deliveries, and the evidence behind every bar and mark."""

from datetime import timedelta
from typing import Any

import streamlit as st

from forensics.tables.evidence import LOG_EVENTS
from forensics.tables.findings import DELIVERIES
from pages._ui.shell import Page
from pages._ui.words import ENDS, EVENTS, count, plain

MOST_ROWS = 5000
_REACH = timedelta(hours=1)
"""How far outside an incident's bars the lines behind them are looked for first."""


def tables(case: dict[str, Any], page: Page, timeline: Any, chosen: list[str]) -> None:
    """Show the deliveries and the evidence of the chosen messages, or of all that the chart shows."""
    if chosen:
        timeline = timeline[timeline["message_id"].isin(chosen) | timeline["item_id"].isin(chosen)]
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(plain(f"Only {_name(chosen)}."), width="content")
            if st.button("Clear", icon=":material/close:", type="tertiary", help="Show all messages again"):
                clear(case)
        if timeline.empty:
            st.info("No message of that id is in this incident.", icon=":material/search_off:")
    items = tuple(sorted(timeline["item_id"].unique()))
    left, right = st.columns([6, 7], gap="medium")
    with left:
        st.subheader("Deliveries", anchor="deliveries")
        deliveries(case, page, items)
    with right:
        st.subheader("Evidence", anchor="evidence")
        evidence(page, timeline)


def clear(case: dict[str, Any]) -> None:
    """Forget the chosen messages: in the link, in the memory of the click, and in the chart."""
    st.query_params.pop("msg", None)
    st.session_state.pop(f"clicked-{case['incident_id']}", None)
    turn = f"turn-{case['incident_id']}"
    st.session_state[turn] = st.session_state.get(turn, 0) + 1
    st.rerun(scope="fragment")


def _name(chosen: list[str]) -> str:
    return f"message {chosen[0]}" if len(chosen) == 1 else count(len(chosen), "message")


def deliveries(case: dict[str, Any], page: Page, items: tuple[str, ...]) -> None:
    """Show one row per delivery of these items."""
    rows = (
        page.board.records(DELIVERIES, ("queue_arn", "==", case["queue_arn"]), ("item_id", "in", items))
        if items
        else []
    )
    rows = sorted(rows, key=lambda d: (d["item_id"], d["delivery_index"]))
    clock = page.clock
    st.dataframe(
        [
            {
                "Message": d["message_id"] or d["item_id"],
                "Receive #": d["receive_count"],
                "Consumer": consumer(d),
                "Received": clock.time(d["received_at"]),
                "Hidden until": clock.time(d["hidden_until_at"]),
                "Ended by": ENDS.get(d["ended_by"], d["ended_by"]),
                "Work done": f"{d['effect']} ({d['basis']})",
            }
            for d in rows[:MOST_ROWS]
        ],
        hide_index=True,
        key="deliveries",
        height=420 if len(rows) > 10 else "auto",
        column_config={
            "Message": st.column_config.TextColumn(width=110),
            "Receive #": st.column_config.NumberColumn(
                width=70, help="SQS's receive count; empty where it was not logged."
            ),
            "Received": st.column_config.TextColumn(help=f"When SQS handed it out, {clock.label()}."),
            "Work done": st.column_config.TextColumn(help="Was the work done in this delivery, and what shows it."),
        },
        alt="Deliveries, one row each",
    )
    if len(rows) > MOST_ROWS:
        st.caption(f"The first {MOST_ROWS:,} of {len(rows):,} deliveries.")


def consumer(delivery: dict[str, Any]) -> str:
    """Name who handled it: function and request id, or the worker's stream."""
    if not delivery["is_seen"]:
        return "not seen"
    if delivery["request_id"]:
        return f"{delivery['function_name'] or delivery['log_group']} {delivery['request_id']}"
    return delivery["log_stream"] or delivery["log_group"] or "unknown"


def evidence(page: Page, timeline: Any) -> None:
    """Show one row per bar and mark with the log line that proves it."""
    marks = timeline.sort_values(["at", "item_id", "kind"], kind="stable")
    total = len(marks)
    marks = marks.head(MOST_ROWS)
    lines = log_lines(page, marks)
    clock = page.clock
    st.dataframe(
        [
            {
                "Time": clock.time(None if m["at"] is None else m["at"]),
                "Message": m["message_id"] or m["item_id"],
                "Event": EVENTS.get(m["kind"], m["kind"]),
                "Receive #": m["receive_count"],
                "Source": m["source"],
                "Line": line_of(m, lines),
            }
            for m in marks.to_dict("records")
        ],
        hide_index=True,
        key="evidence",
        height=420 if total > 10 else "auto",
        column_config={
            "Message": st.column_config.TextColumn(width=110),
            "Receive #": st.column_config.NumberColumn(width=70),
            "Source": st.column_config.TextColumn(
                width=120, help="Log stream and request id, or derived from other rows."
            ),
            "Line": st.column_config.TextColumn(
                width="large", help="The log line, word for word but for receipt handles."
            ),
        },
        alt="Evidence, one row per bar and mark",
    )
    if total > MOST_ROWS:
        st.caption(f"The first {MOST_ROWS:,} of {total:,} events.")


def log_lines(page: Page, marks: Any) -> dict[str, dict[str, Any]]:
    """Return the cited log events by evidence id; they are looked for near the marks' times."""
    ids = tuple(
        sorted({i for cited in marks["evidence_ids"] for i in (() if cited is None else cited) if i.startswith("log:")})
    )
    if not ids:
        return {}
    times = [t for column in ("at", "until_at") for t in marks[column].dropna()]
    rows = page.board.records(
        LOG_EVENTS,
        ("logged_at", ">=", min(times).to_pydatetime() - _REACH),
        ("logged_at", "<=", max(times).to_pydatetime() + _REACH),
        ("evidence_id", "in", ids),
        columns=("evidence_id", "logged_at", "line"),
    )
    return {row["evidence_id"]: row for row in rows}


def line_of(mark: dict[str, Any], lines: dict[str, dict[str, Any]]) -> str:
    """Return the cited line nearest in time to the mark."""
    cited = [lines[i] for i in (mark["evidence_ids"] if mark["evidence_ids"] is not None else ()) if i in lines]
    if not cited:
        return ""
    return min(cited, key=lambda row: (abs(row["logged_at"] - mark["at"]), row["evidence_id"]))["line"].strip()
