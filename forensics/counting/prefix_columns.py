"""Vectors take the request id that an application's lines carry, where the grammar would take it."""

import polars as pl

from forensics.parsers.grammar import REQUEST_ID, UUID

_STAMP = r"\[?[0-9]{4}[-/][0-9]{2}[-/][0-9]{2}[T ][0-9:.,]{8,20}(?:Z|[ \x{A0}]?[+-][0-9:]{4,6})?\]?[ \t\x{A0},:-]*"
_PREFIX = rf"^[\s\x{{A0}}]*(?:\[?[A-Za-z]{{3,11}}\]?[: \t\x{{A0}}]*)?(?:{_STAMP}){{0,2}}<?({REQUEST_ID})"
"""At least whatever ``app_lines.PREFIX`` takes for a request id: what else it finds makes a line odd, never wrong."""
_STAMP_CHARS = len("2026-01-05T03:04:05.678Z\t")
_PLAIN_PREFIX = rf"^(?:\[[A-Z]{{3,11}}\]\t)?[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}T[0-9]{{2}}:[0-9]{{2}}:[0-9]{{2}}\.[0-9]{{3}}Z\t{UUID}\t"
"""Python's and Node's own prefix: there the id stands at a known place, which a fifth of the time finds."""
JSON_ID = rf'equest_?[Ii]d"\s*:\s*"({REQUEST_ID})'


def prefix_ids(lines: pl.Series) -> pl.Series:
    """Return the id that stands where an application's line carries its request id; null where none does, and for null."""
    line = pl.col("line")
    plain = lines.str.contains(_PLAIN_PREFIX).fill_null(False)
    level = pl.when(line.str.starts_with("[")).then(line.str.find("\t", literal=True) + 1).otherwise(0)
    known = lines.filter(plain).to_frame("line").select(line.str.slice(level + _STAMP_CHARS, 36))
    in_json = pl.when(line.str.starts_with("{")).then(line.str.extract(JSON_ID, 1))
    others = lines.filter(~plain).to_frame("line").select(pl.coalesce(in_json, line.str.extract(_PREFIX, 1)))
    place = pl.when(plain).then(plain.cum_sum() - 1).otherwise((~plain).cum_sum() - 1 + len(known))
    return pl.concat([known.to_series(), others.to_series()]).gather(pl.select(place).to_series())
