"""The weekly review from a lake: the timeouts beside its numbers are those in force at the end of the evidence."""

import pytest

from forensics.errors import ForensicsError
from forensics.report.week import load_week
from forensics.settings import Settings
from forensics.tables.evidence import CONSUMERS, SETTING_CHANGES
from forensics.tables.health import QUEUE_WEEKS
from tests.forensics.health.rows import week_row
from tests.forensics.report import world

pytestmark = pytest.mark.lake

HERE = {"account_id": "111122223333", "region": "eu-west-1"}
CONSUMER = HERE | {
    "evidence_id": "consumer:1",
    "queue_arn": world.QUEUE_ARN,
    "queue_name": world.QUEUE,
    "log_group": world.GROUP,
    "kind": "lambda",
    "function_name": world.FUNCTION,
}
RAISED = HERE | {
    "evidence_id": "change:1",
    "changed_at": world.after(7000),
    "resource_kind": "queue",
    "resource": world.QUEUE,
    "queue_arn": world.QUEUE_ARN,
    "settings": ["VisibilityTimeout=900"],
}


def timeouts(folder, *changes):
    lake = world.save(folder)
    lake.append(CONSUMERS, [CONSUMER], "test|week")
    lake.append(SETTING_CHANGES, list(changes), "test|week")
    world.publish(lake, {"queue_weeks": [week_row(world.QUEUE, "2026-W47")]}, "run-2")
    (queue,) = load_week(lake.findings(), Settings()).queues
    return queue.timeouts


def steps(found):
    return {name: [(s.from_at, s.until_at, s.value) for s in of_name] for name, of_name in found.steps}


def test_they_are_those_of_the_newest_snapshot(tmp_path):
    found = timeouts(tmp_path / "lake")

    assert (found.visibility_s, found.functions) == (600, ((world.FUNCTION, 30),))
    assert steps(found) == {"charge-card timeout": [(None, None, 30)], "visibility timeout": [(None, None, 600)]}


def test_or_what_cloudtrail_shows_to_have_been_set_since(tmp_path):
    found = timeouts(tmp_path / "lake", RAISED)

    assert found.visibility_s == 900
    assert steps(found)["visibility timeout"] == [(None, RAISED["changed_at"], 600), (RAISED["changed_at"], None, 900)]


def test_where_one_week_was_read_it_is_no_span_of_weeks(tmp_path):
    lake = world.save(tmp_path / "lake", {QUEUE_WEEKS.name: [week_row(world.QUEUE, "2026-W47")]})

    with pytest.raises(ForensicsError) as problem:
        load_week(lake.findings(), Settings(), "2025-W01")
    assert problem.value.hint == "There is: 2026-W47."
