"""Data: is it complete, and which version is this?"""

import streamlit as st

from forensics.tables.evidence import COVERAGE
from pages._ui import alerts, books, readiness, sources, suggestions
from pages._ui.said import say
from pages._ui.shell import shell

page = shell("Data", "This page shows what was read from AWS, what is missing, and which data version you see.")
coverage = page.board.records(COVERAGE)
status = sources.status_of(page)

st.title(say("Data"), anchor=False)
sources.sentence(coverage, status, page)
sources.cards(coverage, status, page)
sources.grid(coverage)
sources.missing(coverage, page)
readiness.readiness(page)
suggestions.suggestions(page)
books.ledgers(page)
alerts.standing(page)
sources.table(status, page)
sources.versions(page)
sources.rows(status, page)
sources.settings(page)
