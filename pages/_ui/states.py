"""What a page says when it cannot show what it is for."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import streamlit as st

from forensics.commands import in_lake, of_lake
from forensics.errors import ForensicsError, LakeMissingError, LakeTooNewError, SettingsError
from forensics.lake import LakeDamagedError
from forensics.sentence import as_sentence, marked, said
from forensics.sentence import plain as plain_english
from pages._ui.place import lake_path
from pages._ui.said import in_words, of_problem, of_sentence, say
from pages._ui.words import plain, with_commands

log = logging.getLogger("doubletake.dashboard")


class UnreadableError(ForensicsError):
    """Something of this data version cannot be read."""


CODES: dict[type[ForensicsError], str] = {
    SettingsError: "DATA-01",
    LakeTooNewError: "DATA-02",
    LakeDamagedError: "DATA-03",
    UnreadableError: "DATA-04",
}
"""What a visitor can quote; DATA-05 is everything else."""


@contextmanager
def guarded(what: str, data_version: str | None = None) -> Iterator[None]:
    """Show one sentence and stop the page when reading ``what`` fails; the server's log gets the details."""
    try:
        yield
    except ForensicsError as problem:
        show_broken(problem, data_version)
        st.stop()
    except Exception:
        # A damaged file can make the readers below raise anything; other pages must keep working.
        log.exception("reading %s of data version %s failed", what, data_version)
        show_broken(
            UnreadableError(said("{what} cannot be read", what=what), "The server's log has the details."),
            data_version,
        )
        st.stop()


def show_nothing_yet(problem: LakeMissingError, promise: str, lake_root: Path) -> None:
    """Say what the page will show, why it cannot yet, and the command that fills it."""
    lake = of_lake(lake_root)
    st.info(plain(f"{promise} {of_problem(problem)}"), icon=":material/inbox:")
    if "no findings" in str(problem):
        st.write(say("The evidence is there. Correlate it:"))
        st.code(f"doubletake correlate {lake}", language=None)
        return
    st.write(say("Collect a queue's evidence from AWS, read only:"))
    st.code(f"doubletake collect QUEUE --since 6h {lake}\ndoubletake correlate {lake}", language=None)
    st.write(say("Or look at a made-up incident first:"))
    st.code(f"doubletake demo {lake}", language=None)


def show_broken(problem: ForensicsError, data_version: str | None = None) -> None:
    """Say in one sentence what cannot be read, with a code; details go to the server's log only."""
    code = next((c for kind, c in CODES.items() if isinstance(problem, kind)), "DATA-05")
    log.error("%s: %s", code, problem)
    # What delta-rs says of a torn file is for the log.
    told = problem.sentence
    if isinstance(problem, LakeDamagedError):
        told = as_sentence(plain_english(told).partition(": ")[0], marked(told).partition(": ")[0])
    version = say(" Data version {data_version}.", data_version=data_version) if data_version else ""
    hint = with_commands(in_lake(in_words(problem.hint), lake_path()))
    st.error(f"{plain(f'{code} · {of_sentence(told)}{version}')} {hint}", icon=":material/error:")


def show_problem(problem: ForensicsError, promise: str, lake_root: Path) -> None:
    """Show the state that fits the error of the lake in that folder."""
    if isinstance(problem, LakeMissingError):
        show_nothing_yet(problem, promise, lake_root)
    else:
        show_broken(problem)
