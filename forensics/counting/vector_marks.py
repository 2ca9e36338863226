"""The marks that a team configured for a consumer, as vectors read them."""

import re

import polars as pl

from forensics.parsers.expressions import bounded, plainly
from forensics.parsers.needles import MARKS, of_marks
from forensics.settings import Consumer
from forensics.streams.shapes import EFFECT, STARTED

_GROUPS = {"message_id", "key"}


class Marks:
    """The configured expressions of one consumer, for vectors; ``readable`` is false where these cannot read them.

    They cannot where a line's own place says which message it is about, or how often that was received.
    """

    def __init__(self, consumer: Consumer) -> None:
        every = {name: text for name in MARKS if (text := getattr(consumer, name))}
        self.patterns = {name: for_vectors(text) for name, text in every.items()}
        has_places = consumer.message_id is not None or consumer.receive_count is not None
        self.readable = not has_places and all(p is not None for p in self.patterns.values())
        needles = of_marks(consumer)
        self.needles = [n for n in needles if n]
        self.asks_every_line = "" in needles

    def values(self, name: str, lines: pl.Series) -> pl.DataFrame:
        """Return what the groups of a mark's expression match, as ``message_id`` and ``key``; null where nothing does."""
        pattern = self.patterns.get(name)
        names = _GROUPS & set(re.compile(pattern).groupindex) if pattern else set()
        if pattern is None or not names or lines.null_count() == len(lines):
            return pl.DataFrame(
                {group: pl.Series([None], dtype=pl.String).new_from_index(0, len(lines)) for group in _GROUPS}
            )
        found = lines.str.extract_groups(pattern).struct.unnest()
        return found.select(
            pl.col(n).replace("", None) if n in names else pl.lit(None, pl.String).alias(n) for n in _GROUPS
        )

    def unsaid(self, line: pl.Expr, says: pl.Expr) -> pl.Expr:
        """Tell which lines hold a mark that their shape does not: some expressions tell digits, or letters of ids, apart."""
        told = {"effect": says & EFFECT > 0, "started": says & STARTED > 0}
        found = [
            pl.when(~told.get(name, pl.lit(False)))
            .then(line)
            .str.contains(pattern.replace("$", r"\n?$"))
            .fill_null(False)
            for name, pattern in self.patterns.items()
            if pattern is not None
        ]
        return pl.any_horizontal(pl.lit(False), *found)


def for_vectors(text: str) -> str | None:
    r"""Return a configured expression as the vectors' engine reads it, with Python's ASCII classes; None if it cannot.

    >>> for_vectors(r"charged (?P<key>[\w-]+)"), for_vectors(r"(?<=done )x")
    ('charged (?P<key>[A-Za-z0-9_-]+)', None)
    """
    plain = plainly(bounded(text))
    if plain is None:
        return None
    try:
        pl.Series([""]).str.extract(plain, 1)
        re.compile(plain)
    except (pl.exceptions.PolarsError, re.error):
        return None
    return plain
