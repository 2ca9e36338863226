"""A dead-letter queue with a consumer of its own, from its lines to the verdict, the plan of a redrive, and the report."""

import pytest

from forensics.lake.findings import rows_of
from forensics.redrive import plan
from forensics.report.case import load_case
from forensics.report.render import render
from forensics.settings import Settings
from forensics.tables.findings import DELIVERIES, INCIDENTS, MESSAGES, QUEUE_HEALTH
from spark_jobs.carrier import Here
from spark_jobs.runner import correlate
from tests.spark_jobs.small_lake import SmallLake, arn, record, run, some_id

pytestmark = pytest.mark.slow

BILL = some_id("bill-1")
CHARGED = f"charged message_id={BILL}"
LINE = r"charged message_id=(?P<message_id>\S+)"


def settings(of_dead: str) -> Settings:
    said = (("bill", LINE), ("again", of_dead))
    return Settings.parse("\n".join(f"[[function]]\nname = '{name}'\neffect = '{effect}'" for name, effect in said))


@pytest.fixture(scope="module")
def lake(tmp_path_factory):
    """A bill that was charged in a run that timed out, was moved, and that the dead-letter queue's own function charged again."""
    small = SmallLake()
    small.queue("bills", most=1)
    small.queue("dlq-bills")
    first = record(BILL, 1, "bills", "one", -1)
    dead = record(BILL, 2, "dlq-bills", "one", -1, DeadLetterQueueSourceArn=arn("bills"))
    small.function("bills", "bill", *run("first", 0, 2, first, says=(CHARGED,), status="timeout"))
    small.function("dlq-bills", "again", *run("second", 45, 2, dead, says=(CHARGED,)))
    return small.write(tmp_path_factory.mktemp("dead") / "lake")


@pytest.fixture(scope="module")
def charged_again(lake):
    correlate(lake, settings(LINE), carrier=Here())
    return lake.findings()


def test_work_that_is_done_again_out_of_the_dead_letter_queue_is_one_message_done_twice(charged_again):
    (message,) = rows_of(charged_again.read(MESSAGES))
    ledger = sorted(rows_of(charged_again.read(DELIVERIES)), key=lambda row: row["delivery_index"])

    assert (message["queue"], message["verdict"], message["effects_at_most"]) == ("bills", "confirmed", 2)
    assert (message["is_dead_lettered"], message["causes"], message["receive_count"]) == (True, ["function_timeout"], 2)
    assert [(d["queue"], d["received_from_arn"], d["ended_by"]) for d in ledger] == [
        ("bills", None, "dead_lettered"),
        ("bills", arn("dlq-bills"), "deleted"),
    ]


def test_its_health_counts_the_receive_for_the_queue_that_it_came_out_of(charged_again):
    rows = rows_of(charged_again.read(QUEUE_HEALTH))

    assert {row["queue"]: row["delivery_count"] for row in rows if row["delivery_count"]} == {
        "bills": 1,
        "dlq-bills": 1,
    }


def test_what_was_received_from_there_and_deleted_is_not_to_be_redriven(charged_again):
    (step,) = plan(charged_again, "dlq-bills").steps
    (incident,) = rows_of(charged_again.read(INCIDENTS))
    case = load_case(charged_again, incident["incident_id"])
    page = render(case, "md").decode()

    assert (step.decision, step.left_out) == ("gone", "it is there no longer")
    assert step.why == "It was received from there at 2026-11-20 12:00:45.000 UTC, and deleted."
    assert not any("redrive" in said for said in (*case.opening.steps, *(f.action for f in case.follow_ups)))
    assert "again received 1 message of dlq-bills again 45 s after the previous receive" in page
    assert "no longer there" in page
    assert {m.commands[0].split()[4] for m in case.opening.moves if m.commands} == {some_id("bill"), some_id("again")}


def test_who_files_dead_letters_away_did_no_work_twice_and_shows_that_they_arrived(lake):
    correlate(lake, settings(r"archived message_id=(?P<message_id>\S+)"), carrier=Here())
    findings = lake.findings()
    ledger = sorted(rows_of(findings.read(DELIVERIES)), key=lambda row: row["receive_count"])
    (step,) = plan(findings, "dlq-bills").steps

    assert rows_of(findings.read(MESSAGES)) == []
    assert [(d["queue"], d["ended_by"], d["effect"]) for d in ledger] == [
        ("bills", "dead_lettered", "yes"),
        ("dlq-bills", "deleted", "unknown"),
    ]
    assert step.decision == "gone"
