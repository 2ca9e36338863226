"""Tables that are open already: never an older state than what lies on the disk."""

import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from forensics.lake import Lake
from forensics.lake import handles as handles_module
from forensics.lake.handles import opened
from forensics.tables.evidence import LOG_EVENTS

T = datetime(2026, 11, 10, tzinfo=UTC)


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    return Lake(tmp_path / "lake")


def add(lake: Lake, number: int) -> None:
    rows = [{"evidence_id": f"log:{number}", "logged_at": T + timedelta(seconds=number), "line": "line"}]
    lake.append(LOG_EVENTS, rows, "log_events|/g")


def test_a_table_is_opened_once_as_long_as_nothing_is_committed(lake):
    add(lake, 1)
    first = opened(lake.path(LOG_EVENTS))

    assert opened(lake.path(LOG_EVENTS)) is first
    add(lake, 2)
    assert opened(lake.path(LOG_EVENTS)).version() == first.version() + 1
    assert opened(lake.path(LOG_EVENTS), first.version()).version() == first.version()


def test_a_table_made_anew_in_the_same_folder_is_another(lake):
    add(lake, 1)
    assert lake.count(LOG_EVENTS) == 1
    shutil.rmtree(lake.root)
    add(lake, 2)

    assert lake.read(LOG_EVENTS)["evidence_id"].to_pylist() == ["log:2"]


def test_another_handle_writing_is_seen_by_whoever_opened_before(lake):
    other = Lake(lake.root)
    for number in range(3):
        add(lake, number)
        add(other, 10 + number)
        assert lake.count(LOG_EVENTS) == other.count(LOG_EVENTS) == 2 * number + 2


def test_handles_do_not_pile_up(lake, monkeypatch):
    monkeypatch.setattr(handles_module, "MOST", 3)
    for number in range(6):
        add(lake, number)
        lake.count(LOG_EVENTS)

    assert len(handles_module._opened) <= 3
