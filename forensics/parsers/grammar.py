"""Named regular expressions that mean the same in Python and in Java, where Spark runs them.

What differs between the two is kept out of the patterns: `\\b`, `$`, a bare `.` and Unicode classes are not used; the
no-break space, which Lambda puts into tracebacks, is named wherever a blank may stand; quoted strings are matched with
possessive quantifiers, because Java's `(?:a|b)*` overflows its stack on a line of 300 KB.

Beside its patterns a grammar file has needles: plain texts of which a line must hold one to be worth a pattern. Spark
looks for them byte by byte, so they begin with a letter that is rare in log lines and is no hexadecimal digit.
"""

import re
from dataclasses import dataclass, field
from functools import cached_property

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
    """A regular expression with a name, declared once for both engines.

    >>> Pattern("timeout", r"timed out after (?P<timeout_s>[0-9]+)").find("Task timed out after 3 s", "timeout_s")
    '3'
    """

    name: str
    text: str = field(repr=False)

    @cached_property
    def compiled(self) -> re.Pattern[str]:
        """The pattern for Python; ASCII, as Java's classes are."""
        return re.compile(self.text, re.ASCII)

    @cached_property
    def java(self) -> str:
        """The pattern for Java: its group names may not hold an underscore, so groups go by number."""
        return re.sub(r"\(\?P<[a-z_0-9]+>", "(", self.text)

    @property
    def groups(self) -> tuple[str, ...]:
        """Names of its groups, in order."""
        return tuple(self.compiled.groupindex)

    def index(self, group: str | int) -> int:
        """Return a group's number."""
        return group if isinstance(group, int) else self.compiled.groupindex[group]

    def find(self, text: str | None, group: str | int = 0) -> str | None:
        """Return what a group matched first in ``text``; None for no match and for an empty one, as in Spark."""
        if text is None:
            return None
        found = self.compiled.search(text)
        return (found[group] or None) if found else None

    def find_all(self, text: str | None, group: str | int = 0) -> list[str]:
        """Return what a group matched, each time; an unmatched group gives an empty text, as in Spark."""
        if text is None:
            return []
        return [found[group] or "" for found in self.compiled.finditer(text)]

    def replace(self, text: str, replacement: str) -> str:
        """Replace every match; ``\\g<1>`` names a group (``$1`` in Java)."""
        return self.compiled.sub(replacement, text)


@dataclass(frozen=True)
class Replacement:
    """A pattern and what stands for its matches; ``with_text`` may name groups as ``$1``."""

    pattern: Pattern
    with_text: str

    def apply(self, text: str) -> str:
        """Replace every match in ``text``."""
        return self.pattern.replace(text, self.with_text.replace("$1", r"\g<1>"))
