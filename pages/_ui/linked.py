"""Choices that a link carries, read in whatever language and case they are written in, by code too."""

from collections.abc import Callable, Iterable

import streamlit as st

from forensics.language import Language
from pages._ui import reader
from pages._ui.said import LANGUAGES_BY_CODE, NAMES, code_of, language, of_team, say
from pages._ui.words import plain


def choose_language() -> None:
    """Show the switch of the language in which pages and files are written."""
    if unknown := reader.follow_link("lang", code_of):
        _warn("lang", unknown, NAMES.values())
    st.session_state["lang"] = language().code
    st.segmented_control(
        say("Language"),
        list(NAMES),
        required=True,
        key="lang",
        on_change=reader.keep,
        args=("lang", of_team()),
        format_func=NAMES.__getitem__,
    )


def warn_unknown(key: str, options: Iterable[str], label: Callable[[Language, str], str]) -> None:
    """Say on the page that the link names none of few options; for the rest see ``unknown_in_link``."""
    known = list(options)
    if unknown := unknown_in_link(key, known, label):
        _warn(key, unknown, [label(language(), option) for option in known])


def _warn(key: str, unknown: str, known: Iterable[str]) -> None:
    said = say(
        "{key}={asked} of the link is ignored: there is {known}.", key=key, asked=unknown, known=", ".join(known)
    )
    st.warning(plain(said), icon=":material/filter_alt_off:")


def unknown_in_link(key: str, options: Iterable[str], label: Callable[[Language, str], str]) -> str | None:
    """Prepare the link for the widget that is bound to ``key``; return what the link says where it names no option.

    Such a widget writes and reads its label in the reader's language, and takes anything else out of the address without
    a word. So a choice that is written otherwise is written anew in the address, and the page starts over. To be called
    before the widget is.
    """
    asked, known = st.query_params.get(key), list(options)
    if not asked or asked in {label(language(), option) for option in known}:
        return None
    wanted = asked.casefold()
    meant = next((option for option in known if wanted in _names(option, label)), None)
    if meant is None:
        return asked
    if (
        key not in st.session_state
    ):  # else the switch itself holds the choice, and its address is of the language before
        st.query_params[key] = label(language(), meant)
        st.rerun()
    return None


def _names(option: str, label: Callable[[Language, str], str]) -> set[str]:
    return {option.casefold(), *(label(spoken, option).casefold() for spoken in LANGUAGES_BY_CODE.values())}


def week_not_there(asked: str, weeks: list[str], opened: str) -> str:
    """Say that a week of the link is not there, which weeks are, and which one is shown."""
    if len(weeks) == 1:
        return say(
            "Week {asked} is not in this data version, which has {first}. This is {opened}.",
            asked=asked,
            first=weeks[0],
            opened=opened,
        )
    return say(
        "Week {asked} is not in this data version, which has {first} to {last}. This is {opened}.",
        asked=asked,
        first=weeks[0],
        last=weeks[-1],
        opened=opened,
    )
