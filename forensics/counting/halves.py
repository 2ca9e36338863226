"""Stretches of time that weigh about the same: what a lake is judged and told in, so that new lines make few of them anew."""

import itertools
from collections.abc import Sequence

import numpy as np

_LONGEST_UNIT_US = 2**47
"""About four and a half years; units are halves of halves of it."""
_SHORTEST_UNIT_US = 2**20


def halved(at: np.ndarray, weights: np.ndarray, most: int) -> np.ndarray:
    """Return for each moment (µs) the name of the unit it belongs to, of ``divided``."""
    names, counts, order = divided(at, weights, most)
    return np.array(names, object)[_of_each(counts, order)]


def numbered(at: np.ndarray, weights: np.ndarray, most: int) -> np.ndarray:
    """Return for each moment (µs) the number of the unit it belongs to, of ``divided``: units count from 0, in the order of time."""
    _, counts, order = divided(at, weights, most)
    return _of_each(counts, order)


def _of_each(counts: Sequence[int], order: np.ndarray) -> np.ndarray:
    unit = np.empty(len(order), np.uint32)
    unit[order] = np.repeat(np.arange(len(counts), dtype=np.uint32), counts)
    return unit


def divided(at: np.ndarray, weights: np.ndarray, most: int) -> tuple[list[str], list[int], np.ndarray]:
    """Divide moments (µs) into units: stretches of time, halved until one weighs at most ``most``.

    Returns the names of the units, how many moments each has, and the places of all moments, in the order of time. Units are
    named by where they begin and how long they are, so one that nothing new fell into keeps its name.
    """
    order = np.argsort(at, kind="stable")
    ordered = at[order]
    reached = np.concatenate([[0], np.cumsum(weights[order])])
    names: list[str] = []
    counts: list[int] = []

    def divide(first: int, last: int, begin: int, length: int) -> None:
        if first == last:
            return
        if reached[last] - reached[first] <= most or length <= _SHORTEST_UNIT_US:
            names.append(f"{begin}-{length}")
            counts.append(last - first)
            return
        half = length // 2
        middle = first + int(np.searchsorted(ordered[first:last], begin + half))
        divide(first, middle, begin, half)
        divide(middle, last, begin + half, half)

    whole = np.unique(ordered // _LONGEST_UNIT_US)
    edges = np.searchsorted(ordered, [*(whole * _LONGEST_UNIT_US), np.iinfo(np.int64).max], side="left")
    for number, (first, last) in zip(whole.tolist(), itertools.pairwise(edges.tolist()), strict=True):
        divide(first, last, number * _LONGEST_UNIT_US, _LONGEST_UNIT_US)
    return names, counts, order


def stretch_of(name: str) -> tuple[int, int]:
    """Return when a unit of this name begins, and when the next does (µs).

    >>> stretch_of("1024-512")
    (1024, 1536)
    """
    begin, length = map(int, name.rsplit("-", 1))
    return begin, begin + length
