"""Which FIFO message groups findings have to look at, told from whole columns: most groups never stop and never overtake."""

import polars as pl

from forensics.queue_findings import HOLDING
from forensics.run_ends import FAILED


def groups_to_look_at(deliveries: pl.DataFrame) -> pl.Series:
    """Return the ids of the groups that were held by a delivery, or in which a later message may have been done first; sorted.

    ``deliveries`` are all of one FIFO queue, with the columns group_id, item_id, ended_by, run_status, sent_at, effect and
    effect_at. A group that is not among them has no candidate: neither a stop, nor a late commit, nor a dead letter.
    Groups and messages are told apart by hashes; two groups that share one are both looked at.
    """
    named = deliveries.select(
        "group_id",
        "sent_at",
        group=pl.col("group_id").hash(),
        item=pl.col("item_id").hash(),
        done_at=pl.when(pl.col("effect") == "yes").then("effect_at"),
        is_holding=_is_holding(),
    ).filter(pl.col("group_id").is_not_null())
    came_again = pl.col("item").is_in(_repeated(named["item"]).implode())
    asked = pl.col("is_holding") | came_again | pl.col("group").is_in(_out_of_order(named).implode())
    return named.filter(asked)["group_id"].unique().sort()


def _is_holding() -> pl.Expr:
    """``forensics.queue_findings.is_holding``, of a column."""
    failed_in_flight = (pl.col("ended_by") == "in_flight") & pl.col("run_status").is_in(FAILED)
    return pl.col("ended_by").is_in(HOLDING) | failed_in_flight


def _repeated(values: pl.Series) -> pl.Series:
    """Return the values that stand more than once; sorting 64-bit numbers takes a fifth of looking each up."""
    in_order = values.sort()
    return in_order.filter(in_order == in_order.shift(1))


def _out_of_order(named: pl.DataFrame) -> pl.Series:
    """Return the groups in which a message was done before one sent earlier, where each message was delivered once.

    Times of sending in the order of being done do not rise throughout if and only if two neighbours do not. What was done at
    one moment has no order, so there the first sent comes first.
    """
    in_order = (
        named.select("group", "done_at", "sent_at")
        .drop_nulls()
        .sort("done_at", "sent_at")
        .sort("group", maintain_order=True)  # in two steps: sorting by three columns at once takes twice the time
    )
    same_group = pl.col("group") == pl.col("group").shift(1)
    return in_order.filter(same_group & (pl.col("sent_at") < pl.col("sent_at").shift(1)))["group"].unique()
