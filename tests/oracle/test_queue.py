"""The simulated queue against what is known of SQS."""

import random

import pytest

from tests.oracle.simulation import Simulation, Steps
from tests.oracle.sqs import HandleExpiredError, Queue

T0 = 1_767_600_000_000


def make_queue(**kwargs) -> Queue:
    return Queue(Simulation(T0), random.Random(7), "q", kwargs.pop("visibility_ms", 3_000), **kwargs)


def send_in_group(queue: Queue, bodies: str) -> None:
    for number, body in enumerate(bodies):
        queue.send(body, "group", f"id-{number}")


def received(queue: Queue, limit: int = 10) -> str:
    return "".join(receipt.message.body for receipt in queue.receive(limit))


def wait(queue: Queue, ms: int) -> None:
    queue.simulation.run(queue.simulation.now + ms)


def test_a_fifo_group_is_handed_out_in_order_and_held_while_one_is_in_flight():
    queue = make_queue(is_fifo=True)
    send_in_group(queue, "abcd")

    first = queue.receive(2)

    assert [r.message.body for r in first] == ["a", "b"]
    assert received(queue) == ""
    for receipt in first:
        queue.delete(receipt)
    assert received(queue) == "cd"


def test_other_groups_go_on_while_one_is_held():
    queue = make_queue(is_fifo=True)
    queue.send("a", "one", "1")
    queue.send("b", "one", "2")
    queue.send("c", "two", "3")

    queue.receive(1)

    assert received(queue) == "c"


def test_a_message_comes_again_when_its_visibility_timeout_ends_and_not_before():
    queue = make_queue()
    queue.send("a")
    (first,) = queue.receive(1)

    wait(queue, 2_999)

    assert received(queue) == ""
    wait(queue, 1)
    (second,) = queue.receive(1)
    assert (first.receive_count, second.receive_count) == (1, 2)
    assert second.message.first_receive_ms == first.received_ms
    assert second.handle != first.handle


def test_the_move_to_the_dead_letter_queue_happens_at_receive_max_plus_one():
    dead_letters = make_queue()
    queue = make_queue(max_receive_count=2, dead_letter_queue=dead_letters)
    message = queue.send("a")

    counts = []
    for _ in range(3):
        counts += [r.receive_count for r in queue.receive(1)]
        wait(queue, 3_000)

    assert counts == [1, 2]
    assert dead_letters.messages == [message]
    assert message.moved_from == queue.arn


def test_a_late_delete_leaves_a_message_alone_that_moved_to_the_dead_letter_queue():
    dead = make_queue()
    queue = make_queue(max_receive_count=1, dead_letter_queue=dead)
    dead.simulation = queue.simulation
    queue.send("a")
    (late,) = queue.receive(1)
    wait(queue, 3_000)
    queue.receive(1)
    (moved,) = dead.receive(1)

    assert not any(queue.delete(late) for _ in range(20))
    assert dead.delete(moved)
    assert dead.is_drained


def test_a_dead_lettered_message_frees_its_group_in_the_same_receive():
    queue = make_queue(is_fifo=True, max_receive_count=1, dead_letter_queue=make_queue())
    send_in_group(queue, "ab")
    queue.receive(1)
    wait(queue, 3_000)

    assert received(queue, 1) == "b"


def test_a_fifo_queue_refuses_an_expired_handle_and_a_standard_queue_does_not():
    fifo, standard = make_queue(is_fifo=True), make_queue()
    send_in_group(fifo, "a")
    standard.send("a")
    (late_fifo,), (late_standard,) = fifo.receive(1), standard.receive(1)
    wait(fifo, 3_000)
    wait(standard, 3_000)

    assert standard.delete(late_standard) and standard.is_drained
    with pytest.raises(HandleExpiredError):
        fifo.delete(late_fifo)
    with pytest.raises(HandleExpiredError):
        fifo.change_visibility(late_fifo, 0)


def test_a_released_message_is_visible_at_once():
    queue = make_queue()
    queue.send("a")
    (receipt,) = queue.receive(1)

    queue.change_visibility(receipt, 0)

    assert received(queue) == "a"


@pytest.mark.parametrize(
    ("after_ms", "taken"),
    [(299_999, False), (300_000, True)],
    ids=["inside five minutes: dropped", "five minutes later: a new message"],
)
def test_the_deduplication_window(after_ms, taken):
    queue = make_queue(is_fifo=True)
    first = queue.send("a", "group", "same")
    wait(queue, after_ms)

    again = queue.send("a", "group", "same")

    assert (again is not None) == taken
    assert not taken or again.message_id != first.message_id


def test_the_published_fifo_run_comes_out_as_published():
    """Visibility 3 s, maxReceiveCount 2, 20 messages in one group, 3 threads, 15 sleeps 5 s: twice, then 16."""
    queue = make_queue(is_fifo=True, max_receive_count=2, dead_letter_queue=make_queue(is_fifo=True))
    seen: list[tuple[str, int]] = []

    def thread() -> Steps:
        while True:
            for receipt in queue.receive(1):
                seen.append((receipt.message.body, queue.simulation.now))
                if receipt.message.body == "15":
                    yield 5_000
                else:
                    yield 20
                    queue.delete(receipt)
            yield queue.rng.randrange(10, 70)

    for number in range(1, 21):
        queue.send(str(number), "group", f"id-{number}")
    for _ in range(3):
        queue.simulation.spawn(thread())
    queue.simulation.run(T0 + 60_000)

    bodies = [body for body, _ in seen]
    assert bodies == [str(n) for n in range(1, 16)] + [str(n) for n in range(15, 21)]
    first, second, sixteen = (at for body, at in seen if body in ("15", "16"))
    assert 3_000 <= second - first <= 3_100
    assert 6_000 <= sixteen - first <= 6_200
    assert [m.body for m in queue.dead_letter_queue.messages] == ["15"]
