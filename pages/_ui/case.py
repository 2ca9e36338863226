"""The case of one incident as reports tell it, kept between runs."""

from typing import Any

import streamlit as st

from forensics.report.case import Case, load_case
from pages._ui.said import busy
from pages._ui.shell import Page
from pages._ui.states import guarded


def case_of(incident_id: str, page: Page) -> Case:
    """Return the incident's case, built once per data version; a case that cannot be read stops the page."""
    with guarded("the incident's evidence", page.data_version), busy("Reading the incident's evidence"):
        return _case(case_key(page), incident_id, page)


def case_key(page: Page) -> tuple[Any, ...]:
    """Return what a case is kept under: the data version, and what people have said."""
    return page.people_key


@st.cache_resource(max_entries=8, show_spinner=False)
def _case(key: tuple[Any, ...], incident_id: str, _page: Page) -> Case:
    return load_case(_page.board.findings, incident_id, people=_page.people)
