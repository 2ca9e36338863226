"""Lines of streams as the steps read them, file by file, and as the grammar tells them, one after the other."""

from collections.abc import Sequence
from datetime import timedelta

import polars as pl

from forensics.counting.waiting_lines import Borders, placed, settled
from forensics.parsers import parse_line
from forensics.streams.facts import facts_of, of_line
from forensics.streams.reading import Reading
from spark_jobs.assemble import PLACE, fact_rows, of_said, of_streams
from spark_jobs.parts import FRAMES, LINE_SCHEMA, REST_SCHEMA, Part
from spark_jobs.scan import scanned
from tests.spark_jobs.small_lake import NOON

Line = tuple[int, str]
"""Milliseconds after noon, and the text."""


def log_events(
    lines: Sequence[Line], log_group: str, stream: str = "s", files: Sequence[int] | None = None
) -> pl.DataFrame:
    """Return the lines of one stream as log events, each with the number of the file it stands in (``part``)."""
    return pl.DataFrame(
        {
            "evidence_id": [f"{stream}-{n:03d}" for n in range(len(lines))],
            "log_group": log_group,
            "log_stream": stream,
            "logged_at": [NOON + timedelta(milliseconds=at) for at, _ in lines],
            "order_in_ms": list(range(len(lines))),
            "line": [line for _, line in lines],
            "part": [0] * len(lines) if files is None else list(files),
        },
        schema_overrides={
            "log_group": pl.String,
            "order_in_ms": pl.Int32,
            "logged_at": pl.Datetime("us", "UTC"),
            "part": pl.UInt32,
            "line": pl.String,
        },
    )


def as_lines(events: pl.DataFrame) -> pl.DataFrame:
    """Return log events in the columns that lines are read in."""
    order = pl.col("order_in_ms").fill_null(0)
    return events.with_columns(at=pl.col("logged_at").dt.epoch("us"), order_in_ms=order).select(*LINE_SCHEMA)


def by_the_grammar(events: pl.DataFrame, reading: Reading) -> Part:
    """Return what the grammar tells of every line, and of functions' streams together, whatever files they stand in."""
    functions = [name for name, group in reading.groups.items() if group.kind == "lambda"]
    is_function = pl.col("log_group").is_in(functions)
    told = of_streams(as_lines(events.filter(is_function)), reading)
    facts = []
    for row in as_lines(events.filter(~is_function)).iter_rows(named=True):
        group = reading.groups[row["log_group"]]
        said = parse_line(row["line"], group.consumer, group.name)
        where = row["at"], row["evidence_id"]
        mine = facts_of(said, *where, reading.keys.in_group(group.queue_name))
        if mine := of_line(mine, said, row["line"], *where):
            facts.append((*(row[name] for name in PLACE), mine))
    return told.and_part(Part(facts=fact_rows(facts)))


def some_settled(borders: pl.DataFrame) -> Borders:
    """Let those of every second file have been there for long."""
    is_old = pl.col("part") % 2 == 0
    return Borders(settled(borders.filter(is_old)), borders.filter(~is_old))


def file_by_file(events: pl.DataFrame, reading: Reading) -> Part:
    """Scan each file, and put together what of it waits, every piece by itself."""
    parts = [(n, scanned(mine, reading)) for (n,), mine in events.group_by("part", maintain_order=True)]
    rest, borders = (
        pl.concat([getattr(part, name).with_columns(part=pl.lit(n, pl.UInt32)) for n, part in parts])
        for name in ("rest", "borders")
    )
    waiting, tangled = placed(rest, some_settled(borders))
    is_tangled = pl.struct("log_group", "log_stream").hash().is_in(tangled.implode())
    told = by_the_grammar(events.filter(is_tangled), reading)
    pieces = [told]
    for _, part in parts:
        mine = Part(part.invocations.filter(~is_tangled), part.deliveries.filter(~is_tangled), facts=part.facts)
        pieces.append(mine)
    for _, piece in waiting.filter(pl.col("piece").is_not_null()).group_by("piece"):
        pieces.append(of_said(piece.select(*REST_SCHEMA), reading))
    return Part(**{name: pl.concat([getattr(piece, name) for piece in pieces]) for name in FRAMES})


def rows(found: pl.DataFrame) -> list[str]:
    """Return rows one can compare; whether a delivery is kept as JSON or in columns is no difference."""
    return sorted(map(repr, found.drop("raw", strict=False).rows(named=True)))
