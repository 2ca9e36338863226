"""Which works need judging: over 64-bit hashes of message ids, deduplication ids, business keys and job ids.

Two hashes that are equal by chance make a candidate too many, never one too few.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter
from pathlib import Path
from typing import Any, TypeVar

import polars as pl

from forensics.counting import plans, shared_hashes
from forensics.counting.frame_files import mapped, write_mapped
from forensics.counting.settled_rows import rows_in, with_numbers

HASHES = "hashes.arrow"
SHARED = "shared.arrow"
FRESH = "fresh.arrow"
TOUCHED = "touched.arrow"
Frames = TypeVar("Frames")


def write_hashes(rows: pl.DataFrame, folder: Path) -> None:
    """Write hashes, to be mapped."""
    write_mapped(rows, folder / HASHES)


def hashes_in(folder: Path) -> pl.DataFrame:
    """Return what ``write_hashes`` wrote."""
    return mapped(folder / HASHES)


def between(folder: Path, low: int, high: int) -> pl.DataFrame:
    """Return the hashes in a folder from ``low`` to ``high``."""
    return shared_hashes.between(hashes_in(folder), low, high)


def write_frames(of: Any, folder: Path) -> None:
    """Write the frames of a dataclass, each as a file of its name."""
    for name, rows in vars(of).items():
        write_mapped(rows, folder / f"{name}.arrow")


def frames_in(folder: Path, kind: type[Frames]) -> Frames:
    """Return what ``write_frames`` wrote."""
    return kind(*(mapped(folder / f"{name}.arrow") for name in kind.__dataclass_fields__))  # type: ignore[attr-defined]


def settle_plan(sources: Iterable[Path], folder: Path) -> dict[str, Any]:
    """Write who of parts that were ``settled`` at these sources, all ranges of hashes, is judged with whom, and return it."""
    found = pl.concat(frames_in(source, shared_hashes.Settled).found for source in sources)
    before = plans.settled(found.filter("is_candidate").drop("is_candidate"))
    write_frames(before, folder)
    return _told(plans.planned(before.rows.drop("group").clear(), before)[2])


def planned(
    rows: pl.DataFrame, source: Path, told: Mapping[str, Any], numbers: Sequence[int], folder: Path
) -> dict[str, Any]:
    """Write who is judged with whom where ``rows`` come to what was settled at the ``source``, and return what is told of all.

    ``told`` was told of that alone, of parts that have these ``numbers``.
    """
    before = frames_in(source, plans.Settled)
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
        return rows_in(mapped(self.folder / FRESH), touched, before, wanted)
