"""Windows: what a person types, to the millisecond, and sentences for what cannot be meant."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forensics.errors import EXIT_USAGE, BadTimeError
from forensics.window import TimeWindow

NOW = datetime(2026, 11, 20, 6, 0, 0, 123456, tzinfo=UTC)

SINCE = {
    "seconds": ("90s", "2026-11-20T05:58:30.123"),
    "minutes": ("15m", "2026-11-20T05:45:00.123"),
    "hours": ("6h", "2026-11-20T00:00:00.123"),
    "days": ("2d", "2026-11-18T06:00:00.123"),
    "weeks": ("1w", "2026-11-13T06:00:00.123"),
    "two units": ("1h30m", "2026-11-20T04:30:00.123"),
    "UTC": ("2026-11-20T05:12:00Z", "2026-11-20T05:12:00.000"),
    "an offset": ("2026-11-20T14:12:00+09:00", "2026-11-20T05:12:00.000"),
    "a blank instead of T": ("2026-11-20 05:12:00Z", "2026-11-20T05:12:00.000"),
    "with milliseconds": ("2026-11-20T05:12:00.250Z", "2026-11-20T05:12:00.250"),
    "epoch milliseconds": ("1795151520250", "2026-11-20T05:12:00.250"),
    "not said": (None, "2026-11-20T00:00:00.123"),
}


@pytest.mark.parametrize(("since", "start"), SINCE.values(), ids=SINCE)
def test_a_start_is_understood(since, start):
    window = TimeWindow.parse(since, None, NOW)

    assert window.start_at == datetime.fromisoformat(start + "+00:00")
    assert window.end_at == NOW.replace(microsecond=123000)


UNTIL = {
    "now": ("now", NOW.replace(microsecond=123000)),
    "a span": ("1h", NOW.replace(microsecond=123000) - timedelta(hours=1)),
    "a time": ("2026-11-20T05:00:00Z", datetime(2026, 11, 20, 5, tzinfo=UTC)),
    "later than any stamp": ("2030-01-01T00:00:00Z", NOW.replace(microsecond=123000) + timedelta(hours=2)),
}


@pytest.mark.parametrize(("until", "end_at"), UNTIL.values(), ids=UNTIL)
def test_an_end_is_understood(until, end_at):
    assert TimeWindow.parse("6h", until, NOW).end_at == end_at


BAD = {
    "a word": ("yesterday", None, "--since 'yesterday' is not a time"),
    "a unit too much": ("6hours", None, "--since '6hours' is not a time"),
    "a month": ("1M", None, "--since '1M' is not a time"),
    "a negative span": ("-6h", None, "--since '-6h' is not a time"),
    "blank": (" ", None, "--since ' ' is not a time"),
    "no zone": ("2026-11-20T05:12:00", None, "--since '2026-11-20T05:12:00' does not say its time zone"),
    "no zone, a date": ("2026-11-20", None, "--since '2026-11-20' does not say its time zone"),
    "the 31st of November": ("2026-11-31T00:00:00Z", None, "--since '2026-11-31T00:00:00Z' is not a time"),
    "epoch seconds": ("1795151520", None, "--since '1795151520' is too short for epoch milliseconds"),
    "in the future": ("2026-11-21T00:00:00Z", None, "--since '2026-11-21T00:00:00Z' lies in the future"),
    "before CloudWatch Logs": ("2009-01-01T00:00:00Z", None, "before CloudWatch Logs began"),
    "before everything": ("999999999w", None, "--since '999999999w' is not a time"),
    "beyond the calendar": ("999999999999999999", None, "--since '999999999999999999' is not a time"),
    "an end that is none": ("6h", "later", "--until 'later' is not a time"),
    "an end before the start": (
        "1h",
        "2026-11-20T03:00:00Z",
        r"--since '1h' \(2026-11-20T05:00:00Z\) is not before --until '2026-11-20T03:00:00Z'",
    ),
    "the same moment": ("2h", "2h", "--since '2h' .* is not before --until '2h'"),
    "nothing at all": ("0s", None, "--since '0s' .* is not before --until 'now'"),
}


@pytest.mark.parametrize(("since", "until", "sentence"), BAD.values(), ids=BAD)
def test_what_cannot_be_meant_is_a_sentence_with_a_hint(since, until, sentence):
    with pytest.raises(BadTimeError, match=sentence) as caught:
        TimeWindow.parse(since, until, NOW)
    assert caught.value.hint
    assert caught.value.exit_code == EXIT_USAGE


def test_a_long_value_is_not_repeated_whole():
    with pytest.raises(BadTimeError) as caught:
        TimeWindow.parse("9" * 5000, None, NOW)
    assert len(str(caught.value)) < 120


@given(st.text(max_size=30), st.none() | st.text(max_size=30))
def test_any_text_gives_a_window_or_a_sentence(since, until):
    try:
        window = TimeWindow.parse(since, until, NOW)
    except BadTimeError:
        return

    assert window.start_at < window.end_at <= NOW + timedelta(hours=2)


def test_milliseconds_are_counted_from_the_epoch():
    window = TimeWindow(datetime(1970, 1, 1, 0, 0, 1, 999_999, tzinfo=UTC), NOW)

    assert (window.start_ms, window.end_ms) == (1999, 1795154400123)


def test_a_window_is_in_utc_whatever_zone_it_was_given_in():
    tokyo = timezone(timedelta(hours=9))
    window = TimeWindow(datetime(2026, 11, 20, 14, tzinfo=tokyo), NOW)

    assert window.start_at.utcoffset() == timedelta(0)
    assert window == TimeWindow(datetime(2026, 11, 20, 5, tzinfo=UTC), NOW)


@pytest.mark.parametrize(
    ("start_at", "end_at"),
    [
        (NOW, NOW),
        (NOW, NOW - timedelta(hours=1)),
        (NOW.replace(tzinfo=None), NOW),
        (NOW, NOW + timedelta(microseconds=5)),
    ],
    ids=["empty", "backwards", "naive", "within one millisecond"],
)
def test_a_window_that_holds_nothing_cannot_be_made(start_at, end_at):
    with pytest.raises(ValueError, match="window"):
        TimeWindow(start_at, end_at)
