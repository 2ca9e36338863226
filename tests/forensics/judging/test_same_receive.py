"""Deliveries that are one receive, told by several lines or streams."""

import pytest

from forensics.identity import handle_token
from forensics.judging import same_receive
from tests.forensics.judging.plain import S, delivery

ONE_HANDLE, OTHER_HANDLE = (handle_token("AQEB" + letter * 200) for letter in "xy")
COUNTED = {"receive_count": 1, "received_at": 0, "consumer": "a"}
AGAIN = {"receive_count": 1, "received_at": 3 * S, "consumer": "b"}
WORKER = {"consumer_kind": "worker", "log_group": "/ecs/app"}
BEGUN, PRINTED = WORKER | {"started_at": 0}, WORKER | {"record_at": 0}
BESIDE = {"log_stream": "other"}
T1, T2 = 1 << 32, 2 << 32
"""Marks of two own times; what is added is of the text."""
STAMPED = WORKER | {"line_marks": [T1, T2], "received_at": 0}
LATER = STAMPED | BESIDE | {"received_at": 90 * S}
TOLD = BEGUN | {"received_at": 0, "marker_at": S, "hidden_until_at": 30 * S}
AS_TOLD = TOLD | BESIDE | {"received_at": 9 * S, "started_at": 9 * S, "marker_at": 10 * S}
ONE, TWO, MAYBE = "one", "two", "maybe one"
RUN = {"request_id": "r", "consumer": "a", "receipt_handle": ONE_HANDLE, "is_durable": False}
NEXT_RUN = RUN | {"request_id": "q", "consumer": "b", "received_at": 3 * S}
DURABLE, PRINTS = {"is_durable": True}, {"marker_at": S}
UNNAMED = DURABLE | {"receipt_handle": None}
IDLE = {"run_status": "success", "has_effect": True, "is_exhaustive": True, "order_declared": "sequential"}
TOLD_AS_PLAIN = {"is_durable": False}
BEGUN_AT = {"run_started_at": 0, "log_group": "/aws/lambda/a", "log_stream": "s"}
AGAIN_AT = BEGUN_AT | {"run_started_at": 3 * S}
MAY_LAST = RUN | {
    **UNNAMED | PRINTS | BEGUN_AT,
    "is_durable": None,
    "run_status": "success",
    "run_ended_at": S,
    "is_end_known": True,
}
"""A run that ended well, of a function of which nothing tells whether it is durable, as no names tell of its receive."""
LONGEST = 16 * 60 * S
MAPPED = DURABLE | {"mapping_id": "mapping:1"}
SOON = MAY_LAST | {
    "request_id": "q",
    "consumer": "b",
    "received_at": 3 * S,
    "run_started_at": 3 * S,
    "run_ended_at": 4 * S,
}
CASES = {
    "one receipt handle": ({"receipt_handle": ONE_HANDLE}, {"receipt_handle": ONE_HANDLE, "log_stream": "other"}, ONE),
    "different receipt handles": ({"receipt_handle": ONE_HANDLE}, {"receipt_handle": OTHER_HANDLE}, TWO),
    "receipt handles that a log masks": (
        {"receipt_handle": handle_token("***")},
        {"receipt_handle": handle_token("***")},
        TWO,
    ),
    "one receipt handle of which only one shows a count": (
        {"receipt_handle": ONE_HANDLE},
        {"receipt_handle": ONE_HANDLE, "receive_count": 2},
        ONE,
    ),
    "one count and one request id": (COUNTED | {"request_id": "r"}, AGAIN | {"request_id": "r"}, ONE),
    "one count and different request ids: two runs": (
        COUNTED | {"request_id": "r"} | TOLD_AS_PLAIN,
        AGAIN | {"request_id": "q"} | TOLD_AS_PLAIN,
        TWO,
    ),
    "one count and different request ids, of a function that may be durable": (
        COUNTED | {"request_id": "r", "is_durable": None},
        AGAIN | {"request_id": "q", "is_durable": None},
        MAYBE,
    ),
    "one count, and one request id that is not known": (COUNTED | {"request_id": "r"}, AGAIN, MAYBE),
    "one request id, and no counts": ({"request_id": "r"}, {"request_id": "r", "consumer": "b"}, TWO),
    "one request id and different counts": (
        COUNTED | {"request_id": "r"},
        AGAIN | {"request_id": "r", "receive_count": 2},
        TWO,
    ),
    "one count of a FIFO queue": (COUNTED | {"is_fifo": True}, AGAIN | {"is_fifo": True, "log_stream": "other"}, ONE),
    "one count in a worker's stream": (COUNTED | WORKER, AGAIN | WORKER, ONE),
    "one count in two streams of workers": (COUNTED | WORKER, AGAIN | WORKER | {"log_stream": "other"}, MAYBE),
    "one count in two log groups of workers": (COUNTED | WORKER, AGAIN | WORKER | {"log_group": "/ecs/b"}, MAYBE),
    "one count of a worker and of a function, in one stream": (
        COUNTED | WORKER,
        AGAIN | {"log_group": "/ecs/app"},
        MAYBE,
    ),
    "one receipt handle in two runs of a function": (RUN, NEXT_RUN, TWO),
    "in two runs of one of which nothing tells whether it is durable": (
        RUN | {"is_durable": None},
        NEXT_RUN | {"is_durable": None},
        MAYBE,
    ),
    "in two runs of one that is durable": (RUN | DURABLE, NEXT_RUN | DURABLE, MAYBE),
    "of which the first prints the effect, and nothing tells of the second": (
        RUN | DURABLE | PRINTS,
        NEXT_RUN | DURABLE,
        MAYBE,
    ),
    "of which the second prints the effect, and nothing tells of the first": (
        RUN | DURABLE,
        NEXT_RUN | DURABLE | PRINTS,
        MAYBE,
    ),
    "of which the first prints the effect, and the second did nothing": (
        RUN | DURABLE | PRINTS,
        NEXT_RUN | DURABLE | IDLE,
        ONE,
    ),
    "of which the first did nothing, and the second prints the effect": (
        RUN | DURABLE | IDLE,
        NEXT_RUN | DURABLE | PRINTS,
        ONE,
    ),
    "of which neither did anything": (RUN | DURABLE | IDLE, NEXT_RUN | DURABLE | IDLE, ONE),
    "of which the first did nothing, and nothing tells of the second": (
        RUN | DURABLE | IDLE,
        NEXT_RUN | DURABLE,
        MAYBE,
    ),
    "of which one did nothing, and nothing tells whether the function is durable": (
        RUN | {"is_durable": None} | PRINTS,
        NEXT_RUN | {"is_durable": None} | IDLE,
        MAYBE,
    ),
    "of which one did nothing, of no durable function": (RUN | PRINTS, NEXT_RUN | IDLE, TWO),
    "of which one did nothing, by different counts": (
        RUN | UNNAMED | PRINTS | {"receive_count": 1},
        NEXT_RUN | UNNAMED | IDLE | {"receive_count": 2},
        TWO,
    ),
    "of which one did nothing, and no names tell that it was one receive": (
        RUN | UNNAMED | PRINTS,
        NEXT_RUN | UNNAMED | IDLE,
        MAYBE,
    ),
    "of a function that may be durable, and no names tell that it was one receive": (MAY_LAST, SOON, MAYBE),
    "of which only the second prints the effect": (MAY_LAST | {"marker_at": None}, SOON, MAYBE),
    "of which the first failed": (MAY_LAST | {"run_status": "error"}, SOON, MAYBE),
    "of which the second began as long after the first as an execution may take": (
        MAY_LAST,
        SOON | {"run_started_at": LONGEST},
        MAYBE,
    ),
    "of which the second began later than that": (MAY_LAST, SOON | {"run_started_at": LONGEST + 1}, TWO),
    "of a durable function that a mapping invokes, of which the second began as long after the first": (
        MAY_LAST | MAPPED,
        SOON | MAPPED | {"run_started_at": LONGEST},
        MAYBE,
    ),
    "of a durable function that a mapping invokes, of which the second began later": (
        MAY_LAST | MAPPED,
        SOON | MAPPED | {"run_started_at": LONGEST + 1},
        TWO,
    ),
    "of a durable function of which nobody knows who invokes it": (
        MAY_LAST | DURABLE,
        SOON | DURABLE | {"run_started_at": LONGEST + 1},
        MAYBE,
    ),
    "of one that is not durable": (
        MAY_LAST | TOLD_AS_PLAIN,
        SOON | TOLD_AS_PLAIN,
        TWO,
    ),
    "of which the second began while the first was on": (
        RUN | DURABLE | {"run_started_at": 0, "run_ended_at": 4 * S},
        NEXT_RUN | DURABLE | {"run_started_at": 3 * S},
        TWO,
    ),
    "of which the second began and printed the effect while the first was on, and did nothing": (
        RUN | DURABLE | IDLE | {"run_started_at": 0, "run_ended_at": 4 * S},
        NEXT_RUN | DURABLE | PRINTS | {"run_started_at": 3 * S},
        TWO,
    ),
    "of which the second began as the first was over": (
        RUN | DURABLE | {"run_started_at": 0, "run_ended_at": 3 * S},
        NEXT_RUN | DURABLE | {"run_started_at": 3 * S},
        MAYBE,
    ),
    "of which the one that is told of later began first, and was over by then": (
        RUN | DURABLE | {"run_started_at": 5 * S, "run_ended_at": 9 * S},
        NEXT_RUN | DURABLE | {"run_started_at": 3 * S, "run_ended_at": 5 * S},
        MAYBE,
    ),
    "of which the second began when the last line of the first stands, and no line ends that": (
        RUN | DURABLE | {"run_started_at": 0, "run_ended_at": 4 * S, "is_end_known": False},
        NEXT_RUN | DURABLE | {"run_started_at": 3 * S},
        MAYBE,
    ),
    "of which nothing tells when the first was over": (
        RUN | DURABLE | {"run_started_at": 0},
        NEXT_RUN | DURABLE | {"run_started_at": 3 * S},
        MAYBE,
    ),
    "of which nothing tells when the first began": (
        RUN | DURABLE | {"run_ended_at": 4 * S},
        NEXT_RUN | DURABLE | {"run_started_at": 3 * S},
        MAYBE,
    ),
    "of which nothing tells when the second began": (
        RUN | DURABLE | {"run_started_at": 0, "run_ended_at": 4 * S},
        NEXT_RUN | DURABLE,
        MAYBE,
    ),
    "one request id begun twice in one stream": (RUN | BEGUN_AT, NEXT_RUN | AGAIN_AT | {"request_id": "r"}, TWO),
    "one request id begun twice, in two streams": (
        RUN | BEGUN_AT,
        NEXT_RUN | AGAIN_AT | {"request_id": "r", "log_stream": "t"},
        MAYBE,
    ),
    "one request id begun twice, in two streams of log groups that nobody knows": (
        RUN | BEGUN_AT | {"log_group": None},
        NEXT_RUN | AGAIN_AT | {"request_id": "r", "log_group": None, "log_stream": "t"},
        ONE,
    ),
    "one request id begun twice, in two log groups": (
        RUN | BEGUN_AT,
        NEXT_RUN | AGAIN_AT | {"request_id": "r", "log_group": "/central"},
        ONE,
    ),
    "one request id begun once, in two streams": (
        RUN | BEGUN_AT,
        NEXT_RUN | BEGUN_AT | {"request_id": "r", "log_stream": "t"},
        ONE,
    ),
    "one receipt handle begun twice, in two streams, by runs that have no name": (
        RUN | BEGUN_AT | {"request_id": None},
        NEXT_RUN | AGAIN_AT | {"request_id": None, "log_stream": "t"},
        ONE,
    ),
    "one request id, of which one line tells no beginning": (
        RUN | BEGUN_AT,
        NEXT_RUN | BEGUN_AT | {"request_id": "r", "run_started_at": None},
        ONE,
    ),
    "of which both print the effect": (RUN | DURABLE | PRINTS, NEXT_RUN | DURABLE | PRINTS, MAYBE),
    "one receipt handle that one function hands on to another": (RUN, NEXT_RUN | {"log_group": "/aws/lambda/b"}, ONE),
    "one receipt handle in two runs of which one is not named": (RUN, NEXT_RUN | {"request_id": None}, ONE),
    "one receipt handle in a run that two streams tell of": (RUN, NEXT_RUN | {"request_id": "r"}, ONE),
    "one count of a FIFO queue in two runs of a function": (
        RUN | {"is_fifo": True, "receipt_handle": None, "receive_count": 1},
        NEXT_RUN | {"is_fifo": True, "receipt_handle": None, "receive_count": 1},
        TWO,
    ),
    "no names in two runs of a durable function": (RUN | UNNAMED, NEXT_RUN | UNNAMED, MAYBE),
    "the same, the first of a count": (RUN | UNNAMED | {"receive_count": 1}, NEXT_RUN | UNNAMED, MAYBE),
    "different counts in two runs of a durable function": (
        RUN | UNNAMED | {"receive_count": 1},
        NEXT_RUN | UNNAMED | {"receive_count": 2},
        TWO,
    ),
    "one count in two runs of a durable function": (
        RUN | UNNAMED | {"receive_count": 1},
        NEXT_RUN | UNNAMED | {"receive_count": 1},
        MAYBE,
    ),
    "no names in runs of two durable functions": (RUN | UNNAMED, NEXT_RUN | UNNAMED | {"log_group": "/aws/b"}, TWO),
    "no names in two runs of a function that is not durable": (
        RUN | {"receipt_handle": None},
        NEXT_RUN | {"receipt_handle": None},
        TWO,
    ),
    "no counts at all": ({}, {"consumer": "b"}, TWO),
    "no counts, begun in two streams within a second": (BEGUN, BEGUN | BESIDE | {"received_at": S - 1}, MAYBE),
    "no counts, begun in two log groups within a second": (
        BEGUN,
        BEGUN | {"log_group": "/ecs/b", "received_at": 1},
        MAYBE,
    ),
    "no counts, begun a second apart": (BEGUN, BEGUN | BESIDE | {"received_at": S}, TWO),
    "no counts, begun within a second in one stream": (BEGUN, BEGUN | {"received_at": 1}, TWO),
    "printed within a second": (
        PRINTED,
        PRINTED | BESIDE | {"received_at": 1},
        MAYBE,
    ),
    "no counts, and lines of the end alone": (WORKER, WORKER | BESIDE | {"received_at": 1}, TWO),
    "of functions, within a second": ({"started_at": 0}, {"started_at": 1, "received_at": 1} | BESIDE, TWO),
    "begun within a second, of a key alone": (
        BEGUN | {"message_id": None},
        BEGUN | BESIDE | {"message_id": None, "received_at": 1},
        TWO,
    ),
    "begun within a second, of which one is not timed": (
        BEGUN | {"received_at": None},
        BEGUN | BESIDE | {"received_at": 1},
        TWO,
    ),
    "begun within a second, with different counts": (
        BEGUN | {"receive_count": 1},
        BEGUN | BESIDE | {"received_at": 1, "receive_count": 2},
        TWO,
    ),
    "begun within a second, of which one is counted": (
        BEGUN | {"receive_count": 1},
        BEGUN | BESIDE | {"received_at": 1},
        MAYBE,
    ),
    "begun within a second, with different receipt handles": (
        BEGUN | {"receipt_handle": ONE_HANDLE},
        BEGUN | BESIDE | {"received_at": 1, "receipt_handle": OTHER_HANDLE},
        TWO,
    ),
    "told alike before it was visible again": (TOLD, AS_TOLD, MAYBE),
    "in two log groups, told alike before it was visible again": (TOLD, AS_TOLD | {"log_group": "/ecs/b"}, MAYBE),
    "told alike when it was visible again": (TOLD | {"hidden_until_at": 9 * S}, AS_TOLD, TWO),
    "told alike, and until when it was hidden is not known": (TOLD | {"hidden_until_at": None}, AS_TOLD, TWO),
    "told alike in one stream": (TOLD | BESIDE, AS_TOLD, TWO),
    "told alike, and the first is counted": (TOLD | {"receive_count": 1}, AS_TOLD, MAYBE),
    "told alike, with different counts": (TOLD | {"receive_count": 1}, AS_TOLD | {"receive_count": 2}, TWO),
    "told alike, nearly a second longer": (TOLD, AS_TOLD | {"marker_at": 11 * S - 1}, MAYBE),
    "told alike, but a second longer": (TOLD, AS_TOLD | {"marker_at": 11 * S}, TWO),
    "one shows an end besides": (TOLD, AS_TOLD | {"worker_finished_at": 10 * S}, TWO),
    "the other shows an end besides": (TOLD | {"worker_finished_at": S}, AS_TOLD, TWO),
    "of each the beginning alone": (TOLD | {"marker_at": None}, AS_TOLD | {"marker_at": None}, TWO),
    "told alike, and when it came is not known": (TOLD, AS_TOLD | {"received_at": None}, TWO),
    "two lines with their own times in two streams": (STAMPED, LATER, ONE),
    "in two log groups": (STAMPED, STAMPED | {"log_group": "/ecs/b", "received_at": 90 * S}, ONE),
    "and each has another line besides": (
        STAMPED | {"line_marks": [T1, T2, T1 + 7]},
        LATER | {"line_marks": [T1, T2, T2 + 7]},
        ONE,
    ),
    "two such lines in one stream": (STAMPED, STAMPED | {"received_at": 90 * S}, TWO),
    "one such line": (STAMPED | {"line_marks": [T1, T2 + 1]}, LATER, MAYBE),
    "two such lines of one time, which the message may hold": (
        STAMPED | {"line_marks": [T1, T1 + 1]},
        LATER | {"line_marks": [T1, T1 + 1]},
        MAYBE,
    ),
    "other lines of the same times": (STAMPED | {"line_marks": [T1 + 1, T2 + 1]}, LATER, TWO),
    "two such lines, and one is counted": (STAMPED | {"receive_count": 1}, LATER, ONE),
    "two such lines, one receipt handle and one count": (
        STAMPED | {"receive_count": 1, "receipt_handle": ONE_HANDLE},
        LATER | {"receive_count": 1, "receipt_handle": ONE_HANDLE},
        ONE,
    ),
    "two such lines, and different counts": (STAMPED | {"receive_count": 1}, LATER | {"receive_count": 2}, TWO),
    "two such lines, and different receipt handles": (
        STAMPED | {"receipt_handle": ONE_HANDLE},
        LATER | {"receipt_handle": OTHER_HANDLE},
        TWO,
    ),
}
"""What is said of the first delivery and of the second, and how many receives they are."""


def answer(of, first, second):
    found = of.put_together([delivery(**second), delivery(**first)])
    if len(found) == 2 and any(d.may_be_same_receive for d in found):
        return MAYBE
    return ONE if len(found) == 1 else TWO


@pytest.mark.parametrize(("first", "second", "expected"), CASES.values(), ids=CASES)
def test_two_deliveries_are_receives(first, second, expected):
    assert answer(same_receive, first, second) == expected


def test_of_two_that_may_be_one_the_later_is_the_one_that_may_be():
    first, second = same_receive.put_together([delivery(**AGAIN), delivery(**COUNTED)])

    assert (first.received_at, first.may_be_same_receive) == (0, False)
    assert (second.received_at, second.may_be_same_receive) == (3 * S, True)


def test_of_two_runs_that_had_one_receive_the_later_is_the_one_that_began_later():
    later = RUN | {"is_durable": None, "run_started_at": 9}
    first, second = same_receive.put_together(
        [
            delivery(**later),
            delivery(**NEXT_RUN | later | {"received_at": 0, "request_id": "q", "consumer": "0", "run_started_at": 2}),
        ]
    )

    assert (first.run_started_at, first.may_be_same_receive) == (2, False)
    assert (second.run_started_at, second.may_be_same_receive) == (9, True)


OPEN = {}
"""A run of which nothing is known."""
STANDING = {
    "the first of two of which nothing is known": ((OPEN, OPEN), [False, True]),
    "the one that prints the effect": ((OPEN, PRINTS, OPEN), [True, False, True]),
    "the first of two that print it": ((OPEN, PRINTS, PRINTS), [True, False, True]),
    "one of which nothing is known beside one that did nothing": ((IDLE, OPEN), [True, False]),
    "one of which nothing is known between two that did nothing": ((IDLE, OPEN, IDLE), [True, False, True]),
    "one of which nothing is known behind two that did nothing": ((IDLE, IDLE, OPEN), [True, False]),
    "the first of two that print it, though a third goes on with the second": (
        (PRINTS, PRINTS, IDLE),
        [False, True],
    ),
    "the one that prints it, beside one of which nothing is known and one that did nothing": (
        (PRINTS, OPEN, IDLE),
        [False, True, True],
    ),
    "of an unknown function, the one that prints the effect": ((OPEN, PRINTS, OPEN), [True, False, True], None),
    "every run of a function that is not durable": ((OPEN, PRINTS, OPEN), [False, False, False], False),
}


def in_turn(runs, *is_durable):
    """Return runs that had one receipt handle, one after the other."""
    durable = {"is_durable": is_durable[0] if is_durable else True}
    return [
        delivery(
            **RUN | durable | run | {"request_id": f"r{place}", "received_at": place},
            run_started_at=place * 10 * S,
            run_ended_at=place * 10 * S + S,
        )
        for place, run in enumerate(runs)
    ]


def standing(of, runs, *is_durable):
    """Return of each run that had one receipt handle, in order, whether it may be a replay."""
    found = of.put_together(in_turn(runs, *is_durable)[::-1])
    return [d.may_be_same_receive for d in sorted(found, key=lambda d: d.received_at)]


@pytest.mark.parametrize("case", STANDING.values(), ids=STANDING)
def test_one_run_of_a_receive_stands_for_its_replays(case):
    runs, expected, *is_durable = case

    assert standing(same_receive, runs, *is_durable) == expected


BEGUN_TWICE = {
    "goes on with either of two that its poller began, the first of which alone did the work": (
        [(0, 5, PRINTS), (3, 5, IDLE), (20, 1, PRINTS)],
        [False, False, True],
    ),
    "which did nothing": ([(0, 5, PRINTS), (3, 5, IDLE), (20, 1, IDLE)], [False, False, True]),
    "goes on with the only one": ([(0, 5, PRINTS), (20, 1, IDLE)], [False]),
    "goes on with the second of two, for it began while the first was on": (
        [(0, 30, PRINTS), (3, 5, IDLE), (20, 1, PRINTS)],
        [False, False],
    ),
}
"""Runs of a durable function that had one receipt handle: when each began, how many seconds it took, and what it printed."""


def begun_twice(of, runs):
    """Return of each delivery, in order, whether it may be a replay."""
    item = [
        delivery(
            **RUN
            | DURABLE
            | IDLE
            | BEGUN_AT
            | said
            | {"request_id": f"r{at_s}", "consumer": f"r{at_s}", "received_at": 0, "run_started_at": at_s * S}
            | {"run_ended_at": (at_s + took_s) * S, "is_end_known": True},
        )
        for at_s, took_s, said in runs
    ]
    found = of.put_together(item[::-1])
    return [d.may_be_same_receive for d in sorted(found, key=lambda d: d.run_started_at)]


@pytest.mark.parametrize(("runs", "expected"), BEGUN_TWICE.values(), ids=BEGUN_TWICE)
def test_a_run_that_may_go_on_with_either_of_two_stands_alone(runs, expected):
    assert begun_twice(same_receive, runs) == expected


OTHER_FUNCTION = MAY_LAST | {"log_group": "/aws/lambda/b"}
LATE = MAY_LAST | {"marker_at": None}
AFTER_EACH_OTHER = {
    "within the longest execution: all of them one": (
        [(0, MAY_LAST), (25, MAY_LAST), (960, MAY_LAST)],
        [False, True, True],
    ),
    "of which the last alone prints the effect": ([(0, LATE), (25, LATE), (50, MAY_LAST)], [True, True, False]),
    "of which the third began after the longest: the second is of either": (
        [(0, MAY_LAST), (25, MAY_LAST), (961, MAY_LAST)],
        [False, True, False],
    ),
    "of which the second had another receive": (
        [
            (0, MAY_LAST | {"receive_count": 1}),
            (10, MAY_LAST | {"receive_count": 2}),
            (20, MAY_LAST | {"receive_count": 1}),
        ],
        [False, False, True],
    ),
    "of two functions, each of its own": (
        [(0, MAY_LAST), (10, OTHER_FUNCTION), (35, MAY_LAST), (38, OTHER_FUNCTION)],
        [False, False, True, True],
    ),
}


def after_each_other(of, runs):
    """Return of each run, in order, whether it may be a replay; each takes a second."""
    item = [
        delivery(
            **run
            | {"request_id": f"r{at_s}", "received_at": at_s * S, "run_started_at": at_s * S}
            | {"run_ended_at": (at_s + 1) * S}
        )
        for at_s, run in runs
    ]
    found = of.put_together(item[::-1])
    return [d.may_be_same_receive for d in sorted(found, key=lambda d: d.received_at)]


@pytest.mark.parametrize(("runs", "expected"), AFTER_EACH_OTHER.values(), ids=AFTER_EACH_OTHER)
def test_runs_that_follow_one_another_may_be_one_execution(runs, expected):
    assert after_each_other(same_receive, runs) == expected


def test_a_third_that_surely_is_the_first_makes_no_third_receive():
    found = same_receive.put_together(
        [delivery(**COUNTED, receipt_handle=ONE_HANDLE, log_stream=stream) for stream in ("a", "b", "c")]
    )

    assert len(found) == 1


def received(of, told: tuple[tuple[str, list[int]], ...]) -> list[tuple[str, bool]]:
    """Return the receives, each with whether it may be another's, that streams tell of with these marks, a minute apart."""
    item = [
        delivery(**STAMPED | {"log_stream": stream, "line_marks": marks, "received_at": place * 60 * S})
        for place, (stream, marks) in enumerate(told)
    ]
    return [(d.log_stream, d.may_be_same_receive) for d in of.put_together(item)]


ALL = [T1, T2, 3 << 32, 4 << 32]
SHIPPED = {
    "three copies are one": ((("a", ALL), ("b", ALL), ("c", ALL)), [("a", False)]),
    "a copy that lost an opening holds two receives of one stream": (
        (("a", ALL[:2]), ("b", ALL), ("a", ALL[2:])),
        [("a", False), ("a", False)],
    ),
    "and so it does where it comes first": (
        (("b", ALL), ("a", ALL[:2]), ("a", ALL[2:])),
        [("b", False), ("a", False)],
    ),
    "a copy that holds receives of two streams is one of them for sure": (
        (("a", ALL[:2]), ("copy", ALL), ("b", ALL[2:])),
        [("a", False), ("b", True)],
    ),
}


@pytest.mark.parametrize(("told", "expected"), SHIPPED.values(), ids=SHIPPED)
def test_streams_that_hold_the_same_lines_tell_of_one_receive(told, expected):
    assert received(same_receive, told) == expected


HANDLE = {"receipt_handle": ONE_HANDLE}
SAID = {
    "the end of the run that went on": (
        RUN | DURABLE | IDLE | {"run_ended_at": 5, "is_end_known": True, "marker_at": 2},
        NEXT_RUN
        | DURABLE
        | {
            "run_status": "error",
            "is_not_reached": True,
            "order_declared": "sequential",
            "run_ended_at": 9,
            "is_end_known": False,
        },
        {"run_status": "error", "run_ended_at": 9, "is_end_known": False},
    ),
    "lines of both": ({"fact_ids": ["a"]}, {"fact_ids": ["b"]}, {"fact_ids": ["a", "b"]}),
    "the earlier of two effect lines": ({"marker_at": 7}, {"marker_at": 5}, {"marker_at": 5}),
    "an effect line of either": ({}, {"marker_at": 5}, {"marker_at": 5}),
    "what only the other says": (
        {"is_refused": False},
        {"is_refused": True, "batch_count": 2},
        {"is_refused": True, "batch_count": 2},
    ),
    "its own word where both say it": ({"batch_count": 1}, {"batch_count": 2}, {"batch_count": 1}),
    "the end that only the other tells": (
        {"run_status": "unknown", "run_ended_at": 3, "is_end_known": False},
        {"run_status": "error", "run_ended_at": 8},
        {"run_status": "error", "run_ended_at": 8, "is_end_known": True},
    ),
    "its own end": (
        {"run_status": "success", "run_ended_at": 3},
        {"run_status": "error", "run_ended_at": 8},
        {"run_status": "success", "run_ended_at": 3},
    ),
    "its own end where the other tells none": (
        {"run_status": "success", "run_ended_at": 3},
        {"run_status": "unknown", "run_ended_at": 8},
        {"run_status": "success", "run_ended_at": 3},
    ),
    "no end where neither tells one": (
        {"run_status": "unknown", "run_ended_at": 3},
        {"run_status": "unknown", "run_ended_at": 8},
        {"run_status": "unknown", "run_ended_at": 3},
    ),
    "the last line of both": ({"last_fact_at": 8}, {"last_fact_at": 9}, {"last_fact_at": 9}),
    "when it was received first": ({}, {"received_at": 5 * S}, {"received_at": 0}),
}


def kept(of, first, second):
    (found,) = of.put_together([delivery(**{**AGAIN, **second, **HANDLE}), delivery(**{**COUNTED, **first, **HANDLE})])
    return found


def answer_kept(of, first, second, names):
    found = kept(of, first, second)
    return {name: getattr(found, name) for name in names}


@pytest.mark.parametrize(("first", "second", "expected"), SAID.values(), ids=SAID)
def test_of_one_receive_is_kept(first, second, expected):
    assert answer_kept(same_receive, first, second, expected) == expected
