"""Which messages make an incident: what was judged long ago is looked at together, once."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from forensics.counting import members as counted
from forensics.counting.frame_files import mapped, write_mapped
from forensics.counting.members import INCIDENT
from forensics.counting.settled_rows import rows_in, with_numbers
from spark_jobs.cache import Cache, Summary, kernel
from spark_jobs.candidates import frames_in, write_frames
from spark_jobs.judge import VERDICTS

if TYPE_CHECKING:
    from spark_jobs.steps import Shared

MEMBERS, AGAIN, INCIDENTS = "members.arrow", "again.arrow", "incidents.arrow"
Unit = dict[str, Any]


@kernel("settled_members")
def settle(shared: "Shared", unit: Unit, folder: Path) -> Summary:
    """Say which messages of units that were judged long ago belong to which incident."""
    before = counted.settled(_verdicts(shared.cache, enumerate(unit["judged"])))
    write_frames(before, folder)
    return {str(part): told for part, told in counted.told_by_part(before.members).items()}


@kernel("members")
def place(shared: "Shared", unit: Unit, folder: Path) -> Summary:
    """Say which messages belong to which incident, queue by queue."""
    judged, numbers = unit["judged"], unit["settled"]
    source = shared.cache.entry("settled_members", unit["before"])
    before = frames_in(source, counted.Settled)
    before = replace(
        before, **{name: with_numbers(getattr(before, name), numbers) for name in ("verdicts", "members", "parts")}
    )
    new = [(n, name) for n, name in enumerate(judged) if n not in set(numbers)]
    now, again = counted.placed(_verdicts(shared.cache, new), before)
    told = {numbers[int(place)]: said for place, said in unit["told"].items()}
    incidents, of_parts = counted.told_of(before, told, now, again)
    write_mapped(now.members, folder / MEMBERS)
    write_mapped(again.to_frame(), folder / AGAIN)
    write_mapped(incidents.select(*INCIDENT, "unit"), folder / INCIDENTS)
    units = [{**one, "judged": sorted(judged[n] for n in one.pop("part"))} for one in counted.units_of(incidents)]
    return {"units": units, "told": {judged[n]: told for n, told in of_parts.items()}}


def _verdicts(cache: Cache, judged: Iterable[tuple[int, str]]) -> list[pl.DataFrame]:
    return [mapped(cache.entry("judge", name) / VERDICTS).with_columns(part=pl.lit(n, pl.UInt32)) for n, name in judged]


@dataclass(frozen=True)
class Members:
    """Who belongs to which incident: what was placed in a folder beside what was settled at the ``source``, of parts with ``numbers``."""

    folder: Path
    source: Path
    numbers: Sequence[int]

    @property
    def name(self) -> str:
        """What names all that is said here."""
        return self.folder.name

    def rows(self, wanted: pl.Expr) -> pl.DataFrame:
        """Return those members who are wanted."""
        before = with_numbers(mapped(self.source / MEMBERS), self.numbers)
        again = mapped(self.folder / AGAIN)["place"]
        return rows_in(mapped(self.folder / MEMBERS), again, before, wanted)

    def incidents(self, unit: int) -> pl.DataFrame:
        """Return the incidents of one unit."""
        return mapped(self.folder / INCIDENTS).filter(pl.col("unit") == unit).select(INCIDENT)
