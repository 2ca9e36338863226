"""Which works need judging: over 64-bit hashes of message ids, deduplication ids, business keys and job ids.

Two hashes that are equal by chance make a candidate too many, never one too few.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter
from pathlib import Path
from typing import Any, cast

import numpy as np
import polars as pl
import pyarrow as pa

from forensics.counting import plans
from forensics.counting.hashes import in_one, met, parts_of, places_of, shared_in
from forensics.counting.item_hashes import HASH_SCHEMA, ITEM, OPEN, candidates_in
from forensics.counting.item_hashes import item_hash as item_hash

HASHES = "hashes.arrow"
FOUND = "found.arrow"
SHARED = "shared.arrow"
FRESH = "fresh.arrow"
TOUCHED = "touched.arrow"


def write_hashes(rows: pl.DataFrame, folder: Path) -> None:
    """Write hashes, to be mapped."""
    write_mapped(rows, folder / HASHES)


def write_mapped(rows: pl.DataFrame, file: Path) -> None:
    """Write rows so that a reader gets what it looks at from the disk, and no more: in one piece, or it would copy them."""
    rows.write_ipc(file, compression="uncompressed", record_batch_size=max(rows.height, 1))


def mapped(file: Path) -> pl.DataFrame:
    """Return what ``write_mapped`` wrote."""
    with pa.memory_map(str(file)) as there, pa.ipc.open_file(there) as opened:
        return cast(pl.DataFrame, pl.from_arrow(opened.read_all()))


def hashes_in(folder: Path) -> pl.DataFrame:
    """Return what ``write_hashes`` wrote."""
    return mapped(folder / HASHES)


def settled(parts: Sequence[Path], low: int, high: int, folder: Path) -> None:
    """Write the hashes of these parts from ``low`` to ``high`` as one, and those rows that can make an item a candidate, by hash.

    Both have the place of their ``part`` among these; rows say whether these parts alone make an item one (``is_candidate``).
    """
    rows = [_between(part, low, high) for part in parts]
    hashes = [mine["hash"].to_numpy() for mine in rows]
    every, order = in_one(hashes)
    write_hashes(pl.DataFrame({"hash": every, "part": parts_of(order, hashes)}), folder)
    found = _picked(list(enumerate(rows)), order[shared_in(every, every[:0])]).sort("hash")
    is_candidate = pl.col("hash").is_in(candidates_in(found)["hash"].unique().implode())
    write_mapped(found.with_columns(is_candidate=is_candidate), folder / FOUND)


def shared(
    source: Path, old: Mapping[int, Path], parts: Sequence[tuple[int, Path]], low: int, high: int
) -> pl.DataFrame:
    """Return the rows of hashes from ``low`` to ``high`` by which ``parts`` make an item a candidate, with the number of their part.

    ``parts`` are folders with hashes, each with the number of the part it is of; ``old`` are others by their number, which have
    been ``settled`` at the ``source``: what makes a candidate of an item there alone, they tell themselves.
    """
    scanned = [(number, _between(folder, low, high)) for number, folder in parts]
    every, order = in_one([rows["hash"].to_numpy() for _, rows in scanned])
    there, part = (hashes_in(source)[name].to_numpy() for name in ("hash", "part"))
    again = met(every, there)
    before = mapped(source / FOUND)
    hashes = before["hash"].to_numpy()
    places = places_of(hashes, again)  # what is there already is there with all its rows
    new = np.setdiff1d(again, hashes[places])
    numbers = list(old)
    found = [with_numbers(before[places].drop("is_candidate"), numbers)]
    for place in np.unique(part[np.searchsorted(there, new)]).tolist():
        rows = hashes_in(old[numbers[place]])
        found.append(_with_number(rows[places_of(rows["hash"].to_numpy(), new)], numbers[place]))
    return candidates_in(pl.concat([*found, _picked(scanned, order[shared_in(every, again)])]))


def with_numbers(rows: pl.DataFrame, numbers: Sequence[int]) -> pl.DataFrame:
    """Return rows whose ``part`` is a place among these numbers with the number."""
    return rows.with_columns(pl.Series("part", numbers, pl.UInt32).gather(rows["part"]))


def _between(folder: Path, low: int, high: int) -> pl.DataFrame:
    rows = hashes_in(folder)
    hashes = rows["hash"].to_numpy()
    first = np.searchsorted(hashes, np.uint64(low))
    return rows[first : np.searchsorted(hashes, np.uint64(high), side="right")]


def _picked(parts: Sequence[tuple[int, pl.DataFrame]], places: np.ndarray) -> pl.DataFrame:
    """Return the rows at places in parts one after the other, and open items' own, with the number of their part."""
    found = [pl.DataFrame(schema=HASH_SCHEMA | {"part": pl.UInt32})]
    wanted = np.zeros(sum(rows.height for _, rows in parts), bool)
    wanted[places] = True
    first = 0
    for number, rows in parts:
        is_open = rows["flags"].to_numpy() & (OPEN | ITEM) == (OPEN | ITEM)
        mine = np.flatnonzero(wanted[first : first + rows.height] | is_open)
        found.append(_with_number(rows[mine], number))
        first += rows.height
    return pl.concat(found)


def _with_number(rows: pl.DataFrame, number: int) -> pl.DataFrame:
    return rows.with_columns(part=pl.lit(number, pl.UInt32))


def settle_plan(sources: Iterable[Path], folder: Path) -> dict[str, Any]:
    """Write who of parts that were ``settled`` at these sources, all ranges of hashes, is judged with whom, and return it."""
    found = pl.concat(mapped(source / FOUND) for source in sources)
    before = plans.settled(found.filter("is_candidate").drop("is_candidate"))
    for name, rows in vars(before).items():
        write_mapped(rows, folder / f"{name}.arrow")
    return _told(plans.planned(before.rows.drop("group").clear(), before)[2])


def planned(
    rows: pl.DataFrame, source: Path, told: Mapping[str, Any], numbers: Sequence[int], folder: Path
) -> dict[str, Any]:
    """Write who is judged with whom where ``rows`` come to what was settled at the ``source``, and return what is told of all.

    ``told`` was told of that alone, of parts that have these ``numbers``.
    """
    before = plans.Settled(*(mapped(source / f"{name}.arrow") for name in plans.Settled.__dataclass_fields__))
    before = replace(before, rows=with_numbers(before.rows, numbers), members=with_numbers(before.members, numbers))
    units = {
        name: {
            **unit,
            "pieces": sorted(({**one, "part": numbers[one["part"]]} for one in unit["pieces"]), key=itemgetter("part")),
        }
        for name, unit in told["units"].items()
    }
    by_part = {numbers[int(place)]: owners for place, owners in told["by_part"].items()}
    fresh, touched, of_all = plans.planned(rows, before, plans.Told(units, by_part))
    write_mapped(fresh, folder / FRESH)
    write_mapped(touched.to_frame(), folder / TOUCHED)
    return _told(of_all)


def _told(of: plans.Told) -> dict[str, Any]:
    return {"units": of.units, "by_part": {str(part): owners for part, owners in of.by_part.items()}}


@dataclass(frozen=True)
class Plan:
    """Who is judged with whom: what was ``planned`` in a folder beside what was settled at the ``source``, of parts with ``numbers``."""

    folder: Path
    source: Path
    numbers: Sequence[int]

    def owners(self, wanted: pl.Expr) -> pl.DataFrame:
        """Return those members (``plans.MEMBER_SCHEMA``) who are wanted."""
        before = with_numbers(mapped(self.source / "members.arrow"), self.numbers)
        touched = mapped(self.folder / TOUCHED)["group"]
        return plans.members_in(mapped(self.folder / FRESH), touched, before, wanted)
