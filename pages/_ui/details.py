"""The two tables below a timeline: deliveries, and the evidence behind every bar and mark."""

from datetime import datetime, timedelta
from typing import Any

import streamlit as st

from forensics.charts.lanes import short_names
from forensics.lake.conditions import Condition
from forensics.tables.evidence import LOG_EVENTS
from forensics.tables.findings import DELIVERIES, MESSAGES
from forensics.words import count_text as count
from pages._ui.shell import Page
from pages._ui.words import ENDS, EVENTS, plain

Case = dict[str, Any]
MOST_ROWS = 5000
MOST_CHARS = 600
"""Characters of a log line in a table cell; a chosen row shows the whole line."""
_REACH = timedelta(hours=1)
"""How far outside an incident's bars the lines behind them are looked for."""
_SENT = "senttimestamp"


def turn_of(case: Case) -> str:
    """Name the counter that gives the chart a new key when its selection is cleared."""
    return f"turn-{case['incident_id']}"


def memory_of(case: Case) -> str:
    """Name the memory of the last click, which tells a new click from a rerun."""
    return f"clicked-{case['incident_id']}"


def labels(case: Case, page: Page) -> dict[str, str]:
    """Name a message by its business key where it has exactly one and no other message here shares it."""
    rows = page.board.records(
        MESSAGES, ("incident_id", "==", case["incident_id"]), columns=("item_id", "business_keys")
    )
    keys = {r["item_id"]: r["business_keys"][0] for r in rows if len(r["business_keys"] or []) == 1}
    short = dict(zip(keys, short_names(list(keys.values()), 13, "…"), strict=True))
    seen = list(short.values())
    return {item: name for item, name in short.items() if seen.count(name) == 1} if len(seen) <= 5000 else {}


def tables(case: Case, page: Page, timeline: Any, chosen: list[str]) -> None:
    """Show the deliveries and the evidence of the chosen messages, or of all that the chart shows."""
    if chosen:
        timeline = timeline[timeline["message_id"].isin(chosen) | timeline["item_id"].isin(chosen)]
    items = tuple(timeline.sort_values("lane", kind="stable")["item_id"].unique())
    names = dict(zip(items, short_names(list(items)), strict=True))
    names |= {item: label for item, label in labels(case, page).items() if item in names}
    if chosen:
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.markdown(f"Only {_name(chosen)}", width="content")
            st.button(
                "Clear",
                icon=":material/close:",
                key="clear",
                help="Show all messages again",
                on_click=_clear,
                args=(case,),
            )
        if not items:
            st.info("No message of that id is shown here.", icon=":material/search_off:")
            return
    left, right = st.columns([4, 5], gap="medium")
    with left:
        st.subheader("Deliveries", anchor="deliveries")
        deliveries(page, ("queue_arn", "==", case["queue_arn"]), ("item_id", "in", tuple(sorted(items))), names=names)
    with right:
        st.subheader("Evidence", anchor="evidence")
        evidence(page, timeline, names)


def _name(chosen: list[str]) -> str:
    return f"`{chosen[0].replace('`', '')}`" if len(chosen) == 1 else count(len(chosen), "message")


def _clear(case: Case) -> None:
    """Forget the chosen messages: in the link, in the memory of the click, and in the chart."""
    st.query_params.pop("msg", None)
    st.session_state.pop(memory_of(case), None)
    st.session_state[turn_of(case)] = st.session_state.get(turn_of(case), 0) + 1


def deliveries(page: Page, *where: Condition, names: dict[str, str] | None = None) -> None:
    """Show one row per delivery that passes the filters, messages in the order of ``names``.

    Names are shown where there are several messages.
    """
    names = names or {}
    rows = page.board.records(DELIVERIES, *where)
    place = {item: n for n, item in enumerate(names)}
    rows = sorted(rows, key=lambda d: (place.get(d["item_id"], len(place)), d["item_id"], d["delivery_index"]))
    clock = page.clock
    time, width = clock.fitting(d["received_at"] for d in rows[:MOST_ROWS])
    st.dataframe(
        [
            {
                "Message": names.get(d["item_id"], d["item_id"]),
                "#": d["receive_count"],
                "Received": time(d["received_at"]),
                "Ended by": ENDS.get(d["ended_by"], d["ended_by"]),
                "Work done": f"{d['effect']} · {d['basis']}",
                "Hidden until": time(d["hidden_until_at"]),
                "Consumer": consumer(d),
                "Message id": d["message_id"],
            }
            for d in rows[:MOST_ROWS]
        ],
        hide_index=True,
        key="deliveries",
        placeholder="–",
        column_order=_columns(
            names, "#", "Received", "Ended by", "Work done", "Hidden until", "Consumer", "Message id"
        ),
        height=318 if len(rows) > 10 else "auto",
        column_config={
            "Message": st.column_config.TextColumn(width=110),
            "#": st.column_config.NumberColumn(width=30, help="Receive count; a dash where it was not logged."),
            "Received": st.column_config.TextColumn(
                width=width, help=f"When SQS handed it out; times in {clock.label()}."
            ),
            "Hidden until": st.column_config.TextColumn(width=width, help="Received + visibility timeout."),
            "Ended by": st.column_config.TextColumn(width=108),
            "Work done": st.column_config.TextColumn(help="Was the work done in this delivery, and what shows it."),
        },
        alt="Deliveries, one row each",
    )
    if len(rows) > MOST_ROWS:
        st.caption(f"The first {MOST_ROWS:,} of {len(rows):,} deliveries.")


def _columns(names: dict[str, str], *columns: str) -> list[str]:
    """Name the columns in order, the message first where there are several."""
    return ["Message", *columns] if len(names) > 1 else list(columns)


def consumer(delivery: dict[str, Any]) -> str:
    """Name who handled it: function and request id, or the worker's stream."""
    if not delivery["is_seen"]:
        return "not seen in any log"
    if delivery["request_id"]:
        return f"{delivery['function_name'] or delivery['log_group']} {delivery['request_id']}"
    return delivery["log_stream"] or delivery["log_group"] or "unknown"


def evidence(page: Page, timeline: Any, names: dict[str, str] | None = None) -> None:
    """Show one row per bar and mark with the log line that proves it, and the whole line of the chosen row."""
    names = names or {}
    marks = timeline.sort_values(["at", "item_id", "kind"], kind="stable")
    total = len(marks)
    rows = marks.head(MOST_ROWS).astype(object).where(marks.head(MOST_ROWS).notna(), None).to_dict("records")
    lines = log_lines(page, rows)
    cited = [line_of(row, lines) for row in rows]
    time, width = page.clock.fitting(row["at"] for row in rows)
    event = st.dataframe(
        [
            {
                "Time": time(row["at"]),
                "Message": names.get(row["item_id"], row["item_id"]),
                "Event": EVENTS.get(row["kind"], row["kind"]),
                "#": None if row["kind"] == "sent" else row["receive_count"],
                "Line": cut(line["line"]) if line else None,
                "Source": row["source"],
            }
            for row, line in zip(rows, cited, strict=True)
        ],
        hide_index=True,
        key="evidence",
        placeholder="–",
        column_order=["Time", *_columns(names, "Event", "#", "Line", "Source")],
        on_select="rerun",
        selection_mode="single-cell",
        height=318 if total > 10 else "auto",
        column_config={
            "Time": st.column_config.TextColumn(width=width, help=f"Times in {page.clock.label()}."),
            "Message": st.column_config.TextColumn(width=110),
            "Event": st.column_config.TextColumn(width=112),
            "#": st.column_config.NumberColumn(width=30, help="Receive count"),
            "Line": st.column_config.TextColumn(
                width=320, help="The log line nearest in time. Click for the whole line."
            ),
            "Source": st.column_config.TextColumn(help="Log stream and request id, or derived from other rows."),
        },
        alt="Evidence, one row per bar and mark",
    )
    if total > MOST_ROWS:
        st.caption(f"The first {MOST_ROWS:,} of {total:,} events.")
    picked = [row for row, _ in event["selection"].get("cells") or ()]
    if picked and picked[0] < len(cited):
        if line := cited[picked[0]]:
            whole_line(line, page)
        else:
            st.caption("No log line stands behind this row: it follows from the others.")


def whole_line(line: dict[str, Any], page: Page) -> None:
    """Show a log line word for word, and where it stands."""
    st.caption(plain(f"{page.clock.stamp(line['logged_at'])} · {line['log_group']} · {line['log_stream']}"))
    st.code(line["line"], language=None, wrap_lines=True)


def cut(line: str) -> str:
    """Return the beginning of a line, with its length where it is longer than a cell shows."""
    text = line.strip()
    return text if len(text) <= MOST_CHARS else f"{text[:MOST_CHARS]}… ({len(text):,} characters)"


def log_lines(page: Page, marks: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Return the cited log events by evidence id; they are looked for near the marks' times."""
    ids = {i for m in marks for i in _cited(m)}
    times = [m[column].to_pydatetime() for m in marks for column in ("at", "until_at") if m[column] is not None]
    return _log_events(page, ids, times)


def lines_of(evidence_ids: list[str] | None, start: datetime, end: datetime | None, page: Page) -> None:
    """Show the cited log lines of one run, each with its time, in order; looked for near the run's times."""
    found = _log_events(page, set(evidence_ids or ()), [start, end or start])
    if not found:
        st.caption("No log line stands behind this row.")
        return
    lines = sorted(found.values(), key=lambda row: (row["logged_at"], row["evidence_id"]))
    st.caption(plain(f"{page.clock.stamp(start)} · {lines[0]['log_group']} · {lines[0]['log_stream']}"))
    time, _ = page.clock.fitting(line["logged_at"] for line in lines)
    told = (f"{time(line['logged_at'])}  {cut(line['line'])}" for line in lines)
    st.code("\n".join(told), language=None, wrap_lines=True)


def _log_events(page: Page, evidence_ids: set[str], times: list[datetime]) -> dict[str, dict[str, Any]]:
    ids = tuple(sorted(i for i in evidence_ids if i.startswith("log:")))
    if not ids or not times:
        return {}
    rows = page.board.records(
        LOG_EVENTS,
        ("logged_at", ">=", min(times) - _REACH),
        ("logged_at", "<=", max(times) + _REACH),
        ("evidence_id", "in", ids),
        columns=("evidence_id", "logged_at", "log_group", "log_stream", "line"),
    )
    return {row["evidence_id"]: row for row in rows}


def line_of(mark: dict[str, Any], lines: dict[str, dict[str, Any]]) -> dict[str, Any] | None:
    """Return the cited line that tells of the mark: of a receive the first one, else the nearest in time.

    A send is told by the printed event with its ``SentTimestamp``.
    """
    cited = [lines[i] for i in _cited(mark) if i in lines]
    if not cited or mark["at"] is None:
        return None
    if mark["kind"] == "sent":  # the printed event tells when; the run's first line does not
        cited = [row for row in cited if _SENT in row["line"].lower() and _names(row, mark)] or cited
    if mark["kind"] in ("sent", "in_flight"):
        return min(cited, key=lambda row: (row["logged_at"], row["evidence_id"]))
    if mark["kind"] == "timeout":
        cited = [row for row in cited if "timed out" in row["line"] or "timeout" in row["line"]] or cited
    return min(cited, key=lambda row: (abs(row["logged_at"] - mark["at"]), row["evidence_id"]))


def _names(row: dict[str, Any], mark: dict[str, Any]) -> bool:
    return bool(mark["message_id"]) and mark["message_id"] in row["line"]


def _cited(mark: dict[str, Any]) -> list[str]:
    return [] if mark["evidence_ids"] is None else list(mark["evidence_ids"])
