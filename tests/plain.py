"""Tests that ask for nothing but their own parameters: called as they stand, without what pytest does around any other.

Of eleven thousand quick tests nine thousand are such, and in those of streams, judging and parsers that took two fifths of the time.
"""

from collections.abc import Callable, Collection
from typing import Any

import pytest

_BEARING = frozenset({"skip", "skipif", "xfail", "usefixtures", "filterwarnings"})
"""Marks that bear on how a test runs; the others only say what it is."""


def passes(item: pytest.Item, following: pytest.Item | None) -> bool:
    """Call a plain test and tell whether it passed; any other must run as pytest runs it, and so must the last of its file or class.

    One that failed fails in any case when it runs again, to be reported.
    """
    if not isinstance(item, pytest.Function) or following is None or following.parent is not item.parent:
        return False
    if (arguments := _arguments(item)) is None:
        return False
    test: Callable[..., Any] = item.obj
    try:
        test(**arguments)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # pytest's own outcomes are no exceptions of the usual kind
        item.obj = _failing(test, error)
        return False
    return True


def _arguments(item: pytest.Function) -> dict[str, Any] | None:
    """Return what a test is called with; None where it asks for more than parameters of its own."""
    marks = [*item.iter_markers()]
    if any(mark.name in _BEARING for mark in marks):
        return None
    given = {name for mark in marks if mark.name == "parametrize" for name in _named(mark)}
    if given != {*item.fixturenames}:
        return None
    return dict(item.callspec.params) if given else {}


def _named(mark: pytest.Mark) -> Collection[str]:
    """Return the parameters that a mark gives; those by way of fixtures are none of the test's own."""
    names = mark.args[0] if mark.args else mark.kwargs["argnames"]
    if mark.kwargs.get("indirect"):
        return [""]
    return [name.strip() for name in names.split(",")] if isinstance(names, str) else names


def _failing(test: Callable[..., Any], error: BaseException) -> Callable[..., Any]:
    """Return the test as one that fails, if not by itself, as it did."""

    def once_more(**arguments: Any) -> None:
        test(**arguments)
        raise error

    return once_more
