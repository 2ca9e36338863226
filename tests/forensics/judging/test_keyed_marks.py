"""Lines that name only a business key, and the message that is known by it: whose they are."""

from datetime import UTC, datetime

import pytest

from forensics.judging.judge import judge
from forensics.judging.sends import Sends
from tests.forensics.judging.plain import Around, S, delivery

KEY = {"business_keys": ["k"]}
FAILED = {"consumer": "run-1", "run_status": "error", "has_effect": True}
AGAIN = {"consumer": "run-2", "run_status": "success", "has_effect": True, "received_at": 60 * S}
DONE_AGAIN = AGAIN | KEY | {"marker_at": 65 * S}

CASES = {
    "another run of the message, which its line there names with the key": ([FAILED, DONE_AGAIN], {"m1": 2}),
    "another run of the message, of which some line names the key": ([FAILED, AGAIN | KEY], {"m1": 1}),
    "a run that only speaks of the message": ([FAILED | {"is_passing": True}, DONE_AGAIN], {"m1": 1, "key:k": 1}),
    "a run that had other messages": ([FAILED | {"consumer": "run-3"}, DONE_AGAIN], {"m1": 1, "key:k": 1}),
    "a run of a message that is known by another key": (
        [FAILED, DONE_AGAIN | {"business_keys": ["l"]}],
        {"m1": 1},
    ),
    "a run of a message that is known by its event's id": ([FAILED, AGAIN | {"business_keys": ["sns:k"]}], {"m1": 0}),
}


@pytest.mark.parametrize(("deliveries", "expected"), CASES.values(), ids=CASES)
def test_a_line_of_a_key_stands_in(deliveries, expected):
    (key,) = {key for d in deliveries for key in d.get("business_keys", ())} - {"l"} or {"k"}
    alone = delivery(f"key:{key}", message_id=None, consumer="run-1", marker_at=5 * S, business_keys=[key])
    mine = [delivery("m1", **{"delivery_index": n, "receive_count": n, **d}) for n, d in enumerate(deliveries, 1)]

    judged = judge([*mine, alone], Around())

    assert {m.item_id: m.effects_at_least for m in judged.messages} == expected


def test_of_two_messages_of_one_key_in_one_run_neither_is_given_the_line():
    alone = delivery("key:k", message_id=None, consumer="run-1", marker_at=5 * S, fact_ids=["e-1"], **KEY)
    both = [delivery(name, **{**FAILED, **KEY}) for name in ("m1", "m2")]

    assert [d.fact_ids for d in judge([*both, alone], Around()).ledger if d.marker_at is not None] == [["e-1"]]
    assert "key:k" in {d.item_id for d in judge([*both, alone], Around()).ledger}
    assert "key:k" not in {d.item_id for d in judge([both[0], alone], Around()).ledger}


def test_a_line_that_may_be_of_another_message_than_those_with_its_key_is_given_to_none():
    perhaps = delivery("key:k", message_id=None, consumer="run-1", marker_at=5 * S, may_be_of_another=True, **KEY)
    failed = delivery("m1", **{**FAILED, **KEY})

    assert {d.item_id: d.effect for d in judge([failed, perhaps], Around()).ledger} == {"key:k": "yes", "m1": "unknown"}


HIDDEN = {"hidden_until_at": 30 * S}
ONE_OF = {
    "the only one": (["m1"], {}, {"m1": ["e-1"]}),
    "another one": (["m2"], {}, {"key:k": ["e-1"]}),
    "one of two, of which the other may have its key, too": (["m1", "m2"], {}, {"key:k": ["e-1"]}),
    "one of two, of which the other may have its key, too, while it was hidden": (
        ["m1", "m2"],
        {"hidden_until_at": 5 * S + 1},
        {"m1": ["e-1"]},
    ),
    "one of two, of which the other may have its key, too, as it was visible again": (
        ["m1", "m2"],
        {"hidden_until_at": 5 * S},
        {"key:k": ["e-1"]},
    ),
    "one of two, of which the other may have its key, too, and its message came again": (
        ["m1", "m2"],
        HIDDEN | {"again": {}},
        {"key:k": ["e-1"]},
    ),
    "one of two, whose message came again when it was seen to have ended behind the line": (
        ["m1", "m2"],
        HIDDEN | {"run_ended_at": 5 * S, "again": {}},
        {"m1": ["e-1"]},
    ),
    "one of two, whose message came again when it was seen to have ended before the line": (
        ["m1", "m2"],
        HIDDEN | {"run_ended_at": 5 * S - 1, "again": {}},
        {"key:k": ["e-1"]},
    ),
    "one of two, whose message came again where nobody knows when it ended": (
        ["m1", "m2"],
        HIDDEN | {"run_ended_at": 5 * S, "is_end_known": False, "again": {}},
        {"key:k": ["e-1"]},
    ),
    "one of two, whose message had come before": (
        ["m1", "m2"],
        HIDDEN | {"again": {"received_at": -60 * S}},
        {"m1": ["e-1"]},
    ),
    "one of two that are known by its key, and the other was over": (["m1", "m2"], {"other": KEY}, {"m1": ["e-1"]}),
}


@pytest.mark.parametrize(("one_of", "facts", "expected"), ONE_OF.values(), ids=ONE_OF)
def test_a_line_is_given_to_a_message_with_its_key_that_was_in_hand_as(one_of, facts, expected):
    facts = dict(facts)
    other, again = facts.pop("other", {}), facts.pop("again", None)
    alone = delivery(
        "key:k", message_id=None, consumer="run-1", marker_at=5 * S, one_of=one_of, fact_ids=["e-1"], **KEY
    )
    failed = delivery("m1", **{**FAILED, **KEY, **facts})
    came_again = [] if again is None else [delivery("m1", **(AGAIN | KEY | again))]
    ledger = judge([failed, *came_again, delivery("m2", consumer="run-0", **other), alone], Around()).ledger

    assert {d.item_id: d.fact_ids for d in ledger if d.fact_ids} == expected


WORKER = {"consumer_kind": "worker", "log_group": "/ecs/pay", "log_stream": "app/1", "run_status": "unknown", **KEY}
BEGUN = {
    "in the second in which its stream begins it, which SQS tells more exactly": (S + 700_000, S, {"m1": ["e-1"]}),
    "before its stream begins it": (0, 2 * S, {"key:k": ["e-1"]}),
}


@pytest.mark.parametrize(("received_at", "began_at", "expected"), BEGUN.values(), ids=BEGUN)
def test_a_line_of_a_worker_is_of_a_message_by_the_clock_of_its_stream(received_at, began_at, expected):
    mark = delivery("key:k", **{**WORKER, "marker_at": S, "first_fact_at": S, "last_fact_at": S, "fact_ids": ["e-1"]})
    mine = delivery("m1", **WORKER, received_at=received_at, run_started_at=began_at, run_ended_at=9 * S)
    ledger = judge([mine, mark], Around()).ledger

    assert {d.item_id: d.fact_ids for d in ledger if d.fact_ids} == expected


def test_a_stop_by_a_guard_is_given_to_the_message_like_an_effect():
    stopped = delivery("key:k", message_id=None, consumer="run-1", guard_at=5 * S, fact_ids=["e-1"], **KEY)
    (mine,) = judge([delivery("m1", **{**FAILED, **KEY}), stopped], Around()).ledger

    assert (mine.effect, mine.basis, mine.fact_ids) == ("no", "guard", ["e-1"])


TOLD = {"run_status": "success", "has_effect": True, "marker_at": 5 * S, "key_marker_count": 1}
OF_TWO_KEYS = {
    "both, where each was told by turn": ([TOLD | KEY, TOLD | {"business_keys": ["l"]}], {"key:k", "key:l"}),
    "that which was told by turn, where a line names another with the message": (
        [TOLD | KEY, {"business_keys": ["l"]}],
        {"key:k"},
    ),
    "neither, where one of several is the same": ([TOLD | KEY, TOLD | {"business_keys": ["k", "l"]}], set()),
    "neither, where the other is an event's id": ([TOLD | KEY, {"business_keys": ["sns:1"]}], set()),
    "neither, where each stands in a line with the message": (
        [TOLD | KEY | {"key_marker_count": 0}, TOLD | {"business_keys": ["l"], "key_marker_count": 0}],
        set(),
    ),
}


@pytest.mark.parametrize(("deliveries", "expected"), OF_TWO_KEYS.values(), ids=OF_TWO_KEYS)
def test_of_two_keys_that_one_message_is_told_to_have_it_loses(deliveries, expected):
    mine = [
        delivery("m1", consumer=f"run-{n}", received_at=n * 60 * S, receive_count=n, **d)
        for n, d in enumerate(deliveries, 1)
    ]
    ledger = judge(mine, Around()).ledger

    alone = [d for d in ledger if d.message_id is None]
    assert {d.item_id for d in alone} == expected
    assert all((d.effect, d.basis) == ("yes", "marker") for d in alone)
    lost = {key.removeprefix("key:") for key in expected}
    left = [d for d in ledger if d.message_id is not None]
    assert not lost & {key for d in left for key in d.business_keys}
    assert sum(d.marker_at is not None for d in left) == sum("marker_at" in d for d in deliveries) - len(expected)


STOPPED = {"has_effect": True, "guard_at": 5 * S, "is_guard_by_key": True}
OF_A_STOP = {
    "where another delivery's line names another key with the message": (
        [STOPPED | KEY, {"business_keys": ["l"]}],
        {"key:k": ("no", "guard")},
        ["unknown", "unknown"],
    ),
    "and its mark by key, too": (
        [STOPPED | TOLD | KEY, {"business_keys": ["l"]}],
        {"key:k": ("yes", "marker")},
        ["unknown", "unknown"],
    ),
    "and leaves the mark that names the message itself": (
        [STOPPED | TOLD | KEY | {"key_marker_count": 0}, {"business_keys": ["l"]}],
        {"key:k": ("no", "guard")},
        ["yes", "unknown"],
    ),
    "and a mark by key leaves the stop that names the message itself": (
        [STOPPED | TOLD | KEY | {"is_guard_by_key": False}, {"business_keys": ["l"]}],
        {"key:k": ("yes", "marker")},
        ["no", "unknown"],
    ),
    "nowhere, where its line names the message itself": (
        [STOPPED | KEY | {"is_guard_by_key": False}, {"business_keys": ["l"]}],
        {},
        ["no", "unknown"],
    ),
    "nowhere, where the other names the same key": ([STOPPED | KEY, KEY], {}, ["no", "unknown"]),
}
"""Deliveries of one message; what stands by itself of its key, and the effects of what is left."""


@pytest.mark.parametrize(("deliveries", "alone", "left"), OF_A_STOP.values(), ids=OF_A_STOP)
def test_a_stop_that_was_told_of_a_message_in_turn_is_of_its_key_alone(deliveries, alone, left):
    mine = [
        delivery("m1", consumer=f"run-{n}", received_at=n * 60 * S, receive_count=n, **(d | {"run_status": "unknown"}))
        for n, d in enumerate(deliveries, 1)
    ]
    ledger = judge(mine, Around()).ledger

    assert {d.item_id: (d.effect, d.basis) for d in ledger if d.message_id is None} == alone
    assert [d.effect for d in ledger if d.message_id is not None] == left
    assert any("k" in d.business_keys for d in ledger if d.message_id is not None) == (not alone)


GUESSED = {"run_status": "unknown", "consumer_kind": "worker", "marker_at": 70 * S, "is_mark_guessed": True}
OTHERS = {
    "another message is known by its key": (GUESSED | KEY, {"item_id": "m2", **KEY}, {"key:k"}),
    "another message is known by its key by a guess, too": (
        GUESSED | KEY,
        {"item_id": "m2", **GUESSED, **KEY},
        {"m1", "m2"},
    ),
    "its own message is, too": (GUESSED | KEY, {"item_id": "m1", "consumer": "again", **KEY}, {"m1"}),
    "its own message is known by another key": (
        GUESSED | KEY,
        {"item_id": "m1", "consumer": "again", "business_keys": ["l"]},
        {"key:k"},
    ),
    "its own message is known by another key in another queue": (
        GUESSED | KEY,
        {"item_id": "m1", "queue_arn": "other", "consumer": "again", "business_keys": ["l"]},
        {"m1"},
    ),
    "its own message is known by another key by a guess, too": (
        GUESSED | KEY,
        {"item_id": "m1", "consumer": "again", **GUESSED, "business_keys": ["l"]},
        {"key:k", "key:l"},
    ),
    "no other message is": (GUESSED | KEY, {"item_id": "m2", "business_keys": ["l"]}, {"m1"}),
    "another message of another queue is": (GUESSED | KEY, {"item_id": "m2", "queue_arn": "other", **KEY}, {"m1"}),
    "only a key alone is": (GUESSED | KEY, {"item_id": "key:k", "consumer": "alone", **KEY}, {"m1"}),
    "another message is, and its mark is no guess": (
        GUESSED | KEY | {"is_mark_guessed": False},
        {"item_id": "m2", **KEY},
        {"m1"},
    ),
    "another message is, and lines tell several keys of its own": (
        GUESSED | {"business_keys": ["k", "l"]},
        {"item_id": "m2", **KEY},
        {"m1"},
    ),
}


@pytest.mark.parametrize(("guessed", "other", "expected"), OTHERS.values(), ids=OTHERS)
def test_a_guessed_mark_is_of_its_key_alone_where(guessed, other, expected):
    ledger = judge([delivery("m1", **guessed), delivery(**other)], Around()).ledger

    assert {d.item_id for d in ledger if d.marker_at is not None} == expected
    assert all(d.one_of == ["m1"] for d in ledger if d.message_id is None and d.marker_at is not None)


def test_a_guessed_mark_is_of_its_message_where_a_send_names_the_key():
    sent = {
        "operation": "SendMessage",
        "error_code": None,
        "called_at": datetime(2026, 1, 5, tzinfo=UTC),
        "message_id": "m1",
        "business_key": "k",
    }
    row = {"queue_arn": "orders", "deduplication_id": None, "actor": "a", "evidence_id": "s-1", **sent}
    both = [delivery("m1", **GUESSED, **KEY), delivery("m2", **KEY)]

    assert {d.item_id for d in judge(both, Around(sends=Sends([row]))).ledger if d.marker_at is not None} == {"m1"}


SERVICE = {"message_id": None, "consumer_kind": "worker", "log_group": "/ecs/charge", "log_stream": "host", **KEY}
RUNS = [
    {"run_status": "timeout", "consumer": "run-1", "received_at": 0, "run_ended_at": 30 * S, **KEY},
    {"run_status": "success", "consumer": "run-2", "received_at": 60 * S, "run_ended_at": 61 * S, **KEY},
]
CALLED = {
    "in each handling": ((5, 60.5), {}, {1: "0", 2: "1"}),
    "as a handling began, and as the other ended": ((0, 61), {}, {1: "0", 2: "1"}),
    "between the two": ((31, 60.5), {}, {None: "0", 2: "1"}),
    "before a run began that had it for long": ((-1,), {"received_at": -5 * S, "run_started_at": 0}, {None: "0"}),
    "twice in one handling": ((5, 6), {}, {None: "01"}),
    "in a handling of which nobody knows the end": ((5,), {"run_ended_at": None}, {None: "0"}),
    "in two handlings at once": ((60.5,), {"run_ended_at": 70 * S}, {None: "0"}),
    "beside a line of the handler's own": ((5,), {"marker_at": S}, {None: "0"}),
    "beside its stop by a guard": ((5,), {"guard_at": S}, {None: "0"}),
}


@pytest.mark.parametrize(("at", "first", "expected"), CALLED.values(), ids=CALLED)
def test_a_line_of_a_service_is_of_the_handling_in_which_it_was_written(at, first, expected):
    """``expected``: by receive count the numbers of the lines; None: of the key alone."""
    judged = _with_service(
        at, [delivery(**{"receive_count": 1, **RUNS[0], **first}), delivery(receive_count=2, **RUNS[1])]
    )
    told = {}
    for d in judged.ledger:
        told[d.receive_count] = told.get(d.receive_count, "") + "".join(d.fact_ids)

    assert {count: lines for count, lines in told.items() if lines} == expected


def test_a_line_of_a_service_is_of_none_of_two_messages_of_its_key_nor_of_its_own_log_group():
    other = delivery("m2", consumer="run-3", received_at=100 * S, run_ended_at=110 * S, **KEY)
    same = [delivery(**run | {"log_group": "/ecs/charge"}) for run in RUNS[:1]]

    assert "key:k" in {d.item_id for d in _with_service((5,), [delivery(**RUNS[0]), other]).ledger}
    assert "key:k" in {d.item_id for d in _with_service((5,), same).ledger}
    assert "key:k" not in {d.item_id for d in _with_service((5,), [delivery(**RUNS[0])]).ledger}


def _with_service(at, runs):
    marks = [
        delivery(
            "key:k",
            **SERVICE,
            consumer=f"line-{n}",
            received_at=t,
            marker_at=t,
            first_fact_at=t,
            last_fact_at=t,
            fact_ids=[str(n)],
        )
        for n, t in enumerate(int(second * S) for second in at)
    ]
    return judge([*runs, *marks], Around(would_be_logged=True))
