"""Which messages of a queue make an incident, and which merely fall into its time: a queue can have a million."""

from collections.abc import Mapping
from types import MappingProxyType

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
    affected, incidents = _affected(verdicts.filter("is_affected"), reached)
    found = pl.concat([affected, _bystanders(verdicts.filter(~pl.col("is_affected")), incidents)])
    in_order = found.sort(
        ~pl.col("is_member_affected"), "first_received_at", "batch_position", "item_id", "queue_arn", nulls_last=False
    )
    return in_order.with_columns(lane=pl.int_range(1, pl.len() + 1, dtype=pl.Int32).over("queue_arn", "incident_id"))


def _affected(verdicts: pl.DataFrame, reached: Mapping[str, int]) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return affected messages as members, and their incidents, each queue's in the order they began."""
    ended = pl.col("last_active_at").fill_null(_NEVER)
    before = ended.cum_max().shift(1, fill_value=_NEVER).over("queue_arn")
    earlier = pl.DataFrame([*reached.items()], {"queue_arn": pl.String, "reached": pl.Int64}, orient="row")
    affected = (
        verdicts.join(earlier, on="queue_arn", how="left")
        .sort("queue_arn", "first_received_at", "item_id", nulls_last=False)
        .with_columns(active_before=pl.max_horizontal(before, pl.col("reached")))
        .with_columns(number=_IS_NEW.cum_sum())
    )
    incidents = affected.group_by("queue_arn", "number", maintain_order=True).agg(
        pl.col("queue", "first_received_at").first(), ended_at=pl.col("last_active_at").max().fill_null(-1)
    )
    names = [incident_id(*head) for head in incidents.select("queue", "first_received_at").iter_rows()]
    incidents = incidents.with_columns(incident_id=pl.Series(names, dtype=pl.String))
    named = affected.join(
        incidents.select("queue_arn", "number", "incident_id"), on=["queue_arn", "number"], how="left"
    )
    return named.with_columns(is_member_affected=pl.lit(True)).select(*verdicts.columns, *_TOLD), incidents


def _bystanders(others: pl.DataFrame, incidents: pl.DataFrame) -> pl.DataFrame:
    """Return which of some messages fall into the time of incidents of their queue: of several into the first to end after they came."""
    timed = incidents.filter(pl.col("first_received_at").is_not_null())
    ends = timed.select(
        "queue_arn", "incident_id", began_at="first_received_at", over_at=pl.col("ended_at").cum_max().over("queue_arn")
    ).unique(["queue_arn", "over_at"], keep="first")
    told = (
        others.filter(pl.col("first_received_at").is_not_null())
        .sort("first_received_at")
        .join_asof(
            ends.sort("over_at"),
            left_on="first_received_at",
            right_on="over_at",
            by="queue_arn",
            strategy="forward",
            check_sortedness=False,
        )
        .filter(pl.col("began_at") <= pl.col("last_received_at"))
    )
    return told.with_columns(is_member_affected=pl.lit(False)).select(*others.columns, *_TOLD)


_TOLD = ("incident_id", "is_member_affected")
