"""Effect lines of workers that stand by themselves: no deliveries for sure."""

import pytest

from forensics.judging import lone_marks
from forensics.judging.judge import judge
from tests.forensics.judging.plain import Around, S, delivery

_KNOWN = {"consumer_kind": "worker", "run_status": "unknown", "received_basis": "first_line", "business_keys": ["k"]}
_BEGUN = {"item_id": "m1", "consumer": "begun", "started_at": 0, "marker_at": S}
_ALONE = {"item_id": "m1", "consumer": "alone", "received_at": 75 * S, "marker_at": 75 * S}
_OF_KEY = {"item_id": "key:k", "consumer": "key"}

CASES = {
    "after its own line": ([_BEGUN, _ALONE], {"begun": 1}),
    "in another stream": ([_BEGUN, _ALONE | {"log_stream": "audit"}], {"begun": 1}),
    "twice after it": ([_BEGUN, _ALONE, _ALONE | {"consumer": "again", "marker_at": 150 * S}], {"begun": 2}),
    "the message was printed": ([_BEGUN | {"started_at": None, "record_at": 0}, _ALONE], {"begun": 1}),
    "the newest that told it before": (
        [_BEGUN, _BEGUN | {"consumer": "next", "marker_at": 40 * S}, _ALONE],
        {"begun": 0, "next": 1},
    ),
    "one begun later may tell it after": (
        [_BEGUN, _ALONE, _BEGUN | {"consumer": "next", "marker_at": 90 * S}],
        {"begun": 1, "next": 0},
    ),
    "one that shows no effect": (
        [_BEGUN, _ALONE, _BEGUN | {"consumer": "other", "marker_at": None}],
        {"begun": 1, "other": 0},
    ),
    "its key alone": ([_BEGUN, _ALONE | _OF_KEY], {"begun": 1}),
    "its key alone, twice": (
        [_BEGUN, _ALONE | _OF_KEY, _ALONE | _OF_KEY | {"consumer": "again", "marker_at": 150 * S}],
        {"begun": 2},
    ),
    "another key alone": ([_BEGUN, _ALONE | _OF_KEY | {"item_id": "key:l"}], {"begun": 0, "key": 0}),
    "another message": ([_BEGUN, _ALONE | {"item_id": "m2"}], {"begun": 0, "alone": 0}),
    "in another log group": ([_BEGUN, _ALONE | {"log_group": "/ecs/other"}], {"begun": 0, "alone": 0}),
    "of another queue": ([_BEGUN, _ALONE | {"queue_arn": "other"}], {"begun": 0, "alone": 0}),
    "before any other line of it": ([_BEGUN | {"marker_at": 90 * S}, _ALONE], {"begun": 0, "alone": 0}),
    "at the time of its own": ([_BEGUN | {"marker_at": 75 * S}, _ALONE], {"begun": 0, "alone": 0}),
    "no other tells the effect": ([_BEGUN | {"marker_at": None}, _ALONE], {"begun": 0, "alone": 0}),
    "another one's opening lacks, too": (
        [_BEGUN, _ALONE, _BEGUN | {"consumer": "other", "started_at": None, "worker_finished_at": 2 * S}],
        {"begun": 0, "alone": 0, "other": 0},
    ),
    "what only names the message shows no opening": (
        [_BEGUN, _ALONE, _BEGUN | {"consumer": "named", "started_at": None, "marker_at": None, "is_passing": True}],
        {"begun": 1, "named": 0},
    ),
    "nothing opens any": ([_BEGUN | {"started_at": None}, _ALONE], {"begun": 0, "alone": 0}),
    "of a function": (
        [_BEGUN, _ALONE | {"consumer_kind": "lambda"}],
        {"begun": 0, "alone": 0},
    ),
    "beside a function's run": (
        [_BEGUN | {"consumer_kind": "lambda"}, _ALONE],
        {"begun": 0, "alone": 0},
    ),
    **{
        f"{field} is told with it": ([_BEGUN, _ALONE | {field: value}], {"begun": 0, "alone": 0})
        for field, value in {
            "receive_count": 2,
            "started_at": 74 * S,
            "record_at": 74 * S,
            "guard_at": 0,
            "idempotency": "already_done",
            "worker_finished_at": 0,
            "worker_failed_at": 0,
            "delete_at": 0,
            "handle_reason": "expired",
            "receipt_handle": "h",
            "visibility_set": [(74 * S, 80 * S)],
        }.items()
    },
}


def answer(of, deliveries):
    left = of.with_lone_marks_moved([delivery(**(_KNOWN | facts)) for facts in deliveries])
    return {d.consumer: d.lone_mark_count for d in left}


@pytest.mark.parametrize(("deliveries", "expected"), CASES.values(), ids=CASES)
def test_an_effect_by_itself_is_no_delivery_where_all_others_are_opened(deliveries, expected):
    assert answer(lone_marks, deliveries) == expected


def test_the_delivery_that_told_it_keeps_its_line():
    begun = delivery(**(_KNOWN | _BEGUN | {"fact_ids": ["a"], "evidence_ids": ["a"]}))
    alone = delivery(**(_KNOWN | _ALONE | {"business_keys": ["l"], "fact_ids": ["b"], "evidence_ids": ["b"]}))

    (kept,) = lone_marks.with_lone_marks_moved([begun, alone])

    assert (kept.business_keys, kept.fact_ids, kept.evidence_ids) == (["k", "l"], ["a", "b"], ["a", "b"])


def test_the_work_may_have_been_done_once_more_and_its_sentence_says_why():
    deliveries = [_BEGUN | {"receive_count": 1, "worker_finished_at": 2 * S, "run_status": "success"}, _ALONE]
    (message,) = judge([delivery(**(_KNOWN | facts)) for facts in deliveries], Around()).messages

    assert (message.verdict, message.effects_at_least, message.deliveries) == ("probable", 1, 1)
    assert "Its effect line stands 1 time more, with nothing else of a delivery" in message.effect_sentence


@pytest.mark.parametrize(("group", "expected"), [("/ecs/pay", [(1, 2)]), ("/ecs/other", [])])
def test_an_effect_told_again_in_hand_may_be_another_where_its_log_tells_each_once(group, expected):
    mine = delivery(
        "m1", **_KNOWN, log_group="/ecs/pay", started_at=0, marker_at=S, receive_count=1, told_again_count=1
    )
    judged = judge([mine], Around(groups_telling_once=frozenset({group}), would_be_logged=True))

    assert [(m.effects_at_least, m.effects_at_most) for m in judged.messages] == expected
