"""Late background output, and effect lines that messages of one batch share."""

import pytest

from forensics.judging import late_output
from tests.forensics.judging.plain import S, delivery

_HOME = {"is_batch_printed": True, "batch_position": 1, "consumer": "run 1"}

_LATE = {"is_batch_printed": True, "consumer": "run 2", "received_at": 60 * S}

CASES = {
    "its line stands in the next run": ([_HOME, {**_LATE, "marker_at": 5}], {"run 1": 5}),
    "the next run printed no batch": (
        [_HOME, {**_LATE, "marker_at": 5, "is_batch_printed": False}],
        {"run 1": None, "run 2": 5},
    ),
    "the next run's batch has it": (
        [_HOME, {**_LATE, "marker_at": 5, "batch_position": 1}],
        {"run 1": None, "run 2": 5},
    ),
    "its own run printed it alone": (
        [{**_HOME, "is_batch_printed": False, "batch_position": None, "record_at": 1}, {**_LATE, "marker_at": 5}],
        {"run 1": 5},
    ),
    "its own run began it, and its batch was not kept": (
        [{**_HOME, "is_batch_printed": False, "batch_position": None, "started_at": 1}, {**_LATE, "marker_at": 5}],
        {"run 1": 5},
    ),
    "an earlier run only speaks of it": (
        [{**_HOME, "is_batch_printed": False, "batch_position": None}, {**_LATE, "marker_at": 5}],
        {"run 1": None, "run 2": 5},
    ),
    "another run went on with it": (
        [{**_LATE, "consumer": "run 1b", "received_at": 30 * S, "started_at": 1}, {**_LATE, "marker_at": 5}],
        {"run 1b": None, "run 2": 5},
    ),
    "another stream": ([_HOME, {**_LATE, "marker_at": 5, "log_stream": "other"}], {"run 1": None, "run 2": 5}),
    "another log group": ([_HOME, {**_LATE, "marker_at": 5, "log_group": "other"}], {"run 1": None, "run 2": 5}),
    "another message": ([_HOME, {**_LATE, "marker_at": 5, "item_id": "m2"}], {"run 1": None, "run 2": 5}),
    "only a key is named": (
        [{**_HOME, "item_id": "key:k"}, {**_LATE, "marker_at": 5, "item_id": "key:k"}],
        {"run 1": None, "run 2": 5},
    ),
    "a worker's": ([_HOME, {**_LATE, "marker_at": 5, "consumer_kind": "worker"}], {"run 1": None, "run 2": 5}),
    "the run that has it began later": (
        [{**_HOME, "received_at": 60 * S + 1}, {**_LATE, "marker_at": 5}],
        {"run 1": None, "run 2": 5},
    ),
    "the run that has it began in the same moment": (
        [{**_HOME, "received_at": 60 * S}, {**_LATE, "marker_at": 5}],
        {"run 1": 5},
    ),
    "of two earlier runs the newest": (
        [_HOME, {**_HOME, "consumer": "run 1b", "received_at": 30 * S}, {**_LATE, "marker_at": 5}],
        {"run 1": None, "run 1b": 5},
    ),
    "its own line stands": ([{**_HOME, "marker_at": 3}, {**_LATE, "marker_at": 5}], {"run 1": 3}),
    "its own line at the very first moment stands": (
        [{**_HOME, "marker_at": 0}, {**_LATE, "marker_at": 5}],
        {"run 1": 0},
    ),
    "late in two runs, the earliest line counts": (
        [_HOME, {**_LATE, "marker_at": 7}, {**_LATE, "consumer": "run 3", "marker_at": 5}],
        {"run 1": 5},
    ),
}
"""Deliveries of one stream, and the time of the effect line of each that is left."""

_KEYED = {"business_keys": ["k"]}

SHARED = {
    "one line for two": ([{**_KEYED, "marker_at": 5, "key_marker_count": 1}, _KEYED], [5, None]),
    "two lines for two": ([{**_KEYED, "marker_at": 5, "key_marker_count": 2}, _KEYED], [5, 5]),
    "two lines for three, by place in the batch": (
        [_KEYED, _KEYED, {**_KEYED, "marker_at": 5, "key_marker_count": 2}],
        [5, None, 5],
    ),
    "a place in the batch that is not known comes last": (
        [{**_KEYED, "batch_position": None}, _KEYED, {**_KEYED, "marker_at": 5, "key_marker_count": 2}],
        [None, 5, 5],
    ),
    "the latest line's time": (
        [
            {**_KEYED, "marker_at": 5, "key_marker_count": 1},
            {**_KEYED, "marker_at": 9, "key_marker_count": 2},
            _KEYED,
        ],
        [5, 9, 9],
    ),
    "another key": ([{**_KEYED, "marker_at": 5, "key_marker_count": 2}, {"business_keys": ["j"]}], [5, None]),
    "two keys": ([{**_KEYED, "marker_at": 5, "key_marker_count": 2}, {"business_keys": ["j", "k"]}], [5, None]),
    "another run": ([{**_KEYED, "marker_at": 5, "key_marker_count": 2}, {**_KEYED, "consumer": "run 2"}], [5, None]),
    "lines that name the message are not shared": ([{**_KEYED, "marker_at": 5}, _KEYED], [5, None]),
}
"""Messages of one batch in its order, and the time of each one's effect line."""


def answer(of, deliveries):
    left = of.with_late_output_returned([delivery(**facts) for facts in deliveries])
    return {d.consumer: d.marker_at for d in left}


@pytest.mark.parametrize(("deliveries", "expected"), CASES.values(), ids=CASES)
def test_a_late_line_belongs_to_the_newest_earlier_run_whose_batch_has_the_message(deliveries, expected):
    assert answer(late_output, deliveries) == expected


def test_a_message_given_back_keeps_what_its_lines_show():
    home = delivery(**_HOME, fact_ids=["c"], evidence_ids=["c", "e"], business_keys=["k"])
    late = delivery(**_LATE, fact_ids=["a"], evidence_ids=["a", "d"], business_keys=["j"], started_at=3, guard_at=4)

    (left,) = late_output.with_late_output_returned([late, home])

    assert (left.started_at, left.guard_at, left.marker_at) == (3, 4, None)
    assert (left.fact_ids, left.evidence_ids) == (["a", "c"], ["a", "c", "d", "e"])
    assert left.business_keys == ["j", "k"]


GIVEN = {
    "it says nothing of that": ({}, {"started_at": 3, "guard_at": 4}, (3, 4)),
    "it says when it began": ({"started_at": 1}, {"started_at": 3, "guard_at": 4}, (1, 4)),
    "it says that a guard stopped it": ({"guard_at": 2}, {"started_at": 3, "guard_at": 4}, (3, 2)),
    "nobody says anything": ({}, {}, (None, None)),
}


def given(of, home, late):
    (left,) = of.with_late_output_returned([delivery(**_HOME, **home), delivery(**_LATE, **late)])
    return left.started_at, left.guard_at


@pytest.mark.parametrize(("home", "late", "expected"), GIVEN.values(), ids=GIVEN)
def test_what_a_message_says_itself_stands(home, late, expected):
    assert given(late_output, home, late) == expected


def shared(of, batch):
    one_batch = [delivery(f"m{place}", **{"batch_position": place, **facts}) for place, facts in enumerate(batch, 1)]
    of.share_by_key(reversed(one_batch))
    return [d.marker_at for d in one_batch]


@pytest.mark.parametrize(("batch", "expected"), SHARED.values(), ids=SHARED)
def test_lines_that_name_a_key_are_spread_over_the_messages_that_share_it(batch, expected):
    assert shared(late_output, batch) == expected


def test_a_message_that_got_a_line_cites_all_who_share_the_key():
    batch = [
        delivery("m1", business_keys=["k"], marker_at=5, key_marker_count=2, evidence_ids=["b"]),
        delivery("m2", business_keys=["k"], evidence_ids=["a", "c"]),
    ]

    late_output.share_by_key(batch)

    assert [d.evidence_ids for d in batch] == [["b"], ["a", "b", "c"]]
