"""What went wrong with the message groups of several queues, each told by itself."""

from forensics.queue_findings.queue import told_of_groups
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
