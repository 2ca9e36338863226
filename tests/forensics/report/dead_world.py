"""The report world with what happened on its queue, what would have helped, and three dead-lettered messages."""

from pathlib import Path

from forensics.lake import Lake
from forensics.queue_rules import QUEUE_RULES, QueueFacts
from forensics.tables.findings import COUNTERFACTUALS, QUEUE_FINDINGS
from forensics.verdict import redrive_of, redrive_sentence
from tests.forensics.report import world
from tests.forensics.report.world import Row

SINGLE = "00000000-0000-4000-8000-0000000000aa"
"""Received once, dead-lettered, and without a verdict: it was never delivered again."""
ELSEWHERE = "refund-requests"


def finding(code: str, item: str, from_s: float, until_s: float | None, facts: QueueFacts, **more: object) -> Row:
    """Return one finding, in the words of its rule."""
    ruling = QUEUE_RULES[code](facts)
    return {
        "queue_arn": world.QUEUE_ARN,
        "queue": world.QUEUE,
        "code": code,
        "item_id": item,
        "message_id": item,
        "incident_id": world.INCIDENT,
        "stance": ruling.stance,
        "from_at": world.after(from_s),
        "until_at": None if until_s is None else world.after(until_s),
        "span_ms": None if until_s is None else round((until_s - from_s) * 1000),
        "message_count": 1,
        "message_ids": [item],
        "business_keys": [],
        "sentence": ruling.sentence,
        "would_decide": ruling.would_decide,
        "evidence_ids": [world.log_id(0)],
        **more,
    }


def queue_findings() -> list[Row]:
    """Return a blocked group, three moves of which one is beside every incident, and a message lost elsewhere."""
    dead = QueueFacts(receive_count=2, max_receive_count=2, has_settings=True, dead_letter_queue="payments-dlq.fifo")
    moved = [
        finding(
            "dead_lettered",
            item,
            1200.3,
            1200.4,
            dead._replace(is_in_dead_letter_queue=sure),
            business_keys=[key],
            effects_at_least=least,
            effects_at_most=most,
            redrive=redrive_of(least, most),
            redrive_sentence=redrive_sentence(least, most),
            **more,
        )
        for item, key, least, most, sure, more in (
            (SINGLE, "pay-1999", 0, 0, False, {"incident_id": None}),
            (world.IDS[1], world.KEYS[1], 0, 2, True, {}),
            (world.IDS[0], world.KEYS[0], 2, 2, True, {}),
        )
    ]
    lost = finding(
        "retention_expired",
        "lost-1",
        900,
        None,
        QueueFacts(retention_s=900, is_watched=True),
        queue=ELSEWHERE,
        queue_arn=f"arn:aws:sqs:eu-west-1:111122223333:{ELSEWHERE}",
        incident_id=None,
    )
    return [world.blocked_group(), *moved, lost]


def counterfactuals() -> list[Row]:
    """Return two changes, the weaker one first."""
    return [
        {
            "incident_id": world.INCIDENT,
            "queue_arn": world.QUEUE_ARN,
            "queue": world.QUEUE,
            "change": change,
            "repeats": 2,
            "prevented": prevented,
            "undecided": undecided,
            "prevented_percent": prevented * 50,
            "reason": f"why {change}",
            "evidence_ids": [world.log_id(1)],
        }
        for change, prevented, undecided in (("longer_visibility", 0, 0), ("batch_size_1", 1, 1))
    ]


def save(folder: Path) -> Lake:
    """Write it as a lake and return that."""
    found = world.findings()
    for message in found["messages"]:
        message["is_dead_lettered"] = message["item_id"] in world.IDS[:2]
    return world.save(folder, found | {QUEUE_FINDINGS.name: queue_findings(), COUNTERFACTUALS.name: counterfactuals()})
