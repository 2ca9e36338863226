"""The reader's language on the dashboard: every page says its words through this one place.

Every function here says in the language of whoever looks; a cached function must not call them, or the next reader gets
the words of the first.
"""

import re
from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import date, datetime
from functools import partial
from typing import Any
from zoneinfo import ZoneInfo

import streamlit as st

from forensics.choices import LANGUAGES
from forensics.errors import ForensicsError
from forensics.language import Language
from forensics.sentence import capitalized, plain
from pages._ui import reader

NAMES = {"en": "English", "ja": "日本語"}
_TEAM = "language_of_team"


def follow_team(code: str) -> None:
    """Take the team's language where the reader chooses none; first of all on every page."""
    st.session_state[_TEAM] = code
    reader.follow_link("lang", code_of)


def language() -> Language:
    """Return the language that the reader chose, else the team's."""
    return LANGUAGES_BY_CODE[reader.chosen("lang") or of_team()]


def of_team() -> str:
    """Return the code of the team's language."""
    code = st.session_state.get(_TEAM)
    return code if code in NAMES else "en"


def code_of(asked: str) -> str | None:
    """Return the language that a link names by its code or its name."""
    return next((code for code, name in NAMES.items() if asked.casefold() in (code, name.casefold())), None)


_STAMP = re.compile(r"(\d{4}-\d\d-\d\d \d\d:\d\d(?P<seconds>:\d\d(?P<ms>\.\d{3})?)?) UTC\b(?![+-])")
LANGUAGES_BY_CODE: dict[Any, Language] = {code: Language(code) for code in LANGUAGES}


def say(text: str, /, **values: Any) -> str:
    """Say a phrase with its values; whole numbers get separators."""
    return language()(text, **values)


def in_words(text: str | None) -> str:
    """Say what the findings, a check or an error says in English and in UTC: in the reader's language and zone."""
    return teller()(text)


def teller() -> Callable[[str | None], str]:
    """Return ``in_words`` for many sentences: to look the reader's choices up for each takes longer than to say it."""
    spoken, zone = language(), reader.zone()
    if zone is None:
        return spoken.sentence
    in_zone = partial(_in_zone, zone)
    return lambda text: _STAMP.sub(in_zone, spoken.sentence(text))


def _in_zone(zone: ZoneInfo, found: re.Match[str]) -> str:
    at = datetime.fromisoformat(f"{found[1]}+00:00").astimezone(zone)
    told = at.isoformat(" ", "milliseconds" if found["ms"] else "seconds" if found["seconds"] else "minutes")
    return f"{told[:-6]} UTC{told[-6:]}"


def of_problem(problem: ForensicsError) -> str:
    """Say an error as a sentence of its own; one that this language does not know as it is written."""
    return of_sentence(problem.sentence)


def of_sentence(sentence: str) -> str:
    """Say a clause as a sentence of its own; one that this language does not know as it is written."""
    told = in_words(sentence)
    if told == plain(sentence):
        return f"{plain(capitalized(sentence))}."
    return f"{told.removesuffix('。')}。"


def term(text: str | None) -> str:
    """Say one word of a table: a verdict, a cause, a state; a name stays as it is."""
    return language().maybe(text)


def in_every_language(text: str) -> list[str]:
    """Say one word as every language does."""
    return [spoken.maybe(text) for spoken in LANGUAGES_BY_CODE.values()]


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
