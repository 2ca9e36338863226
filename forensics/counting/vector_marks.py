"""The marks that a team configured for a consumer, as vectors read them."""

import re

import polars as pl

from forensics.counting.line_shapes import Shapes, masked
from forensics.counting.mark_places import places_in
from forensics.parsers.expressions import bounded, plainly
from forensics.parsers.idempotency import REPEAT_NEEDLES
from forensics.parsers.needles import MARKS, of_marks
from forensics.settings import Consumer
from forensics.streams.repeats import is_asked
from forensics.streams.shapes import EFFECT, STARTED

_COLUMNS = ("message_id", "key")
_GROUPS = set(_COLUMNS)


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
        self.needles = [*(n for n in needles if n), *(REPEAT_NEEDLES if is_asked(consumer) else ())]
        self.asks_every_line = "" in needles

    def values(self, name: str, lines: pl.Series, shapes: Shapes) -> pl.DataFrame:
        """Return what the groups of a mark's expression match, as ``message_id`` and ``key``; null where nothing does.

        And the key's shape, as ``key_shape``. Lines of which the shape tells where the values stand are not searched.
        """
        pattern = self.patterns.get(name)
        names = _GROUPS & set(re.compile(pattern).groupindex) if pattern else set()
        if pattern is None or not names or lines.null_count() == len(lines):
            none = pl.Series([None], dtype=pl.String).new_from_index(0, len(lines))
            return pl.DataFrame(dict.fromkeys((*_COLUMNS, "key_shape"), none))
        places = _places(lines, shapes, pattern)
        line, is_placed = pl.col("line"), pl.col("is_placed").fill_null(False)
        rows = pl.DataFrame({"line": lines}).with_columns(places)
        of_shapes = rows.select(
            *(pl.when(is_placed).then(line.str.slice(f"{n}_at", f"{n}_length")).alias(n) for n in _COLUMNS), "key_shape"
        )
        others = rows.select(pl.when(~is_placed).then(line)).to_series()
        if others.null_count() == len(others):
            return of_shapes
        found = others.str.extract_groups(pattern).struct.unnest()
        found = found.select(
            pl.col(n).replace("", None) if n in names else pl.lit(None, pl.String).alias(n) for n in _COLUMNS
        )
        key = found["key"]
        found = found.with_columns(key_shape=masked(key) if key.null_count() < len(key) else key)
        return found.select(pl.coalesce(of_shapes[name], pl.col(name)) for name in found.columns)

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


def _places(lines: pl.Series, shapes: Shapes, pattern: str) -> pl.DataFrame:
    """Return for each line where its values stand: ``is_placed``, each column's ``_at`` and ``_length``, and ``key_shape``."""
    said = shapes.of_lines.filter(lines.is_not_null()).drop_nulls().unique().sort()
    rows = []
    for number, shape in zip(said, shapes.texts.gather(said), strict=True):
        if (places := places_in(shape, pattern)) is not None:
            key = places.get("key")
            key_shape = key and shape[key.at : key.at + key.length]
            rows.append((number, True, *(x for n in _COLUMNS for x in places.get(n, (None, None))), key_shape))
    columns = [f"{name}_{what}" for name in _COLUMNS for what in ("at", "length")]
    schema = {"shape": pl.UInt32, "is_placed": pl.Boolean, **dict.fromkeys(columns, pl.UInt32), "key_shape": pl.String}
    found = pl.DataFrame(rows, schema=schema, orient="row")
    of_lines = pl.DataFrame({"shape": shapes.of_lines})
    return of_lines.join(found, on="shape", how="left", maintain_order="left").drop("shape")


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
