"""What a visitor can take along: the CSV of affected messages, the link, the summary."""

import csv
import io
from typing import Any

import streamlit as st

from forensics.tables.findings import MESSAGES
from pages._ui.shell import Page

COLUMNS = (
    "queue",
    "message_id",
    "business_keys",
    "group_id",
    "deduplication_id",
    "verdict",
    "certainty",
    "effects_at_least",
    "effects_at_most",
    "deliveries",
    "receive_count",
    "causes",
    "first_received_at",
    "last_received_at",
    "is_dead_lettered",
    "related_message_ids",
)


def buttons(case: dict[str, Any], page: Page, link: str, summary: str) -> None:
    """Show the download and the popover with link and summary."""
    rows = page.board.records(MESSAGES, ("incident_id", "==", case["incident_id"]))
    st.download_button(
        "CSV",
        affected_csv(rows),
        file_name=f"{case['incident_id']}-messages.csv",
        mime="text/csv",
        icon=":material/download:",
        shortcut="Ctrl+Shift+E",
        on_click="ignore",
        disabled=not rows,
        help="The affected messages, one row each."
        if rows
        else "The logs name no message ids: there is nothing to list.",
    )
    with st.popover("Share", icon=":material/link:"):
        st.caption("Link to this page, with data version and zone")
        st.code(link, language=None, wrap_lines=True)
        st.caption("Summary")
        st.code(summary, language=None, wrap_lines=True)


def affected_csv(rows: list[dict[str, Any]]) -> str:
    """Write messages as CSV; times in ISO 8601 UTC, lists joined by blanks, formulas made harmless."""
    out = io.StringIO()
    writer = csv.writer(out, quoting=csv.QUOTE_ALL, lineterminator="\r\n")
    writer.writerow(COLUMNS)
    for row in sorted(rows, key=lambda r: (r["first_received_at"], r["item_id"])):
        writer.writerow([_cell(row[column]) for column in COLUMNS])
    return out.getvalue()


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, list):
        value = " ".join(value)
    if hasattr(value, "isoformat"):
        return value.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    text = str(value)
    starts_formula = text.lstrip(" \u00a0\u3000")[:1] in set("=+-@\t\r\n＝＋－＠")
    return f"'{text}" if starts_formula and isinstance(value, str) else text
