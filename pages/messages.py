"""Find a message: what happened to this id?"""

import streamlit as st

from pages._ui import search
from pages._ui.completeness import LOGS
from pages._ui.said import say
from pages._ui.shell import shell

page = shell("Find a message", "This page tells what happened to one message, by any id that names it.", LOGS)
st.title(say("Find a message"), anchor=False)
asked = search.field()
if not asked:
    search.explain()
    st.stop()
if search.is_queue(asked, page):
    st.stop()
found = search.find(asked, page) or search.find_by_text(asked, page)
if len(found) == 1:
    search.answer(found[0], page)
elif found:
    search.several(found, asked, page)
else:
    search.nothing(asked, page)
