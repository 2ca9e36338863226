"""Lines that were delivered twice say what they say once."""

import pytest

from forensics.streams.model import Fact, PlacedFact
from forensics.streams.once import facts_once, statements_once
from forensics.streams.runs import Statement
from tests.forensics.streams.worker_streams import handlings as handlings_of
from tests.forensics.streams.worker_streams import stream, told

A = "3f2504e0-4f89-41d3-9a0c-0305e82c3301"


def line(number, at, kind="app", *facts):
    return Statement(
        at, number, f"e-{number}", kind, A, facts=[Fact(role, at, f"e-{number}", **more) for (role,), more in facts]
    )


def left(*lines):
    return [(s.evidence_id, [(f.role, f.message_id, f.key) for f in s.facts]) for s in statements_once(lines)]


def test_a_line_of_the_same_moment_that_says_the_same_is_left_out():
    started = ["started"], {"message_id": "m"}

    assert left(line(1, 5, "start"), line(2, 5, "start"), line(3, 9, "app", started), line(4, 9, "app", started)) == [
        ("e-1", []),
        ("e-3", [("started", "m", None)]),
    ]


def test_a_start_that_names_no_request_begins_no_other_run():
    nameless = Statement(5, 2, "e-2", "start")

    told = left(line(1, 5, "start"), nameless, nameless._replace(order_in_ms=3, evidence_id="e-3"), line(4, 5, "start"))
    assert [name for name, _ in told] == ["e-1", "e-2"]

    assert [name for name, _ in left(nameless, line(3, 5, "start"), nameless._replace(evidence_id="e-4"))] == [
        "e-2",
        "e-3",
        "e-4",
    ]


def test_a_line_of_another_moment_or_of_another_message_says_more():
    m, n = (["started"], {"message_id": "m"}), (["started"], {"message_id": "n"})

    assert [name for name, _ in left(line(1, 5, "app", m), line(2, 5, "app", n), line(3, 6, "app", m))] == [
        "e-1",
        "e-2",
        "e-3",
    ]


def test_what_stands_behind_the_start_of_another_run_is_of_that_one():
    began, printed = line(1, 5, "start"), Statement(5, 2, "e-2", "app")
    another = Statement(5, 3, "e-3", "start", "other")

    assert [name for name, _ in left(began, printed, another, printed._replace(evidence_id="e-4"))] == [
        "e-1",
        "e-2",
        "e-3",
        "e-4",
    ]


def test_an_effect_by_key_told_twice_may_be_of_another_message():
    charged = ["effect"], {"key": "k"}

    assert left(line(1, 5, "app", charged), line(2, 5, "app", charged)) == [
        ("e-1", [("effect", None, "k")]),
        ("e-2", [("effect", None, None)]),
    ]


def test_a_workers_lines_told_twice_are_one_handling():
    twice = (
        "worker_started a",
        "&worker_started a",
        "effect a",
        "&effect a",
        "worker_finished a",
        "&worker_finished a",
    )

    assert told(handlings_of(*twice)) == ["a: started effect finished"]


MS = 1_000
SECONDS = {
    "of two jobs in a whole second": ((0, 1_000, 1_000), True),
    "of one moment among others": ((1, 1_000, 1_000), False),
    "of the only moment there is": ((1_000, 1_000, 1_000), False),
}


@pytest.mark.parametrize(("times_ms", "are_two"), SECONDS.values(), ids=SECONDS)
def test_starts_without_a_name_are_of_several_jobs_where_lines_tell_whole_seconds(times_ms, are_two):
    roles = ("worker_finished", "worker_started", "worker_started")
    said = [
        PlacedFact(at * MS, n, 0, Fact(role, at * MS, f"line {n}"))
        for n, (at, role) in enumerate(zip(times_ms, roles, strict=True))
    ]

    assert len(facts_once(said)) == 2 + are_two


def test_a_second_that_was_delivered_twice_is_told_once():
    said = [
        PlacedFact(at * MS, n, 0, Fact(role, at * MS, f"line {n}", message_id))
        for n, (at, role, message_id) in enumerate(
            [(0, "worker_finished", None), *[(1_000, "worker_started", None), (1_000, "started", "a")] * 2]
        )
    ]

    assert facts_once(said) == said[:3]


def test_one_line_of_a_worker_may_say_the_same_of_two():
    (placed,) = stream("record a")

    assert facts_once([placed, placed._replace(place=1)]) == [placed, placed._replace(place=1)]


ECHOES = {
    "at once": ([(0, "started", "a"), (1, "started", "a")], 1),
    "as late as a second handler of a logger writes": ([(0, "started", "a"), (20, "started", "a")], 1),
    "later than that": ([(0, "started", "a"), (21, "started", "a")], 2),
    "after a line of another message": ([(0, "started", "a"), (1, "started", "b"), (2, "started", "a")], 2),
    "after another line of the message": ([(0, "started", "a"), (1, "failure", "a"), (2, "started", "a")], 3),
    "of another kind": ([(0, "started", "a"), (1, "record", "a")], 2),
    "and a third": ([(0, "started", "a"), (15, "started", "a"), (25, "started", "a")], 2),
    "of a message that nobody names": ([(0, "failure", None), (1, "failure", None)], 2),
}


@pytest.mark.parametrize(("lines", "left"), ECHOES.values(), ids=ECHOES)
def test_a_line_that_a_logger_writes_once_more_says_nothing_new(lines, left):
    said = [
        PlacedFact(at * MS, 0, 0, Fact(role, at * MS, f"line {n}", message_id))
        for n, (at, role, message_id) in enumerate(lines)
    ]

    assert len(facts_once(said)) == left


def test_lines_with_their_own_times_are_echoes_all_the_same():
    said = [
        PlacedFact(at * MS, 0, 0, Fact("started", at * MS, f"line {n}", "a", line_mark=n))
        for n, at in enumerate((0, 0, 1))
    ]

    assert facts_once(said) == said[:1]


def test_a_line_that_says_the_same_with_another_count_is_another_receive():
    first, second = (Fact("started", n * MS, f"line {n}", "a", receive_count=n) for n in (1, 2))

    assert len(facts_once([PlacedFact(f.at, 0, 0, f) for f in (first, second)])) == 2


def test_of_a_line_that_states_several_facts_all_are_left_out_together():
    line = [
        PlacedFact(at * MS, 0, place, Fact(role, at * MS, f"line {at}", "a"))
        for at in (0, 1)
        for place, role in enumerate(("record", "started"))
    ]

    assert facts_once(line) == line[:2]
