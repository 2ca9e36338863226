"""The reader's language on the command line: every command says its words through this one place."""

from dataclasses import dataclass

from forensics.language import ENGLISH, Language


@dataclass
class _Spoken:
    """The language of the command that runs."""

    language: Language = ENGLISH


_spoken = _Spoken()


def speak(code: str | None, lake: str | None = None) -> None:
    """Say everything in this language from now on, English where none is named; commands mean ``lake``, where one is named."""
    _spoken.language = Language(code or "en", lake)


def language() -> Language:
    """Return the language in which this command speaks."""
    return _spoken.language


def phrase(text: str, /, **values: object) -> str:
    """Return a phrase with its values; whole numbers get separators."""
    return _spoken.language(text, **values)


def in_words(text: str | None) -> str:
    """Say what the findings, a check or an error says in English."""
    return _spoken.language.sentence(text)


def as_told(text: str) -> str:
    """Say what went wrong; commands in it are those that ran, and mean no lake."""
    return Language(_spoken.language.code).sentence(text)


def term(text: str) -> str:
    """Say one word of a table; a name stays as it is."""
    return _spoken.language.maybe(text)


def count_text(count: int, one: str, many: str | None = None) -> str:
    """Say a count with its noun."""
    return _spoken.language.count(count, one, many)


def span_text(span_ms: float | None) -> str:
    """Say milliseconds in the two units that matter."""
    return _spoken.language.span(span_ms)
