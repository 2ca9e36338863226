"""Questions: why was this charged twice, is it still happening, what do I refund?"""

import streamlit as st

from pages._ui import questions
from pages._ui.completeness import LOGS
from pages._ui.said import say
from pages._ui.shell import shell

page = shell("Questions", "This page answers one question: why was it, is it still happening, what to refund.", LOGS)
st.title(say("Questions"), anchor=False)
if reply := questions.answer(questions.choose(), page):
    questions.show(reply, page)
