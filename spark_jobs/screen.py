"""Vectors decide what the grammar has to look at: what each line of a Lambda log group is, as columns.

The commonest forms are read here for sure: START, END and plain REPORT lines, a printed Lambda event, lines of the
application whose *shape* the grammar was asked about (``forensics.streams.shapes``), with the values that the configured
expressions take from them. Whatever is not read for sure is ``is_odd``: its invocation goes to the grammar line by line.
"""

from collections.abc import Sequence

import numpy as np
import polars as pl

from forensics.counting.vector_marks import Marks
from forensics.parsers import sqs_records
from forensics.parsers.grammar import UUID
from forensics.parsers.lambda_text import TIMEOUT_NEEDLE
from forensics.parsers.needles import OF_FUNCTIONS

START, END, REPORT, EVENT, APPLICATION = 1, 2, 3, 4, 0
"""Kinds of lines; an application's line is any other."""

_REPORT = rf"^REPORT RequestId: {UUID}\tDuration: ([0-9]{{1,15}}(?:\.[0-9]{{1,9}})?) ms\t"
_TIMED_OUT = "\tStatus: timeout"
_FUNCTION_NAME = r'(?:unction_name|FunctionName)"\s*:\s*"([A-Za-z0-9_-]{1,140})'
_FUNCTION_ARN = r":function:([A-Za-z0-9_-]{1,140})"
NUMBERED_ENTITY = "&#"
"""A quote as HTML says by its digits which it is, so that no shape holds it."""
LONGEST_SHAPE = 4_000
MOST_SHAPES = 5_000
"""Above this a part's lines have no shapes in common, and asking about each costs what reading each line does."""


def kinds(lines: pl.Series) -> pl.Series:
    """Return the kind of each line by its first characters, and by the two words that every printed event has."""
    line = pl.col("line")
    platform = (
        pl.when(line.str.starts_with("START RequestId: "))
        .then(pl.lit(START, pl.UInt8))
        .when(line.str.starts_with("END RequestId: "))
        .then(END)
        .when(line.str.starts_with("REPORT RequestId: "))
        .then(REPORT)
        .otherwise(APPLICATION)
    )
    kind = lines.to_frame("line").select(platform).to_series().to_numpy(writable=True)
    places = np.flatnonzero(kind == APPLICATION)
    for words in ([sqs_records.ID_NEEDLE], ["eceiptHandle", "ReceiveCount"]):
        found = lines.gather(places).to_frame("line")
        is_named = found.select(pl.any_horizontal(line.str.contains(word, literal=True) for word in words))
        places = places[is_named.to_series().to_numpy()]
    kind[places] = EVENT
    return pl.Series("kind", kind)


def said_ids(kind: pl.Expr, line: pl.Expr) -> pl.Expr:
    """Return the request id of START, END and REPORT lines; null elsewhere."""
    begin = kind.replace_strict({START: 17, END: 15, REPORT: 18}, default=0, return_dtype=pl.Int64)
    return pl.when(begin > 0).then(line).str.slice(begin, 36)


def timed_out(line: pl.Expr) -> pl.Expr:
    """Tell which REPORT lines end with the status of a timeout."""
    return line.str.strip_chars_end().str.ends_with(_TIMED_OUT)


def durations_ms(line: pl.Expr) -> pl.Expr:
    """Return the duration of plain REPORT lines; null where such a line has another status, tells of an init, or has any other form."""
    line = pl.when(timed_out(line)).then(line.str.strip_chars_end().str.strip_suffix(_TIMED_OUT)).otherwise(line)
    plain = pl.when(~line.str.contains_any(["Status:", "Init Duration", "Restore Duration"])).then(line)
    return plain.str.extract(_REPORT, 1).cast(pl.Float64)


def may_be_of_platform(line: pl.Expr) -> pl.Expr:
    """Tell which lines may be START, END or REPORT in another form (behind a time, a blank, or a tab for a blank), or tell of another run."""
    speaking = pl.when(line.str.contains("RequestId", literal=True)).then(line)
    return speaking.str.contains_any(["START", "END", "REPORT"]).fill_null(False) | line.str.contains(
        TIMEOUT_NEEDLE, literal=True
    )


def function_names(line: pl.Expr) -> pl.Expr:
    """Return the name of its function that an application's JSON line carries."""
    return pl.coalesce(line.str.extract(_FUNCTION_NAME, 1), line.str.extract(_FUNCTION_ARN, 1))


def needles_of(consumers: Sequence[Marks]) -> list[str]:
    """Return the texts of which a line must hold one to be worth a shape."""
    return sorted({*OF_FUNCTIONS, *(needle for marks in consumers for needle in marks.needles)})
