"""From candidates to the rows of queue_findings."""

import random
from typing import Any

from hypothesis import given

from forensics.queue_findings import Candidate, blocked_groups, found, late_commits
from forensics.queue_rules import QueueFacts
from forensics.tables.findings import QUEUE_FINDINGS
from tests.forensics.queue_findings.ledgers import QUEUE_ARN, at, groups


def candidate(**more: Any) -> Candidate:
    told: dict[str, Any] = {
        "code": "fifo_group_blocked",
        "queue_arn": QUEUE_ARN,
        "queue": "jobs.fifo",
        "item_id": "m1",
        "message_id": "m1",
        "group_id": "g",
        "from_at": at(10),
        "until_at": at(16.1),
        "message_count": 4,
        "message_ids": ["m2", "m3", "m4", "m5"],
        "business_keys": ["b", "a", "b"],
        "evidence_ids": ["log:2", "log:1", "log:2"],
        "facts": QueueFacts(waiting_count=4),
    }
    return Candidate(**told | more)


def test_a_row_has_every_column_in_order_and_says_what_the_rule_says_of_the_span():
    (row,) = found([candidate()])

    assert tuple(row) == QUEUE_FINDINGS.given_names
    assert row["span_ms"] == 6_100
    assert row["sentence"].startswith("the group was blocked for 6.1 s")
    assert (row["stance"], row["would_decide"]) == ("supported", None)


def test_keys_and_evidence_are_told_once_and_sorted():
    (row,) = found([candidate()])

    assert row["business_keys"] == ["a", "b"]
    assert row["evidence_ids"] == ["log:1", "log:2"]


def test_what_its_rule_excludes_is_no_finding():
    assert found([candidate(facts=QueueFacts(waiting_count=0))]) == []


def test_only_a_dead_letter_has_a_redrive():
    moved = QueueFacts(receive_count=2, max_receive_count=2, has_settings=True, dead_letter_queue="dlq")
    dead = candidate(code="dead_lettered", facts=moved, effects_at_least=0, effects_at_most=0)

    (of_dead, of_blocked) = found([candidate(), dead])

    assert (of_dead["redrive"], of_dead["stance"]) == ("safe", "undecidable")
    assert (of_blocked["redrive"], of_blocked["redrive_sentence"]) == (None, None)


def test_a_finding_belongs_to_the_incident_of_its_message_unless_it_knows_better():
    (known,) = found([candidate(incident_id="mine")], {"m1": "of the message"})
    (looked_up,) = found([candidate()], {"m1": "of the message"})
    (none,) = found([candidate()])

    assert [row["incident_id"] for row in (known, looked_up, none)] == ["mine", "of the message", None]


@given(groups())
def test_rows_do_not_depend_on_the_order_of_what_was_gathered(rows):
    shuffled = random.Random(7).sample(rows, len(rows))
    incidents = {"m0": "one", "m1": "two"}

    one = blocked_groups(rows, incidents) + late_commits(rows)
    other = late_commits(shuffled) + blocked_groups(shuffled, incidents)

    assert found(one, incidents) == found(other, incidents)
