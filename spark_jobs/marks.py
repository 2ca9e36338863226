"""The marks that a team configured for a consumer, as vectors read them."""

import re

import polars as pl

from forensics.parsers.marks import needle_of
from forensics.settings import Consumer

EFFECT, STARTED = 2, 4
"""What a line states, as bits: it shows the effect of a message, or that work on it began."""
_MARKS = ("effect", "started", "guard", "deleted", "failed")
_GROUPS = {"message_id", "key"}
_ASCII = {"d": "0-9", "w": "A-Za-z0-9_", "s": r"\t\n\x0B\f\r "}
_PARTS = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\(\?P<[A-Za-z_]+>|\(\?:|\(\?|[*+?}]\+|.", re.DOTALL)
"""What an expression is made of: escapes, classes, the beginnings of groups, possessive quantifiers, anything else."""


class Marks:
    """The configured expressions of one consumer, for vectors; ``readable`` is false where these cannot read them.

    They cannot where a line's own place says which message it is about, or how often that was received.
    """

    def __init__(self, consumer: Consumer) -> None:
        every = {name: text for name in _MARKS if (text := getattr(consumer, name))}
        self.patterns = {name: for_vectors(text) for name, text in every.items()}
        has_places = consumer.message_id is not None or consumer.receive_count is not None
        self.readable = not has_places and all(p is not None for p in self.patterns.values())
        needles = [needle_of(text) for text in every.values()]
        self.needles = [n for n in needles if n]
        self.asks_every_line = "" in needles

    def values(self, name: str, line: pl.Expr) -> pl.Expr:
        """Return what the groups of a mark's expression match, as a struct of ``message_id`` and ``key``; null where nothing does."""
        pattern = self.patterns.get(name)
        names = re.compile(pattern).groupindex if pattern else {}
        groups = line.str.extract_groups(pattern) if pattern and set(names) & _GROUPS else pl.lit(None)
        return pl.struct(
            [
                (groups.struct.field(group).replace("", None) if group in names else pl.lit(None, pl.String)).alias(
                    group
                )
                for group in sorted(_GROUPS)
            ]
        )

    def unsaid(self, line: pl.Expr, says: pl.Expr) -> pl.Expr:
        """Tell which lines hold a mark that their shape does not: some expressions tell digits, or letters of ids, apart."""
        told = {"effect": says & EFFECT > 0, "started": says & STARTED > 0}
        found = [
            line.str.contains(pattern.replace("$", r"\n?$")) & ~told.get(name, pl.lit(False))
            for name, pattern in self.patterns.items()
            if pattern is not None
        ]
        return pl.any_horizontal(pl.lit(False), *found)


def for_vectors(text: str) -> str | None:
    r"""Return a configured expression as the vectors' engine reads it, with Python's ASCII classes; None if it cannot.

    >>> for_vectors(r"charged (?P<key>[\w-]+)"), for_vectors(r"(?<=done )x")
    ('charged (?P<key>[A-Za-z0-9_-]+)', None)
    """
    parts = [_for_vectors(part) for part in _PARTS.findall(text)]
    if None in parts:
        return None
    out = "".join(map(str, parts))
    try:
        pl.Series([""]).str.extract(out, 1)
        re.compile(out)
    except (pl.exceptions.PolarsError, re.error):
        return None
    return out


def _for_vectors(part: str) -> str | None:
    if part[0] == "\\":
        kind = part[1].lower()
        if kind in _ASCII:
            return ("[" if part[1] == kind else "[^") + _ASCII[kind] + "]"
        return None if part[1] in "123456789ZABGb<>" else part
    if part[0] == "[" and len(part) > 1:
        if re.search(r"\\[SWDbB1-9]|&&|--|~~|\[", part[1:]):
            return None
        return re.sub(r"\\.", lambda m: _ASCII.get(m[0][1], m[0]), part)
    return None if part == "(?" or (len(part) == 2 and part[1] == "+") else part
