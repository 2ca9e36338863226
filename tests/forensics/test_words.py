from datetime import UTC, datetime, timedelta, timezone

import pytest

from forensics.words import clock_text, interval_text, offset_text, span_text, time_text

MOMENTS = {
    "milliseconds": (datetime(2026, 11, 20, 5, 12, 0, 200_000, UTC), "2026-11-20T05:12:00.200Z"),
    "whole seconds": (datetime(2026, 11, 20, 5, 12, tzinfo=UTC), "2026-11-20T05:12:00.000Z"),
    "finer than a millisecond": (datetime(2026, 11, 20, 5, 12, 0, 7, UTC), "2026-11-20T05:12:00.000007Z"),
    "another zone": (
        datetime(2026, 11, 20, 14, 12, tzinfo=timezone(timedelta(hours=9))),
        "2026-11-20T05:12:00.000Z",
    ),
}


@pytest.mark.parametrize(("at", "text"), MOMENTS.values(), ids=MOMENTS)
def test_times_are_iso_8601_utc_with_z(at, text):
    assert time_text(at) == text
    assert datetime.fromisoformat(text) == at


def test_an_unknown_time_is_null_for_programs_and_a_word_for_people():
    assert time_text(None) is None
    assert clock_text(None) == "unknown"


SPANS = {
    "59.99 s is not yet a minute": (59_990, "59.99 s"),
    "a minute": (60_000, "1 min"),
    "just under an hour": (3_599_900, "59 min 59.9 s"),
    "an hour": (3_600_000, "1 h"),
    "before": (-30_000, "-30 s"),
}


@pytest.mark.parametrize(("ms", "text"), SPANS.values(), ids=SPANS)
def test_spans_read_in_the_units_that_matter(ms, text):
    assert span_text(ms) == text


def test_offsets_say_on_which_side_of_the_start_they_lie():
    assert offset_text(-1000) == "T-1 s"
    assert offset_text(600_300) == "T+10 min 0.3 s"


def test_no_upper_bound_is_said_and_not_printed_as_a_number():
    assert interval_text(1, None) == "1 or more"
