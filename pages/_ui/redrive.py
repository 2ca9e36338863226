"""The plan of a dead-letter queue: which messages may go back, and the script for them."""

from typing import Any

import streamlit as st

from forensics.identity import queue_name
from forensics.redrive import DECISION_WORDS, NOT_SHOWN, Plan, dead_letter_queues, plan, script
from forensics.settings import Settings
from forensics.tables.findings import QUEUE_FINDINGS
from pages._ui.board import Board
from pages._ui.said import busy, count_text, in_words, say
from pages._ui.shell import Page
from pages._ui.tables import data_table
from pages._ui.words import Colour, plain

_COLOURS: dict[str, Colour] = {"repeats": "red", "cannot_tell": "orange", "safe": "green", "gone": "gray"}
ROW_OF_FIVE_LINES = 112
"""Pixels of a row whose reasons are whole sentences."""
MOST_ROWS = 2000


def redrive_plan(queue_arn: str, page: Page) -> None:
    """Show the dead letters of a queue in group order, with the script of the safe ones."""
    moved = page.board.records(
        QUEUE_FINDINGS, ("code", "==", "dead_lettered"), ("queue_arn", "==", queue_arn), columns=("queue_arn",)
    )
    if not moved:
        return
    names = [queue_name(arn) for arn, of in dead_letter_queues(page.board.findings).items() if queue_arn in of]
    for name in sorted(names):
        st.subheader(say("May the dead letters in {name} go back?", name=plain(name)), anchor=f"redrive-{name}")
        _plan(name, page)


def _plan(name: str, page: Page) -> None:
    with busy("Looking at what happened since"):
        found = _planned(page.board.key + page.board.people_key, name, page.settings.text, page.board, page.settings)
    for note in found.notes:
        st.warning(plain(in_words(note)))
    time, width = page.clock.fitting(s.moved_at for s in found.steps)
    data_table(
        [
            {
                "Group": step.group_id or step.queue,
                "#": step.place,
                "Redriving": [step.words],
                "Keys": ", ".join(step.business_keys),
                "Why": step.why,
                "By now": step.by_now,
                "Script": step.left_out or "in",
                "Moved": time(step.moved_at) if step.moved_at else None,
                "Message": step.message_id or step.item_id,
            }
            for step in found.steps[:MOST_ROWS]
        ],
        told=("Why", "By now", "Script"),
        hide_index=True,
        key=f"redrive-steps-{name}",
        row_height=ROW_OF_FIVE_LINES,
        placeholder="–",
        column_config={
            "Redriving": st.column_config.MultiselectColumn(
                options=[*DECISION_WORDS.values(), NOT_SHOWN],
                color=[*(_COLOURS[d] for d in DECISION_WORDS), _COLOURS["cannot_tell"]],
                width=126,
            ),
            "Moved": st.column_config.TextColumn(
                width=width, help=say("Not before; times in {zone}.", zone=page.clock.label())
            ),
            "Why": st.column_config.TextColumn(width=230),
            "By now": st.column_config.TextColumn(width=230),
        },
        alt=say("What redriving each dead-lettered message does"),
    )
    st.caption(
        say("Runs since are taken to be alike and independent; bounds are at 95 %. Doubletake itself sends nothing.")
    )
    safe = len(found.scripted)
    st.download_button(
        say("Script for {message}", message=count_text(safe, "safe message")),
        script(found) if safe else "",
        file_name=f"redrive-{name}.py",
        icon=":material/download:",
        on_click="ignore",
        disabled=not safe,
        help=say("For the AWS CLI. It runs dry unless told otherwise: read it first.")
        if safe
        else say("No message can be redriven safely."),
    )


@st.cache_resource(max_entries=8, show_spinner=False)
def _planned(key: tuple[Any, ...], name: str, text: str, _board: Board, _settings: Settings) -> Plan:
    return plan(_board.findings, name, _settings)
