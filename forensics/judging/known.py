"""Values of which some are unknown: None says nothing, so it is never the highest, the lowest or the first."""

from collections.abc import Iterable
from typing import Any


def highest(values: Iterable[Any]) -> Any:
    """Return the highest known value; None where none is.

    >>> highest([None, 2, 3]), highest([None])
    (3, None)
    """
    found = None
    for value in values:
        if value is not None and (found is None or value > found):
            found = value
    return found


def lowest(values: Iterable[Any]) -> Any:
    """Return the lowest known value; None where none is."""
    found = None
    for value in values:
        if value is not None and (found is None or value < found):
            found = value
    return found


def first_known(*values: Any) -> Any:
    """Return the first known value; None where none is."""
    for value in values:
        if value is not None:
            return value
    return None


def unknown_first(value: Any) -> tuple[bool, Any]:
    """Return a sort key for a value that may be unknown.

    >>> sorted([2, None, 1], key=unknown_first)
    [None, 1, 2]
    """
    return value is not None, value


def unknown_last(value: Any) -> tuple[bool, Any]:
    """Return a sort key for a value that may be unknown.

    >>> sorted([2, None, 1], key=unknown_last)
    [1, 2, None]
    """
    return value is None, value
