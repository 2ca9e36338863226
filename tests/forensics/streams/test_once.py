"""Lines that were delivered twice say what they say once."""

from forensics.streams.model import Fact
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


def test_one_line_of_a_worker_may_say_the_same_of_two():
    (placed,) = stream("record a")

    assert facts_once([placed, placed._replace(place=1)]) == [placed, placed._replace(place=1)]
