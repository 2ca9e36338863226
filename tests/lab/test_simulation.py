"""The simulated queue follows SQS's rules; without this the scenarios would prove nothing."""

from datetime import UTC, datetime, timedelta

import pytest

from lab.ids import Ids
from lab.simulation import QueueSpec, SimulatedQueue, play_out

T0 = datetime(2026, 11, 20, 5, 0, tzinfo=UTC)


def after(seconds: float) -> datetime:
    return T0 + timedelta(seconds=seconds)


@pytest.fixture
def queue(request):
    """A queue of the name given, visibility timeout 30 s, two receives before the dead-letter queue."""
    return SimulatedQueue(QueueSpec(request.param, 30, "dlq", max_receive_count=2), Ids("queue"))


def fill(queue: SimulatedQueue, bodies: str, group: str | None = None) -> None:
    for number, body in enumerate(bodies):
        queue.send(after(number / 1000), body, sender_id="s", group=group)


def bodies(deliveries) -> str:
    return "".join(delivery.message.body for delivery in deliveries)


fifo = pytest.mark.parametrize("queue", ["q.fifo"], indirect=True)
standard = pytest.mark.parametrize("queue", ["q"], indirect=True)


@fifo
def test_a_group_is_locked_while_one_of_its_messages_is_in_flight(queue):
    fill(queue, "abc", group="g")
    [first] = queue.receive(after(1), 1, "one")

    assert queue.receive(after(2), 10, "two") == []
    queue.delete(after(3), first)
    assert bodies(queue.receive(after(3), 10, "two")) == "bc"


@fifo
def test_what_a_batch_did_not_delete_comes_first_and_in_order(queue):
    fill(queue, "abcdef", group="g")
    batch = queue.receive(after(1), 4, "one")
    for delivery in batch[:2]:
        queue.delete(after(2), delivery)

    assert queue.next_receivable_at(after(2)) == after(31)
    assert queue.receive(after(30.9), 10, "one") == []
    assert bodies(queue.receive(after(31), 10, "one")) == "cdef"


@fifo
def test_other_groups_go_on(queue):
    fill(queue, "ab", group="g")
    queue.send(after(1), "x", sender_id="s", group="h")
    queue.receive(after(2), 1, "one")

    assert bodies(queue.receive(after(2), 10, "two")) == "x"


@fifo
def test_a_late_delete_is_refused_and_the_message_stays(queue):
    fill(queue, "a", group="g")
    [late] = queue.receive(after(0), 1, "one")

    assert queue.delete(after(30), late) == "refused"
    assert bodies(queue.receive(after(30), 1, "two")) == "a"


@standard
def test_a_late_delete_on_a_standard_queue_works_until_someone_else_has_the_message(queue):
    fill(queue, "ab")
    first, second = queue.receive(after(1), 2, "one")
    queue.receive(after(31), 1, "two")

    assert queue.delete(after(32), first) == "kept"
    assert queue.delete(after(32), second) == "deleted"


@standard
def test_the_move_to_the_dead_letter_queue_comes_with_the_third_receive(queue):
    fill(queue, "ab")
    counts = [[d.receive_count for d in queue.receive(after(at), 1, "one") if d.message.body == "a"] for at in (0, 30)]
    moved_before = queue.messages[0].moved_at
    handed_out = bodies(queue.receive(after(60), 1, "one"))

    assert counts == [[1], [2]]
    assert moved_before is None
    assert handed_out == "b"
    assert queue.messages[0].moved_at == after(60)


@standard
def test_nobody_sees_a_message_before_it_was_sent(queue):
    queue.send(after(10), "a", sender_id="s")

    assert queue.receive(after(9), 1, "one") == []
    assert queue.next_receivable_at(after(9)) == after(10)
    assert bodies(queue.receive(after(10), 1, "one")) == "a"


def test_consumers_take_turns_in_order_of_time_until_the_end():
    told = []

    def consumer(name: str, every_s: float):
        at = T0
        while True:
            yield at
            told.append((name, (at - T0).total_seconds()))
            at += timedelta(seconds=every_s)

    play_out([consumer("slow", 3), consumer("quick", 2)], until=after(5))

    assert told == [("slow", 0), ("quick", 0), ("quick", 2), ("slow", 3), ("quick", 4)]
