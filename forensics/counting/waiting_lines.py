"""Lines of functions that wait for those of other files, beside the invocations that are over: frames of all files at once.

A *border* is an invocation that is over in its file: hashes of its stream and request, when it began and ended, and whether it
has its REPORT.
"""

from dataclasses import dataclass

import numpy as np
import polars as pl

from forensics.counting.hashes import met, places_of, repeated

STREAM = ("log_group", "log_stream")
HASHES_PER_BORDER = 2
"""To look at a border, or a line that waits, beside those that are settled costs as much as so many hashes."""
_IN_ORDER = ["stream", "at", "order_in_ms", "evidence_id"]


@dataclass(frozen=True)
class Settled:
    """What borders of parts that have been there for long say together, each with its ``part``.

    ``borders`` stand by stream, ``keys`` are the hashes of their streams and requests, in order, and ``twice`` the streams of which
    they tell of one request twice. ``spans``: from when to when each part tells of each stream.
    """

    borders: pl.DataFrame
    keys: pl.DataFrame
    twice: pl.DataFrame
    spans: pl.DataFrame


def settled(borders: pl.DataFrame) -> Settled:
    """Return what ``placed`` is spared of these borders where others come to them."""
    keys = _keys(borders)
    in_order = keys.sort()
    twice = borders.filter(keys.is_in(pl.Series(repeated(in_order.to_numpy()), dtype=pl.UInt64).implode()))
    by_stream = borders.sort("stream", maintain_order=True)
    return Settled(by_stream, in_order.to_frame(), twice.select("stream").unique(), _spans(borders))


@dataclass(frozen=True)
class Borders:
    """Borders of all parts: those that have been there for long, and ``new`` ones."""

    before: Settled
    new: pl.DataFrame

    def of(self, streams: pl.Series) -> pl.DataFrame:
        """Return those of some streams."""
        mine = streams.unique().sort()
        old = self.before.borders
        found = old[places_of(old["stream"].to_numpy(), mine.to_numpy())].select(self.new.columns)
        return pl.concat([found, self.new.filter(pl.col("stream").is_in(mine.implode()))])


def _keys(borders: pl.DataFrame) -> pl.Series:
    return borders.select("stream", "request").hash_rows().alias("key")


def placed(rest: pl.DataFrame, borders: Borders) -> tuple[pl.DataFrame, pl.Series]:
    """Return the lines that wait, in order, each with the ``piece`` of its stream it belongs to, and the tangled streams.

    Both are of all parts, with the number of each row's ``part``. Streams are named by their hash (``stream``). A line of a
    tangled stream has no piece, nor has one that is nobody's.
    """
    request = pl.when(pl.col("request_id").is_not_null()).then(pl.col("request_id").hash())
    lines = rest.with_columns(stream=pl.struct(*STREAM).hash(), request=request).sort(_IN_ORDER)
    near = borders.of(lines["stream"])
    lines = _beside(lines, near)
    tangled = pl.concat([_touched(lines, near), _around(lines, near), _overlapping(borders)]).unique()
    is_free = ~pl.col("stream").is_in(tangled.implode()) & ~pl.col("is_nobodys")
    free = lines.filter(is_free)
    pieces = free.select("part", "evidence_id", piece=_pieces(free))
    return lines.join(pieces, on=["part", "evidence_id"], how="left", maintain_order="left"), tangled


def _beside(lines: pl.DataFrame, borders: pl.DataFrame) -> pl.DataFrame:
    """Say of each line that waits how it stands to the invocation that is over and began last before it.

    ``is_touching``: between that one's first and last line, or after it, and no other line that waits in between tells to
    whom it belongs. ``is_nobodys``: after it, too, but it says nothing and that one has its REPORT.
    """
    speaks = pl.col("said").is_not_null()
    said_at = pl.when(speaks).then("at")
    found = lines.with_columns(before_at=said_at.shift(1).forward_fill().over("stream"))
    found = found.sort("at", maintain_order=True).join_asof(
        borders.drop("request", "part").sort("start_at", "end_at"),
        left_on="at",
        right_on="start_at",
        by="stream",
        strategy="backward",
        check_sortedness=False,
    )
    is_inside = (pl.col("at") <= pl.col("end_at")).fill_null(False)
    is_behind = ~pl.col("is_start") & pl.col("start_at").is_not_null() & ~is_inside
    is_behind = is_behind & (pl.col("before_at").is_null() | (pl.col("start_at") > pl.col("before_at")))
    is_nobodys = is_behind & ~speaks & pl.col("is_closed").fill_null(False)
    found = found.with_columns(is_touching=is_inside | (is_behind & ~is_nobodys), is_nobodys=is_nobodys)
    return found.drop("before_at", "start_at", "end_at", "is_closed").sort(_IN_ORDER)


def _touched(rest: pl.DataFrame, borders: pl.DataFrame) -> pl.Series:
    """Return the streams in which a line that waits may bear on an invocation that is over in some file."""
    late = borders.join(rest, on=["stream", "request"], how="semi")
    return pl.concat([late["stream"], rest.filter("is_touching")["stream"]])


def _around(rest: pl.DataFrame, borders: pl.DataFrame) -> pl.Series:
    """Return the streams in which lines of one request wait on both sides of an invocation that is over: it may have been on meanwhile."""
    requests = rest.filter(pl.col("request").is_not_null()).group_by("stream", "request")
    spans = requests.agg(first_at=pl.col("at").min(), last_at=pl.col("at").max()).sort("last_at")
    before = spans.join_asof(
        borders.select("stream", "start_at").sort("start_at"),
        left_on="last_at",
        right_on="start_at",
        by="stream",
        strategy="backward",
        check_sortedness=False,
    )
    return before.filter(pl.col("start_at") > pl.col("first_at"))["stream"]


def _overlapping(borders: Borders) -> pl.Series:
    """Return the streams of which two files tell of one request, or of invocations at the same time."""
    new, before = borders.new, borders.before
    keys = _keys(new)
    in_order = keys.sort().to_numpy()
    twice = np.union1d(repeated(in_order), met(in_order, before.keys["key"].to_numpy()))
    again = new.filter(keys.is_in(pl.Series(twice, dtype=pl.UInt64).implode()))["stream"]
    meeting = _meeting(pl.concat([before.spans, _spans(new)]))
    return pl.concat([before.twice["stream"], again, _meeting(borders.of(meeting))])


def _spans(borders: pl.DataFrame) -> pl.DataFrame:
    """Return from when to when each part tells of each stream: first of those that stand together, as nearly all do."""
    stream, part, start_at, end_at = (borders[name].to_numpy() for name in ("stream", "part", "start_at", "end_at"))
    is_first = np.ones(borders.height, bool)
    is_first[1:] = (stream[1:] != stream[:-1]) | (part[1:] != part[:-1])
    first = np.flatnonzero(is_first)
    if not len(first):
        return borders.select("stream", "part", "start_at", "end_at")
    together = {"start_at": np.minimum.reduceat(start_at, first), "end_at": np.maximum.reduceat(end_at, first)}
    spans = pl.DataFrame({"stream": stream[first], "part": part[first], **together})
    return spans.group_by("stream", "part").agg(pl.col("start_at").min(), pl.col("end_at").max())


def _meeting(spans: pl.DataFrame) -> pl.Series:
    """Return the streams in which a span of one part meets one of another; ends belong to spans."""
    ordered = spans.sort("stream", "start_at", "end_at")
    reached = pl.col("end_at").cum_max().shift(1).over("stream")
    is_other = (pl.col("part") != pl.col("part").shift(1)).over("stream")
    meets = (pl.col("start_at") < reached) | ((pl.col("start_at") == reached) & is_other)
    return ordered.filter(meets)["stream"].unique()


def _pieces(rest: pl.DataFrame) -> pl.Series:
    """Return for each line, in order, the piece of its stream it belongs to: from one START to the next, or before the first.

    Pieces that speak of one request are one, with what stands between.
    """
    if rest.is_empty():
        return pl.Series("piece", dtype=pl.Int64)
    begins = (pl.col("stream") != pl.col("stream").shift(1)).fill_null(True) | pl.col("is_start")
    lines = rest.select("stream", "request", piece=begins.cum_sum().cast(pl.Int64))
    spans = lines.filter(pl.col("request").is_not_null()).group_by("stream", "request")
    found = spans.agg(first=pl.col("piece").min(), last=pl.col("piece").max()).filter(pl.col("first") < pl.col("last"))
    steps = np.zeros(int(lines["piece"].max()) + 2, np.int64)  # type: ignore[arg-type]
    np.add.at(steps, found["first"].to_numpy() + 1, 1)
    np.add.at(steps, found["last"].to_numpy() + 1, -1)
    is_own = np.cumsum(steps) == 0
    return pl.Series("piece", np.cumsum(is_own)[lines["piece"].to_numpy()])
