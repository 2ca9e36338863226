"""What a visitor can take along: the affected messages, the report, the link, the summary."""

from functools import partial
from typing import Any

import streamlit as st

from forensics.report import FORMATS, render, summary
from pages._ui.case import case_of
from pages._ui.shell import Page

REPORTS = {
    "html": ("HTML", "text/html", "One file with the timeline; opens offline."),
    "md": ("Markdown", "text/markdown", "For a ticket or a wiki."),
    "json": ("JSON", "application/json", "Everything, for a program."),
}


def buttons(incident: dict[str, Any], page: Page, link: str) -> None:
    """Show the download of affected messages, the reports, and the popover with link and summary."""
    incident_id = incident["incident_id"]
    told = summary(case_of(incident_id, page))
    listed = incident["messages"] is not None
    st.download_button(
        "CSV",
        partial(_file, incident_id, "csv", page),
        file_name=f"{incident_id}-messages.csv",
        mime="text/csv",
        icon=":material/download:",
        shortcut="Ctrl+Shift+E",
        on_click="ignore",
        disabled=not listed,
        help="The affected messages, one row each."
        if listed
        else "The logs name no message ids: there is nothing to list.",
    )
    with st.popover("Report", icon=":material/description:"):
        for suffix, (name, mime, words) in REPORTS.items():
            if suffix in FORMATS:
                st.download_button(
                    name,
                    partial(_file, incident_id, suffix, page),
                    file_name=f"{incident_id}.{suffix}",
                    mime=mime,
                    key=f"report-{suffix}",
                    icon=":material/download:",
                    on_click="ignore",
                    width="stretch",
                    help=words,
                )
    with st.popover("Share", icon=":material/link:"):
        st.caption("Link to this page, with data version and zone")
        st.code(link, language=None, wrap_lines=True)
        st.caption("Summary")
        st.code(told, language=None, wrap_lines=True)


@st.cache_data(max_entries=16, show_spinner=False)
def _rendered(key: tuple[str, str], incident_id: str, suffix: str, _page: Page) -> bytes:
    return render(case_of(incident_id, _page), suffix)


def _file(incident_id: str, suffix: str, page: Page) -> bytes:
    return _rendered(page.board.key, incident_id, suffix, page)
