"""What guards did in an incident, in few lines: how many works each kind of sentence is about, with one of them."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from forensics.verdict import guard_sentence

Row = Mapping[str, Any]

NOTHING_SAID = guard_sentence({})
_VALUE = re.compile(r"\d[\d:.,-]*")
"""Numbers and moments: sentences that differ in these alone tell the same."""


@dataclass(frozen=True)
class GuardNote:
    """What guards did in ``work_count`` works, as the sentence of the first; ``are_alike``: the others' sentences are the very same."""

    work_count: int
    sentence: str
    are_alike: bool


def guard_notes(works: Iterable[Row]) -> list[GuardNote]:
    """Return what guards did, what most works tell first; nothing of works of which no line, setting or table tells a guard.

    >>> guard_notes([{"guard_sentence": NOTHING_SAID}])
    []
    """
    found: dict[str, list[str]] = {}
    for work in works:
        said = work["guard_sentence"]
        if said and said != NOTHING_SAID:
            found.setdefault(_VALUE.sub("#", said), []).append(said)
    notes = [GuardNote(len(said), said[0], len(set(said)) == 1) for said in found.values()]
    return sorted(notes, key=lambda note: -note.work_count)
