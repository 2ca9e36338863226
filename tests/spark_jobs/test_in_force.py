"""Snapshots and recorded changes as intervals: what was in force, and how anybody knows."""

from datetime import UTC, datetime, timedelta

import pytest

from spark_jobs.in_force import Change, intervals

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
    "before the last change, nobody looked": ([seen(0, 600, changed=-60)], -61, [], (600, True, "queue:0")),
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
