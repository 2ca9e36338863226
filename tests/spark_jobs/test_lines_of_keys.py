"""A service that a handler calls logs each payment by its key alone: its lines are of the messages' work, and count once."""

import pytest

from forensics.settings import Settings
from forensics.tables.findings import (
    DELIVERIES,
    INCIDENTS,
    MESSAGES,
    QUEUE_FINDINGS,
    QUEUE_WEEKS,
    REDELIVERIES,
    TIMELINE,
)
from spark_jobs.carrier import Here
from spark_jobs.runner import correlate
from tests.spark_jobs.small_lake import SmallLake, some_id

pytestmark = pytest.mark.slow

SAID = Settings.parse(
    r"""
[[worker]]
log_group = "/ecs/pay"
queue = "payments"
started = 'processing (?P<message_id>[0-9a-f-]{36}) key (?P<key>\S+)'
receive_count = 'receive (?P<receive_count>\d+)'
deleted = 'acknowledged (?P<message_id>[0-9a-f-]{36})'
failed = 'failed (?P<message_id>[0-9a-f-]{36})'
[[worker]]
log_group = "/ecs/ledger"
queue = "payments"
effect = 'booked (?P<key>\S+)'
"""
)
ONCE, AGAIN, LATE = (some_id(name) for name in ("booked in its time", "failed and came again", "booked long after"))


def handled(second: float, message: str, key: str, receive: int, end: str) -> list[tuple[float, str]]:
    return [(second, f"processing {message} key {key} receive {receive}"), (second + 10, f"{end} {message}")]


def booked(key: str, *seconds: float) -> list[tuple[float, str]]:
    return [(second, f"booked {key}") for second in seconds]


def found(tmp_path):
    lake = SmallLake()
    lake.queue("payments")
    lines = [
        *handled(0, ONCE, "ord-1", 1, "acknowledged"),
        *handled(300, AGAIN, "ord-2", 1, "failed"),
        *handled(340, AGAIN, "ord-2", 2, "acknowledged"),
        *handled(600, LATE, "ord-3", 1, "acknowledged"),
    ]
    lines_of_keys = [*booked("ord-1", 5), *booked("ord-2", 305, 345, 400), *booked("ord-3", 605, 660, 720, 780)]
    lake.worker("payments", *lines, group="/ecs/pay", stream="worker")
    lake.worker("payments", *lines_of_keys, group="/ecs/ledger", stream="ledger")
    written = lake.write(tmp_path)
    correlate(written, SAID, carrier=Here())
    return written.findings()


def test_lines_that_no_handling_wrote_are_of_the_work_of_the_message_that_has_their_key(tmp_path):
    findings = found(tmp_path)
    read = {table.name: findings.read(table).to_pylist() for table in (MESSAGES, DELIVERIES, REDELIVERIES, TIMELINE)}

    assert {(m["item_id"], m["effects_at_least"], m["effects_at_most"]) for m in read["messages"]} == {
        (AGAIN, 2, 3),
        (LATE, 3, 4),
    }
    lines = {row["evidence_ids"][0] for row in read["deliveries"] if row["message_id"] is None}
    assert len(lines) == 4
    assert lines <= {line for m in read["messages"] for line in m["evidence_ids"]}
    assert {row["ended_by"] for row in read["deliveries"] if row["message_id"] is None} == {"unknown"}
    assert [r["item_id"] for r in read["redeliveries"]] == [AGAIN]
    assert "key:ord-3" in {row["item_id"] for row in read["timeline"] if row["kind"] == "repeat"}


def test_neither_an_incident_nor_a_queues_week_counts_them_as_messages(tmp_path):
    findings = found(tmp_path)
    assert findings.read(QUEUE_FINDINGS).to_pylist() == []  # nor as a message that came again and again
    (incident,), (week,) = (findings.read(table).to_pylist() for table in (INCIDENTS, QUEUE_WEEKS))

    assert (incident["messages"], incident["confirmed"], incident["works"]) == (2, 2, 2)
    assert incident["extra_effects_at_least"] == 3
    assert (week["item_count"], week["delivery_count"], week["redelivery_count"]) == (3, 4, 1)
    assert (week["twice_at_least"], week["twice_at_most"]) == (2, 2)
