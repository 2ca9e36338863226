"""Which messages of a queue make an incident, and which merely fall into its time: a queue can have a million."""

from collections.abc import Mapping
from types import MappingProxyType

import numpy as np
import polars as pl

from forensics.incidents.quiet import QUIET_MS, incident_id

VERDICT_SCHEMA: dict[str, pl.DataType | type[pl.DataType]] = {
    "queue_arn": pl.String,
    "queue": pl.String,
    "item_id": pl.String,
    "work_id": pl.String,
    "first_received_at": pl.Int64,
    "last_received_at": pl.Int64,
    "last_active_at": pl.Int64,
    "visibility_timeout_s": pl.Int32,
    "is_affected": pl.Boolean,
    "batch_position": pl.Int32,
}
"""What membership asks of a message's verdict; times in µs."""

_NEVER = -(2**62)
"""Earlier than any time: the end of what nobody knows when it ended."""
_LATER = pl.col("first_received_at") // 1000 - pl.col("active_before") // 1000


def limits_ms() -> pl.Expr:
    """``forensics.incidents.quiet.quiet_limit_ms``, of columns."""
    return pl.max_horizontal(pl.col("visibility_timeout_s").fill_null(0).cast(pl.Int64) * 2000, QUIET_MS)


_IS_NEW = pl.col("first_received_at").is_null() | (pl.col("active_before") == _NEVER) | (limits_ms() < _LATER)
"""``forensics.incidents.quiet.is_after_quiet``, of columns; a message of which nothing tells when it came is new, too."""


def membership(verdicts: pl.DataFrame, reached: Mapping[str, int] = MappingProxyType({})) -> pl.DataFrame:
    """Return those rows of verdicts (VERDICT_SCHEMA) that belong to an incident, with ``incident_id``, ``is_member_affected`` and ``lane``.

    Affected messages of a queue whose activity is separated by no more than max(2 x visibility timeout, 15 min) make one
    incident; the others inside its time belong to it, the earliest where there are several, but neither open nor bridge one.
    An incident's timeline has a lane for each, from 1: affected ones first, then by first receive, place in the printed batch, and id.
    ``reached`` tells of queues (by ARN) until when (µs) affected messages were active that came before all of these.
    """
    of_queues = verdicts.partition_by("queue_arn", as_dict=True)
    found = pl.concat(
        [_none_of(verdicts), *(_of_queue(mine, reached.get(str(arn), _NEVER)) for (arn,), mine in of_queues.items())]
    )
    in_order = found.sort(
        ~pl.col("is_member_affected"), "first_received_at", "batch_position", "item_id", "queue_arn", nulls_last=False
    )
    return in_order.with_columns(lane=pl.int_range(1, pl.len() + 1, dtype=pl.Int32).over("queue_arn", "incident_id"))


def _none_of(verdicts: pl.DataFrame) -> pl.DataFrame:
    none = verdicts.clear()
    return none.with_columns(incident_id=pl.lit(None, pl.String), is_member_affected=pl.lit(None, pl.Boolean))


def _of_queue(verdicts: pl.DataFrame, reached: int) -> pl.DataFrame:
    affected = verdicts.filter("is_affected").sort("first_received_at", "item_id", nulls_last=False)
    ended = pl.col("last_active_at").fill_null(_NEVER)
    active_before = pl.max_horizontal(ended.cum_max().shift(1, fill_value=_NEVER), reached)
    affected = affected.with_columns(active_before=active_before)
    affected = affected.with_columns(number=_IS_NEW.cum_sum())
    incidents = affected.group_by("number", maintain_order=True).agg(
        pl.col("queue", "first_received_at").first(), ended_at=pl.col("last_active_at").max().fill_null(-1)
    )
    names = [incident_id(*head) for head in incidents.select("queue", "first_received_at").iter_rows()]
    incidents = incidents.with_columns(incident_id=pl.Series(names, dtype=pl.String))
    named = affected.join(incidents.select("number", "incident_id"), on="number", how="left", maintain_order="left")
    members = named.with_columns(is_member_affected=pl.lit(True)).select(*verdicts.columns, *_TOLD)
    timed = incidents.filter(pl.col("first_received_at").is_not_null())
    return pl.concat([members, _bystanders(verdicts.filter(~pl.col("is_affected")), timed)])


def _bystanders(others: pl.DataFrame, incidents: pl.DataFrame) -> pl.DataFrame:
    """Return which of some messages fall into the time of incidents, which are in the order they began."""
    others = others.filter(pl.col("first_received_at").is_not_null(), pl.col("last_received_at").is_not_null())
    reached = incidents["ended_at"].cum_max().to_numpy()  # the first to reach a moment ends after it
    place = np.searchsorted(reached, others["first_received_at"].to_numpy(), side="left")
    is_reached = place < len(reached)
    others, place = others.filter(pl.Series(is_reached)), place[is_reached]
    met = incidents.select("incident_id", began_at="first_received_at")[place]
    told = pl.concat([others, met], how="horizontal").filter(pl.col("began_at") <= pl.col("last_received_at"))
    return told.with_columns(is_member_affected=pl.lit(False)).select(*others.columns, *_TOLD)


_TOLD = ("incident_id", "is_member_affected")
