"""Incidents: is there a suspicion, where, and how bad?"""

import streamlit as st

from forensics.tables.evidence import COVERAGE, QUEUE_SETTINGS
from pages._ui import fault, incidents, marks
from pages._ui.completeness import LOGS
from pages._ui.nothing_found import nothing_found
from pages._ui.prevention import beside_incidents
from pages._ui.said import say
from pages._ui.shell import shell
from pages._ui.words import with_commands

page = shell(
    "Incidents", "This page lists every incident in which a message may have been processed more than once.", LOGS
)
found = page.incidents()
wanted, of_any_time, queue = incidents.filters(found, page)

st.title(say("Incidents"))
ranked = fault.all_faults(wanted, page)
st.markdown(page.ageing(with_commands(incidents.sentence(ranked, wanted, found, queue, page))))
marks.of_works([work for each in ranked for work in each.set_aside], page)
incidents.cards(ranked, wanted, of_any_time, page.board.records(COVERAGE), page.board.records(QUEUE_SETTINGS), page)
if not wanted:
    nothing_found(found, page)
    beside_incidents(page)
    st.stop()
if chosen := incidents.table(ranked, page):
    fault.open_page(chosen, page)
beside_incidents(page)
