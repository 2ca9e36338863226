"""The forms a report can be downloaded in, each written once per data version."""

from typing import Any

import streamlit as st

from forensics.report.options import ReportOptions
from forensics.report.render import render
from pages._ui.case import case_key, case_of
from pages._ui.said import busy
from pages._ui.shell import Page

FORMS = {
    "html": ("HTML", "text/html", "One file with the interactive timeline; opens offline."),
    "pdf": ("PDF", "application/pdf", "For print and for people without a browser at hand."),
    "md": ("Markdown", "text/markdown", "For a ticket or a wiki."),
    "csv": ("CSV", "text/csv", "The affected messages with business keys and verdict, one row each: for refunds."),
    "json": ("JSON", "application/json", "Everything, for a program; docs/incident-report.schema.json describes it."),
    "svg": ("SVG", "image/svg+xml", "The timeline alone, as a picture."),
    "timesketch": ("Timesketch", "text/csv", "Every event as a Timesketch CSV."),
    "trace": ("Trace", "application/json", "For Perfetto or chrome://tracing."),
    "zip": ("ZIP of all", "application/zip", "Every form and a manifest; `doubletake verify` checks it."),
}


@st.cache_data(max_entries=32, show_spinner=False)
def _rendered(key: tuple[Any, ...], incident_id: str, kind: str, chosen: tuple[Any, ...], _page: Page) -> bytes:
    return render(case_of(incident_id, _page), kind, ReportOptions(*chosen))


@st.cache_data(max_entries=8, show_spinner=False)
def _printed(key: tuple[Any, ...], incident_id: str, chosen: tuple[Any, ...], _page: Page) -> str:
    from forensics.report.pages import SCREEN, print_page

    return print_page(case_of(incident_id, _page), ReportOptions(*chosen), SCREEN)


def printed(incident_id: str, chosen: ReportOptions, page: Page) -> str:
    """Return the report as it is printed, without a script, as HTML; kept between runs."""
    with busy("Writing the report"):
        return _printed(case_key(page), incident_id, tuple(vars(chosen).values()), page)


def written(incident_id: str, kind: str, chosen: ReportOptions, page: Page) -> bytes:
    """Return the report in one form, kept between runs."""
    return _rendered(case_key(page), incident_id, kind, tuple(vars(chosen).values()), page)
