"""Which stretches of FIFO message groups findings have to look at, told from whole columns: most never stop and never overtake."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from operator import itemgetter

import polars as pl

from forensics.incidents.held import GroupDelivery, held_ms
from forensics.queue_findings import HOLDING
from forensics.run_ends import FAILED
from forensics.streams.model import Delivery

COLUMNS = (
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
_EVER = 2**62
"""Later than any time: of what nobody knows the end of."""


def deliveries_of(every: pl.LazyFrame, placed: pl.DataFrame) -> pl.DataFrame:
    """Return the deliveries of stretches, in order; times are whole microseconds.

    ``every`` are deliveries of one FIFO queue, in all columns of ``deliveries``, ``placed`` rows of ``stretches_to_look_at``.
    """
    rows = every.filter(pl.col("item_id").is_in(placed["item_id"].unique().implode())).collect()
    rows = rows.join(
        placed.select("group_id", "item_id", "stretch").unique(), on=["group_id", "item_id"], nulls_equal=True
    )
    times = [name for name, kind in rows.schema.items() if isinstance(kind, pl.Datetime)]
    return rows.with_columns(pl.col(name).dt.epoch("us") for name in times).sort(
        "group_id", "stretch", "item_id", "delivery_index"
    )


def groups_in(rows: pl.DataFrame) -> Iterator[list[Delivery]]:
    """Yield the deliveries of each stretch of a group that the logs name, of ``deliveries_of``."""
    named = rows.filter(pl.col("group_id").is_not_null()).with_columns(sent_ms=pl.col("sent_at") // 1000)
    names = [name for name in named.columns if name in Delivery.__struct_fields__]
    for _, mine in groupby(named.select("stretch", *names).iter_rows(), itemgetter(0)):
        yield [Delivery(**dict(zip(names, row[1:], strict=True))) for row in mine]


def held_in(rows: pl.DataFrame, affected: Mapping[str, str]) -> dict[str, int]:
    """Return how long failed deliveries held the groups of each incident, in milliseconds, of ``deliveries_of``."""
    seen = rows.filter("is_seen").with_columns(group_id=pl.col("stretch").cast(pl.String))
    return held_ms(map(GroupDelivery._make, seen.select(GroupDelivery._fields).iter_rows()), affected)


def stretches_to_look_at(deliveries: pl.DataFrame, more: Sequence[str] = ()) -> pl.DataFrame:
    """Return the messages of each stretch of a group that a delivery held, or in which a later one may have been done first.

    ``deliveries`` are all of one FIFO queue (COLUMNS); those without a group are taken for one. What comes back is group_id,
    item_id, ``more`` of their columns, and the ``stretch`` they are in. A stretch begins where all that was received of the group before is over, and ends
    likewise, with what was received next: no stop, late commit or wait of it depends on deliveries outside, and outside
    there is none. Groups, messages and runs are told apart by hashes; those that share one are looked at together.
    """
    rows = _timed(deliveries)
    is_late = pl.col("place").is_in(_out_of_order(rows).implode())  # a run may have overtaken in one group of several
    rows = rows.with_columns(is_asked=pl.col("is_asked") | is_late)
    runs = rows.group_by("group", "run").agg(pl.col("first").min(), pl.col("last").max(), pl.col("is_asked").any())
    found = _stretches(runs.sort("group", "first"))
    placed = rows.select("group", "run", "place").join(found, on=["group", "run"])
    named = deliveries.select("group_id", "item_id", *more)[placed["place"]]
    return named.with_columns(stretch=placed["stretch"]).unique()


def _timed(deliveries: pl.DataFrame) -> pl.DataFrame:
    """Return what is asked of each delivery, with the ``first`` and the ``last`` of its times (µs)."""
    times = {name: pl.col(name).dt.epoch("us") for name in ("sent_at", "received_at", "run_ended_at", "effect_at")}
    is_holding = _is_holding().fill_null(False)
    item = pl.col("item_id").hash()
    rows = deliveries.with_row_index("place").select(
        "place",
        group=pl.col("group_id").fill_null("").hash(),
        item=item,
        run=pl.coalesce(pl.col("consumer").hash(), item),
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


def _stretches(runs: pl.DataFrame) -> pl.DataFrame:
    """Return group, run and stretch of the runs to look at; ``runs`` are by group and time."""
    is_new = (pl.col("group") != pl.col("group").shift(1)).fill_null(True)
    reached = pl.col("last").cum_max().over("group").shift(1)
    placed = runs.with_columns(part=(is_new | (pl.col("first") > reached)).cum_sum())
    parts = placed.group_by("part", maintain_order=True).agg(pl.col("group").first(), pl.col("is_asked").any())
    follows = ~is_new  # another part of the same group
    is_taken = pl.col("is_asked") | (follows & pl.col("is_asked").shift(1, fill_value=False))
    parts = parts.with_columns(is_taken=is_taken)
    begins = pl.col("is_taken") & ~(follows & pl.col("is_taken").shift(1, fill_value=False))
    parts = parts.with_columns(stretch=begins.cum_sum()).filter("is_taken")
    return placed.join(parts.select("part", "stretch"), on="part").select("group", "run", "stretch")


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
