"""What counts as read: not what a damaged lake has taken back, nor what retention had taken before, nor what is of another region."""

from datetime import UTC, datetime, timedelta

import pytest

from forensics.clock import micros
from forensics.coverage import from_then_on, left_by_retention, read_spans, settled_until, standing

T = datetime(2026, 11, 20, 5, tzinfo=UTC)


def reading(first: int, last: int, at: int, status: str = "ok", resource: str = "/g") -> dict:
    """A reading of hours, made at an hour."""
    return {
        "account_id": "1",
        "region": "eu-west-1",
        "source": "log_events",
        "resource": resource,
        "window_start_at": T + timedelta(hours=first),
        "window_end_at": T + timedelta(hours=last),
        "collected_at": T + timedelta(hours=at),
        "status": status,
    }


def spans(*rows: dict) -> list[tuple[float, float]]:
    hour = timedelta(hours=1)
    return [((r["window_start_at"] - T) / hour, (r["window_end_at"] - T) / hour) for r in standing(rows)]


def test_only_readings_that_succeeded_count():
    assert spans(reading(0, 1, 9), reading(1, 2, 9, "denied"), reading(2, 3, 9, "partial")) == [(0, 1)]


def test_what_was_lost_is_cut_out_of_earlier_readings():
    assert spans(reading(0, 6, 9), reading(2, 3, 10, "lost")) == [(0, 2), (3, 6)]
    assert spans(reading(2, 3, 9), reading(2, 3, 9, "lost")) == []


def test_a_reading_made_since_counts_again():
    assert spans(reading(2, 3, 9), reading(2, 3, 10, "lost"), reading(2, 3, 11)) == [(2, 3)]


def test_another_source_is_not_touched():
    assert spans(reading(0, 1, 9), reading(0, 1, 10, "lost", "/other")) == [(0, 1)]


def test_a_setting_without_a_window_passes():
    row = reading(0, 1, 9) | {"window_start_at": None, "window_end_at": None}

    assert list(standing([row])) == [row]


def test_a_reading_made_early_shows_whatever_happened_up_to_five_minutes_before():
    late, early = reading(0, 6, 6) | {"is_provisional": False}, reading(0, 6, 6) | {"is_provisional": True}

    assert settled_until(late) == T + timedelta(hours=6)
    assert settled_until(early) == T + timedelta(hours=5, minutes=55)


def test_a_window_that_ends_before_that_is_settled_whole():
    assert settled_until(reading(0, 2, 6) | {"is_provisional": True}) == T + timedelta(hours=2)


def kept(*days: int | None, **place: str) -> list[dict]:
    """Settings of a log group, one after the other."""
    return [{"account_id": "1", "region": "eu-west-1", "log_group": "/g", "retention_days": n, **place} for n in days]


LEFT = {
    "older than a day when it was read": (kept(1), [(2, 6)]),
    "never": (kept(None), [(-30, 6)]),
    "of settings that changed the shortest counts": (kept(3, 1, None), [(2, 6)]),
    "of another log group": (kept(1, log_group="/other"), [(-30, 6)]),
    "of another region": (kept(1, region="us-east-1"), [(-30, 6)]),
}


@pytest.mark.parametrize(("settings", "expected"), LEFT.values(), ids=LEFT)
def test_what_retention_had_deleted_was_not_read(settings, expected):
    assert spans(*left_by_retention([reading(-30, 6, 26)], settings)) == expected


def test_a_reading_of_nothing_but_deleted_events_is_none():
    assert list(left_by_retention([reading(-30, -20, 26)], kept(1))) == []


FROM_THEN_ON = {
    "a reading that began before is cut": (2, [(2, 6)]),
    "a reading that begins then is whole": (0, [(0, 6)]),
    "a reading that ends then is none": (6, []),
    "a reading that ended before is none": (7, []),
}


@pytest.mark.parametrize(("hour", "expected"), FROM_THEN_ON.values(), ids=FROM_THEN_ON)
def test_log_events_that_are_left_out_were_not_read(hour, expected):
    assert spans(*from_then_on([reading(0, 6, 26)], T + timedelta(hours=hour))) == expected


def test_where_no_log_event_is_left_out_and_of_other_sources_all_was_read():
    assert spans(*from_then_on([reading(0, 6, 26)], None)) == [(0, 6)]
    metrics = reading(0, 6, 26) | {"source": "metric_points"}
    assert [*from_then_on([metrics], T + timedelta(hours=9))] == [metrics]


def read(*rows: dict) -> list[tuple[float, float]]:
    hour = 3_600_000_000
    found = read_spans(rows)["log_events"]["/g"]
    return [((start - micros(T)) / hour, (end - micros(T)) / hour) for start, end in found]


def test_of_one_name_in_two_regions_counts_what_was_read_of_both():
    elsewhere = {"region": "us-east-1"}

    assert read(reading(0, 4, 9), reading(2, 6, 9) | elsewhere) == [(2, 4)]
    assert read(reading(0, 4, 9), reading(0, 4, 9, "denied") | elsewhere) == []


def test_a_file_of_which_nobody_says_where_it_is_from_counts_everywhere():
    assert read(reading(0, 4, 9), reading(4, 6, 9) | {"region": None}) == [(0, 6)]
    assert read(reading(4, 6, 9) | {"account_id": None}) == [(4, 6)]
