"""A test that writes a lake of its own says so by its marker, and the quick check leaves it out: such a lake is some hundred files.

A plugin of every run: a test that writes one unmarked fails. What a whole file reads may be written for it, once.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from deltalake import DeltaTable, transaction

LEFT_OUT = ("spark", "emulator", "browser", "page", "process", "slow", "lake")
"""Markers of what the quick check leaves out."""
_allowed = [True]
"""Whether what runs now may write lakes, innermost last."""


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Let a test write lakes where it says so."""
    with _writing(any(item.get_closest_marker(name) for name in LEFT_OUT)):
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(fixturedef: pytest.FixtureDef[Any]) -> Iterator[None]:
    """Let a fixture write a lake that a whole file reads, or all do."""
    with _writing(_allowed[-1] or fixturedef.scope != "function"):
        return (yield)


@contextmanager
def written_once() -> Iterator[None]:
    """Let any test be the first that needs a lake which is written once and copied from then on."""
    with _writing(True):
        yield


@contextmanager
def _writing(is_allowed: bool) -> Iterator[None]:
    _allowed.append(is_allowed)
    try:
        yield
    finally:
        _allowed.pop()


def _look() -> None:
    if not _allowed[-1]:
        pytest.fail("this test writes a lake: mark it `lake`, or build what it asks for without one")


def pytest_configure() -> None:
    """See every table that is made, and every commit."""
    create, commit = transaction.create_table_with_add_actions, DeltaTable.create_write_transaction

    def created(*args: Any, **named: Any) -> None:
        _look()
        create(*args, **named)

    def committed(table: DeltaTable, *args: Any, **named: Any) -> None:
        _look()
        commit(table, *args, **named)

    transaction.create_table_with_add_actions = created
    DeltaTable.create_write_transaction = committed
