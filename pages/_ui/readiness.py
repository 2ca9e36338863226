"""What the consumers' logs tell, and the lines to add where they tell too little."""

from typing import Any

import streamlit as st

from forensics.lake.conditions import Condition
from forensics.readiness import LEVELS
from forensics.tables.findings import LOGGING_READINESS
from pages._ui.said import in_words, say, term
from pages._ui.shell import Page

WORDS = {"ready": "ready", "partial": "something is missing", "blind": "names no message", "unread": "not read"}


def _in_short(row: dict[str, Any]) -> str:
    """Say how far the logs serve, and what lacks: a title that is the same for every consumer tells nothing."""
    if row["level"] != "partial":
        return term(WORDS[row["level"]])
    return say("not logged: {names}", names=", ".join(in_words(what) for what in row["missing"]))


def readiness(page: Page, *where: Condition) -> None:
    """Show one line per consumer that passes the filters, the blind ones first, and the exact lines to add."""
    rows = page.board.records(LOGGING_READINESS, *where)
    if not rows:
        return
    st.subheader(say("Logging readiness: what the logs tell"), anchor="readiness")
    for row in sorted(rows, key=lambda r: (LEVELS.index(r["level"]), r["queue"], r["log_group"])):
        who = row["function_name"] or row["log_group"]
        with st.expander(
            say("{who} for {queue}: {words}", who=who, queue=row["queue"], words=_in_short(row)),
            expanded=row["level"] == "blind",
        ):
            st.write(in_words(row["sentence"]))
            for place, what in enumerate(row["missing"]):
                st.markdown(say("**Log {what}**: {why}.", what=in_words(what), why=in_words(row["reasons"][place])))
                python, node = st.columns(2)
                python.code(row["python_lines"][place], language=None, wrap_lines=True)
                node.code(row["node_lines"][place], language=None, wrap_lines=True)
                if setting := row["setting_lines"][place]:
                    st.caption(say("Then say in doubletake.toml:"))
                    st.code(setting, language=None)
