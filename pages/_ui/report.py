"""The Report page's parts: choices, downloads, and a preview of exactly what is exported."""

from functools import partial
from typing import Any

import streamlit as st

from forensics.extras import how_to_install, is_installed
from forensics.report.language import Language
from forensics.report.options import ReportOptions
from forensics.report.render import file_name
from forensics.words import count_text as count
from pages._ui import incident as incidents
from pages._ui.case import case_of
from pages._ui.exports import choose_language
from pages._ui.report_forms import FORMS, written
from pages._ui.shell import Page
from pages._ui.words import plain

Incident = dict[str, Any]
OF_MESSAGES = ("csv", "svg", "timesketch", "trace")
"""Forms that hold messages and nothing else."""
_EMPTY = "The logs name no message: this file would be empty."
MOST_PREVIEW = 60_000
"""Characters of the preview; a browser stumbles over more in one block."""


def choose(found: list[Incident], page: Page) -> Incident:
    """Return the incident that the link names, or the newest."""
    return incidents.choose(found, page, "Report")


def options(page: Page) -> ReportOptions:
    """Show the choices in the sidebar and return them."""
    with st.sidebar:
        language = choose_language()
        local = st.toggle(
            "Local times", key="local", help="Beside UTC, in the zone chosen above.", disabled=page.clock.name == "UTC"
        )
        every = st.toggle("Every event", key="every", help="In the appendix; else key moments only.")
        short = st.toggle("Short ids", key="short", help="Only the last 8 characters of message ids in tables.")
        st.caption("Message bodies are never in a report.")
    zone = page.clock.name if local and page.clock.name != "UTC" else None
    return ReportOptions(language, zone, bool(every), bool(short))


def header(incident: Incident, chosen: ReportOptions) -> None:
    """Show what the report is of, and above it what could not be read."""
    incidents.partial_evidence(incident)
    st.title("Report", anchor=False)
    st.markdown(f"`{incident['incident_id'].replace('`', '')}` · {plain(incident['headline'])}")


def downloads(incident: Incident, chosen: ReportOptions, page: Page) -> None:
    """Show a button per form; one that cannot be made says why."""
    case = case_of(incident["incident_id"], page)
    with st.container(horizontal=True, gap="small"):
        for kind, (name, mime, words) in FORMS.items():
            nothing = not (case.affected if kind == "csv" else case.timeline) and kind in OF_MESSAGES
            lacking = kind == "pdf" and not is_installed("pdf")
            st.download_button(
                name,
                partial(written, incident["incident_id"], kind, chosen, page),
                file_name=file_name(case, kind),
                mime=mime,
                key=f"report-{kind}",
                icon=":material/download:",
                on_click="ignore",
                type="primary" if kind == "zip" else "secondary",
                disabled=nothing or lacking,
                help=_EMPTY if nothing else f"Not installed: {how_to_install('pdf')}" if lacking else words,
            )


def preview(incident: Incident, chosen: ReportOptions, page: Page) -> None:
    """Show the timeline picture and the Markdown form, word for word as they are exported."""
    case = case_of(incident["incident_id"], page)
    said = Language(chosen.language).headline(case.incident, case.opening.headline)
    if any(row["at"] for row in case.timeline):
        picture = written(incident["incident_id"], "svg", chosen, page).decode()
        st.image(picture, caption=plain(said), alt=f"Timeline: {said}", width="stretch")
    text = written(incident["incident_id"], "md", chosen, page).decode()
    st.caption(f"{count(len(case.evidence), 'piece')} of evidence cited; {count(len(text), 'character')} as Markdown")
    st.code(text[:MOST_PREVIEW], language="markdown", wrap_lines=True, height=620)
    if len(text) > MOST_PREVIEW:
        st.caption("The preview ends here; the files hold the rest.")
