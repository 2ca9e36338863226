"""What is read again and when: nothing too early, nothing forgotten, nothing twice for nothing."""

from datetime import UTC, datetime, timedelta

from hypothesis import given, settings
from hypothesis import strategies as st

from forensics.coverage import BLOCK_S, SETTLING
from forensics.window import TimeWindow
from ingest.rereading import RUNGS, Known, due, joined, pieces

T = datetime(2026, 11, 20, 5, tzinfo=UTC)
MINUTE = timedelta(minutes=1)


def minutes(first: float, last: float) -> TimeWindow:
    return TimeWindow(T + first * MINUTE, T + last * MINUTE)


def read(first: float, last: float, at: float, is_lost: bool = False) -> Known:
    return Known(T + first * MINUTE, T + last * MINUTE, T + at * MINUTE, is_lost)


def due_at(now: float, window: TimeWindow, *known: Known) -> list[tuple[float, float]]:
    found = due(window, known, T + now * MINUTE)
    return [((w.start_at - T) / MINUTE, (w.end_at - T) / MINUTE) for w in found]


HOUR = minutes(0, 60)


def test_what_was_never_read_is_due():
    assert due_at(60, HOUR) == [(0, 60)]
    assert due_at(60 * 24 * 30, HOUR) == [(0, 60)]


def test_the_last_five_minutes_before_a_reading_do_not_count_as_read():
    assert due_at(61, minutes(0, 61), read(0, 60, at=60)) == [(55, 61)]


def test_a_reading_made_within_a_millisecond_leaves_no_window_of_none():
    one = Known(T, T + 60 * MINUTE, T + 60 * MINUTE + timedelta(microseconds=688_407))
    other = Known(T, T + 60 * MINUTE, T + 60 * MINUTE + timedelta(microseconds=688_901))

    assert due(HOUR, [one, other], T + 61 * MINUTE) == [
        TimeWindow(T + 55 * MINUTE + timedelta(milliseconds=688), HOUR.end_at)
    ]


def test_a_block_is_due_again_when_it_is_15_minutes_2_hours_and_24_hours_old():
    quarter = minutes(0, 15)
    first = read(0, 15, at=20)

    assert due_at(29, quarter, first) == []
    assert due_at(30, quarter, first) == [(0, 15)]
    second = read(0, 15, at=30)
    assert due_at(134, quarter, first, second) == []
    assert due_at(135, quarter, first, second) == [(0, 15)]
    third = read(0, 15, at=136)
    assert due_at(60 * 24 + 14, quarter, first, second, third) == []
    assert due_at(60 * 24 + 15, quarter, first, second, third) == [(0, 15)]
    assert due_at(60 * 24 * 90, quarter, first, read(0, 15, at=60 * 24 + 15)) == []


def test_a_reading_that_comes_late_stands_for_every_rung_it_has_passed():
    assert due_at(60 * 24 * 9, HOUR, read(0, 60, at=60 * 24 * 2)) == []


def test_the_last_reading_counts_and_not_the_first():
    assert due_at(200, minutes(0, 15), read(0, 15, at=190), read(0, 15, at=20)) == []


def test_a_hole_between_readings_is_due():
    assert due_at(60 * 24 * 9, HOUR, read(0, 20, at=5000), read(30, 60, at=5000)) == [(20, 30)]


def test_what_was_lost_is_due_again_until_it_has_been_read_since():
    readings = [read(0, 60, at=5000), read(10, 20, at=5001, is_lost=True)]

    assert due_at(6000, HOUR, *readings) == [(10, 20)]
    assert due_at(6000, HOUR, *readings, read(10, 20, at=5002)) == []


def test_long_parts_are_cut_into_pieces_that_touch():
    cut = pieces(TimeWindow(T, T + timedelta(hours=50)))

    assert [(w.end_at - w.start_at) / MINUTE / 60 for w in cut] == [24, 24, 2]
    assert joined(cut) == [TimeWindow(T, T + timedelta(hours=50))]
    assert pieces(HOUR) == [HOUR]


def last_readings(window: TimeWindow, runs: list[float]) -> dict[int, list[float]]:
    """Play collections at those minutes, as the model: per minute of the window, when it was read."""
    known: list[Known] = []
    read_at: dict[int, list[float]] = {}
    for run in sorted(runs):
        now = T + run * MINUTE
        if now <= window.start_at:
            continue
        asked = TimeWindow(window.start_at, min(window.end_at, now))
        for part in due(asked, known, now):
            known.append(Known(part.start_at, part.end_at, now))
            for minute in range(int((part.start_at - T) / MINUTE), int((part.end_at - T) / MINUTE)):
                read_at.setdefault(minute, []).append(run)
    return read_at


runs_of_collectors = st.lists(st.integers(min_value=1, max_value=60 * 30), min_size=1, max_size=25, unique=True)


@settings(max_examples=150, deadline=None)
@given(runs=runs_of_collectors, start=st.integers(0, 40), length=st.integers(1, 90))
def test_every_minute_is_read_at_every_rung_that_some_run_could_serve(runs, start, length):
    """The promise, minute by minute: after a run, each minute has been read since every rung it has reached."""
    window = minutes(start, start + length)
    read_at = last_readings(window, runs)
    last_run = max(runs)
    for minute in range(start, min(start + length, last_run)):
        block_end = -(-(minute + 1) * 60 // BLOCK_S) * BLOCK_S / 60
        newest = max(read_at.get(minute, [-1]))
        assert newest >= 0
        settled = [r for r in sorted(runs) if r >= minute + 1 + SETTLING / MINUTE]
        if settled:
            assert newest >= settled[0]
        for rung in RUNGS:
            served = [r for r in sorted(runs) if r >= block_end + rung / MINUTE]
            if served:
                assert newest >= served[0], (minute, rung, read_at[minute])


@settings(max_examples=100, deadline=None)
@given(runs=runs_of_collectors)
def test_a_settled_minute_is_read_at_most_once_per_rung_and_once_before(runs):
    for minute, times in last_readings(minutes(0, 60), runs).items():
        settled = [t for t in times if t >= minute + 1 + SETTLING / MINUTE]
        assert len(settled) <= 1 + len(RUNGS)
