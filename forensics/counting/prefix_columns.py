"""Vectors take the request id that an application's lines carry, where the grammar would take it."""

import polars as pl

from forensics.counting.line_shapes import Shapes
from forensics.parsers.grammar import REQUEST_ID, UUID
from forensics.streams.shapes import JSON_ID

_STAMP = r"\[?[0-9]{4}[-/][0-9]{2}[-/][0-9]{2}[T ][0-9:.,]{8,20}(?:Z|[ \x{A0}]?[+-][0-9:]{4,6})?\]?[ \t\x{A0},:-]*"
_PREFIX = rf"^[\s\x{{A0}}]*(?:\[?[A-Za-z]{{3,11}}\]?[: \t\x{{A0}}]*)?(?:{_STAMP}){{0,2}}<?({REQUEST_ID})"
"""At least whatever ``app_lines.PREFIX`` takes for a request id: what else it finds makes a line odd, never wrong."""
_STAMP_CHARS = len("2026-01-05T03:04:05.678Z\t")
_PLAIN_PREFIX = rf"^(?:\[[A-Z]{{3,11}}\]\t)?[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}T[0-9]{{2}}:[0-9]{{2}}:[0-9]{{2}}\.[0-9]{{3}}Z\t{UUID}\t"
"""Python's and Node's own prefix: there the id stands at a known place."""


def prefix_ids(lines: pl.Series, shapes: Shapes) -> pl.Series:
    """Return the id that stands where an application's line carries its request id; null where none does, and for null.

    Whether a line has the plain prefix its shape tells, which has each id and digit where the line has them; a line without a
    shape is looked at by itself.
    """
    line, place = pl.col("line"), pl.col("place")
    places = _places(shapes.texts).gather(shapes.of_lines)
    unshaped = (lines.is_not_null() & shapes.of_lines.is_null()).arg_true()
    if len(unshaped):
        places = places.scatter(unshaped, _places(lines.gather(unshaped)))
    of_lines = pl.DataFrame({"line": lines, "place": places})
    found = of_lines.select(pl.when(place >= 0).then(line).str.slice(place, 36)).to_series()
    others = (places < 0).arg_true()
    if len(others):
        in_json = pl.when(line.str.starts_with("{")).then(line.str.extract(JSON_ID, 1))
        told = of_lines[others].select(pl.coalesce(in_json, line.str.extract(_PREFIX, 1))).to_series()
        found = found.scatter(others, told)
    return found


def _places(texts: pl.Series) -> pl.Series:
    """Return where the id of a plain prefix begins; -1 where there is none, null for null."""
    line = pl.col("line")
    level = pl.when(line.str.starts_with("[")).then(line.str.find("\t", literal=True).cast(pl.Int64) + 1).otherwise(0)
    place = pl.when(line.str.contains(_PLAIN_PREFIX)).then(level + _STAMP_CHARS).otherwise(-1)
    return texts.to_frame("line").select(pl.when(line.is_not_null()).then(place)).to_series()
