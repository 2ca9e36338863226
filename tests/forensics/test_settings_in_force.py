"""Snapshots and recorded changes as intervals: what was in force, and how anybody knows."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from forensics.clock import micros
from forensics.recorded_changes import Change
from forensics.settings_in_force import SettingsInForce, intervals
from tests.waiting import instructions_of

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)


def at(minutes: int) -> datetime:
    return NOON + timedelta(minutes=minutes)


def seen(minutes: int, timeout_s: int, changed: int | None = None, retention_s: int = 345_600) -> dict:
    return {
        "evidence_id": f"queue:{minutes}",
        "queue_arn": "q",
        "visibility_timeout_s": timeout_s,
        "message_retention_s": retention_s,
        "observed_at": at(minutes),
        "last_modified_at": None if changed is None else at(changed),
    }


def in_force(rows: list[dict], minutes: int, changes: list[Change] | None = None) -> tuple[int | None, bool, str]:
    found = intervals(rows, ("queue_arn",), {("q",): changes or []})
    (row,) = [r for r in found if r["in_force_from"] <= at(minutes) < r["in_force_until"]]
    return row["visibility_timeout_s"], row["is_later_snapshot"], row["evidence_id"]


RAISED = Change(at(-30), {"visibility_timeout_s": 600}, "change:raised")

CASES = {
    "since the last change AWS knows of": ([seen(0, 600, changed=-60)], -59, [], (600, False, "queue:0")),
    "before the last change, nobody looked": ([seen(0, 600, changed=-60)], -61, [], (None, True, "queue:0")),
    "before the last change, which CloudTrail says was of something else": (
        [seen(0, 600, changed=-60)],
        -61,
        [Change(at(-58), {"message_retention_s": 60}, "change:other")],
        (600, True, "change:other"),
    ),
    "before the last change, which no record dates": (
        [seen(0, 600, changed=-60)],
        -61,
        [Change(at(-57), {"message_retention_s": 60}, "change:other")],
        (None, True, "change:other"),
    ),
    "AWS does not say when it changed": ([seen(0, 600)], -1, [], (600, True, "queue:0")),
    "after the last snapshot": ([seen(0, 600, changed=-60)], 600, [], (600, False, "queue:0")),
    "between two snapshots that agree": ([seen(0, 30), seen(60, 30)], 59, [], (30, False, "queue:0")),
    "between two snapshots, before the change": (
        [seen(0, 30), seen(60, 600, changed=40)],
        39,
        [],
        (30, False, "queue:0"),
    ),
    "between two snapshots, after the change": (
        [seen(0, 30), seen(60, 600, changed=40)],
        40,
        [],
        (600, False, "queue:60"),
    ),
    "between two snapshots, the change not dated": ([seen(0, 30), seen(60, 600)], 30, [], (600, True, "queue:60")),
    "after a recorded change": ([seen(0, 600, changed=-30)], -29, [RAISED], (600, False, "queue:0")),
    "before a recorded change, nothing older": (
        [seen(0, 600, changed=-30)],
        -31,
        [RAISED],
        (None, True, "change:raised"),
    ),
    "before a recorded change, an older snapshot": (
        [seen(-120, 30), seen(0, 600, changed=-30)],
        -31,
        [RAISED],
        (30, False, "queue:-120"),
    ),
    "a change after the last snapshot": (
        [seen(-60, 30, changed=-90)],
        -10,
        [RAISED],
        (600, False, "change:raised"),
    ),
    "changed and set back between two snapshots": (
        [seen(-60, 30), seen(0, 30, changed=-10)],
        -20,
        [RAISED, Change(at(-10), {"visibility_timeout_s": 30}, "change:lowered")],
        (600, False, "change:raised"),
    ),
}


@pytest.mark.parametrize(("rows", "minutes", "changes", "expected"), CASES.values(), ids=CASES)
def test_the_visibility_timeout_in_force(rows, minutes, changes, expected):
    assert in_force(rows, minutes, changes) == expected


def test_a_change_of_one_setting_leaves_the_others_known():
    rows = intervals([seen(0, 600, changed=-30)], ("queue_arn",), {("q",): [RAISED]})

    assert {r["message_retention_s"] for r in rows} == {345_600}


def test_intervals_cover_all_time_once():
    found = intervals([seen(0, 30), seen(60, 600, changed=40)], ("queue_arn",), {("q",): [RAISED]})

    assert all(a["in_force_until"] == b["in_force_from"] for a, b in zip(found, found[1:], strict=False))
    assert found[0]["in_force_from"].year == 1970
    assert found[-1]["in_force_until"].year == 9999


def test_what_was_set_later_and_never_seen_before_is_unknown_not_none():
    first, last = intervals([seen(0, 600, changed=-30)], ("queue_arn",), {("q",): [RAISED]})

    assert (first["visibility_timeout_s"], first["known"]["visibility_timeout_s"].is_unknown) == (None, True)
    assert not last["known"]["visibility_timeout_s"].is_unknown


def test_intervals_cost_in_proportion_to_the_snapshots_they_are_made_of():
    many = [seen(n, 600 if n // 7 % 2 else 30) for n in range(1_000)]
    all_of_them = instructions_of(lambda: intervals(many, ("queue_arn",)))

    assert all_of_them < 20 * instructions_of(lambda: intervals(many[:100], ("queue_arn",)))


MINUTES = st.integers(-6, 6)
SNAPSHOTS = st.lists(
    st.builds(seen, MINUTES, st.sampled_from([30, 600]), st.none() | MINUTES, st.sampled_from([60, 90])),
    max_size=3,
    unique_by=lambda s: s["observed_at"],
)


def call(minutes: int, timeout_s: int) -> dict:
    return {
        "evidence_id": f"change:{minutes}",
        "changed_at": at(minutes),
        "resource_kind": "queue",
        "resource": "q",
        "queue_arn": "q",
        "function_name": None,
        "settings": [f"VisibilityTimeout={timeout_s}"],
        "error_code": None,
    }


CALLS = st.lists(st.builds(call, MINUTES, st.sampled_from([30, 600])), max_size=2, unique_by=lambda c: c["evidence_id"])


def told_of(row: dict | None) -> tuple | None:
    names = ("visibility_timeout_s", "message_retention_s", "evidence_id", "is_later_snapshot")
    return None if row is None else tuple(row[name] for name in names)


@given(SNAPSHOTS, CALLS, st.integers(-8, 8))
def test_a_moment_meets_the_one_interval_it_lies_in(snapshots, calls, minutes):
    settings = SettingsInForce.of(snapshots, [], [], calls)
    changes = [
        Change(c["changed_at"], {"visibility_timeout_s": int(c["settings"][0][18:])}, c["evidence_id"]) for c in calls
    ]
    holding = [
        row
        for row in intervals(snapshots, ("queue_arn",), {("q",): changes})
        if row["in_force_from"] <= at(minutes) < row["in_force_until"]
    ]

    assert [told_of(settings.queue("q", micros(at(minutes))))] == ([told_of(row) for row in holding] or [None])


def nearly_the_same(snapshots: list[dict]) -> st.SearchStrategy[list[dict]]:
    """The same snapshots, some of them gone, or of a resource that was changed at another time."""
    dates = st.none() | MINUTES.map(at)
    variants = [st.sampled_from([[], [s]]) | dates.map(lambda d, s=s: [s | {"last_modified_at": d}]) for s in snapshots]
    return st.tuples(*variants).map(lambda kept: sum(kept, []))


PAIRS = SNAPSHOTS.flatmap(lambda snapshots: st.tuples(st.just(snapshots), nearly_the_same(snapshots)))


@given(PAIRS, CALLS, CALLS | st.none(), MINUTES, MINUTES)
@example(([seen(-6, 30), seen(6, 600, changed=0)], [seen(-6, 30), seen(6, 600, changed=1)]), [], None, -3, 3)
def test_where_the_same_bears_on_a_span_every_answer_inside_it_is_the_same(pair, calls, others, low, high):
    (one, other), more = pair, calls if others is None else others
    mine, theirs = SettingsInForce.of(one, [], [], calls), SettingsInForce.of(other, [], [], more)
    span = (micros(at(low)), micros(at(high)))
    asked = [micros(at(minutes)) for minutes in range(low, high + 1)]
    answers = [[told_of(settings.queue("q", moment)) for moment in asked] for settings in (mine, theirs)]

    alike = mine.bearing(*span, ["q"], []) == theirs.bearing(*span, ["q"], [])

    assert not alike or answers[0] == answers[1]


@given(SNAPSHOTS.filter(len), CALLS, MINUTES, MINUTES)
def test_a_new_snapshot_that_changes_nothing_bears_on_nothing_before_it(snapshots, calls, low, high):
    newest = max([*(s["observed_at"] for s in snapshots), *(c["changed_at"] for c in calls)])
    before = SettingsInForce.of(snapshots, [], [], calls)
    now = before.queue("q", micros(at(8)))
    again = {**seen(9, now["visibility_timeout_s"], None, now["message_retention_s"])}
    after = SettingsInForce.of([*snapshots, again], [], [], calls)
    span = (micros(at(low)), micros(at(high)))

    assert newest <= at(6)
    assert after.bearing(*span, ["q"], []) == before.bearing(*span, ["q"], [])


def test_nothing_is_in_force_where_nothing_is_known_or_asked():
    settings = SettingsInForce.of([seen(0, 30)], [], [{"queue_arn": "q", "function_name": None, **_MAPPING}])

    assert settings.queue("other", micros(NOON)) is None
    assert settings.queue(None, micros(NOON)) is None
    assert settings.queue("q", None) is None
    assert settings.mapping("q", None, micros(NOON)) is None
    assert settings.queue("q", micros(datetime(1969, 12, 31, tzinfo=UTC))) is None


_MAPPING = {"evidence_id": "mapping:1", "mapping_uuid": "u-1", "observed_at": NOON, "batch_size": 10}


def test_a_timeout_is_drawn_from_the_last_change_on_where_nobody_looked_before_it():
    looked = {"evidence_id": "f:1", "function_name": "charge", "timeout_s": 60, "observed_at": NOON}
    changed = SettingsInForce.of([], [looked | {"last_modified_at": at(-30)}], [])
    undated = SettingsInForce.of([], [looked | {"last_modified_at": None}], [])

    assert [tuple(step) for step in changed.timeout_steps("charge")] == [(at(-30), None, 60)]
    assert [tuple(step) for step in undated.timeout_steps("charge")] == [(None, None, 60)]
