"""The reader's language on the dashboard: every page says its words through this one place.

Every function here says in the language of whoever looks; a cached function must not call them, or the next reader gets
the words of the first.
"""

from contextlib import AbstractContextManager
from datetime import date, datetime
from typing import Any

import streamlit as st

from forensics.choices import LANGUAGES
from forensics.errors import ForensicsError
from forensics.language import Language
from forensics.sentence import plain

NAMES = {"en": "English", "ja": "日本語"}
_TEAM = "language_of_team"


def choose_language() -> None:
    """Show the switch of the language in which pages and files are written."""
    st.segmented_control(
        say("Language"),
        LANGUAGES,
        default=language().code,
        required=True,
        key="lang",
        bind="query-params",
        format_func=NAMES.__getitem__,
    )


def follow_team(code: str) -> None:
    """Take the team's language where the reader chooses none; first of all on every page."""
    st.session_state[_TEAM] = code


def language() -> Language:
    """Return the language that the switch, else the link, else the team names."""
    asked = st.session_state.get("lang") or st.query_params.get("lang")
    return _LANGUAGES.get(asked) or _LANGUAGES.get(st.session_state.get(_TEAM)) or _LANGUAGES["en"]


_LANGUAGES: dict[Any, Language] = {code: Language(code) for code in LANGUAGES}


def say(text: str, /, **values: Any) -> str:
    """Say a phrase with its values; whole numbers get separators."""
    return language()(text, **values)


def in_words(text: str | None) -> str:
    """Say what the findings, a check or an error says in English."""
    return language().sentence(text)


def of_problem(problem: ForensicsError) -> str:
    """Say an error as a sentence of its own; one that this language does not know as it is written."""
    return of_sentence(problem.sentence)


def of_sentence(sentence: str) -> str:
    """Say a clause as a sentence of its own; one that this language does not know as it is written."""
    told = in_words(sentence)
    if told == plain(sentence):
        return f"{told[:1].upper()}{told[1:]}."
    return f"{told.removesuffix('。')}。"


def term(text: str | None) -> str:
    """Say one word of a table: a verdict, a cause, a state; a name stays as it is."""
    return language().maybe(text)


def count_text(count: int, one: str, many: str | None = None) -> str:
    """Say a count with its noun."""
    return language().count(count, one, many)


def span_text(span_ms: float | None) -> str:
    """Say milliseconds in the two units that matter."""
    return language().span(span_ms)


def offset_text(offset_ms: float | None) -> str:
    """Say the distance from the incident's start."""
    return language().offset(offset_ms)


def percent(share: float | None) -> str:
    """Say a share of one as per cent."""
    return language().share(share)


def interval(at_least: int, at_most: int | None) -> str:
    """Say how often: ``7``, ``7 to 8`` or ``7 or more``."""
    return language().interval(at_least, at_most)


def busy(what: str) -> AbstractContextManager[None]:
    """Say what is being done for as long as it takes; a cached value takes no time."""
    return st.spinner(say(what))


def day_text(day: date) -> str:
    """Write a day without its year, for where there is little room."""
    return f"{day:%d %b}" if language().code == "en" else f"{day:%m/%d}"


def dated(at: datetime, *, year: bool) -> str:
    """Write a day and a minute in the reader's way."""
    if language().code == "en":
        return f"{at:%d %b %Y %H:%M}" if year else f"{at:%d %b %H:%M}"
    return f"{at:%Y-%m-%d %H:%M}" if year else f"{at:%m/%d %H:%M}"
