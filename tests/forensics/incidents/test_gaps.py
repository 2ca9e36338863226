"""What was not read stays named until a reading makes it good, in the incidents that it bears on."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forensics.coverage import FROM_FILES, UNSURE_WHEN
from forensics.incidents.gaps import Gaps, coverage_gaps
from ingest.record_coverage import IN_PART
from tests.forensics.incidents.builders import ARN, NOON

AT_NOON = datetime.fromtimestamp(NOON // 1_000_000, UTC)
MINUTE = 60_000_000
FILES = f"{FROM_FILES}: what else was logged there is not known"


def reading(
    status: str,
    start: float,
    end: float,
    read: float,
    resource: str = "g",
    queue: str | None = ARN,
    source: str = "log_events",
    detail: str | None = None,
) -> dict:
    """Minutes after noon."""
    at = [AT_NOON + timedelta(minutes=n) for n in (start, end, read)]
    return {
        "account_id": "123456789012",
        "region": "eu-west-1",
        "source": source,
        "resource": resource,
        "queue_arn": queue,
        "status": status,
        "detail": detail,
        "window_start_at": at[0],
        "window_end_at": at[1],
        "collected_at": at[2],
    }


CASES = {
    "never read again": ([reading("denied", 0, 60, 60)], 1),
    "read again in full": ([reading("denied", 0, 60, 60), reading("ok", 0, 60, 70)], 0),
    "read again in two parts": (
        [reading("failed", 0, 60, 60), reading("ok", 30, 90, 90), reading("ok", 0, 30, 95)],
        0,
    ),
    "read again with a hole": ([reading("failed", 0, 60, 60), reading("ok", 0, 20, 70), reading("ok", 21, 60, 70)], 1),
    "read again from later on": ([reading("failed", 0, 60, 60), reading("ok", 1, 60, 70)], 1),
    "read well before it failed": ([reading("ok", 0, 60, 50), reading("lost", 0, 60, 60)], 1),
    "half of it read well before it failed": (
        [reading("ok", 0, 30, 50), reading("failed", 0, 60, 60), reading("ok", 30, 60, 70)],
        1,
    ),
    "read well as it failed": ([reading("denied", 0, 60, 60), reading("ok", 0, 60, 60)], 1),
    "another log group was read": ([reading("denied", 0, 60, 60), reading("ok", 0, 60, 70, "h")], 1),
    "files, and the API before": ([reading("ok", 0, 60, 50), reading("partial", 5, 50, 60)], 0),
    "files, and the API for less": ([reading("ok", 10, 60, 70), reading("partial", 5, 50, 60)], 1),
    "all well": ([reading("ok", 0, 60, 60)], 0),
}


@pytest.mark.parametrize(("coverage", "missing"), CASES.values(), ids=CASES)
def test_a_gap_is_named_until_it_is_made_good(coverage, missing):
    assert len(coverage_gaps(coverage)) == missing


def inside(coverage: list[dict], start: float, end: float) -> list[str]:
    return Gaps(coverage).inside(ARN, NOON + round(start * MINUTE), NOON + round(end * MINUTE))


BORDERS = {
    "within the incident": (10, 20, True),
    "the incident within it": (-60, 90, True),
    "ends as the incident begins": (-10, 0, True),
    "begins as the incident ends": (60, 70, True),
    "over before": (-10, -0.001, False),
    "begins after": (60.001, 70, False),
}


@pytest.mark.parametrize(("start", "end", "is_named"), BORDERS.values(), ids=BORDERS)
def test_a_gap_is_named_in_incidents_that_it_touches(start, end, is_named):
    found = inside([reading("denied", start, end, 90)], 0, 60)

    assert found == (["log_events of g: denied"] if is_named else [])


TOLD = {
    "files that nobody vouched for": (
        ("log_events", "partial", FILES),
        "log_events of g was read from files; whether they hold everything is not known, unless "
        "an import with --complete-since says so.",
    ),
    "calls in files": (
        ("send_records", "partial", IN_PART),
        "send_records of g was read from files; whether they hold everything is not known, unless "
        "an import with --complete-since says so.",
    ),
    "metrics in files, of which nobody can say it": (
        ("metric_points", "partial", IN_PART),
        "metric_points of g was read from files; whether they hold everything is not known.",
    ),
    "a reading that AWS answered in part": (("metric_points", "partial", "no unit"), "metric_points of g: partial"),
    "a file that is damaged": (("log_events", "failed", "a file is damaged"), "log_events of g: failed"),
    "an idempotency table of which files hold every item": (
        ("guard_records", "partial", UNSURE_WHEN),
        "guard_records of g was read from files; when the table was read is not known, unless an import with --observed-at says so.",
    ),
    "one that an earlier release imported": (
        ("guard_records", "partial", "from a file: when the table was read is not known"),
        "guard_records of g was read from files; when the table was read is not known, unless an import with --observed-at says so.",
    ),
    "one of which files lack items": (("guard_records", "partial", "not every item"), "guard_records of g: partial"),
    "no reason kept": (("log_events", "partial", None), "log_events of g: partial"),
}


@pytest.mark.parametrize(("row", "words"), TOLD.values(), ids=TOLD)
def test_files_are_no_reading_that_failed(row, words):
    source, status, detail = row

    assert inside([reading(status, 0, 60, 60, source=source, detail=detail)], 10, 20) == [words]


def test_a_gap_of_another_queue_is_not_named_and_one_of_no_queue_always():
    coverage = [
        reading("denied", 0, 9, 10, "mine"),
        reading("failed", 0, 9, 10, "all", None),
        reading("gone", 0, 9, 10, "x", "other"),
    ]

    assert inside(coverage, 0, 5) == ["log_events of all: failed", "log_events of mine: denied"]


def test_a_gap_is_named_once_however_often_it_was_tried():
    assert inside([reading("denied", n, n + 1, n + 1) for n in range(60)], 10, 20) == ["log_events of g: denied"]


def test_a_gap_within_another_does_not_shorten_it():
    assert inside([reading("denied", 0, 60, 60), reading("denied", 10, 20, 20)], 30, 40) == ["log_events of g: denied"]


def test_time_between_two_gaps_is_no_gap():
    assert inside([reading("denied", 0, 10, 10), reading("denied", 20, 30, 30)], 12, 18) == []


def test_of_an_incident_of_unknown_time_nothing_is_said():
    assert Gaps([reading("denied", 0, 9, 9)]).inside(ARN, None, None) == []


readings = st.lists(
    st.builds(
        lambda status, start, span, read, resource: reading(status, start, start + span, read, resource),
        st.sampled_from(["ok", "ok", "denied", "failed", "partial", "lost"]),
        st.integers(0, 6),
        st.integers(0, 4),
        st.integers(0, 5),
        st.sampled_from(["g", "h"]),
    ),
    max_size=8,
)


@given(readings, st.randoms(use_true_random=False), st.integers(0, 8), st.integers(0, 4))
def test_the_order_of_readings_does_not_matter(coverage, random, start, span):
    expected = inside(coverage, start, start + span)
    random.shuffle(coverage)

    assert inside(coverage, start, start + span) == expected


@given(readings, st.integers(0, 8), st.integers(0, 4))
def test_what_is_named_is_every_gap_left_that_touches_the_time(coverage, start, span):
    low, high = AT_NOON + timedelta(minutes=start), AT_NOON + timedelta(minutes=start + span)
    left = {
        f"log_events of {row['resource']}: {row['status']}"
        for row in coverage_gaps(coverage)
        if row["window_start_at"] <= high and row["window_end_at"] >= low
    }

    assert inside(coverage, start, start + span) == sorted(left)


@given(readings, readings, st.integers(0, 8), st.integers(0, 4), st.integers(0, 3), st.integers(0, 3))
def test_where_an_incident_is_told_otherwise_the_gaps_around_it_differ(coverage, other, start, span, before, after):
    low, high = ((NOON + minutes * MINUTE) for minutes in (start - before, start + span + after))
    same = Gaps(coverage).between([ARN], low, high) == Gaps(other).between([ARN], low, high)

    assert not same or inside(coverage, start, start + span) == inside(other, start, start + span)


def test_what_is_lacking_at_another_time_or_of_another_queue_leaves_the_gaps_around_an_incident_alone():
    here = reading("denied", 0, 60, 60)
    elsewhere = [reading("denied", 200, 300, 300, "h"), reading("denied", 0, 60, 60, "h", f"{ARN}-other")]

    found = Gaps([here]).between([ARN], NOON + 30 * MINUTE, NOON + 90 * MINUTE)

    assert found == [(ARN, "log_events of g: denied", [(NOON + 30 * MINUTE, NOON + 60 * MINUTE)])]
    assert Gaps([here, *elsewhere]).between([ARN], NOON + 30 * MINUTE, NOON + 90 * MINUTE) == found


def test_around_an_incident_of_unknown_time_nothing_is_lacking():
    assert Gaps([reading("denied", 0, 9, 9)]).between([ARN], None, None) == []
