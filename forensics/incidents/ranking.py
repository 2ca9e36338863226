"""What is told of many values: counts with the highest first, equal ones by name, and the highest of what is known."""

from collections.abc import Iterable, Mapping

from forensics.sentence import plain


def ranked(counts: Mapping[str, int]) -> list[tuple[str, int]]:
    """Return what was counted, the most frequent first.

    >>> ranked({"throttled": 1, "released": 2, "broker_copy": 1})
    [('released', 2), ('broker_copy', 1), ('throttled', 1)]
    """
    return sorted(counts.items(), key=lambda one: (-one[1], one[0]))


def most_frequent(counts: Mapping[str, int]) -> str:
    """Return the most frequent, of several the first by name, in English; ValueError where nothing was counted."""
    most = max(counts.values())
    return min((name for name, count in counts.items() if count == most), key=lambda name: (plain(name), name))


def with_counts(counts: Mapping[str, int]) -> list[str]:
    """Return code=count, the most frequent first.

    >>> with_counts({"throttled": 1, "released": 2})
    ['released=2', 'throttled=1']
    """
    return [f"{code}={count}" for code, count in ranked(counts)]


def highest(values: Iterable[int | None]) -> int | None:
    """Return the highest known value; None where none is known."""
    return max((value for value in values if value is not None), default=None)
