"""Which hashes make an item a candidate: those that others have too, that are an item's twice, or an open item's own.

Frames of hashes (``HASH_SCHEMA``) are in order. Of parts that have been there for long most is known: new ones are looked for among them.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from forensics.counting.hashes import in_one, met, parts_of, places_of, shared_in
from forensics.counting.item_hashes import HASH_SCHEMA, ITEM, OPEN, candidates_in
from forensics.counting.settled_rows import with_numbers


def between(rows: pl.DataFrame, low: int, high: int) -> pl.DataFrame:
    """Return those rows whose hash is from ``low`` to ``high``."""
    hashes = rows["hash"].to_numpy()
    first = np.searchsorted(hashes, np.uint64(low))
    return rows[first : np.searchsorted(hashes, np.uint64(high), side="right")]


@dataclass(frozen=True)
class Settled:
    """The hashes of some parts as one, each with the place of its ``part`` among them, and those rows that can make an item a candidate.

    These rows say whether these parts alone make an item one (``is_candidate``).
    """

    hashes: pl.DataFrame
    found: pl.DataFrame


def settled(parts: Sequence[pl.DataFrame]) -> Settled:
    """Return what ``shared`` is spared of these parts where others come to them."""
    hashes = [rows["hash"].to_numpy() for rows in parts]
    every, order = in_one(hashes)
    picked = _picked(parts, order[shared_in(every, every[:0])])
    found = _together(_with_number(mine, n) for n, mine in enumerate(picked)).sort("hash")
    is_candidate = pl.col("hash").is_in(candidates_in(found)["hash"].unique().implode())
    together = pl.DataFrame({"hash": every, "part": parts_of(order, hashes)})
    return Settled(together, found.with_columns(is_candidate=is_candidate))


@dataclass(frozen=True)
class Gathered:
    """The rows of some parts by hash, each with the place of its ``part`` among them, and which of their hashes are settled, too."""

    rows: pl.DataFrame
    again: pl.DataFrame


def gathered(parts: Sequence[pl.DataFrame], there: pl.Series) -> Gathered:
    """Return what ``shared`` is spared of these parts beside hashes that are settled ``there``."""
    every, order = in_one([rows["hash"].to_numpy() for rows in parts])
    again = pl.DataFrame({"hash": met(every, there.to_numpy())})
    return Gathered(_together(_with_number(rows, n) for n, rows in enumerate(parts))[order], again)


def shared(
    before: Settled,
    old: Sequence[int],
    rows_of: Callable[[int], pl.DataFrame],
    gathered: Gathered,
    recent: Sequence[int],
    parts: Sequence[tuple[int, pl.DataFrame]],
) -> pl.DataFrame:
    """Return the rows by whose hash ``parts``, each with its number, and ``gathered`` ones make an item a candidate; each with its number.

    ``before`` is of parts with ``old`` numbers, whose rows can be had by number, ``gathered`` of such with ``recent`` ones. What
    makes a candidate of an item among the old alone is left out.
    """
    scanned = [rows for _, rows in parts]
    there = before.hashes["hash"].to_numpy()
    new, _ = in_one([rows["hash"].to_numpy() for rows in scanned])
    again = np.union1d(met(new, there), gathered.again["hash"].to_numpy())
    hashes = before.found["hash"].to_numpy()
    places = places_of(hashes, again)  # what is there already is there with all its rows
    alone = np.setdiff1d(again, hashes[places])
    found = [with_numbers(before.found[places].drop("is_candidate"), old)]
    holders = np.unique(before.hashes["part"].to_numpy()[np.searchsorted(there, alone)])
    for number in (old[place] for place in holders.tolist()):
        rows = rows_of(number)
        found.append(_with_number(rows[places_of(rows["hash"].to_numpy(), alone)], number))
    looked_at = [gathered.rows, *scanned]
    every, order = in_one([rows["hash"].to_numpy() for rows in looked_at])
    of_recent, *others = _picked(looked_at, order[shared_in(every, again)])
    found += [with_numbers(of_recent, recent)]
    found += [_with_number(mine, number) for (number, _), mine in zip(parts, others, strict=True)]
    return candidates_in(_together(found))


def _picked(parts: Sequence[pl.DataFrame], places: np.ndarray) -> Iterator[pl.DataFrame]:
    """Yield of each part the rows at places in parts one after the other, and open items' own."""
    wanted = np.zeros(sum(rows.height for rows in parts), bool)
    wanted[places] = True
    first = 0
    for rows in parts:
        is_open = rows["flags"].to_numpy() & (OPEN | ITEM) == (OPEN | ITEM)
        yield rows[np.flatnonzero(wanted[first : first + rows.height] | is_open)]
        first += rows.height


def _with_number(rows: pl.DataFrame, number: int) -> pl.DataFrame:
    return rows.with_columns(part=pl.lit(number, pl.UInt32))


def _together(rows: Iterable[pl.DataFrame]) -> pl.DataFrame:
    return pl.concat([pl.DataFrame(schema=HASH_SCHEMA | {"part": pl.UInt32}), *rows])
