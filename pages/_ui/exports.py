"""What a visitor can take along: the affected messages, the report, the link, the summary."""

from functools import partial
from typing import Any

import streamlit as st

from forensics.report.formats import ENDINGS
from forensics.report.options import LANGUAGES, ReportOptions
from forensics.report.summary import summary
from pages._ui.case import case_of
from pages._ui.report_forms import FORMS, written
from pages._ui.shell import Page

REPORTS = ("html", "pdf", "md", "json", "zip")
"""The forms offered here; the Report page has all of them."""


def choose_language() -> str:
    """Show the switch of the files' language; the page itself stays in English."""
    return (
        st.segmented_control(
            "Language of files", LANGUAGES, default="en", required=True, key="lang", bind="query-params"
        )
        or "en"
    )


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
        help="The affected works, one row each with the ids of its messages."
        if listed
        else "The logs name no message ids: there is nothing to list.",
    )
    with st.popover("Report", icon=":material/description:"):
        for kind in REPORTS:
            name, mime, words = FORMS[kind]
            st.download_button(
                name,
                partial(_file, incident_id, kind, page),
                file_name=f"{incident_id}{ENDINGS[kind]}",
                mime=mime,
                key=f"report-{kind}",
                icon=":material/download:",
                on_click="ignore",
                width="stretch",
                help=words,
            )
        page.link_to("pages/report.py", "Preview and more", ":material/preview:", incident=incident_id)
    with st.popover("Share", icon=":material/link:"):
        st.caption("Link to this page, with data version and zone")
        st.code(link, language=None, wrap_lines=True)
        st.caption("Summary")
        st.code(told, language=None, wrap_lines=True)


def _file(incident_id: str, kind: str, page: Page) -> bytes:
    return written(incident_id, kind, ReportOptions(), page)
