"""Who belongs to which incident where new verdicts come: incidents that were over long before them stay as they are."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from forensics.counting.digests import digests_by
from forensics.counting.halves import numbered
from forensics.counting.membership import VERDICT_SCHEMA, limits_ms, membership
from forensics.identity import FIFO_ENDING

INCIDENT = ("queue_arn", "incident_id")
MESSAGES_PER_UNIT = 4_000
VERDICTS_SPARED = 4_000
"""So many verdicts at most of the last parts may still change: what is judged together with new lines is judged anew."""
HASHES_PER_VERDICT = 8
"""To ask again where a verdict belongs costs as much as to look at so many hashes."""
_UNASKED = ("visibility_timeout_s", "is_affected", "batch_position")
_NOBODY: pl.DataFrame = pl.DataFrame(schema=VERDICT_SCHEMA | {"part": pl.UInt32})


@dataclass(frozen=True)
class Settled:
    """What verdicts that have been there for long say alone, each with its ``part``.

    ``members``: who belongs to an incident, with the ``place`` of the incident among ``incidents``, which stand by queue and time;
    ``parts``: which part tells of which incident, by ``place``.
    """

    verdicts: pl.DataFrame
    members: pl.DataFrame
    incidents: pl.DataFrame
    parts: pl.DataFrame


def settled(verdicts: Sequence[pl.DataFrame]) -> Settled:
    """Return what ``placed`` is spared of these verdicts (VERDICT_SCHEMA, with ``part``) where others come to them."""
    every = pl.concat([_NOBODY, *verdicts])
    members, incidents, parts = _with_incidents(membership(every))
    over = pl.col("ended_at").cum_max().over("queue_arn")
    last = pl.col("began_last_at").cum_max().over("queue_arn")
    is_over = (
        (over >= last.fill_null(-1))
        & (over >= 0)
        & (over < pl.col("at").shift(-1).over("queue_arn").fill_null(over + 1))
    )
    return Settled(every, members, incidents.with_columns(over_at=pl.when(is_over).then(over)), parts)


def placed(verdicts: Sequence[pl.DataFrame], before: Settled) -> tuple[Settled, pl.Series]:
    """Return what new verdicts say with those of before that they may bear on, and the places of incidents of before that it is said of.

    An incident that was over for longer than quiet lasts when the first new message of its queue was received is as it was; so are
    those before it.
    """
    rows = pl.concat([_NOBODY, *verdicts])
    asked = pl.col("is_affected") | pl.col("first_received_at").is_not_null()
    quiet = pl.when("is_affected").then(limits_ms()).otherwise(0)
    begins = (pl.col("first_received_at").fill_null(-1) // 1000 - quiet).min()
    new = rows.filter(asked).group_by("queue_arn").agg(begins=begins)
    there = before.incidents.with_row_index("place").join(new, on="queue_arn")
    over = there.filter(pl.col("over_at") // 1000 < pl.col("begins")).group_by("queue_arn")
    kept = new.join(over.agg(pl.col("over_at", "place").max()), on="queue_arn", how="left")
    again = there.join(kept.select("queue_arn", last="place"), on="queue_arn").filter(
        pl.col("last").is_null() | (pl.col("place") > pl.col("last"))
    )
    since = kept.select("queue_arn", pl.col("over_at"))
    lowest = None if since["over_at"].null_count() else since["over_at"].min()
    old = before.verdicts if lowest is None else before.verdicts.filter(pl.col("first_received_at") > lowest)
    old = old.join(since, on="queue_arn").filter(
        pl.col("over_at").is_null() | (pl.col("first_received_at") > pl.col("over_at"))
    )
    reached = dict(since.drop_nulls().iter_rows())
    found = _with_incidents(membership(pl.concat([old.select(rows.columns), rows]), reached))
    return Settled(rows, *found), again["place"].sort()


def _with_incidents(named: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """Return members with the place of their incident, the incidents by queue and time, and which part tells of which."""
    of_members = pl.col("first_received_at").filter("is_member_affected")
    incidents = named.group_by(INCIDENT).agg(
        at=of_members.min().fill_null(0),
        began_last_at=of_members.max(),
        ended_at=pl.col("last_active_at").filter("is_member_affected").max().fill_null(-1),
        from_at=pl.col("first_received_at").min(),
        until_at=pl.col("last_active_at").max(),
        messages=pl.len(),
    )
    incidents = incidents.sort("queue_arn", "at", "incident_id")
    place = incidents.select(*INCIDENT).with_row_index("place")
    members = named.drop(*_UNASKED).join(place, on=list(INCIDENT)).sort("place", "lane")
    members_of = digests_by("place", members, "item_id", "incident_id", "is_member_affected")
    digests = pl.Series("members", [members_of[n] for n in range(incidents.height)], pl.String)
    parts = members.select("place", "part").unique().sort("place", "part")
    return members, incidents.with_columns(digests), parts


def told_by_part(members: pl.DataFrame) -> dict[int, str]:
    """Return a digest of what is told of the members of each part."""
    return {int(part): told for part, told in digests_by("part", members, *INCIDENT, "item_id", "lane").items()}


def told_of(
    before: Settled, told: Mapping[int, str], now: Settled, again: pl.Series
) -> tuple[pl.DataFrame, dict[int, str]]:
    """Return all incidents with the ``unit`` they are told in and their ``parts``, and what ``told_by_part`` says of all.

    ``told`` is what it says of before; ``now`` and ``again`` are of ``placed``.
    """
    is_again = pl.col("place").is_in(again.implode())
    gone = before.members.filter(is_again)
    changed = pl.concat([gone["part"], now.members["part"]]).unique()
    kept = before.members.filter(pl.col("part").is_in(changed.implode()) & ~is_again)
    of_changed = told_by_part(pl.concat([kept, now.members]))
    of_parts = {part: said for part, said in told.items() if part not in set(changed)} | of_changed
    every = [
        of.incidents.drop("over_at", strict=False)
        .with_row_index("place")
        .join(of.parts.group_by("place").agg("part"), on="place", maintain_order="left")
        for of in (before, now)
    ]
    incidents = pl.concat([every[0].filter(~is_again), every[1]]).drop("place").sort(INCIDENT)
    unit = numbered(incidents["at"].to_numpy(), incidents["messages"].to_numpy(), MESSAGES_PER_UNIT)
    return incidents.with_columns(unit=pl.Series(unit)).sort("unit", maintain_order=True), of_parts


def units_of(incidents: pl.DataFrame) -> list[dict[str, Any]]:
    """Return what is told of the incidents of each unit; ``held`` are those of FIFO queues, whose groups may have been held."""
    name = pl.concat_str("queue_arn", "incident_id", separator=" ")
    units = incidents.group_by("unit", maintain_order=True).agg(
        pl.col("part").explode().unique().sort(),
        pl.col("members"),
        queues=pl.col("queue_arn").unique().sort(),
        held=name.filter(pl.col("queue_arn").str.ends_with(FIFO_ENDING)).sort(),
        from_at=pl.col("from_at").min(),
        until_at=pl.col("until_at").max(),
        messages=pl.col("messages").sum(),
    )
    return units.to_dicts()
