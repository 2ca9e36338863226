"""What a page says when it cannot show what it is for."""

import logging

import streamlit as st

from forensics.errors import ForensicsError, LakeMissingError, LakeTooNewError, SettingsError
from forensics.lake import LakeDamagedError
from pages._ui.board import UnreadableError
from pages._ui.words import plain

log = logging.getLogger("doubletake.dashboard")

CODES = {SettingsError: "DATA-01", LakeTooNewError: "DATA-02", LakeDamagedError: "DATA-03", UnreadableError: "DATA-04"}


def show_nothing_yet(problem: ForensicsError, promise: str) -> None:
    """Say what the page will show, why it cannot yet, and the command that fills it."""
    st.info(plain(f"{promise} {_sentence(problem)}"), icon=":material/inbox:")
    if "no findings" in str(problem):
        st.write("Evidence is there; correlate it:")
        st.code("doubletake correlate", language="bash")
        return
    st.write("Collect a queue's evidence from AWS (read only):")
    st.code("doubletake collect --queue NAME --since 6h && doubletake correlate", language="bash")
    st.write("Or look at a made-up incident first:")
    st.code("doubletake demo", language="bash")


def show_broken(problem: ForensicsError, data_version: str | None = None) -> None:
    """Say in one sentence what cannot be read, with a code; details go to the server's log only."""
    code = next((c for kind, c in CODES.items() if isinstance(problem, kind)), "DATA-05")
    log.error("%s: %s", code, problem)
    version = f" Data version {data_version}." if data_version else ""
    sentence = str(problem) if code in ("DATA-01", "DATA-02") else str(problem).partition(": ")[0]
    st.error(plain(f"{code} · {sentence[:1].upper()}{sentence[1:]}.{version} {problem.hint}"), icon=":material/error:")


def show_problem(problem: ForensicsError, promise: str, data_version: str | None = None) -> None:
    """Show the state that fits the error."""
    if isinstance(problem, LakeMissingError):
        show_nothing_yet(problem, promise)
    else:
        show_broken(problem, data_version)


def _sentence(problem: ForensicsError) -> str:
    text = str(problem)
    return f"{text[:1].upper()}{text[1:]}."
