"""Effect lines of one key, some of which name a message and some of which nothing tells the message."""

from operator import attrgetter
from types import SimpleNamespace

import pytest

from forensics.judging import marks_beside
from forensics.judging.judge import judge
from forensics.judging.messages import done_again_at
from tests.forensics.incidents.builders import message
from tests.forensics.judging.plain import MIN, Around, S, delivery

MARK = {"marker_at": 5 * S, "business_keys": ["k"], "has_effect": True}
ALONE = {**MARK, "message_id": None, "consumer": "run-2"}

CASES = {
    "its own line, and one of its key in another run": ([{**MARK, "consumer": "run-1"}], (1, 2)),
    "its own line, and one of its key in the same run": ([{**MARK, "consumer": "run-2"}], None),
    "no line of its own: that of its key may be its own": ([{**MARK, "consumer": "run-1", "marker_at": None}], None),
    "its own line of another key": ([{**MARK, "consumer": "run-1", "business_keys": ["l"]}], None),
    "its own line in another queue": ([{**MARK, "consumer": "run-1", "queue_arn": "other"}], None),
    "delivered again, and not done": (
        [{**MARK, "consumer": "run-1"}, {"consumer": "run-3", "guard_at": 9 * S, "received_at": 8 * S}],
        (1, 2),
    ),
}


@pytest.mark.parametrize(("deliveries", "interval"), CASES.values(), ids=CASES)
def test_a_line_of_the_key_in_another_run_may_be_the_same_work_done_again(deliveries, interval):
    mine = [
        delivery("m1", **{"delivery_index": n, "receive_count": n, "run_status": "success", **d})
        for n, d in enumerate(deliveries, 1)
    ]
    found = judge([*mine, delivery("key:k", **ALONE)], Around())

    said = {m.item_id: (m.effects_at_least, m.effects_at_most) for m in found.messages}
    assert said.get("m1") == interval
    assert ("key:k" in said) == (interval is not None)


OWN, OTHER = {**MARK, "consumer": "run-1"}, {**MARK, "consumer": "run-2"}
COUNTED = {
    "one of its key in another run": ({"m1": [OWN]}, {"key:k": [OTHER]}, (1, 1)),
    "two of its key in another run, one in its own": ({"m1": [OWN]}, {"key:k": [OTHER, OTHER, OWN]}, (2, 1)),
    "of its key, without an effect": ({"m1": [OWN]}, {"key:k": [OTHER | {"marker_at": None}]}, (0, 0)),
    "its own without an effect": ({"m1": [OWN | {"marker_at": None}]}, {"key:k": [OTHER]}, (0, 0)),
    "of another key": ({"m1": [OWN]}, {"key:l": [OTHER | {"business_keys": ["l"]}]}, (0, 0)),
    "of its key in another queue": ({"m1": [OWN]}, {"key:k": [OTHER | {"queue_arn": "other"}]}, (0, 0)),
    "none of a key alone": ({"m1": [OWN], "m2": [OTHER]}, {}, (0, 0)),
    "of one of two messages": ({"m1": [OWN], "m2": [OTHER | {"marker_at": None}]}, {"key:k": [OTHER]}, (1, 1)),
}
"""Marks of messages, and of their key alone: how many of each kind stand beside the other's work."""


def counted(of, messages, keys):
    mine, alone = ([[delivery(name, **d) for d in each] for name, each in some.items()] for some in (messages, keys))
    mine, alone = list(mine), list(alone)
    beside = of.MarksBeside([*mine, *alone])
    return beside.count([*mine, *alone]), beside.count(alone)


@pytest.mark.parametrize(("messages", "keys", "expected"), COUNTED.values(), ids=COUNTED)
def test_marks_of_the_other_kind_count_for_a_work(messages, keys, expected):
    assert counted(marks_beside, messages, keys) == expected


LINES = {
    "as often as its deliveries did it": (["yes"], [["yes"]], (["unknown"], 0)),
    "more often: the last ones": (["yes"], [["yes", "unknown", "yes"]], (["unknown", "unknown", "yes"], 2)),
    "more often than it was delivered": (["unknown"], [["yes", "yes"]], (["yes", "yes"], 1)),
    "as often as it was delivered": (["unknown", "unknown"], [["yes", "yes"]], (["yes", "yes"], 0)),
    "not so often": (["yes", "yes"], [["yes"]], (["unknown"], 0)),
    "not at all": (["no"], [["no"]], (["no"], 0)),
    "by two keys: each may tell of what the other tells of": (
        ["unknown"],
        [["yes"], ["yes", "yes"]],
        (["unknown", "yes", "yes"], 1),
    ),
    "by two keys alike": (["no"], [["yes"], ["yes"]], (["yes", "unknown"], 1)),
    "no message is known": ([], [["yes"], ["yes"]], (["yes", "yes"], 0)),
    "no line": (["no"], [], ([], 0)),
}
"""Effects of a message's deliveries and of lines of its keys: what counts of the lines, and how many are beyond the deliveries."""


def beyond(of, deliveries, lines):
    mine = [delivery("m1", effect=effect, basis="marker") for effect in deliveries]
    alone = [
        [delivery(f"key:{n}", effect=e, basis="marker", effect_at=1, ended_by="deleted") for e in each]
        for n, each in enumerate(lines)
    ]
    work = [mine, *alone] if mine else alone
    of.count_beyond_messages(work)
    told = [d for item in alone for d in item]
    assert all((d.may_be_same_receive, d.ended_by) == ((True, "unknown") if mine else (False, "deleted")) for d in told)
    assert all(
        (d.basis, d.effect_at) == ("same_receive", None) for d in told if d.effect == "unknown" and d.basis != "marker"
    )
    return [d.effect for d in told], of.lines_beyond(*of.apart(work))


@pytest.mark.parametrize(("deliveries", "lines", "expected"), LINES.values(), ids=LINES)
def test_lines_of_its_key_count_beyond_what_its_deliveries_show(deliveries, lines, expected):
    assert beyond(marks_beside, deliveries, lines) == expected


HOMES = {
    "after the first of two": (90, "a"),
    "after both": (300, "b"),
    "as the second was received": (200, "b"),
    "before both": (-1, "a"),
    "at a time nobody knows": (None, "a"),
}
"""When a line of their key was written, of messages received at 60 s and 200 s, and to whose time it belongs."""
_TIMES = attrgetter("first_received_at", "last_received_at", "last_active_at")


def home(of, seconds):
    mine = [message("a", 60, 70), message("b", 200, 220)]
    line = message("key:k", seconds, message_id=None, related_message_ids=["a", "b"], evidence_ids=["line"])
    told = of.with_lines_beside([line, *mine], [[delivery("key:k", evidence_ids=["line"])]])
    assert [m.item_id for m in told] == ["key:k", "a", "b"]
    assert [m.evidence_ids for m in told] == [["line"], ["line", "log:a"], ["line", "log:b"]]
    return "".join(m.item_id for m in mine if _TIMES(m) == _TIMES(told[0]))


@pytest.mark.parametrize(("seconds", "expected"), HOMES.values(), ids=HOMES)
def test_a_line_belongs_to_the_time_of_the_message_received_last_before_it(seconds, expected):
    assert home(marks_beside, seconds) == expected


def worked(item_id, n, **facts):
    """One of several deliveries by workers, a quarter of an hour apart, each of which was counted and is over."""
    known = {
        "consumer": f"{item_id} {n}",
        "consumer_kind": "worker",
        "log_stream": f"stream of {item_id} {n}",
        "received_at": n * 15 * MIN,
        "delivery_index": n,
        "run_status": "unknown",
        "visibility_timeout_s": 30,
        "deleted_by_call_at": n * 15 * MIN + 1,
        "receive_count": None if item_id.startswith("key:") else n,
        "business_keys": ["k"],
    }
    return delivery(item_id, **known | facts)


def test_a_work_whose_lines_name_its_key_more_often_than_it_was_delivered_was_done_so_often_at_least():
    mine = worked("m1", 1, has_failed_first=True)
    judged = judge([mine, *(worked("key:k", n, **ALONE) for n in (1, 2))], Around())

    assert {(m.item_id, m.effects_at_least, m.effects_at_most) for m in judged.messages} == {
        ("m1", 2, None),
        ("key:k", 2, None),
    }
    assert [m.item_id for m in judged.messages if m.is_beside_messages] == ["key:k"]
    assert judged.redeliveries == []


SHOWN = {
    "one more line than deliveries": (["yes"], [["unknown", "yes"]], True, 20),
    "lines alone: the first is the work, the second its repeat": (["unknown"], [["yes", "yes"]], True, 20),
    "two more lines": (["yes"], [["unknown", "yes", "yes"]], True, 20),
    "of a key that other queues' works may have, any of them": (["yes"], [["unknown", "yes", "yes"]], False, 30),
    "only lines that may be of another queue's": (["unknown"], [["yes", "yes"]], False, None),
    "none for sure": (["yes"], [["unknown"]], True, None),
}
"""Effects of a message at 5 s, of lines of its key from 10 s on, every 10 s, and by when the work was done again."""


@pytest.mark.parametrize(("deliveries", "lines", "is_of_one_queue", "second"), SHOWN.values(), ids=SHOWN)
def test_the_second_time_that_work_was_surely_done_is_when_it_was_repeated_at_the_latest(
    deliveries, lines, is_of_one_queue, second
):
    mine = [delivery("m1", effect=effect, effect_at=5 * S if effect == "yes" else None) for effect in deliveries]
    of_keys = [
        [
            delivery("key:k", message_id=None, effect=effect, effect_at=10 * n * S if effect == "yes" else None)
            for n, effect in enumerate(each, 1)
        ]
        for each in lines
    ]
    around = SimpleNamespace(is_of_one_queue=lambda _: is_of_one_queue)

    assert done_again_at([mine, *of_keys], around) == (None if second is None else second * S)
