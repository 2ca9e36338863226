"""Receives that only the receive count shows: which are missing, when they happened, and what they are."""

import pytest

from forensics.judging import unlogged
from tests.forensics.judging.plain import MIN, Around, delivery

DEAD = {"received_from_arn": "arn:aws:sqs:eu-west-1:123456789012:orders-dlq"}

CASES = {
    "the first": ([{"receive_count": 1}], {}, []),
    "the second alone": ([{"receive_count": 2}], {}, [1]),
    "the first and the third": ([{"receive_count": 1}, {"receive_count": 3}], {}, [2]),
    "the same count twice": ([{"receive_count": 2}, {"receive_count": 2}], {}, [1]),
    "one that was not counted may be the missing one": ([{"receive_count": 2}, {}], {}, []),
    "one that was not counted, of two missing": ([{"receive_count": 3}, {}], {}, [2]),
    "one that was not counted, received after the counted ones": (
        [{"receive_count": 2}, {"receive_count": 4}, {"received_at": 9 * MIN}],
        {},
        [1, 3],
    ),
    "one received between two counts, and one before": (
        [
            {"receive_count": 3},
            {"receive_count": 6, "received_at": 4 * MIN},
            {"received_at": MIN},
            {"received_at": -MIN},
        ],
        {},
        [2, 5],
    ),
    "one received with a count, which fits either side": (
        [{"receive_count": 2}, {"receive_count": 4, "received_at": 4 * MIN}, {}],
        {},
        [3],
    ),
    "one received with the lowest count of a dead-letter queue": (
        [{"receive_count": 4}, {"receive_count": 6, "received_at": MIN}, {}],
        {"is_dead_letter_queue": True},
        [],
    ),
    "two received between the counts of one": (
        [
            {"receive_count": 1},
            {"receive_count": 3, "received_at": 4 * MIN},
            {"received_at": MIN},
            {"received_at": MIN},
        ],
        {},
        [],
    ),
    "one of which nobody knows when": ([{"receive_count": 2}, {"receive_count": 4}, {"received_at": None}], {}, [3]),
    "among counts of which nobody knows when": ([{"receive_count": 3, "received_at": None}, {}], {}, [2]),
    "none counted": ([{}, {}], {}, []),
    "in a dead-letter queue, that goes on counting": ([{"receive_count": 4}], {"is_dead_letter_queue": True}, []),
    "a gap in a dead-letter queue": (
        [{"receive_count": 4}, {"receive_count": 6}],
        {"is_dead_letter_queue": True},
        [5],
    ),
    "says that it came from a dead-letter queue's source": (
        [{"receive_count": 4, "dead_letter_source_arn": "arn"}],
        {},
        [],
    ),
    "the last that its queue allows, before it was received from the dead-letter queue": (
        [{"receive_count": 1, "max_receive_count": 2}, {"receive_count": 3, **DEAD}],
        {},
        [2],
    ),
    "none beyond those: a move may count as one": (
        [{"receive_count": 1, "max_receive_count": 1}, {"receive_count": 3, **DEAD}],
        {},
        [],
    ),
    "all beyond that one, out of the dead-letter queue": (
        [{"receive_count": 1, "max_receive_count": 1}, {"receive_count": 5, **DEAD}],
        {},
        [3, 4],
    ),
    "how many its queue allows is not known": ([{"receive_count": 1}, {"receive_count": 3, **DEAD}], {}, [2]),
    "in between out of the dead-letter queue": (
        [{"receive_count": 1, "max_receive_count": 1}, *({"receive_count": n, **DEAD} for n in (2, 4))],
        {},
        [3],
    ),
    "from the dead-letter queue nothing was counted": (
        [{"receive_count": 3, "max_receive_count": 2}, DEAD],
        {},
        [2],
    ),
    "a dead letter tells where it came from, and what came before is seen, too": (
        [{"receive_count": 2}, {"receive_count": 3, "dead_letter_source_arn": "arn", **DEAD}],
        {},
        [1],
    ),
    "the thousandth": ([{"receive_count": 1000}, *({"receive_count": n} for n in range(1, 999))], {}, [999]),
    "beyond a thousand": ([{"receive_count": 1002}, *({"receive_count": n} for n in range(1, 1000))], {}, [1000]),
}
"""What logs show of one message, its surroundings, and the counts that no log shows."""

SPANS = {
    "between the receives beside it": (
        [{"receive_count": 1, "received_at": 1 * MIN}, {"receive_count": 4, "received_at": 4 * MIN}],
        [(None, 1 * MIN, 4 * MIN), (None, 1 * MIN, 4 * MIN)],
    ),
    "after the newest of several earlier ones": (
        [
            {"receive_count": 1, "received_at": 1 * MIN},
            {"receive_count": 2, "received_at": 2 * MIN},
            {"receive_count": 4, "received_at": 4 * MIN},
            {"receive_count": 5, "received_at": 5 * MIN},
        ],
        [(None, 2 * MIN, 4 * MIN)],
    ),
    "the first receive is known from SQS": (
        [{"receive_count": 2, "received_at": 4 * MIN, "first_receive_ms": 60_000, "sent_ms": 30_000}],
        [(1 * MIN, 1 * MIN, 4 * MIN)],
    ),
    "the second, after the first receive that SQS tells of": (
        [{"receive_count": 3, "received_at": 4 * MIN, "first_receive_ms": 60_000}],
        [(1 * MIN, 1 * MIN, 4 * MIN), (None, 1 * MIN, 4 * MIN)],
    ),
    "first received at the very first moment": (
        [{"receive_count": 2, "received_at": 4 * MIN, "first_receive_ms": 0, "sent_ms": 30_000}],
        [(0, 0, 4 * MIN)],
    ),
    "one that is counted, and nobody knows when": (
        [
            {"receive_count": 1, "received_at": None},
            {"receive_count": 2, "received_at": 2 * MIN},
            {"receive_count": 4, "received_at": 4 * MIN},
        ],
        [(None, 2 * MIN, 4 * MIN)],
    ),
    "only when it was sent is known": (
        [{"receive_count": 2, "received_at": 4 * MIN, "sent_ms": 30_000}],
        [(None, MIN // 2, 4 * MIN)],
    ),
    "nothing earlier is known": ([{"receive_count": 2, "received_at": 4 * MIN}], [(None, None, 4 * MIN)]),
}
"""What logs show of one message, and when each missing receive happened, after when and before when."""


def unlogged_of(of, logged, **around):
    if around.pop("is_dead_letter_queue", False):
        around["dead_letter_sources"] = {delivery().queue_arn: []}
    return of.unlogged_receives([delivery(**facts) for facts in logged], Around(**around))


def of_queue(of, logged):
    return [(d.receive_count, d.polled_arn.rpartition(":")[2]) for d in unlogged_of(of, logged)]


OF_QUEUES = {
    "from its own queue first, then from the dead-letter queue": (
        [{"receive_count": 1, "max_receive_count": 2}, *({"receive_count": n, **DEAD} for n in (3, 5))],
        [(2, "orders"), (4, "orders-dlq")],
    ),
    "the same, and how many its queue allows is not known": (
        [{"receive_count": 1}, *({"receive_count": n, **DEAD} for n in (3, 5))],
        [(2, "orders"), (4, "orders-dlq")],
    ),
    "no dead letter": ([{"receive_count": 2}], [(1, "orders")]),
}


@pytest.mark.parametrize(("logged", "expected"), OF_QUEUES.values(), ids=OF_QUEUES)
def test_a_receive_that_no_log_shows_is_of_one_queue(logged, expected):
    assert of_queue(unlogged, logged) == expected


def test_a_receive_before_the_dead_letter_queues_lies_before_that_one():
    logged = [{"receive_count": 1, "received_at": 0}, {"receive_count": 3, "received_at": 9 * MIN, **DEAD}]

    assert [(d.after_at, d.before_at) for d in unlogged_of(unlogged, logged)] == [(0, 9 * MIN)]


def answer(of, logged, around):
    return [d.receive_count for d in unlogged_of(of, logged, **around)]


@pytest.mark.parametrize(("logged", "around", "counts"), CASES.values(), ids=CASES)
def test_each_count_that_no_log_shows_is_a_receive(logged, around, counts):
    assert answer(unlogged, logged, around) == counts


def spans(of, logged):
    return [(d.received_at, d.after_at, d.before_at) for d in unlogged_of(of, logged)]


@pytest.mark.parametrize(("logged", "expected"), SPANS.values(), ids=SPANS)
def test_a_receive_that_no_log_shows_lies_between_what_is_known(logged, expected):
    assert spans(unlogged, logged) == expected


WATCHED = {
    "the logs would have shown a run": ({"would_be_logged": True}, ("never_started", True, False)),
    "all its workers' logs were read": ({"workers_read": True}, ("unseen", True, False)),
    "nobody can tell": ({}, ("unseen", False, False)),
}
"""Surroundings, and of what kind the receive is, whether whatever took it is no known consumer, whether a log shows it."""


def kind(of, around):
    logged = [{"receive_count": 1, "received_at": 1 * MIN}, {"receive_count": 3, "received_at": 3 * MIN}]
    (found,) = unlogged_of(of, logged, **around)
    return found.unseen_basis, found.is_watched, found.is_seen


@pytest.mark.parametrize(("around", "expected"), WATCHED.values(), ids=WATCHED)
def test_a_run_never_started_only_where_the_logs_would_have_shown_it(around, expected):
    assert kind(unlogged, around) == expected


CITED = {
    "the first line of each delivery": (
        [{"receive_count": 2, "evidence_ids": ["b", "z"]}, {"receive_count": 3, "evidence_ids": ["a"]}],
        {},
        (None, ["a", "b"]),
    ),
    "the throttles": (
        [{"receive_count": 2, "evidence_ids": ["u"]}],
        {"throttles": (True, ["t", "v"])},
        (True, ["t", "u", "v"]),
    ),
    "nothing for that no function was throttled": (
        [{"receive_count": 2, "evidence_ids": ["u"]}],
        {"throttles": (False, [])},
        (False, ["u"]),
    ),
}


def cited(of, logged, around):
    (found,) = unlogged_of(of, logged, **around)
    return found.is_throttled, found.evidence_ids


@pytest.mark.parametrize(("logged", "around", "expected"), CITED.values(), ids=CITED)
def test_a_receive_that_no_log_shows_cites_what_tells_of_it(logged, around, expected):
    assert cited(unlogged, logged, around) == expected


def test_a_receive_that_no_log_shows_has_the_settings_of_those_that_logs_show():
    settings = {"visibility_timeout_s": 30, "max_receive_count": 3, "is_fifo": False, "dead_letter_queue_arn": "dlq"}
    said = {"group_id": "g", "deduplication_id": "d", "body_md5": "b", "business_keys": ["j", "k"]}
    logged = [{"receive_count": 2, **said, **settings}]

    (found,) = unlogged_of(unlogged, logged)

    assert {name: getattr(found, name) for name in settings} == settings
    assert {name: getattr(found, name) for name in said} == said
    assert (found.consumer, found.log_group, found.run_status) == (None, None, None)
