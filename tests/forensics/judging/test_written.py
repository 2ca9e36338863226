"""Which runs may have had messages that no line names, and which of them may have done their work."""

from datetime import UTC, datetime

import pytest

from forensics.judging.order import OrderCounts
from forensics.judging.written import BlindStarts, blind_of, lines_of_writers
from forensics.settings import Consumer
from forensics.settings_in_force import SettingsInForce
from forensics.streams.invocations import lines_row
from forensics.streams.model import ERROR, TAKEN, WHOLE, Fact, Invocation, LogGroup

QUEUE, GROUP = "arn:aws:sqs:eu-west-1:123456789012:orders", "/aws/lambda/charge"
WRITER = (GROUP, "charge")
SHOWN_IN_ORDER, AGAINST = {WRITER: OrderCounts(30)}, {WRITER: OrderCounts(30, 1)}
ALL, NO_WORK, SHOWN, NONE = ([7], [7], []), ([7], [], []), ([7], [], [7]), ([], [], [])


def in_force(batch_size):
    mapping = {
        "evidence_id": "m",
        "mapping_uuid": "u",
        "queue_arn": QUEUE,
        "function_name": "charge",
        "batch_size": batch_size,
        "batching_window_s": 0,
        "maximum_concurrency": None,
        "reports_batch_item_failures": False,
        "observed_at": datetime(1970, 1, 1, tzinfo=UTC),
        "last_modified_at": datetime(1970, 1, 1, tzinfo=UTC),
    }
    return SettingsInForce.of([], [], [mapping] if batch_size else [])


BLIND = {
    "it names nothing": (0, None, 10, {}, ALL),
    "it names fewer than it may have had": (9, None, 10, {}, ALL),
    "it names as many as its mapping hands out": (10, None, 10, {}, NONE),
    "nobody knows how many that are": (10, None, None, {}, ALL),
    "it names its only one": (1, None, 1, {}, NONE),
    "it shows all its work, one after the other as declared": (0, "sequential", 10, {}, SHOWN),
    "it shows all its work, one after the other as its runs tell": (0, "unsaid", 10, SHOWN_IN_ORDER, SHOWN),
    "it shows its work, and its runs tell nothing of an order": (0, "unsaid", 10, {}, ALL),
    "it shows its work, and takes its batch side by side": (0, "unsaid", 10, AGAINST, ALL),
    "it shows its work, and had one message": (0, "unsaid", 1, {}, SHOWN),
    "it had one message, and need not show its work": (0, None, 1, {}, ALL),
    "its runs tell an order, and it need not show its work": (0, None, 10, SHOWN_IN_ORDER, ALL),
}
"""Messages that a run's lines say it had, its order if it shows all its work, the batch size, what runs tell of the order, and the
starts of runs that may have had others, and have done their work; and those that did not if every work done is shown."""


@pytest.mark.parametrize(("count", "order", "batch_size", "orders", "expected"), BLIND.values(), ids=BLIND)
def test_a_run_may_have_had_a_message_that_no_line_names(count, order, batch_size, orders, expected):
    runs = [(GROUP, "charge", QUEUE, count, order, False, [7])]

    found = blind_of(runs, in_force(batch_size), orders)

    assert [(*blind,) for _, blind in found] == ([expected] if expected != NONE else [])


def test_a_run_that_says_which_messages_it_begins_did_no_work_on_others():
    ((_, blind),) = blind_of([(GROUP, "charge", QUEUE, 1, None, True, [7])], in_force(10), {})

    assert (*blind,) == NO_WORK


def lines_of(*has_effect_line, unless_shown=(5,)):
    """What is told of one function by parts of which each has an effect line or none."""
    part = {"log_group": GROUP, "function_name": "charge", "has_starts": True, "has_guard_line": False}
    (told,) = lines_of_writers(
        [{"log_group": GROUP, "first_at": 0, "last_at": 9}],
        [part | {"has_effect_line": has} for has in has_effect_line],
        [(WRITER, BlindStarts([3, 5], [3], list(unless_shown)))],
        {GROUP: "charge"},
        {},
    )
    return told.has_effect_line, told.workable_starts


def test_that_every_work_is_shown_is_not_taken_for_true_where_no_line_shows_any():
    assert lines_of(False, True) == (True, [3])
    assert lines_of(False, None) == (False, [3, 5])


TOLD_ONCE = {
    "one handling in ten tells its effect again": ([(10, 1)], True),
    "one in nine does": ([(9, 1)], False),
    "two parts together": ([(4, 0), (6, 1)], True),
    "each does": ([(3, 3)], False),
    "one in ten of one part, and more of another": ([(10, 1), (9, 1)], False),
    "none does": ([(1, 0)], True),
    "no effect is told": ([(0, 0)], False),
}


@pytest.mark.parametrize(("parts", "expected"), TOLD_ONCE.values(), ids=TOLD_ONCE)
def test_a_worker_tells_each_effect_once_where(parts, expected):
    known = {"log_group": GROUP, "function_name": None, "has_starts": True, "has_guard_line": False}
    parts = [known | {"has_effect_line": True, "effects": effects, "again": again} for effects, again in parts]
    (told,) = lines_of_writers([{"log_group": GROUP, "first_at": 0, "last_at": 9}], parts, [], {GROUP: None}, {})

    assert told.tells_effect_once is expected


def fact(role, message_id="m1", **more):
    return Fact(role, 1, "e", message_id, **more)


def shown(facts=(), status="success", **consumer):
    invocation = Invocation(
        "i", GROUP, "s", "r", 1, "charge", 0, 0, 9, 9, 9.0, status, None, False, "e", facts=[*facts]
    )
    return lines_row(invocation, LogGroup(GROUP, "lambda", consumer=Consumer(**consumer)))


BEGINS = {
    "the message it begins": ([fact("started")], True),
    "only a key": ([fact("started", None, key="p")], False),
    "only what it was given": ([fact("record")], False),
}


@pytest.mark.parametrize(("facts", "expected"), BEGINS.values(), ids=BEGINS)
def test_a_run_names(facts, expected):
    assert shown(facts)["begins_items"] is expected


IN_HAND = {
    "nothing": ([], 0),
    "one printed and begun, and another begun": ([fact("record"), fact("started"), fact("started", "m2")], 2),
    "one that a line says is in hand": ([fact("mention", detail=TAKEN)], 1),
    "one spoken of": ([fact("mention")], 0),
    "one done, perhaps behind its own run's end": ([fact("effect")], 0),
    "one begun of which only the key is known": ([fact("started", None, key="p")], 0),
}


@pytest.mark.parametrize(("facts", "expected"), IN_HAND.values(), ids=IN_HAND)
def test_a_run_s_lines_say_of_so_many_messages_that_it_had_them(facts, expected):
    assert shown(facts)["in_hand_count"] == expected


EXHAUSTIVE = {"effect": "done", "effect_is_exhaustive": True}
SHOWN = {
    "every effect is printed": ({}, EXHAUSTIVE, "unsaid"),
    "every effect is printed, one after the other": ({}, EXHAUSTIVE | {"order": "sequential"}, "sequential"),
    "every effect is printed, side by side": ({}, EXHAUSTIVE | {"order": "parallel"}, None),
    "not every effect is printed": ({}, {"effect": "done"}, None),
    "no effect is printed": ({}, {"effect_is_exhaustive": True}, None),
    "it failed": ({"status": "error"}, EXHAUSTIVE, None),
    "nothing tells how it ended": ({"status": "unknown"}, EXHAUSTIVE, None),
    "one effect names its message": ({"facts": [fact("effect")]}, EXHAUSTIVE, "unsaid"),
    "an error may stand in place of one": ({"facts": [fact("effect"), fact(ERROR, None)]}, EXHAUSTIVE, None),
    "it prints its batch": ({"facts": [fact("record", detail=WHOLE)]}, EXHAUSTIVE, None),
    "one effect names a key alone": ({"facts": [fact("effect", None, key="p")]}, EXHAUSTIVE, None),
}


@pytest.mark.parametrize(("run", "consumer", "expected"), SHOWN.values(), ids=SHOWN)
def test_a_run_shows_all_its_work_where(run, consumer, expected):
    assert shown(**run, **consumer)["order_if_all_shown"] == expected
