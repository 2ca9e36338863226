"""Coverage: said once, said again when something changed, and never more than was read."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from forensics.lake import Lake
from forensics.lake.findings import rows_of
from forensics.language import Language
from forensics.sentence import said
from forensics.tables import BY_NAME
from forensics.window import TimeWindow
from ingest import coverage
from ingest.coverage import Book, Reading, record

pytestmark = pytest.mark.lake

T = datetime(2026, 11, 20, 5, tzinfo=UTC)
LATER = T + timedelta(days=1)
COVERAGE = BY_NAME["coverage"]


def reading(status: str = "ok", stored_count: int = 0, arns: tuple[str, ...] = ("arn:q",)) -> Reading:
    return Reading(BY_NAME["log_events"], "/g", "1", "eu-west-1", arns, status, stored_count=stored_count)


def hours(first: float, last: float) -> TimeWindow:
    return TimeWindow(T + timedelta(hours=first), T + timedelta(hours=last))


def rows_after(lake: Lake, *steps: tuple[Reading, TimeWindow, datetime]) -> int:
    for one, window, now in steps:
        record(lake, [one], window, now)
    return lake.read(COVERAGE).num_rows


def at(minute: int) -> datetime:
    return LATER + timedelta(minutes=minute)


CASES = {
    "the same again": ([(reading(), hours(0, 2)), (reading(), hours(0, 2))], 1),
    "a part of it": ([(reading(), hours(0, 2)), (reading(), hours(0.5, 1))], 1),
    "more than before": ([(reading(), hours(0, 2)), (reading(), hours(0, 3))], 2),
    "something was stored": ([(reading(), hours(0, 2)), (reading(stored_count=1), hours(0, 2))], 2),
    "it failed since": ([(reading(), hours(0, 2)), (reading("denied"), hours(1, 2))], 2),
    "it failed and works again": (
        [(reading(), hours(0, 2)), (reading("denied"), hours(1, 2)), (reading(), hours(0, 2))],
        3,
    ),
    "still denied": ([(reading("denied"), hours(0, 2)), (reading("denied"), hours(0, 2))], 1),
    "for another queue": ([(reading(), hours(0, 2)), (reading(arns=("arn:other",)), hours(0, 2))], 2),
    "for two queues": ([(reading(arns=("arn:a", "arn:b")), hours(0, 2))], 2),
}


@pytest.mark.parametrize(("steps", "row_count"), CASES.values(), ids=CASES)
def test_a_reading_is_recorded_when_it_says_something_new(lake, steps, row_count):
    timed = [(one, window, at(minute)) for minute, (one, window) in enumerate(steps)]

    assert rows_after(lake, *timed) == row_count


def ending(now: datetime, length: timedelta) -> tuple[Reading, TimeWindow, datetime]:
    return reading(), TimeWindow(now - length, now), now


def test_a_quiet_source_read_each_minute_is_recorded_every_five(lake):
    steps = [ending(at(minute), timedelta(hours=1)) for minute in range(14)]

    assert rows_after(lake, *steps) == 3


def test_a_quiet_block_is_recorded_once_more_when_its_second_reading_was_due(lake):
    steps = [ending(at(minute), timedelta(hours=1)) for minute in (0, 14, 15, 16)]

    assert rows_after(lake, *steps[:2]) == 2
    assert rows_after(lake, *steps[2:]) == 3


def test_short_windows_side_by_side_are_all_recorded(lake):
    steps = [ending(at(2 * n), timedelta(minutes=2)) for n in range(5)]

    assert rows_after(lake, *steps) == 5


def test_a_provisional_reading_does_not_stand_for_a_settled_one(lake):
    window = TimeWindow(LATER - timedelta(hours=1), LATER)

    assert rows_after(lake, (reading(), window, LATER), (reading(), window, at(6))) == 2


def commits_of(lake: Lake) -> int:
    return lake.versions()["coverage"] + 1 if lake.exists(COVERAGE) else 0


def test_what_is_read_within_seconds_is_recorded_in_one_commit(lake):
    with Book(lake, hours(0, 9)) as book:
        for n in range(8):
            book.record([reading()], hours(n, n + 1), LATER)
        assert commits_of(lake) == 0

    assert commits_of(lake) == 1
    assert lake.count(COVERAGE) == 8


def test_what_takes_long_is_recorded_as_it_goes_on(lake, monkeypatch):
    clock = [100.0]
    monkeypatch.setattr(coverage, "monotonic", lambda: clock[0])
    book = Book(lake, hours(0, 9))
    for n, (took_s, row_count) in enumerate([(1, 0), (coverage.FLUSH_EVERY_S, 2), (1, 2), (coverage.FLUSH_EVERY_S, 4)]):
        clock[0] += took_s
        book.record([reading()], hours(n, n + 1), LATER)

        assert lake.count(COVERAGE) == row_count


def test_what_was_recorded_of_a_run_that_failed_later_stays_so_and_is_not_due(lake):
    where = (BY_NAME["log_events"], "/g", "1", "eu-west-1", ("arn:q",))
    with pytest.raises(KeyboardInterrupt), Book(lake, hours(0, 2)) as book:
        book.record([reading()], hours(0, 1), LATER)
        raise KeyboardInterrupt

    assert Book(lake, hours(0, 2)).due(*where, hours(0, 2), LATER) == [hours(1, 2)]


def test_a_disk_without_room_for_coverage_does_not_hide_why_a_run_failed(lake, monkeypatch):
    def full(*_):
        raise OSError("no room")

    with pytest.raises(ValueError, match="the cause"), Book(lake, hours(0, 2)) as book:
        book.record([reading()], hours(0, 1), LATER)
        monkeypatch.setattr(Lake, "append", full)
        raise ValueError("the cause")
    with pytest.raises(OSError, match="no room"), Book(lake, hours(0, 2)) as book:
        book.record([reading()], hours(0, 1), LATER)


def test_why_something_was_read_in_part_keeps_its_phrase_and_values_and_older_rows_their_text(lake):
    """Older lakes have no such column; in another language what they say stays as it was written."""
    older = [name for name in COVERAGE.column_names if name != "detail_marked"]
    table = replace(COVERAGE, columns=tuple(COVERAGE.column(name) for name in older))
    in_part = "its first 7 records were read"
    lake.append(table, [{"evidence_id": "coverage:old", "status": "partial", "detail": in_part}], "coverage|collect")
    why = said("the table is larger: its first {n} records were read", n=1_000)
    record(lake, [replace(reading("partial"), detail=why)], hours(0, 1), LATER)
    rows = sorted(rows_of(lake.read(COVERAGE)), key=lambda row: row["evidence_id"] != "coverage:old")
    told = [row["detail"] for row in rows]

    assert told == [in_part, "the table is larger: its first 1,000 records were read"]
    assert [Language("ja").sentence(text) for text in told] == [
        in_part,
        "テーブルはもっと大きく、最初の 1,000 件を読み取りました",
    ]
