"""The panel at the window's foot: what one bar or mark says, and the log line that proves it.

A fragment may show no widget outside itself, so the panel has none: its buttons stand under the chart.
"""

from typing import Any

import streamlit as st

from forensics.charts.beside import is_message
from forensics.charts.hover import item_of, mark_key
from forensics.lake.conditions import Condition
from forensics.tables.findings import TIMELINE
from forensics.terms import event_words
from pages._ui import lines
from pages._ui.said import in_words, language, offset_text, say, term
from pages._ui.shell import Page
from pages._ui.words import plain

Case = dict[str, Any]
PANEL = "event_panel"
KEY = "event"
"""The key of the link that names the chosen bar or mark."""


def choose(mark: str | None, **more: list[str]) -> None:
    """Remember in the link which bar or mark is shown, and ``more`` of its keys; what is empty is forgotten.

    All at once: whatever is written apart is a step of its own on the browser's way back.
    """
    told: dict[str, Any] = {KEY: mark} | more
    for key in (key for key, value in told.items() if not value):
        st.query_params.pop(key, None)
    if there := {key: value for key, value in told.items() if value}:
        st.query_params.update(there)


def name_of(row: dict[str, Any]) -> str:
    """Name a row of a timeline as a click in the chart does."""
    return mark_key(row["item_id"], row["delivery_index"], row["kind"], row["at"].value // 1000)


def show(case: Case, page: Page, drawn: Any, keys: dict[str, str], on_point: Any, slot: Any, below: Any) -> None:
    """Show in ``slot`` the bar or mark that the link names, if this incident has it, and its buttons ``below`` the chart.

    ``on_point`` shows a row in the chart.
    """
    asked = st.query_params.get(KEY)
    if not asked:
        return
    row = _find(asked, case, page, drawn)
    line = lines.line_of(row, lines.log_lines(page, [row])) if row else None
    with below:
        around = _buttons(row, line is not None, asked, on_point)
    with slot.container(key=PANEL, gap="small"):
        if row is None:
            st.caption(say("The event that the link names is not in this data version."))
            return
        st.markdown(_sentence(row, case, page, keys))
        if line:
            lines.whole_line(line, page, around=around)
        else:
            st.caption(
                plain(
                    say(
                        "No log line stands behind it: {source}.",
                        source=language().place(row["source"]) or say("it follows from the others"),
                    )
                )
            )


def _buttons(row: dict[str, Any] | None, has_line: bool, asked: str, on_point: Any) -> bool:
    """Show what can be done with the shown event; return whether the lines around its line are wanted."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        if row is not None and is_message(row["item_id"]):
            st.button(
                say("Find in chart"),
                help=say("Draw a ring around it"),
                key="point_at_event",
                icon=":material/my_location:",
                on_click=on_point,
                args=(asked, int(row["lane"])),
            )
        around = has_line and lines.around_switch()
        st.button(say("Close"), key="close_event", on_click=choose, args=(None,), icon=":material/close:")
    return around


def _find(asked: str, case: Case, page: Page, drawn: Any) -> dict[str, Any] | None:
    kind, item = asked.partition(".")[0], item_of(asked)
    if not item:
        return None
    where: list[Condition] = [("incident_id", "==", case["incident_id"]), ("item_id", "==", item), ("kind", "==", kind)]
    found = page.board.rows(TIMELINE, *where) if is_message(item) else drawn[drawn["item_id"] == item]
    rows = found.astype(object).where(found.notna(), None).to_dict("records")
    return next((r for r in rows if r["at"] is not None and name_of(r) == asked), None)


_OF_OTHERS = ("sent", "dead_lettered")
"""Events of which a consumer's line tells, and which it did not do: a producer sends, and SQS moves."""


def _sentence(row: dict[str, Any], case: Case, page: Page, keys: dict[str, str]) -> str:
    """Say what a bar or mark means: when, what, to which message, in which receive, by whom."""
    at = row["at"].to_pydatetime()
    offset = (at - case["started_at"]).total_seconds() * 1000 if case["started_at"] else None
    when = f"`{page.clock.stamp(at)}` {offset_text(offset)}"
    if not is_message(row["item_id"]):
        return f"{when} · **{plain(in_words(str(row['label'])))}** · {plain(language().place(str(row['source'])))}"
    key, message = keys.get(row["item_id"]), row["message_id"] or row["item_id"]
    who = f"**{plain(key)}** · {plain(message)}" if key else f"**{plain(message)}**"
    count = (
        ""
        if row["receive_count"] is None or row["kind"] == "sent"
        else say(", receive #{n}", n=int(row["receive_count"]))
    )
    is_its_own = row["function_name"] and row["kind"] not in _OF_OTHERS
    by = say(" by {who}", who=plain(row["function_name"])) if is_its_own else ""
    until = (
        say(", until `{at}`", at=page.clock.stamp(row["until_at"].to_pydatetime()))
        if row["until_at"] is not None
        else ""
    )
    return f"{when} · **{term(event_words(row['kind'], row['label']))}**{count}{by}{until} · {who}"
