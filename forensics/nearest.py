"""What a person may have meant by a name that nobody knows."""

from collections.abc import Sequence
from difflib import get_close_matches

from forensics.sentence import joined, said

MOST = 3


def near(name: str, known: Sequence[str], cutoff: float = 0.6) -> list[str]:
    """Return the known names most like ``name``, the nearest first, at most three."""
    return get_close_matches(name, known, n=MOST, cutoff=cutoff)


def queues_hint(name: str, known: Sequence[str], none: str = "no queue at all") -> str:
    """Return the hint of an unknown queue's name or ARN: the nearest names, and all there are; ``none`` stands for no name.

    >>> queues_hint("paymets", ["mail", "payments"])
    'Did you mean payments? There is: mail, payments.'
    """
    found = near(name.rpartition(":")[2], known)
    there = said("There is: {names}.", names=", ".join(known)) if known else said("There is: {none}.", none=none)
    return joined([meant(found), there]) if found else there


def meant(names: Sequence[str]) -> str:
    """Ask whether one of these names was meant."""
    return said("Did you mean {names}?", names=alternatives(names))


def alternatives(names: Sequence[str]) -> str:
    """Join names of which one is meant."""
    return joined(names, " or ")
