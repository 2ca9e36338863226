from datetime import timedelta

import pytest

from forensics.report.changes import not_known_of, what_changed, when_before
from tests.forensics.report import world

SNAPSHOTS = {table.name: rows for table, rows in world.settings().items()}
(QUEUE,) = SNAPSHOTS["queue_settings"]
EMPTY = {"queue_settings": [], "function_settings": [], "event_source_mappings": []}


def state(number, hours, **changed):
    """A look at the queue so many hours from the incident's start."""
    return QUEUE | {"evidence_id": f"queue:{number}", "observed_at": world.after(3600 * hours)} | changed


def changes(*states):
    return what_changed(world.incident(), [world.FUNCTION], EMPTY | {"queue_settings": list(states)})


def test_two_looks_that_differ_bound_the_change():
    (change,) = changes(state(1, -30, visibility_timeout_s=30), state(2, -3))

    assert change.what == "queue payments.fifo: visibility timeout (s) 30 → 600"
    assert (change.not_before, change.at) == (world.after(-30 * 3600), world.after(-3 * 3600))
    assert when_before(change) == "3 h before"
    assert change.evidence_ids == ("queue:1", "queue:2")


def test_the_time_that_aws_keeps_is_taken_where_it_lies_between_two_looks():
    (change,) = changes(
        state(1, -30, visibility_timeout_s=30),
        state(2, 1, last_modified_at=world.after(-600), visibility_timeout_s=600),
    )

    assert (change.at, change.not_before) == (world.after(-600), None)


def test_a_change_that_no_two_looks_surround_is_told_without_its_content():
    (change,) = changes(state(1, 1, last_modified_at=world.after(-7200)))

    assert change.what == "queue payments.fifo: something was changed; AWS does not say what"
    assert when_before(change) == "2 h before"


OUTSIDE = {
    "eight days before": (-8 * 24 - 1, -8 * 24),
    "after its end": (2, 3),
}


@pytest.mark.parametrize(("first", "second"), OUTSIDE.values(), ids=OUTSIDE)
def test_a_change_that_cannot_bear_on_the_incident_is_left_out(first, second):
    assert changes(state(1, first, visibility_timeout_s=30), state(2, second)) == ()


def test_another_queue_does_not_count():
    other = {"queue_arn": world.QUEUE_ARN + "x"}

    assert changes(state(1, -3, visibility_timeout_s=30, **other), state(2, -2, **other)) == ()


def test_equal_looks_are_no_change():
    assert changes(state(1, -3), state(2, -2)) == ()


def test_a_function_and_its_mapping_count_too():
    at = {"observed_at": world.after(-7200)}
    earlier = {
        "function_settings": [SNAPSHOTS["function_settings"][0] | at | {"evidence_id": "function:0", "timeout_s": 60}],
        "event_source_mappings": [
            SNAPSHOTS["event_source_mappings"][0]
            | at
            | {"evidence_id": "mapping:0", "batch_size": 1, "mapping_uuid": "m"}
        ],
    }
    later = {
        "function_settings": SNAPSHOTS["function_settings"],
        "event_source_mappings": [SNAPSHOTS["event_source_mappings"][0] | {"mapping_uuid": "m"}],
    }
    soon = {name: [row | {"observed_at": world.after(-60)} for row in rows] for name, rows in later.items()}
    both = {name: earlier[name] + soon[name] for name in earlier}
    found = what_changed(world.incident(), [world.FUNCTION], EMPTY | both)

    assert {c.what for c in found} == {
        "function charge-card: function timeout (s) 60 → 30",
        "event source mapping of charge-card: batch size 1 → 10",
    }


def test_an_incident_without_a_start_has_no_before():
    assert what_changed(world.incident() | {"started_at": None}, [], SNAPSHOTS) == ()


def test_a_change_after_the_start_says_so():
    (change,) = changes(state(1, -1, visibility_timeout_s=30), state(2, 0.1))

    assert change.not_before < world.START < change.at
    assert when_before(change) == "6 min after the start"
    assert change.at - world.START == timedelta(minutes=6)


def call(**columns):
    """A recorded call that took effect, an hour before the incident."""
    return {
        "evidence_id": "change:1",
        "changed_at": world.after(-3600),
        "event_name": "SetQueueAttributes",
        "resource_kind": "queue",
        "resource": world.QUEUE,
        "queue_arn": world.QUEUE_ARN,
        "function_name": None,
        "settings": ["VisibilityTimeout=600"],
        "actor": "arn:aws:iam::111122223333:user/ana",
        "error_code": None,
    } | columns


def recorded(*calls):
    return what_changed(world.incident(), [world.FUNCTION], EMPTY, calls)


def test_a_recorded_call_tells_what_was_set_and_by_whom():
    (change,) = recorded(call())

    assert change.what == "queue payments.fifo: SetQueueAttributes (VisibilityTimeout=600)"
    assert change.source == "CloudTrail, by arn:aws:iam::111122223333:user/ana"
    assert when_before(change) == "1 h before"


NO_CHANGE = {
    "a refused call": {"error_code": "AccessDenied"},
    "another queue": {"queue_arn": world.QUEUE_ARN + "x"},
    "another function": {"queue_arn": None, "function_name": "send-mail"},
    "eight days before": {"changed_at": world.after(-8 * 86400)},
}


@pytest.mark.parametrize("columns", NO_CHANGE.values(), ids=NO_CHANGE)
def test_no_change_follows_from(columns):
    assert recorded(call(**columns)) == ()


def test_a_call_on_the_function_counts():
    assert len(recorded(call(queue_arn=None, function_name=world.FUNCTION, resource_kind="function"))) == 1


def trail(first_h, last_h, status="ok", **changed):
    """A reading of CloudTrail, in hours from the incident's start."""
    _, _, _, region, account_id, _ = world.QUEUE_ARN.split(":")
    row = {"source": "setting_changes", "resource": "CloudTrail", "account_id": account_id, "region": region}
    span = {f"window_{end}_at": world.after(3600 * at) for end, at in (("start", first_h), ("end", last_h))}
    return row | span | {"status": status, "collected_at": world.after(3600 * last_h)} | changed


WEEK = 7 * 24
TRAILS = {
    "read for all of the week": ([trail(-WEEK, 1)], None),
    "read in parts that touch": ([trail(-WEEK - 1, -3), trail(-3, 1)], None),
    "read for three hours": ([trail(-3, 1)], "CloudTrail was read from "),
    "read in parts with a gap": ([trail(-WEEK, -5), trail(-3, 1)], "CloudTrail was read from "),
    "denied": ([trail(-WEEK, 1, "denied")], "CloudTrail was not read for the time before"),
    "found damaged afterwards": (
        [trail(-WEEK, 1), trail(-WEEK, 1, "lost", collected_at=world.after(7200))],
        "CloudTrail was not read for the time before",
    ),
    "read in another region": ([trail(-WEEK, 1, region="us-east-1")], "CloudTrail was not read for the time before"),
    "never read": ([], "CloudTrail was not read for the time before"),
}


@pytest.mark.parametrize("arn", [None, "payments", "arn:aws:sqs"])
def test_a_queue_without_a_whole_arn_is_one_whose_changes_are_not_known(arn):
    told = not_known_of(world.incident() | {"queue_arn": arn}, [trail(-WEEK, 1)])

    assert told == "CloudTrail was not read for the time before the incident: changes may be missing."


@pytest.mark.parametrize(("coverage", "said"), TRAILS.values(), ids=TRAILS)
def test_what_cloudtrail_was_not_read_for_is_not_called_unchanged(coverage, said):
    told = not_known_of(world.incident(), coverage)

    assert told is None if said is None else told.startswith(said)
