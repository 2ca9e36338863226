"""What went wrong with the message groups of several queues, each told by itself."""

from forensics.judging.model import Judged
from forensics.queue_findings.metric_series import MetricSeries
from forensics.queue_findings.queue import Measured, rows_of_queue, told_of_groups
from forensics.settings_in_force import SettingsInForce
from forensics.streams.model import Delivery
from tests.forensics.queue_findings.ledgers import QUEUE_ARN, at, delivered

OTHER = "arn:aws:sqs:eu-west-1:123456789012:others.fifo"


def stopped(queue_arn: str) -> list[Delivery]:
    """A message that went to the dead-letter queue, and one that waited behind it, by the same ids in every queue."""
    moved = delivered("m1", received=0, sent=0, run_ended=1, hidden=30, ended_by="dead_lettered", queue_arn=queue_arn)
    waited = delivered("m2", received=40, sent=5, run_ended=41, ended_by="deleted", queue_arn=queue_arn)
    return [moved, waited]


def test_the_same_message_in_two_queues_is_of_the_incident_of_each():
    incidents = {QUEUE_ARN: {"m1": "here"}, OTHER: {"m1": "there"}}
    rows, following = told_of_groups([stopped(QUEUE_ARN), stopped(OTHER)], incidents)

    assert [(row["queue_arn"], row["incident_id"]) for row in rows] == [(QUEUE_ARN, "here"), (OTHER, "there")]
    assert following == [(QUEUE_ARN, "m1", at(40)), (OTHER, "m1", at(40))]


def test_a_queue_without_an_incident_has_its_findings_all_the_same():
    rows, _ = told_of_groups([stopped(OTHER)], {QUEUE_ARN: {"m1": "here"}})

    assert [row["incident_id"] for row in rows] == [None]


def test_a_message_whose_runs_may_be_one_is_told_once():
    """What may be the same receive brings no message back, so each of its runs may be the last."""
    runs = [
        delivered("m1", index=n, received=10 * n, ended_by="visibility_expired", receive_count=25) for n in range(1, 4)
    ]
    for run in runs[1:]:
        run.may_be_same_receive = True
    series = MetricSeries("ApproximateNumberOfMessagesVisible", [])
    known = Measured(SettingsInForce.of([], [], []), series, series, {}, at(1_000))

    rows = rows_of_queue([Judged(ledger=runs)], {}, [], {}, known)

    assert [(row["code"], row["item_id"]) for row in rows] == [("poison_without_dlq", "m1")]
