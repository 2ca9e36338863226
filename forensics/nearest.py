"""What a person may have meant by a name that nobody knows."""

from collections.abc import Sequence
from difflib import get_close_matches

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
    meant = f"Did you mean {' or '.join(found)}? " if found else ""
    return f"{meant}There is: {', '.join(known) or none}."
