"""The product's words on screen."""

import re
from typing import Any, Literal

import streamlit as st

from forensics.report.told import rival as told_rival
from forensics.terms import CERTAINTY_WORDS, RESTS_ON, TRIGGER_NAMES, VERDICT_WORDS
from pages._ui.said import language, say, term

Colour = Literal["red", "orange", "yellow", "green", "gray"]

_COLOURS: dict[str, Colour] = {
    "confirmed": "red",
    "probable": "orange",
    "possible": "yellow",
    "absorbed": "green",
    "harmless": "green",
}
VERDICTS = {verdict: (_COLOURS[verdict], f"{words[0].upper()}{words[1:]}.") for verdict, words in VERDICT_WORDS.items()}
"""Badge colour and meaning of every verdict."""


def cause(code: str | None) -> str:
    """Say a cause code in words; a code that is not known here is shown as it is."""
    return term(cause_name(code))


def cause_name(code: str | None) -> str:
    """Return the English words of a cause code, or of what began a redelivery."""
    return TRIGGER_NAMES.get(code or "", (code or "unknown").replace("_", " "))


def plain(text: Any) -> str:
    """Escape Markdown, so that a name from a log is shown as the characters it has.

    >>> print(plain("![x](http://a.example/b) :red[*now*]"))
    !\\[x\\](http\\://a.example/b) \\:red\\[\\*now\\*\\]
    """
    line = re.sub(r"\s+", " ", str(text))
    line = re.sub(r"([\\`*_{}\[\]<>~$&|]|:(?=[A-Za-z/]))", r"\\\1", line)
    return re.sub(r"^( *)([-+#]|\d+(?=[.)]))", _escape_start, line)


def with_commands(text: Any) -> str:
    """Escape Markdown as ``plain`` does, but show our own commands, which our sentences write between backticks, as code.

    >>> print(with_commands("No line of *a* tells. Look: `doubletake suggest 'a_b'`, `other`"))
    No line of \\*a\\* tells. Look: `doubletake suggest 'a_b'`, \\`other\\`
    """
    parts = re.split(r"(`doubletake [^`]+`)", str(text))  # every second part is a command
    return "".join(part if n % 2 else plain(part) for n, part in enumerate(parts))


def without_signs(text: str) -> str:
    """Take the backticks from around our own commands: a table's cell shows them as they are.

    >>> without_signs("run `doubletake collect`, not `that`")
    'run doubletake collect, not `that`'
    """
    return re.sub(r"`(doubletake [^`]+)`", r"\1", text)


def _escape_start(found: re.Match[str]) -> str:
    start = found[2]
    return f"{found[1]}\\{start}" if start in "-+#" else f"{found[1]}{start}\\"


def code_counts(pairs: list[str]) -> list[tuple[str, int]]:
    """Split ``code=count`` items.

    >>> code_counts(["batch_collateral=7", "function_timeout=3"])
    [('batch_collateral', 7), ('function_timeout', 3)]
    """
    return [(code, int(number)) for code, _, number in (pair.rpartition("=") for pair in pairs)]


def rival(text: str) -> str:
    """Say an excluded cause, written ``code: why``, in Markdown that shows what comes from logs as it is."""
    name, why = told_rival(language(), text)
    return f"**{plain(name)}**: {plain(why)}" if name else plain(why)


VERDICT_PX = {True: 92, False: 104}
"""Widths of the column of verdicts, in English and in other languages."""


def verdict_column() -> Any:
    """Return the column that shows a verdict as a chip: the word, and a colour beside it."""
    return st.column_config.MultiselectColumn(
        "Verdict",
        options=list(VERDICTS),
        color=[colour for colour, _ in VERDICTS.values()],
        width=VERDICT_PX[language().code == "en"],
    )


def verdict_badges(word: str, certainty: str) -> None:
    """Show a verdict, and beside it what it rests on: "probable, proved" would be two words that contradict each other."""
    st.badge(term(word), color=VERDICTS[word][0], help=say(VERDICTS[word][1]))
    if certainty in RESTS_ON:
        st.badge(term(RESTS_ON[certainty]), color="gray", help=say(CERTAINTY_WORDS[certainty]))
