"""Queue health: which queue needs work this week, and what exactly?"""

import streamlit as st

from pages._ui import balance, health, redrive, sequence, waiting
from pages._ui.completeness import LOGS_AND_METRICS
from pages._ui.said import say
from pages._ui.shell import shell
from pages._ui.what_if import what_if

page = shell(
    "Queue health",
    "This page ranks the queues by need, week by week, and says why in one sentence each.",
    LOGS_AND_METRICS,
)
review = health.choose_week(page)

st.title(f"{say('Queue health')} · {health.title(review)}", anchor=False)
health.sentence(review, page)
health.cards(review)
health.downloads(review, page)
health.table(review)
if chosen := health.choose_queue(review):
    health.details(chosen, review, page)
    waiting.waiting(chosen.queue, review, page)
    balance.balances(chosen.queue, review, page)
    sequence.numbered(chosen.queue, page)
    redrive.redrive_plan(chosen.queue_arn, page)
    what_if(chosen.queue, page)
health.method(review)
