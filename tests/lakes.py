"""A test that writes a lake of its own says so by its marker, and the quick check leaves it out: such a lake is some hundred files.

A plugin of every run: a test that writes one unmarked fails. What a whole file reads may be written for it, once.
"""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from deltalake import DeltaTable

LEFT_OUT = ("spark", "emulator", "browser", "page", "process", "slow", "lake")
"""Markers of what the quick check leaves out."""
_allowed = [True]
"""Whether what runs now may write lakes, innermost last."""
_first_commits: dict[str, bytes] = {}
"""Of every kind of table that was made in this process, its first commit."""


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
    """See every table that is made, and every commit.

    delta-rs makes the first table of each kind; others begin with its commit: to make one takes four times as long.
    """
    create, commit = DeltaTable.create.__func__, DeltaTable.create_write_transaction

    def created(cls: type[DeltaTable], table_uri: str, **named: Any) -> DeltaTable:
        _look()
        kind = repr({**named, "schema": named["schema"].to_json()})
        first = Path(table_uri, "_delta_log", f"{0:020}.json")
        is_there = first.parent.exists()
        if is_there or kind not in _first_commits:
            table: DeltaTable = create(cls, table_uri, **named)
            if not is_there:
                _first_commits[kind] = first.read_bytes()
            return table
        first.parent.mkdir()
        (draft := first.with_suffix(".draft")).write_bytes(_first_commits[kind])
        with suppress(FileExistsError):  # another process was faster
            first.hardlink_to(draft)
        draft.unlink()
        return cls(table_uri)

    def committed(table: DeltaTable, *args: Any, **named: Any) -> None:
        _look()
        commit(table, *args, **named)

    DeltaTable.create = classmethod(created)
    DeltaTable.create_write_transaction = committed
