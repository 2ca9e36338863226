"""Which stretches of FIFO message groups findings have to look at, told from whole columns: most never stop and never overtake."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter

import numpy as np
import polars as pl

from forensics.counting.halves import halved
from forensics.counting.hashes import places_from, places_of
from forensics.incidents.held import GroupDelivery, held_ms
from forensics.queue_findings import HOLDING
from forensics.run_ends import FAILED
from forensics.streams.model import Delivery

COLUMNS = (
    "queue_arn",
    "group_id",
    "item_id",
    "consumer",
    "sent_at",
    "received_at",
    "run_ended_at",
    "hidden_until_at",
    "ended_by",
    "run_status",
    "effect",
    "effect_at",
)
"""Columns of ``deliveries`` that are asked for."""
HASHES_PER_RUN = 8
"""To look at a run again costs as much as so many hashes: all that is known of its group is put in order anew."""
RUNS_SPARED = 2_000
"""So many of the last runs at most may still change: what is judged together with new lines is told anew."""
_EVER = 2**62
"""Later than any time: of what nobody knows the end of."""


def deliveries_of(alone: pl.LazyFrame, others: pl.LazyFrame, placed: pl.DataFrame) -> pl.DataFrame:
    """Return the deliveries of the messages that were in stretches, in order; times are whole microseconds.

    ``alone`` and ``others`` are of FIFO queues, in all columns of ``deliveries``; the former the only ones of their message
    each. ``placed`` tells group, run and stretch.
    """
    of_run = ["group", "run"]
    there = alone.with_columns(**_HASHES).filter(pl.col("run").is_in(placed["run"].unique().implode())).collect()
    items = items_of(others).join(placed.lazy(), on=of_run).select(*_ITEM, "stretch").unique().collect()
    again = others.filter(pl.col("item_id").is_in(items["item_id"].unique().implode())).collect()
    again = again.join(items, on=_ITEM, nulls_equal=True)
    there = there.join(placed.select(*of_run, "stretch"), on=of_run).select(again.columns)
    rows = pl.concat([there, again])
    times = [name for name, kind in rows.schema.items() if isinstance(kind, pl.Datetime)]
    return rows.with_columns(pl.col(name).dt.epoch("us") for name in times).sort(
        "queue_arn", "group_id", "stretch", "item_id", "delivery_index"
    )


def groups_in(rows: pl.DataFrame) -> Iterator[list[Delivery]]:
    """Yield the deliveries of each stretch of a group that the logs name, of ``deliveries_of``."""
    named = rows.filter(pl.col("group_id").is_not_null()).with_columns(sent_ms=pl.col("sent_at") // 1000)
    names = [name for name in named.columns if name in Delivery.__struct_fields__]
    for _, mine in groupby(named.select("stretch", *names).iter_rows(), itemgetter(0)):
        yield [Delivery(**dict(zip(names, row[1:], strict=True))) for row in mine]


def held_in(rows: pl.DataFrame, affected: Mapping[str, str]) -> dict[str, int]:
    """Return how long failed deliveries held the groups of each incident, in milliseconds, of ``deliveries_of``.

    ``affected`` has the incident of items, these as queue ARN, blank, id; incidents are named likewise.
    """
    item = pl.concat_str("queue_arn", "item_id", separator=" ")
    seen = rows.filter("is_seen").with_columns(group_id=pl.col("stretch").cast(pl.String), item_id=item)
    return held_ms(map(GroupDelivery._make, seen.select(GroupDelivery._fields).iter_rows()), affected)


RUN_SCHEMA = pl.Schema(
    {
        "group": pl.UInt64(),
        "run": pl.UInt64(),
        "deliveries": pl.UInt32(),
        "received_at": pl.Int64(),
        "first": pl.Int64(),
        "last": pl.Int64(),
        "is_asked": pl.Boolean(),
        "sent_first": pl.Int64(),
        "sent_last": pl.Int64(),
        "done_first": pl.Int64(),
        "done_last": pl.Int64(),
    }
)
"""What the deliveries of one group in one run tell together; times in µs. Groups and runs are told apart by their hashes.

``first`` and ``last`` are of all times, ``received_at`` the first receive; sent and done are those of messages of which both
are known. ``is_asked``: one of them held the group, came again, or was done before one sent earlier.
"""


def runs_of(deliveries: pl.DataFrame) -> pl.DataFrame:
    """Return the runs (RUN_SCHEMA) in some deliveries (COLUMNS) of FIFO queues, among them all of each message.

    Those of a queue without a group are taken for one.
    """
    rows = _timed(deliveries)
    is_late = pl.col("place").is_in(_out_of_order(rows).implode())  # a run may have overtaken in one group of several
    both = pl.col("sent_at").is_not_null() & pl.col("done_at").is_not_null()
    rows = rows.with_columns(
        is_asked=pl.col("is_asked") | is_late,
        sent_at=pl.when(both).then("sent_at"),
        done_at=pl.when(both).then("done_at"),
    )
    found = rows.group_by("group", "run").agg(deliveries=pl.len(), **_SUMS, **_EXTREMES)
    return found.select(RUN_SCHEMA.names()).sort("group", "run")


_SUMS = {
    "received_at": pl.col("received_at").min(),
    "first": pl.col("first").min(),
    "last": pl.col("last").max(),
    "is_asked": pl.col("is_asked").any(),
}
_EXTREMES = {
    "sent_first": pl.col("sent_at").min(),
    "sent_last": pl.col("sent_at").max(),
    "done_first": pl.col("done_at").min(),
    "done_last": pl.col("done_at").max(),
}


@dataclass(frozen=True)
class Settled:
    """Runs that have been there for long, by group and ``first``, and what is known of them alone.

    ``taken`` are those to look at, by group and stretch. ``cuts``, by group and ``reached``: where nothing of a group that is over
    by then is looked at with what begins later. ``by_run`` has group and ``first`` of each, by run.
    """

    runs: pl.DataFrame
    taken: pl.DataFrame
    cuts: pl.DataFrame
    by_run: pl.DataFrame


def settled(runs: pl.DataFrame) -> Settled:
    """Return what ``stretches_to_look_at`` is spared of these ``runs`` where others come to them."""
    by_group = runs.sort("first").sort("group", maintain_order=True)
    by_run = runs.select("run", "group", "first").sort("run")
    return Settled(by_group, *_taken(runs), by_run)


def stretches_to_look_at(runs: pl.DataFrame, most: int, before: Settled) -> pl.DataFrame:
    """Return the stretches of groups that a delivery held, or in which a later message may have been done first.

    ``runs`` (RUN_SCHEMA, and the number of the ``entry`` that tells of each), with those ``before``, are all of the FIFO queues;
    one can be there in several pieces. Pieces of those to look at come back with their ``stretch`` and the ``unit`` of time of
    at most ``most`` deliveries that it began in; by both, and stretches numbered in their unit. A stretch begins where all that
    was received of the group before is over, and ends likewise, with what was received next: no stop, late commit or wait of it
    depends on deliveries outside, and outside there is none.
    """
    kept, again = _parted(runs, before)
    found, _ = _taken(pl.concat([again, runs]))
    found = found.with_columns(pl.col("stretch") + (kept["stretch"].max() or 0))  # what is kept of a group was before
    taken = pl.concat([kept, found]).sort("group", maintain_order=True)
    is_same = pl.all_horizontal(pl.col(name) == pl.col(name).shift(1) for name in ("group", "stretch"))
    taken = taken.with_columns(stretch=(~is_same).fill_null(True).cum_sum())
    began = taken.group_by("stretch", maintain_order=True).agg(
        pl.col("received_at").min().fill_null(0), pl.col("deliveries").sum()
    )
    unit = pl.Series("unit", halved(began["received_at"].to_numpy(), began["deliveries"].to_numpy(), most), pl.String)
    placed = taken.join(began.select("stretch", unit), on="stretch")
    found = placed.select(
        "group", "run", "entry", "first", "last", "unit", pl.col("stretch").rank("dense").over("unit")
    )
    return found.sort("unit", "stretch", "run", "entry")


def _parted(runs: pl.DataFrame, before: Settled) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return what was taken of before and stays as it is, and the runs of before that are to be looked at with these."""
    same = before.by_run[places_of(before.by_run["run"].to_numpy(), np.unique(runs["run"].to_numpy()))]
    same = same.join(runs, on=["group", "run"], how="semi")  # pieces of a run are looked at together
    begun = pl.concat([frame.select("group", "first") for frame in (runs, same)])
    begun = begun.group_by("group").agg(pl.col("first").min()).sort("group")
    groups = begun["group"].to_numpy()
    first, end, _ = _later(before.cuts, "reached", groups, begun["first"].to_numpy() - 1)
    reached = np.full(len(groups), np.iinfo(np.int64).min)
    is_cut = end > first
    reached[is_cut] = before.cuts["reached"].to_numpy()[end[is_cut] - 1]
    _, first, last = _later(before.runs, "first", groups, reached)
    again = before.runs[places_from(first, last - first)]
    taken = before.taken
    changed = places_of(taken["group"].to_numpy(), groups)
    since = reached[np.searchsorted(groups, taken["group"].to_numpy()[changed])]
    changed = changed[taken["first"].to_numpy()[changed] > since]
    return taken[np.setdiff1d(np.arange(taken.height), changed)], again


def _later(
    rows: pl.DataFrame, name: str, groups: np.ndarray, limits: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return of each group where its rows begin, from where on they are above its limit, and where they end; by group and value."""
    of_rows, values = rows["group"].to_numpy(), rows[name].to_numpy()
    first, last = (np.searchsorted(of_rows, groups, side=side) for side in ("left", "right"))
    low, high = first, last
    while (is_open := low < high).any():
        middle = (low + high) // 2
        is_above = values[np.minimum(middle, len(values) - 1)] > limits
        low, high = np.where(is_open & ~is_above, middle + 1, low), np.where(is_open & is_above, middle, high)
    return first, low, last


def _taken(runs: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the pieces of runs to look at, each with its stretch, by both, and the cuts (``Settled``).

    Numbers of stretches rise with group and time.
    """
    rows = _together(runs.with_columns(last_entry="entry")).sort(
        "first", "sent_first", "done_first", maintain_order=True
    )
    rows = rows.sort("group", maintain_order=True)  # in two steps: by all at once takes twice the time
    is_new = (pl.col("group") != pl.col("group").shift(1)).fill_null(True)
    reached = pl.col("last").cum_max().over("group")
    rows = rows.with_columns(reached=reached).with_columns(
        part=(is_new | (pl.col("first") > pl.col("reached").shift(1))).cum_sum()
    )
    parts = rows.group_by("part", maintain_order=True).agg(
        pl.col("group").first(),
        pl.col("is_asked").any(),
        pl.col("reached").last(),
        is_mixed=pl.col("entry").min() != pl.col("last_entry").max(),
    )
    mixed = rows.filter(
        pl.col("part").is_in(parts.filter("is_mixed")["part"].implode())
    )  # an entry alone has them in order
    late = mixed.filter(_may_be_out_of_order("part"))["part"].unique()
    parts = _stretches(parts.with_columns(is_asked=pl.col("is_asked") | pl.col("part").is_in(late.implode())))
    placed = rows.join(parts.filter("is_taken").select("part", "stretch"), on="part")
    pieces = runs.select("group", "run", "entry", "first", "last", "received_at", "deliveries")
    found = pieces.join(placed.select("group", "run", "stretch"), on=["group", "run"])
    return found.sort("stretch", "run", "entry"), parts.filter(~pl.col("is_taken")).select("group", "reached")


def _together(runs: pl.DataFrame) -> pl.DataFrame:
    """Put the pieces of each run together; asked is one whose pieces may be out of order among themselves, too."""
    of_run = ("group", "run")
    in_pieces = runs.filter(pl.col("run").is_in(_repeated(runs["run"]).implode())).sort(
        *of_run, "first", "sent_first", "done_first"
    )
    in_pieces = in_pieces.with_columns(is_asked=pl.col("is_asked") | _may_be_out_of_order(*of_run))
    whole = in_pieces.group_by(of_run, maintain_order=True).agg(
        pl.col("deliveries").sum(),
        pl.col("received_at", "first", "sent_first", "done_first", "entry").min(),
        pl.col("last", "sent_last", "done_last", "last_entry").max(),
        pl.col("is_asked").any(),
    )
    others = runs.join(in_pieces.select(of_run), on=of_run, how="anti")
    return pl.concat([others, whole.select(runs.columns)])


def _may_be_out_of_order(*of: str) -> pl.Expr:
    """Tell of rows alike in ``of`` which may have been done, or sent, before one that stands before them.

    Of two messages that were done in another order than sent and are of two rows, one's row is among them, however the rows
    stand: so it does not matter that entries were never put in order.
    """

    def before(extreme: pl.Expr) -> pl.Expr:
        return extreme.over(of).shift(1)

    is_next = pl.all_horizontal(pl.col(name) == pl.col(name).shift(1) for name in of)
    sent_before = pl.col("sent_first") < before(pl.col("sent_last").fill_null(-_EVER).cum_max())
    done_before = pl.col("done_first") < before(pl.col("done_last").fill_null(-_EVER).cum_max())
    sent_after = pl.col("sent_last") > before(pl.col("sent_first").fill_null(_EVER).cum_min())
    return (is_next & (sent_before | (done_before & sent_after))).fill_null(False)


def items_of(deliveries: pl.LazyFrame) -> pl.LazyFrame:
    """Return which items (queue_arn, group_id, item_id) which run of which group had."""
    return deliveries.select(*_ITEM, **_HASHES).unique()


_ITEM = ["queue_arn", "group_id", "item_id"]
_QUEUE = pl.col("queue_arn").hash()
_HASHES = {
    "group": _QUEUE ^ pl.col("group_id").fill_null("").hash(),
    "run": pl.coalesce(pl.col("consumer").hash(), pl.col("item_id").hash()),
}


def _timed(deliveries: pl.DataFrame) -> pl.DataFrame:
    """Return what is asked of each delivery, with the ``first`` and the ``last`` of its times (µs)."""
    times = {name: pl.col(name).dt.epoch("us") for name in ("sent_at", "received_at", "run_ended_at", "effect_at")}
    is_holding = _is_holding().fill_null(False)
    rows = deliveries.with_row_index("place").select(
        "place",
        item=_QUEUE ^ pl.col("item_id").hash(),
        **_HASHES,
        done_at=pl.when(pl.col("effect") == "yes").then(times["effect_at"]),
        is_holding=is_holding,
        hidden_at=pl.when(is_holding).then(pl.col("hidden_until_at").dt.epoch("us")),
        **times,
    )
    came_again = pl.col("item").is_in(_repeated(rows["item"]).implode())
    rows = rows.with_columns(is_asked=pl.col("is_holding") | came_again)
    told = rows.filter(came_again).group_by("group", "item").agg(told_at=pl.col("sent_at").min())
    if not told.is_empty():  # a receive that no log shows has none of its own
        rows = rows.join(told, on=["group", "item"], how="left").with_columns(sent_at=pl.coalesce("told_at", "sent_at"))
    last = pl.max_horizontal(*times, "hidden_at").fill_null(_EVER)
    first = pl.when(pl.col("sent_at").is_not_null()).then(pl.min_horizontal(*times, "hidden_at")).otherwise(-_EVER)
    return rows.with_columns(first=first, last=last)


def _stretches(parts: pl.DataFrame) -> pl.DataFrame:
    """Say of parts, by group and time, which are to be looked at, and in which stretch."""
    follows = (pl.col("group") == pl.col("group").shift(1)).fill_null(False)
    is_taken = pl.col("is_asked") | (follows & pl.col("is_asked").shift(1, fill_value=False))
    parts = parts.with_columns(is_taken=is_taken)
    begins = pl.col("is_taken") & ~(follows & pl.col("is_taken").shift(1, fill_value=False))
    return parts.with_columns(stretch=begins.cum_sum())


def _is_holding() -> pl.Expr:
    """``forensics.queue_findings.is_holding``, of a column."""
    failed_in_flight = (pl.col("ended_by") == "in_flight") & pl.col("run_status").is_in(FAILED)
    return pl.col("ended_by").is_in(HOLDING) | failed_in_flight


def _repeated(values: pl.Series) -> pl.Series:
    """Return the values that stand more than once; sorting 64-bit numbers takes a fifth of looking each up."""
    in_order = values.sort()
    return in_order.filter(in_order == in_order.shift(1))


def _out_of_order(rows: pl.DataFrame) -> pl.Series:
    """Return where messages were done after one of their group sent later, where each message was delivered once.

    Times of sending in the order of being done do not rise throughout if and only if two neighbours do not. What was done at
    one moment has no order, so there the first sent comes first.
    """
    in_order = (
        rows.select("group", "place", "done_at", "sent_at")
        .drop_nulls()
        .sort("done_at", "sent_at")
        .sort("group", maintain_order=True)  # in two steps: sorting by three columns at once takes twice the time
    )
    same_group = pl.col("group") == pl.col("group").shift(1)
    return in_order.filter(same_group & (pl.col("sent_at") < pl.col("sent_at").shift(1)))["place"]
