"""A function that reads two queues and prints no event: nothing tells from which queue most of its messages came."""

import pytest

from forensics.report.log_readiness import not_placed
from forensics.settings import Settings
from forensics.tables.findings import MESSAGES
from spark_jobs.carrier import Here
from spark_jobs.runner import correlate
from tests.spark_jobs.small_lake import SmallLake, arn, record, run, some_id

pytestmark = pytest.mark.slow

SAID = Settings.parse(
    r"""
[[function]]
name = "ship"
effect = 'done (?P<message_id>[0-9a-f-]{36}) order=(?P<key>\S+)'
"""
)
GROUP = "/aws/lambda/ship"
CREATED, UPDATED, TWICE = some_id("created"), some_id("updated"), some_id("twice")


def done(message_id: str, order: str) -> str:
    return f"done {message_id} order={order}"


@pytest.fixture(scope="module")
def findings(tmp_path_factory):
    """One order, created and updated; and one message that a run printed before it timed out, and the next one did not."""
    lake = SmallLake()
    lake.queue("created")
    lake.queue("updated")
    printed = record(TWICE, 1, "created", "{}", 99)
    lines = [
        *run("r1", 1, 1, says=(done(CREATED, "o-1"),)),
        *run("r2", 4, 1, says=(done(UPDATED, "o-1"),)),
        *run("r3", 100, 10, printed, says=(done(TWICE, "o-2"),), status="timeout"),
        *run("r4", 131, 1, says=(done(TWICE, "o-2"),)),
    ]
    lake.function("created", "ship", *lines)
    lake.function("updated", "ship")
    written = lake.write(tmp_path_factory.mktemp("two queues"))
    correlate(written, SAID, carrier=Here())
    return written.findings()


def test_one_key_in_two_queues_is_not_confirmed_where_nothing_tells_them_apart(findings):
    rows = {row["item_id"]: row for row in findings.read(MESSAGES).to_pylist()}

    assert {rows[one]["verdict"] for one in (CREATED, UPDATED)} == {"probable"}
    assert rows[CREATED]["queue_arn"] == GROUP
    assert rows[CREATED]["maybe_related_message_ids"] == [UPDATED]


def test_a_message_is_one_in_the_run_that_printed_it_and_in_the_run_that_did_not(findings):
    rows = {row["item_id"]: row for row in findings.read(MESSAGES).to_pylist()}

    assert (rows[TWICE]["queue_arn"], rows[TWICE]["verdict"]) == (arn("created"), "confirmed")
    assert rows[TWICE]["trigger_sentence"].startswith("It was delivered 2 times: ")


@pytest.mark.parametrize("queue", [None, "created", "updated", GROUP])
def test_it_is_said_that_no_line_tells_the_queue(findings, queue):
    (told,) = not_placed(findings, queue)

    assert "2 deliveries came from created or updated, so they are listed under queue /aws/lambda/ship" in told


def test_of_another_queue_it_is_not_said(findings):
    assert not_placed(findings, "other") == []
