"""What a visitor can take along: the affected messages, the report, the link, the summary."""

from collections.abc import Callable
from functools import partial
from typing import Any

import streamlit as st

from forensics.report.formats import ENDINGS
from forensics.report.options import ReportOptions
from forensics.report.summary import summary
from pages._ui.case import case_of
from pages._ui.device import shortcut
from pages._ui.report_forms import FORMS, written
from pages._ui.said import language, say, term
from pages._ui.shell import Page

REPORTS = ("html", "pdf", "md", "json", "zip")
"""The forms offered here; the Report page has all of them."""


def buttons(incident: dict[str, Any], page: Page, link: Callable[[], str]) -> None:
    """Show the download of affected messages, the reports, and the popover with link and summary; ``link`` makes the link anew."""
    incident_id = incident["incident_id"]
    told = summary(case_of(incident_id, page), language())
    listed = incident["messages"] is not None
    st.download_button(
        "CSV",
        partial(_file, incident_id, "csv", language().code, page),
        file_name=f"{incident_id}-messages.csv",
        mime="text/csv",
        icon=":material/download:",
        shortcut=shortcut("Ctrl+Shift+E"),
        on_click="ignore",
        disabled=not listed,
        help=say("The affected works, one row each with the ids of its messages.")
        if listed
        else say("The logs name no message ids: there is nothing to list."),
    )
    with st.popover(say("Report"), icon=":material/description:"):
        for kind in REPORTS:
            name, mime, words = FORMS[kind]
            st.download_button(
                term(name),
                partial(_file, incident_id, kind, language().code, page),
                file_name=f"{incident_id}{ENDINGS[kind]}",
                mime=mime,
                key=f"report-{kind}",
                icon=":material/download:",
                on_click="ignore",
                width="stretch",
                help=say(words),
            )
        page.link_to("pages/report.py", say("Preview and more"), ":material/preview:", incident=incident_id)
    with st.container(width="content"):  # a fragment's own box would take the rest of the row
        _share(told, link)


@st.fragment
def _share(told: str, link: Callable[[], str]) -> None:
    """Show link and summary; opening them asks for the link anew, as clicks in the chart change what the page shows."""
    with st.popover(say("Share"), icon=":material/link:", key="share", on_change="rerun"):
        st.caption(say("Link to this page, with data version and zone"))
        st.code(link(), language=None, wrap_lines=True)
        st.caption(say("Summary"))
        st.code(told, language=None, wrap_lines=True)


def _file(incident_id: str, kind: str, code: str, page: Page) -> bytes:
    return written(incident_id, kind, ReportOptions(code), page)
