"""Named regular expressions, and the pieces they are made of.

`\\b`, `$`, a bare `.` and Unicode classes are not used: what they mean hangs on flags and line breaks. The no-break space,
which Lambda puts into tracebacks, is named wherever a blank may stand. Quantifiers are possessive wherever nothing is to be
given back, so that a line of 300 KB, or one that was cut in the middle of a string, is gone through once.

Beside its patterns a grammar file has needles: plain texts of which a line must hold one to be worth a pattern. They are
looked for in many lines at once, and in each line before its patterns are.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property

from forensics.possessive import compiled

BLANK = r"[ \t\u00a0]"
"""One blank inside a line; copies of logs turn tabs into spaces and back."""

SPACE = r"[\s\u00a0]"
"""One blank or line break."""

REQUEST_ID = r"[0-9A-Za-z]{8}-[0-9A-Za-z]{4}-[0-9A-Za-z]{4}-[0-9A-Za-z]{4}-[0-9A-Za-z]{12}"
"""A request id: shaped like a UUID; documentation writes `xmpl` into it."""

UUID = r"[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}"

QUOTE = r"(?:\\{0,7}[\"'`]|&quot;|&#0?3[49];|&apos;)"
"""A quote as printed, escaped inside another string, or as HTML."""

NUMBER = r"[0-9]{1,15}(?:\.[0-9]{1,9})?"

TIMESTAMP = (
    r"[0-9]{4}[-/][0-9]{2}[-/][0-9]{2}"  # date; Go writes slashes
    r"[T ][0-9]{2}:[0-9]{2}:[0-9]{2}"
    r"(?:[.,][0-9]{1,9})?"  # fraction; Python's logging writes a comma
    r"(?:Z|" + BLANK + r"?[+-][0-9]{2}:?[0-9]{2})?"  # zone
)

DOUBLE_QUOTED = r'"[^"\\]*+(?:\\[\s\S][^"\\]*+)*+"'
SINGLE_QUOTED = r"'[^'\\]*+(?:\\[\s\S][^'\\]*+)*+'"
BACK_QUOTED = r"`[^`\\]*+(?:\\[\s\S][^`\\]*+)*+`"


def balanced_object(depth: int) -> str:
    """Return a pattern for ``{...}`` with objects nested up to ``depth`` inside, blind to what quoted strings hold."""
    inside = r"[^{}\"']++|" + DOUBLE_QUOTED + "|" + SINGLE_QUOTED
    if depth:
        inside += "|" + balanced_object(depth - 1)
    return r"\{(?:" + inside + r")*+\}"


@dataclass(frozen=True)
class Pattern:
    """A regular expression with a name.

    >>> Pattern("timeout", r"timed out after (?P<timeout_s>[0-9]+)").find("Task timed out after 3 s", "timeout_s")
    '3'
    """

    name: str
    text: str = field(repr=False)

    @cached_property
    def compiled(self) -> re.Pattern[str]:
        """The pattern, with ASCII classes."""
        return compiled(self.text, re.ASCII)

    @property
    def groups(self) -> tuple[str, ...]:
        """Names of its groups, in order."""
        return tuple(self.compiled.groupindex)

    def find(self, text: str | None, group: str | int = 0) -> str | None:
        """Return what a group matched first in ``text``; None for no match and for an empty one."""
        if text is None:
            return None
        found = self.compiled.search(text)
        return (found[group] or None) if found else None

    def find_all(self, text: str | None, group: str | int = 0) -> list[str]:
        """Return what a group matched, each time; an unmatched group gives an empty text."""
        if text is None:
            return []
        return [found[group] or "" for found in self.compiled.finditer(text)]

    def replace(self, text: str, replacement: str) -> str:
        """Replace every match; ``\\g<1>`` stands for a group."""
        return self.compiled.sub(replacement, text)


@dataclass(frozen=True)
class Replacement:
    """A pattern and what stands for its matches; ``\\g<1>`` in ``with_text`` stands for a group."""

    pattern: Pattern
    with_text: str

    def apply(self, text: str) -> str:
        """Replace every match in ``text``."""
        return self.pattern.replace(text, self.with_text)


def holds_any(text: str, needles: Iterable[str]) -> bool:
    """Tell whether a text holds one of some words; asked of every line, so a loop: a third of what ``any`` costs.

    >>> holds_any("Message 17 failed", ["finished", "failed"])
    True
    """
    for needle in needles:  # noqa: SIM110
        if needle in text:
            return True
    return False
