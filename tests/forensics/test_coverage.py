"""Coverage that a damaged lake has taken back no longer counts."""

from datetime import UTC, datetime, timedelta

from forensics.coverage import settled_until, standing

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
