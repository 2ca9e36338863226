"""Which deliveries of an item are none: lines that name its message before it can have been received again."""

import pytest

from forensics.judging import passing
from tests.forensics.judging.plain import S, delivery

FIRST = {"receive_count": 1, "received_at": 100 * S, "visibility_timeout_s": 30}
NAMED = {"is_passing": True, "consumer": "other"}

CASES = {
    "before SQS handed it out": ([{"first_receive_ms": 100_000}, {**NAMED, "last_fact_at": 100 * S}], 1),
    "after that, where the first receive is not seen": (
        [{"first_receive_ms": 100_000}, {**NAMED, "last_fact_at": 100 * S + 1}],
        2,
    ),
    "while its first receive began": ([FIRST, {**NAMED, "last_fact_at": 105 * S}], 1),
    "later than who sent it would": ([FIRST, {**NAMED, "last_fact_at": 105 * S + 1}], 2),
    "when it may be visible again": ([{**FIRST, "visibility_timeout_s": 2}, {**NAMED, "last_fact_at": 102 * S}], 2),
    "where no visibility timeout is known": (
        [{**FIRST, "visibility_timeout_s": None}, {**NAMED, "last_fact_at": 105 * S}],
        1,
    ),
    "just before it may be visible again": (
        [{**FIRST, "visibility_timeout_s": 2}, {**NAMED, "last_fact_at": 101_800_000}],
        1,
    ),
    "at the very moment from which it may be": (
        [{**FIRST, "visibility_timeout_s": 2}, {**NAMED, "last_fact_at": 101_800_001}],
        2,
    ),
    "while a first receive of unknown time is seen": (
        [{**FIRST, "received_at": None, "first_receive_ms": 100_000}, {**NAMED, "last_fact_at": 100 * S + 1}],
        2,
    ),
    "and one in hand was silent since": ([{**FIRST, "last_fact_at": 5}, {**NAMED, "last_fact_at": 106 * S}], 2),
    "nobody knows when": ([FIRST, {**NAMED, "last_fact_at": None}], 2),
    "nothing tells when it was received": ([{"receive_count": 2}, {**NAMED, "last_fact_at": 5}], 2),
    "a later receive tells nothing of the first": ([{**FIRST, "receive_count": 2}, {**NAMED, "last_fact_at": 5}], 2),
    "as one in hand": ([FIRST, {**NAMED, "is_passing": False, "last_fact_at": 5}], 2),
}


RUN = {**NAMED, "consumer_kind": "lambda", "run_started_at": 101 * S, "first_fact_at": 102 * S, "last_fact_at": 103 * S}
RUNS = {
    "behind its first line": ([FIRST, RUN], [True]),
    "in its first line, and may have begun before": ([FIRST, {**RUN, "first_fact_at": 101 * S}], []),
    "and began with the first receive": ([FIRST, {**RUN, "run_started_at": 100 * S}], []),
    "and began just after the first receive": ([FIRST, {**RUN, "run_started_at": 100 * S + 1}], [True]),
    "and nothing tells when it began": ([FIRST, {**RUN, "run_started_at": None}], []),
    "behind another that wrote after the first receive": (
        [FIRST, {**RUN, "first_fact_at": 101 * S, "run_behind_at": 100 * S}],
        [True],
    ),
    "behind another that wrote no more then": (
        [FIRST, {**RUN, "first_fact_at": 101 * S, "run_behind_at": 100 * S - 1}],
        [],
    ),
    "and nothing tells when it named it first": ([FIRST, {**RUN, "first_fact_at": None}], []),
    "and is a worker's": ([FIRST, {**RUN, "consumer_kind": "worker"}], []),
    "later than who sent it would": ([FIRST, {**RUN, "last_fact_at": 105 * S + 1}], [False]),
    "of which SQS says that it was received first": (
        [{**FIRST, "received_at": 102 * S, "first_receive_ms": 100_500}, RUN],
        [True],
    ),
    "of which SQS says that it was received first when the run began": (
        [{**FIRST, "received_at": 102 * S, "first_receive_ms": 101_000}, RUN],
        [],
    ),
}
"""What a run says that names a message within five seconds of its first receive: may it have had it by that?"""


def answer_of_runs(of, item):
    return [d.may_be_same_receive for d in of.without_passing([delivery(**facts) for facts in item]) if d.is_passing]


@pytest.mark.parametrize(("item", "found"), RUNS.values(), ids=RUNS)
def test_a_run_names_a_message(item, found):
    assert answer_of_runs(passing, item) == found


def answer(of, item):
    return len(of.without_passing([delivery(**facts) for facts in item]))


@pytest.mark.parametrize(("item", "left"), CASES.values(), ids=CASES)
def test_a_message_is_named(item, left):
    assert answer(passing, item) == left
