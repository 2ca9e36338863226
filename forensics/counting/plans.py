"""Who is judged with whom: items that share a hash, directly or through others, are one group; groups of a stretch of time are one unit.

Most groups were there before. What new rows say is put together with the groups it touches; the others stay as they are.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from forensics.counting.digests import owners_digest
from forensics.counting.halves import divided
from forensics.counting.hashes import groups_of, places_of
from forensics.counting.item_hashes import OTHER

ROWS_PER_UNIT = 4_000
"""So many deliveries are judged together: less than a second's work, and what one new line makes anew."""
MEMBER_SCHEMA = {
    "group": pl.UInt64,
    "began": pl.Int64,
    "part": pl.UInt32,
    "owner": pl.UInt64,
    "low": pl.Int64,
    "high": pl.Int64,
    "first_at": pl.Int64,
    "last_at": pl.Int64,
    "is_other": pl.Boolean,
}
"""An item of a group in one part; times in µs. ``began``: the group's first receive. ``low`` and ``high`` are of all times.

``first_at`` and ``last_at``: its first and last receive there, 0 where that is unknown. ``is_other``: any of its deliveries is not
judged in any case.
"""


@dataclass(frozen=True)
class Settled:
    """What rows that have been there for long say alone: those rows with their group, by it; groups by owner; members by time."""

    rows: pl.DataFrame
    groups: pl.DataFrame
    members: pl.DataFrame


@dataclass(frozen=True)
class Told:
    """Units by name, in the order of time, and by part a digest of its owners that are ``is_other``.

    Of a unit: how many ``messages`` and ``rows`` it has, and its ``pieces``, each of a ``part``, with the times ``low`` and ``high``
    and a digest of its ``owners``.
    """

    units: Mapping[str, dict[str, Any]]
    by_part: Mapping[int, str]


def settled(rows: pl.DataFrame) -> Settled:
    """Return what ``planned`` is spared of these rows (hash, owner, flags, at, since, until, part) where others come to them."""
    groups = groups_of(rows).sort("owner")
    return Settled(rows.join(groups, on="owner").sort("group"), groups, _members(rows, groups))


def touched_by(rows: pl.DataFrame, before: Settled) -> pl.Series:
    """Return the groups of before, in order, of which new rows speak."""
    owners = np.unique(rows["owner"].to_numpy())
    return before.groups["group"][places_of(before.groups["owner"].to_numpy(), owners)].unique().sort()


def planned(rows: pl.DataFrame, before: Settled, told: Told | None = None) -> tuple[pl.DataFrame, pl.Series, Told]:
    """Return the members of groups that new rows make or touch, the groups of before that are touched, and what is told of all.

    Of a hash of new rows all are among them. ``told`` is what was told of ``before`` alone; with None all is told anew.
    """
    touched = touched_by(rows, before)
    again = before.rows[places_of(before.rows["group"].to_numpy(), touched.to_numpy())]
    every = pl.concat([again.select(rows.columns), rows]).unique()
    fresh = _members(every, groups_of(every))
    is_touched = before.members["group"].is_in(touched.implode())
    kept = before.members.filter(~is_touched)
    members = pl.concat([kept, fresh])
    changed = pl.concat([before.members.filter(is_touched)["part"], fresh["part"]]).unique()
    if told is None:
        told, changed = Told({}, {}), members["part"].unique()
    names, counts, order = divided(members["began"].to_numpy(), np.ones(members.height), ROWS_PER_UNIT)
    units: dict[str, dict[str, Any]] = {}
    last = 0
    for name, count in zip(names, counts, strict=True):
        first, last = last, last + count
        there = told.units.get(name)
        is_kept = there is not None and there["rows"] == count and order[first:last].max() < kept.height
        units[name] = there if there is not None and is_kept else _told_of(members[order[first:last]])
    by_part = {part: owners for part, owners in told.by_part.items() if part not in set(changed)}
    others = members.filter(pl.col("is_other") & pl.col("part").is_in(changed.implode()))
    for (part,), mine in others.select("part", "owner").sort("part", "owner").group_by("part", maintain_order=True):
        by_part[int(str(part))] = owners_digest(mine["owner"])
    return fresh, touched, Told(units, by_part)


def _members(rows: pl.DataFrame, groups: pl.DataFrame) -> pl.DataFrame:
    """Return the members of groups (MEMBER_SCHEMA), by when their group began."""
    works = rows.join(groups, on="owner")
    began = works.group_by("group").agg(began=pl.col("at").min())
    found = works.group_by("group", "part", "owner").agg(
        low=pl.col("since").min(),
        high=pl.col("until").max(),
        first_at=pl.col("at").min(),
        last_at=pl.col("at").max(),
        is_other=(pl.col("flags") & OTHER > 0).any(),
    )
    found = found.join(began, on="group").select(*MEMBER_SCHEMA)
    return found.sort("owner").sort("part", maintain_order=True).sort("began", maintain_order=True)


def _told_of(members: pl.DataFrame) -> dict[str, Any]:
    in_order = members.sort("owner").sort("part", maintain_order=True)  # by one number at a time: a third of the time
    pieces: list[dict[str, Any]] = []
    first = 0
    of_part = in_order.group_by("part", maintain_order=True).agg(pl.len(), pl.col("low").min(), pl.col("high").max())
    for piece in of_part.iter_rows(named=True):
        owners = in_order["owner"].slice(first, count := piece.pop("len"))
        pieces.append({**piece, "owners": owners_digest(owners)})
        first += count
    return {"messages": members["owner"].n_unique(), "rows": members.height, "pieces": pieces}
