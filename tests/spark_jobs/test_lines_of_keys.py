"""A service that a handler calls logs each payment by its key alone: its lines are of the messages' work, and count once."""

import pytest

from forensics.report.case import load_case
from forensics.report.render import render
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
from forensics.words import clock_text
from spark_jobs.carrier import Here
from spark_jobs.runner import correlate
from tests.spark_jobs.small_lake import SmallLake, at, some_id

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


def findings_of(folder, is_late_alone):
    lake = SmallLake()
    lake.queue("payments")
    again = [*handled(300, AGAIN, "ord-2", 1, "failed"), *handled(340, AGAIN, "ord-2", 2, "acknowledged")]
    lines = [
        *handled(0, ONCE, "ord-1", 1, "acknowledged"),
        *([] if is_late_alone else again),
        *handled(600, LATE, "ord-3", 1, "acknowledged"),
    ]
    of_again = [] if is_late_alone else booked("ord-2", 305, 345, 400)
    lines_of_keys = [*booked("ord-1", 5), *of_again, *booked("ord-3", 605, 660, 720, 780)]
    lake.worker("payments", *lines, group="/ecs/pay", stream="worker")
    lake.worker("payments", *lines_of_keys, group="/ecs/ledger", stream="ledger")
    written = lake.write(folder)
    correlate(written, SAID, carrier=Here())
    return written.findings()


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    return findings_of(tmp_path_factory.mktemp("keys"), is_late_alone=False)


@pytest.fixture(scope="module")
def found_late(tmp_path_factory):
    return findings_of(tmp_path_factory.mktemp("late"), is_late_alone=True)


def test_lines_that_no_handling_wrote_are_of_the_work_of_the_message_that_has_their_key(found):
    read = {table.name: found.read(table).to_pylist() for table in (MESSAGES, DELIVERIES, REDELIVERIES, TIMELINE)}

    assert {(m["item_id"], m["effects_at_least"], m["effects_at_most"]) for m in read["messages"]} == {
        (AGAIN, 2, 3),
        (LATE, 3, None),  # nothing tells how many deliveries there were beside the one seen
    }
    lines = {row["evidence_ids"][0] for row in read["deliveries"] if row["message_id"] is None}
    assert len(lines) == 4
    assert lines <= {line for m in read["messages"] for line in m["evidence_ids"]}
    assert {row["ended_by"] for row in read["deliveries"] if row["message_id"] is None} == {"unknown"}
    assert [r["item_id"] for r in read["redeliveries"]] == [AGAIN]
    assert "key:ord-3" in {row["item_id"] for row in read["timeline"] if row["kind"] == "repeat"}


def test_neither_an_incident_nor_a_queues_week_counts_them_as_messages(found):
    assert found.read(QUEUE_FINDINGS).to_pylist() == []  # nor as a message that came again and again
    (incident,), (week,) = (found.read(table).to_pylist() for table in (INCIDENTS, QUEUE_WEEKS))

    assert (incident["messages"], incident["confirmed"], incident["works"]) == (2, 2, 2)
    assert (incident["headline"], incident["received_once"]) == ("2 of 2 messages were processed more than once", 1)
    assert incident["extra_effects_at_least"] == 3
    assert (week["item_count"], week["delivery_count"], week["redelivery_count"]) == (3, 4, 1)
    assert (week["twice_at_least"], week["twice_at_most"]) == (2, 2)


def test_a_repeat_that_no_receive_shows_was_by_the_time_of_the_line_that_shows_it(found_late):
    (incident,) = found_late.read(INCIDENTS).to_pylist()
    (message,) = (m for m in found_late.read(MESSAGES).to_pylist() if m["item_id"] == LATE)
    case = load_case(found_late, incident["incident_id"])
    (work,) = case.works()

    assert found_late.read(REDELIVERIES).to_pylist() == []
    assert message["repeat_shown_at"] == at(720), "of the lines at 660 and 720 one may tell of the receive at 600"
    assert incident["first_repeat_at"] == message["repeat_shown_at"]
    assert (work["first_repeat_at"], work["is_repeat_by_then"]) == (at(720), True)
    assert f"{clock_text(at(720))} at the latest" in render(case, "md").decode()
    assert [m.at for m in case.moments if m.what == "repeated by then, as lines of its key show"] == [at(720)]
    assert incident["headline"] == "1 message was processed more than once"


def test_where_a_receive_came_before_the_line_the_repeat_is_the_receive(found):
    (incident,) = found.read(INCIDENTS).to_pylist()
    works = {w["item_id"]: w for w in load_case(found, incident["incident_id"]).works()}

    assert (works[AGAIN]["first_repeat_at"], works[AGAIN]["is_repeat_by_then"]) == (at(340), False)
    assert incident["first_repeat_at"] == at(340)
