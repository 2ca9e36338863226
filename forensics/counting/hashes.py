"""Which 64-bit hashes stand more than once, so that new ones are looked for among the old, and who shares any."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import polars as pl

_LOOSE, _SHARE = 20_000, 32
"""So many hashes may lie beside those that are in one, and one of so many of these."""

RECENTLY = 0.25
"""Weight of a hash of parts that are not settled yet: they are put together where four times as many lie loose."""
ROWS_PER_SHARD = 8_000_000


def shard_bounds(row_count: int) -> list[tuple[int, int]]:
    """Return the ranges of hashes that are looked at separately."""
    count = max(1, -(-row_count // ROWS_PER_SHARD))
    edges = [(2**64 * n) // count for n in range(count + 1)]
    return [(low, high - 1) for low, high in zip(edges, edges[1:], strict=False)]


def settled_parts(at: Sequence[Any], sizes: Sequence[int], weight: float = 1, spared: int = 0) -> list[int]:
    """Return which parts, in the order of ``at``, are taken as one: what comes later seldom changes it.

    ``weight`` is how much it costs to look at one of ``sizes`` beside those in one, where a hash costs 1. Of the last parts up
    to ``spared`` in ``sizes`` stay out: what comes changes them.
    """
    in_time = sorted(range(len(at)), key=at.__getitem__)
    while in_time and (spared := spared - sizes[in_time[-1]]) >= 0:
        in_time.pop()
    return in_time[: max(settled_counts((sizes[n] for n in in_time), weight), default=0)]


def settled_counts(sizes: Iterable[int], weight: float = 1) -> Iterator[int]:
    """Yield how many parts, of the first on, are taken as one, as it grows by parts of these sizes: the last one holds.

    What is appended seldom changes it.
    """
    settled = loose = 0
    for number, size in enumerate(sizes, 1):
        loose += size
        if loose * weight > _LOOSE + settled // _SHARE:
            settled, loose = settled + loose, 0
            yield number


def in_one(parts: Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Return the hashes of several parts, each in order, in order, and where each stands in the parts one after the other."""
    every = np.concatenate([np.empty(0, np.uint64), *parts])
    order = np.argsort(every, kind="stable")  # merges what is in order
    return every[order], order


def parts_of(places: np.ndarray, parts: Sequence[np.ndarray]) -> np.ndarray:
    """Return of which of several parts a place in them, one after the other, is."""
    return np.repeat(np.arange(len(parts), dtype=np.uint32), [len(part) for part in parts])[places]


def shared_in(hashes: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Tell of hashes, in order, which stand there more than once or are one of others, in order, too."""
    is_same = hashes[1:] == hashes[:-1]
    is_shared = np.zeros(len(hashes), bool)
    is_shared[1:] |= is_same
    is_shared[:-1] |= is_same
    is_shared[places_of(hashes, others)] = True
    return is_shared


def repeated(hashes: np.ndarray) -> np.ndarray:
    """Return which of some hashes, in order, stand there more than once."""
    return _once(hashes[1:][hashes[1:] == hashes[:-1]])


def _once(hashes: np.ndarray) -> np.ndarray:
    """Return hashes, in order, without repeats."""
    is_first = np.ones(len(hashes), bool)
    is_first[1:] = hashes[1:] != hashes[:-1]
    return hashes[is_first]


def met(hashes: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Return which of some hashes stand among others, too; both are in order, and the first are few."""
    mine = _once(hashes)
    if not len(others):
        return mine[:0]
    return mine[others[np.minimum(np.searchsorted(others, mine), len(others) - 1)] == mine]


def places_of(hashes: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Return where hashes, in order, are one of those wanted, in order, too."""
    if not len(hashes):
        return np.empty(0, np.int64)
    first = np.searchsorted(hashes, wanted)
    is_there = hashes[np.minimum(first, len(hashes) - 1)] == wanted
    first = first[is_there]
    return places_from(first, np.searchsorted(hashes, wanted[is_there], side="right") - first)


def places_from(first: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Return so many places one after the other from each of the first ones on."""
    return np.repeat(first - np.cumsum(counts) + counts, counts) + np.arange(counts.sum())


def groups_of(rows: pl.DataFrame) -> pl.DataFrame:
    """Return owner and group: the lowest owner among all that share a hash, directly or through others."""
    links = rows.select("hash", "owner").unique()
    links = links.filter(pl.len().over("hash") > 1)
    found = rows.select("owner").unique().with_columns(group=pl.col("owner"))
    while not links.is_empty():
        lowest = links.join(found, on="owner").group_by("hash").agg(group=pl.col("group").min())
        better = links.join(lowest, on="hash").group_by("owner").agg(better=pl.col("group").min())
        now = found.join(better, on="owner", how="left").with_columns(group=pl.min_horizontal("group", "better"))
        # every item takes its group's own group, so that long chains close in few steps
        now = now.drop("better").join(now.select(group="owner", best="group"), on="group", how="left")
        now = now.select("owner", group=pl.coalesce("best", "group"))
        if now.sort("owner").equals(found.sort("owner")):
            break
        found = now
    return found
