"""The Report page's parts: choices, downloads, and a preview of exactly what is exported."""

from functools import partial
from typing import Any

import streamlit as st

from forensics.extras import how_to_install, is_installed
from forensics.report.options import ReportOptions
from forensics.report.render import file_name
from pages._ui import incident as incidents
from pages._ui.case import case_of
from pages._ui.report_forms import FORMS, printed, written
from pages._ui.said import count_text as count
from pages._ui.said import in_words, language, say, term
from pages._ui.shell import Page
from pages._ui.words import plain

Incident = dict[str, Any]
OF_MESSAGES = ("csv", "svg", "timesketch", "trace")
"""Forms that hold messages and nothing else."""
_EMPTY = "The logs name no message: this file would be empty."
FRAME_PX = 900
MOST_PREVIEW = 60_000
"""Characters of the preview; a browser stumbles over more in one block."""


def choose(found: list[Incident], page: Page) -> Incident:
    """Return the incident that the link names, or the newest."""
    return incidents.choose(found, page, "Report")


def options(page: Page) -> ReportOptions:
    """Show the choices in the sidebar and return them."""
    with st.sidebar:
        local = st.toggle(
            say("Local times"),
            key="local",
            help=say("Beside UTC, in the zone chosen above."),
            disabled=page.clock.name == "UTC",
        )
        every = st.toggle(say("Every event"), key="every", help=say("In the appendix; else key moments only."))
        short = st.toggle(
            say("Short ids"), key="short", help=say("Only the last 8 characters of message ids in tables.")
        )
        st.caption(say("Message bodies are never in a report."))
    zone = page.clock.name if local and page.clock.name != "UTC" else None
    return ReportOptions(language().code, zone, bool(every), bool(short))


def header(incident: Incident, page: Page) -> None:
    """Show what the report is of, and above it what could not be read."""
    incidents.partial_evidence(incident)
    st.title(say("Report"), anchor=False)
    st.markdown(f"`{incident['incident_id'].replace('`', '')}` · {plain(in_words(incident['headline']))}")
    if left_out := case_of(incident["incident_id"], page).left_out:
        st.info(
            say(
                "A report of so many messages would be read by nobody: {left_out} are left out of it. The CSV lists "
                "the work of every affected one.",
                left_out=left_out,
            ),
            icon=":material/filter_list:",
        )


def downloads(incident: Incident, chosen: ReportOptions, page: Page) -> None:
    """Show a button per form; one that cannot be made says why."""
    case = case_of(incident["incident_id"], page)
    with st.container(horizontal=True, gap="small"):
        for kind, (name, mime, words) in FORMS.items():
            nothing = not (case.affected if kind == "csv" else case.timeline) and kind in OF_MESSAGES
            lacking = kind == "pdf" and not is_installed("pdf")
            st.download_button(
                term(name),
                partial(written, incident["incident_id"], kind, chosen, page),
                file_name=file_name(case, kind),
                mime=mime,
                key=f"report-{kind}",
                icon=":material/download:",
                on_click="ignore",
                disabled=nothing or lacking,
                help=say(_EMPTY)
                if nothing
                else say("Not installed: {command}", command=how_to_install("pdf"))
                if lacking
                else say(words),
            )


def preview(incident: Incident, chosen: ReportOptions, page: Page) -> None:
    """Show the report as it is printed, and its Markdown source behind a tab, word for word as they are exported."""
    case = case_of(incident["incident_id"], page)
    said = in_words(case.opening.headline)
    shown, source = st.tabs([say("Report"), say("Source (Markdown)")])
    with shown:
        # No script of it may run: its own policy says so.
        st.iframe(printed(incident["incident_id"], chosen, page), height=FRAME_PX, alt=say("Report: {said}", said=said))
    with source:
        text = written(incident["incident_id"], "md", chosen, page).decode()
        pieces = count(len(case.evidence), "piece")
        st.caption(
            say(
                "{pieces} of evidence cited; {character} as Markdown",
                pieces=pieces,
                character=count(len(text), "character"),
            )
        )
        st.code(text[:MOST_PREVIEW], language=None, wrap_lines=True, height=620)
        if len(text) > MOST_PREVIEW:
            st.caption(say("The preview ends here; the files hold the rest."))
