"""Deduplication and retention in the simulated queue."""

from datetime import UTC, datetime, timedelta

import pytest

from lab.ids import Ids
from lab.simulation import QueueSpec, SimulatedQueue

START = datetime(2026, 11, 20, 5, 0, tzinfo=UTC)


def at(seconds: float) -> datetime:
    return START + timedelta(seconds=seconds)


@pytest.mark.parametrize(("seconds", "messages"), [(299, 1), (300, 1), (300.001, 2)])
def test_a_fifo_queue_takes_a_deduplication_id_once_in_five_minutes(seconds, messages):
    queue = SimulatedQueue(QueueSpec("q.fifo"), Ids("test"))
    first = queue.send(at(0), "a", sender_id="s", group="g", deduplication_id="d")
    second = queue.send(at(seconds), "a", sender_id="s", group="g", deduplication_id="d")

    assert len(queue.messages) == messages
    assert (first is second) == (messages == 1)


@pytest.mark.parametrize(("seconds", "received"), [(899.9, 1), (900, 0)])
def test_a_message_is_dropped_when_its_retention_ends(seconds, received):
    queue = SimulatedQueue(QueueSpec("q", message_retention_s=900), Ids("test"))
    message = queue.send(at(0), "a", sender_id="s")

    assert len(queue.receive(at(seconds), 1, "c")) == received
    assert message.gone_at == (None if received else at(900))


def test_a_message_in_flight_is_dropped_too_and_its_delete_changes_nothing():
    queue = SimulatedQueue(QueueSpec("q", visibility_timeout_s=600, message_retention_s=900), Ids("test"))
    message = queue.send(at(0), "a", sender_id="s")
    [delivery] = queue.receive(at(400), 1, "c")

    assert queue.receive(at(901), 1, "c") == []
    assert queue.delete(at(902), delivery) == "kept"
    assert message.gone_at == at(900)
