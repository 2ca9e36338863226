"""Which works of an incident are left to refund or to check: neither settled by people nor repeated by another incident."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from forensics.people import Marks
from forensics.people.marks import SETTLES

Row = Mapping[str, Any]


@dataclass(frozen=True)
class LeftToDo:
    """Counts of affected works: of ``refund`` the repeat is sure, of ``check`` it is not.

    ``elsewhere`` are left too, and the incident that repeated them asks for them; ``settled`` were refunded or accepted.
    """

    refund: int
    check: int
    elsewhere: int
    settled: int


def left_to_do(incident: Row, works: Sequence[Row], marks: Marks) -> LeftToDo:
    """Count what is left of the affected works that count, of which ``counted_works`` is enough."""
    done = {item for item, said in marks.of_items.items() if any(mark.mark in SETTLES for mark in said)}
    left = [work for work in works if not done.intersection(work["item_ids"])]
    here = repeated_here(incident, left)
    refund = size_of(work for work in here if work["verdict"] == "confirmed")
    return LeftToDo(
        refund, size_of(here) - refund, size_of(left) - size_of(here), settled=size_of(works) - size_of(left)
    )


def repeated_here(incident: Row, works: Sequence[Row]) -> list[Row]:
    """Return the works but those whose every repeat is another incident's: that one asks for them."""
    elsewhere = set(incident.get("repeated_elsewhere") or ())
    return [work for work in works if not elsewhere.intersection(work["item_ids"])]


def size_of(works: Iterable[Row]) -> int:
    """Return how many works rows stand for: of ``counted_works`` one may stand for many."""
    return sum(work.get("works", 1) for work in works)
