"""Which messages workers' lines speak of, summed up by part: all parts are looked at whenever new lines come."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import polars as pl

from forensics.counting.halves import divided
from forensics.counting.hashes import repeated

_STREAM = ("log_group", "log_stream")
STREAMS_SCHEMA = {
    "log_group": pl.String,
    "log_stream": pl.String,
    "stream": pl.UInt64,
    "is_named": pl.Boolean,
    "lines": pl.UInt32,
}
"""A worker's stream in one part; ``stream`` is its hash. ``is_named``: every line that states something names its messages."""
SPOKEN_SCHEMA = {
    "key": pl.UInt64,
    "stream": pl.UInt64,
    "first_at": pl.Int64,
    "last_at": pl.Int64,
    "lines": pl.UInt32,
}
"""What one part's lines say of a message in its stream (``key`` is the hash of both), in order of time; times in µs."""


def streams_in(facts: pl.DataFrame) -> pl.DataFrame:
    """Return the streams (STREAMS_SCHEMA) of a part's facts: log_group, log_stream, ``at`` and the ``keys`` of a line's messages."""
    found = facts.group_by(_STREAM).agg(is_named=(pl.col("keys").list.len() > 0).all(), lines=pl.len())
    return found.with_columns(stream=pl.struct(*_STREAM).hash()).select(*STREAMS_SCHEMA).sort(_STREAM)


def spoken_in(facts: pl.DataFrame) -> pl.DataFrame:
    """Return the messages (SPOKEN_SCHEMA) that facts name, as of ``streams_in``."""
    each = facts.select("at", stream=pl.struct(*_STREAM).hash(), key="keys").explode("key").drop_nulls("key")
    of_key = each.group_by("key").agg(
        pl.col("stream").first(),
        first_at=pl.col("at").min(),
        last_at=pl.col("at").max(),
        lines=pl.len(),
    )
    return of_key.select(*SPOKEN_SCHEMA).sort("first_at", "key")


@dataclass(frozen=True)
class Stretch:
    """The messages first spoken of in one stretch of time, called ``name``; ``keys`` in order.

    ``parts``: number of each part that speaks of them, when first and when last (µs). ``lines`` are those that do.
    """

    name: str
    keys: np.ndarray
    parts: list[tuple[int, int, int]]
    lines: int


def stretches(spoken: pl.DataFrame, most: int) -> Iterator[Stretch]:
    """Yield messages by when they were first spoken of, at most so many lines together; ``spoken`` has its ``part``, too."""
    if spoken.is_empty():
        return
    rows = _with_beginning(spoken)
    names, counts, order = divided(rows["began_at"].to_numpy(), rows["lines"].to_numpy(), most)
    unit = np.empty(len(order), np.uint32)
    unit[order] = np.repeat(np.arange(len(names), dtype=np.uint32), counts)
    of_parts = rows.group_by(pl.Series("unit", unit), "part").agg(
        low=pl.col("first_at").min(), high=pl.col("last_at").max(), lines=pl.col("lines").sum()
    )
    spread = of_parts.sort("unit", "part").partition_by("unit", maintain_order=True, include_key=False)
    keys = rows["key"].to_numpy()[order]
    for name, mine, there in zip(names, np.split(keys, np.cumsum(counts)[:-1]), spread, strict=True):
        parts = list(there.select("part", "low", "high").iter_rows())
        yield Stretch(name, np.unique(mine), parts, int(there["lines"].sum()))


def _with_beginning(spoken: pl.DataFrame) -> pl.DataFrame:
    """Say of each row when its message was first spoken of in any part; of most only one part speaks."""
    in_order = np.sort(spoken["key"].to_numpy())
    twice = pl.Series(repeated(in_order), dtype=pl.UInt64)
    is_again = pl.col("key").is_in(twice.implode())
    alone = spoken.filter(~is_again).with_columns(began_at="first_at")
    again = spoken.filter(is_again).with_columns(began_at=pl.col("first_at").min().over("key"))
    return pl.concat([alone, again])
