"""The verdict per message: the interval of its work, and what is said of the message itself."""

import pytest

from forensics.judging import messages
from forensics.judging.maybe_same import NONE, Others
from forensics.judging.pairs import redeliveries_of
from tests.forensics.judging.plain import LATE, MIN, Around, S, delivery

YES = {"effect": "yes", "basis": "marker"}
RETURNED = {"effect": "yes", "basis": "returned"}
OPEN = {"effect": "unknown", "basis": "parallel"}
NO = {"effect": "no", "basis": "never_started"}
GUARDED = {"effect": "no", "basis": "guard", "guard_at": 4}


def work_of(*items):
    """Works of counted deliveries, each a minute after the one before."""
    return [
        [
            delivery(
                item_id,
                **{
                    "receive_count": n,
                    "delivery_index": n,
                    "received_at": n * MIN,
                    "visibility_timeout_s": 30,
                    "work_id": items[0][0],
                    "came_again": n < len(deliveries),
                    **facts,
                },
            )
            for n, facts in enumerate(deliveries, start=1)
        ]
        for item_id, deliveries in items
    ]


def found(of, *items, around=None, marks_beside=0, others=NONE):
    work, around = work_of(*items), around or Around()
    return of.messages_of(work, [redeliveries_of(item, around) for item in work], around, marks_beside, others)


UNPLACED = {"queue_arn": "/aws/lambda/charge"}
OF_A_KEY = {
    "of a known queue": ("key:k", {}, (2, False)),
    "of an unknown queue": ("key:k", UNPLACED, (1, True)),
    "of an unknown queue, not done at all": ("key:k", UNPLACED | OPEN, (0, False)),
    "of an unknown queue, and of a message that lines name": ("m1", UNPLACED, (2, False)),
}


def of_key(of, item, facts):
    (told,) = found(of, (item, [YES | facts, YES | facts]))
    return told.effects_at_least, "Its key was done 2 times, and no line tells from which queue" in told.effect_sentence


@pytest.mark.parametrize(("item", "facts", "expected"), OF_A_KEY.values(), ids=OF_A_KEY)
def test_what_a_key_alone_names_may_be_works_of_several_queues(item, facts, expected):
    assert of_key(messages, item, facts) == expected


DELETED = {**OPEN, "ended_by": "deleted", "deleted_by_call_at": 1}
WHY_OPEN = {
    "its last delivery failed, and a log was not read then": (
        [("m1", [YES, {**OPEN, "ended_by": "visibility_expired"}])],
        (None, "Nothing bounds it: it may have been redelivered while the log of one of its consumers was not read."),
    ),
    "no receive was counted": (
        [("m1", [{**YES, "receive_count": None}, {**OPEN, "receive_count": None}])],
        (None, "Nothing bounds it: the logs print no receive count, so further deliveries may hide."),
    ),
    "none was counted, and the last failed": (
        [("m1", [{**YES, "receive_count": None}, {**OPEN, "receive_count": None, "ended_by": "visibility_expired"}])],
        (
            None,
            "Nothing bounds it: its last delivery seen failed, so it was to be redelivered, and logs that print no receive count may "
            "hide that.",
        ),
    ),
    "so of one message of two": (
        [("m1", [YES, DELETED]), ("m2", [{**OPEN, "receive_count": None}])],
        (None, "Nothing bounds it: the logs print no receive count, so further deliveries may hide."),
    ),
    "every receive was counted, and the last one ended it": (
        [("m1", [YES, DELETED])],
        (2, ""),
    ),
    "a success ended nothing before, and a log was not read after the last one": (
        [("m1", [YES, {**OPEN, "ended_by": "deleted"}])],
        (None, "Nothing bounds it: it may have been redelivered while the log of one of its consumers was not read."),
    ),
    "the surest reason of two": (
        [("m1", [{**YES, "receive_count": None}]), ("m2", [YES, {**OPEN, "ended_by": "visibility_expired"}])],
        (None, "Nothing bounds it: it may have been redelivered while the log of one of its consumers was not read."),
    ),
}


def why_open(of, items):
    message = found(of, *items, around=Around(unread=(-LATE, LATE)))[0]
    return message.effects_at_most, message.effect_sentence.partition(". ")[2]


@pytest.mark.parametrize(("work", "why"), WHY_OPEN.values(), ids=WHY_OPEN)
def test_where_nothing_bounds_how_often_the_work_was_done_its_sentence_says_why(work, why):
    assert why_open(messages, work) == why


DEAD = {"received_from_arn": "arn:aws:sqs:eu-west-1:123456789012:orders-dlq"}
SAID_OF_A_MOVE = " It was moved to the dead-letter queue orders-dlq, whose consumer does the same work."
DEAD_LETTERS = {
    "received from the dead-letter queue as well": (
        [{**YES, "ended_by": "dead_lettered"}, {**YES, **DEAD}],
        ((2, 2), True, SAID_OF_A_MOVE),
    ),
    "and nobody knows whether it was done there": (
        [{**YES, "ended_by": "dead_lettered"}, {**OPEN, **DEAD}],
        ((1, 2), True, SAID_OF_A_MOVE),
    ),
    "from its own queue alone": ([YES, YES], ((2, 2), False, "")),
}


def dead_letters(of, deliveries):
    (message,) = found(of, ("m1", deliveries))
    told = message.trigger_sentence.partition(" It was moved")
    return (message.effects_at_least, message.effects_at_most), message.is_dead_lettered, "".join(told[1:])


@pytest.mark.parametrize(("deliveries", "expected"), DEAD_LETTERS.values(), ids=DEAD_LETTERS)
def test_what_is_done_out_of_the_dead_letter_queue_counts_with_its_work(deliveries, expected):
    assert dead_letters(messages, deliveries) == expected


NOT_REACHED = {**NO, "basis": "not_reached"}
UNFOLLOWED = {**NO, "is_seen": False}
INTERVALS = {
    "done once": ([YES, NO], (1, 1, "harmless", "proved")),
    "done twice": ([YES, YES], (2, 2, "confirmed", "proved")),
    "done, then nobody knows": ([YES, OPEN], (1, 2, "probable", "proved")),
    "nobody knows of either": ([OPEN, OPEN], (0, 2, "possible", "inferred")),
    "not done at all": ([NO, NO], (0, 0, "harmless", "inferred")),
    "done, then stopped": ([YES, GUARDED], (1, 1, "absorbed", "proved")),
    "done, as its run returned": ([RETURNED, NO], (1, 1, "harmless", "inferred")),
    "done by a line, then as its run returned": ([YES, RETURNED], (2, 2, "confirmed", "inferred")),
    "done, by the framework's word": ([{**YES, "basis": "finished"}, NO], (1, 1, "harmless", "proved")),
    "done, by its line and by the framework's word": (
        [YES, {**YES, "basis": "finished"}],
        (2, 2, "confirmed", "proved"),
    ),
    "done, and then not reached": ([YES, NOT_REACHED], (1, 1, "harmless", "proved")),
    "done, and then not reached by an order that was inferred": (
        [YES, {**NOT_REACHED, "order_runs": 30}],
        (1, 1, "harmless", "inferred"),
    ),
    "done twice, and once not reached by an order that was inferred": (
        [YES, YES, {**NOT_REACHED, "order_runs": 30}],
        (2, 2, "confirmed", "proved"),
    ),
    "done, and then without its mark in an order that was inferred": (
        [YES, {**NO, "basis": "no_marker", "order_runs": 30, "batch_count": 3}],
        (1, 1, "harmless", "inferred"),
    ),
    "done, and then alone and without its mark": (
        [YES, {**NO, "basis": "no_marker", "order_runs": 30, "batch_count": 1}],
        (1, 1, "harmless", "proved"),
    ),
    "done by a consumer whose order was inferred": (
        [{**YES, "order_runs": 30}, NO],
        (1, 1, "harmless", "proved"),
    ),
    "done, and another receive that no run followed": ([YES, UNFOLLOWED], (1, 1, "harmless", "inferred")),
    "done, and stopped after a receive that no run followed": (
        [YES, UNFOLLOWED, GUARDED],
        (1, 1, "absorbed", "inferred"),
    ),
    "done twice, and another receive that no run followed": ([YES, YES, UNFOLLOWED], (2, 2, "confirmed", "proved")),
    "done, and another receive that throttling explains": (
        [YES, {**UNFOLLOWED, "is_throttled": True}],
        (1, 1, "harmless", "proved"),
    ),
    "done, and a receive that no run followed beside counts that are not logged": (
        [{**YES, "receive_count": None}, UNFOLLOWED],
        (1, None, "probable", "proved"),
    ),
    "one count not logged, seen again at once": ([{**YES, "receive_count": None}, NO], (1, None, "probable", "proved")),
}


def interval(of, deliveries):
    (message,) = found(of, ("m1", deliveries))
    return message.effects_at_least, message.effects_at_most, message.verdict, message.certainty


@pytest.mark.parametrize(("deliveries", "expected"), INTERVALS.values(), ids=INTERVALS)
def test_a_verdict_is_the_interval_of_effects(deliveries, expected):
    assert interval(messages, deliveries) == expected


def test_every_message_of_a_work_has_the_interval_of_the_work():
    first, second = found(messages, ("m1", [YES]), ("m2", [OPEN]))

    assert [(m.effects_at_least, m.effects_at_most, m.verdict) for m in (first, second)] == [(1, 2, "probable")] * 2
    assert (first.related_message_ids, second.related_message_ids) == (["m2"], ["m1"])
    assert (first.work_id, second.work_id) == ("m1", "m1")


def test_no_upper_bound_of_one_message_is_none_for_its_work():
    first, second = found(messages, ("m1", [YES]), ("m2", [{**NO, "receive_count": None}]))

    assert (first.effects_at_most, second.effects_at_most) == (None, None)


OF_ITS_KEY = {
    "no more than its deliveries may have written": ([YES, NO], [OPEN], (1, 1)),
    "one more, and nothing tells how many there were": ([YES, NO], [OPEN, OPEN], (1, None)),
    "as many": ([YES, OPEN], [OPEN, OPEN], (1, 2)),
    "nothing of a work that was not done": ([YES, NO], [NO, NO], (1, 1)),
    "what was done beyond its deliveries": ([YES], [OPEN, YES], (2, None)),
    "what was not counted, beside deliveries that were": ([YES, NO], [OPEN | {"receive_count": None}], (1, 1)),
    "all that is known": ([], [YES, OPEN], (1, 2)),
}
"""What a message's deliveries tell, what lines of its key tell, and the interval of the work."""


def of_its_key(of, deliveries, lines):
    told = found(of, *([("m1", deliveries)] if deliveries else []), ("key:k", lines))
    (interval,) = {(m.effects_at_least, m.effects_at_most) for m in told}
    return interval


@pytest.mark.parametrize(("deliveries", "lines", "expected"), OF_ITS_KEY.values(), ids=OF_ITS_KEY)
def test_lines_of_its_key_tell_of_a_work(deliveries, lines, expected):
    assert of_its_key(messages, deliveries, lines) == expected


def done(second):
    return YES | {"effect_at": second}


REPEATS = {
    "its deliveries alone": ([("m1", [done(5), done(9)])], None),
    "lines of a key alone": ([("key:k", [done(5), done(9)])], None),
    "one more line than it was delivered": ([("m1", [done(5)]), ("key:k", [OPEN, done(10)])], 10),
    "two more lines": ([("m1", [done(5)]), ("key:k", [OPEN, done(20), done(10)])], 10),
    "lines alone: the first is the work": ([("m1", [OPEN | {"effect_at": 1}]), ("key:k", [done(10), done(20)])], 20),
    "a line at a time that is known, and work at one that is not": ([("m1", [YES]), ("key:k", [OPEN, done(10)])], None),
    "lines that another queue's work may have": (
        [("m1", [done(5)]), ("key:k", [UNPLACED | OPEN, UNPLACED | done(20), UNPLACED | done(10)])],
        20,
    ),
    "deliveries of an unknown queue, and a line": (
        [("m1", [UNPLACED | done(5), UNPLACED | done(9)]), ("key:k", [UNPLACED | OPEN])],
        9,
    ),
    "deliveries, and lines of another queue of which none tells of work": (
        [("m1", [done(5), done(9)]), ("key:k", [UNPLACED | OPEN])],
        9,
    ),
}
"""What a message's deliveries tell, what lines of its key tell, and by when these show that the work was repeated."""


def repeat_shown(of, items):
    (shown_at,) = {m.repeat_shown_at for m in found(of, *items)}
    return shown_at


@pytest.mark.parametrize(("items", "expected"), REPEATS.values(), ids=REPEATS)
def test_lines_of_its_key_show_by_when_work_was_repeated(items, expected):
    assert repeat_shown(messages, items) == expected


SHOWN = {
    "delivered once": ([("m1", [YES])], []),
    "delivered twice": ([("m1", [YES, NO])], ["m1"]),
    "delivered once, and its work in another message": ([("m1", [YES]), ("m2", [YES])], ["m1", "m2"]),
    "only a key is known, delivered once": ([("key:k", [YES])], []),
    "only a key is known, and a message shares its work": ([("m1", [YES]), ("key:k", [OPEN])], []),
    "more lines name its key than it was delivered": ([("m1", [YES]), ("key:k", [OPEN, OPEN])], ["m1", "key:k"]),
    "it was delivered twice, and a line names its key": ([("m1", [YES, NO]), ("key:k", [OPEN])], ["m1", "key:k"]),
    "its work is in another message, and a line names its key": (
        [("m1", [YES]), ("m2", [NO]), ("key:k", [OPEN])],
        ["m1", "m2", "key:k"],
    ),
    "two keys share a work": ([("key:j", [YES]), ("key:k", [YES, NO])], ["key:k"]),
}


def shown(of, items):
    return [m.item_id for m in found(of, *items)]


@pytest.mark.parametrize(("items", "expected"), SHOWN.values(), ids=SHOWN)
def test_a_verdict_is_given_of_what_came_again_or_shares_its_work(items, expected):
    assert shown(messages, items) == expected


UNRUN = {
    "no run followed a receive": ([YES, {**NO, "is_seen": False}], "1 receive that"),
    "nor two": ([YES, {**NO, "is_seen": False}, {**NO, "is_seen": False, "is_throttled": False}], "2 receives that"),
    "throttling tells why": ([YES, {**NO, "is_seen": False, "is_throttled": True}], ""),
    "a run whose init failed": ([YES, NO], ""),
    "one of which nobody knows": ([YES, {**OPEN, "is_seen": False}], ""),
}


def unrun(of, deliveries):
    (message,) = found(of, ("m1", deliveries))
    return message.effect_sentence.partition("Counted as not done: ")[2].partition(" no run followed")[0]


@pytest.mark.parametrize(("deliveries", "expected"), UNRUN.values(), ids=UNRUN)
def test_that_nobody_else_had_what_no_run_followed_is_said_where_it_is_counted_on(deliveries, expected):
    assert unrun(messages, deliveries) == expected


def test_it_is_not_said_where_nothing_bounds_how_often_the_work_was_done():
    items = [("m1", [YES, {**NO, "is_seen": False}, {**OPEN, "ended_by": "visibility_expired"}])]
    (message,) = found(messages, *items, around=Around(unread=(-LATE, LATE)))

    assert message.effects_at_most is None
    assert "Counted as not done" not in message.effect_sentence


BESIDE = {
    "delivered once, and no mark of its key is another's": (0, []),
    "delivered once, and a mark of its key may be its own": (1, [("m1", 1, 2)]),
}


def beside(of, marks_beside):
    given = found(of, ("m1", [YES]), marks_beside=marks_beside)
    return [(m.item_id, m.effects_at_least, m.effects_at_most) for m in given]


@pytest.mark.parametrize(("marks_beside", "expected"), BESIDE.values(), ids=BESIDE)
def test_a_mark_beside_it_may_be_of_the_work(marks_beside, expected):
    assert beside(messages, marks_beside) == expected


ALONE = {
    "delivered once, and no mark stands by itself": (0, []),
    "delivered once, and one does": (1, [("m1", 1, 2)]),
    "delivered once, and two do": (2, [("m1", 1, 3)]),
}


def alone(of, lone_mark_count):
    given = found(of, ("m1", [YES | {"lone_mark_count": lone_mark_count}]))
    return [(m.item_id, m.effects_at_least, m.effects_at_most) for m in given]


@pytest.mark.parametrize(("lone_mark_count", "expected"), ALONE.values(), ids=ALONE)
def test_a_mark_by_itself_may_be_of_the_work(lone_mark_count, expected):
    assert alone(messages, lone_mark_count) == expected


TRIED = {
    "once": ({}, []),
    "again, and its work was done in both": ({"done_more_count": 1}, [("m1", 2, 2)]),
    "again, and it may have been": ({"maybe_more_count": 2}, [("m1", 1, 3)]),
    "again and again": ({"done_more_count": 2, "maybe_more_count": 1}, [("m1", 3, 4)]),
    "again, and none of it is sure": (OPEN | {"maybe_more_count": 1}, [("m1", 0, 2)]),
    "again, as another stream may tell, too": (OPEN | {"done_more_count": 1}, [("m1", 0, 2)]),
}
"""What is known of the tries of a message that was delivered once, and its interval where it is listed."""


def tried(of, facts):
    given = found(of, ("m1", [YES | facts]))
    return [(m.item_id, m.effects_at_least, m.effects_at_most) for m in given]


@pytest.mark.parametrize(("facts", "expected"), TRIED.values(), ids=TRIED)
def test_work_may_be_done_in_each_try_of_one_delivery(facts, expected):
    assert tried(messages, facts) == expected


LATE_DELETE = {
    "consumer_kind": "worker",
    "delete_reason": "other",
    "marker_at": 10 * S,
    "delete_at": 40 * S,
    "hidden_until_at": 40 * S,
}
OF_TWO = {
    "nobody counted it": ([{"may_be_two": True, "receive_count": None}], [("m1", 1, None)]),
    "its receive was counted": ([{"may_be_two": True}], []),
    "nobody counted it, and its lines are of it alone": ([{"receive_count": None}], []),
    "its delete came so late that it may be another's": ([LATE_DELETE], [("m1", 1, None)]),
    "it came in time": ([LATE_DELETE | {"hidden_until_at": 40 * S + 1}], []),
    "it came so late, and the message once more": (
        [LATE_DELETE, {"receive_count": 2, "received_at": 50 * S}],
        [("m1", 2, 2)],
    ),
}


def of_two(of, deliveries):
    given = found(of, ("m1", [YES | facts for facts in deliveries]))
    return [(m.item_id, m.effects_at_least, m.effects_at_most) for m in given]


@pytest.mark.parametrize(("deliveries", "expected"), OF_TWO.values(), ids=OF_TWO)
def test_a_delivery_whose_lines_may_be_of_two_is_told_of_where(deliveries, expected):
    assert of_two(messages, deliveries) == expected


OTHERS = Others(("m2",), 2, False, (work_of(("m2", [YES, OPEN])),))
MAYBE = {
    "nothing may be the same work": (NONE, []),
    "another work may be the same": (OTHERS, [("m1", 1, 3)]),
    "another work may be the same, and more of its deliveries may hide": (
        OTHERS._replace(is_open=True),
        [("m1", 1, None)],
    ),
}


def maybe(of, others):
    given = found(of, ("m1", [YES]), others=others)
    return [(m.item_id, m.effects_at_least, m.effects_at_most) for m in given]


@pytest.mark.parametrize(("others", "expected"), MAYBE.values(), ids=MAYBE)
def test_what_may_be_the_same_work_is_counted_in(others, expected):
    assert maybe(messages, others) == expected


def test_a_message_says_what_its_deliveries_say_together():
    (message,) = found(
        messages,
        (
            "m1",
            [
                {**YES, "run_ended_at": 90_000_000, "sent_ms": 5, "business_keys": ["k"], "evidence_ids": ["b"]}
                | {"batch_position": 3},
                {**OPEN, "is_seen": False, "group_id": "g", "deduplication_id": "d", "received_at": None},
                {**NO, "ended_by": "dead_lettered", "business_keys": ["j"], "evidence_ids": ["a", "b"]}
                | {"batch_position": 2},
            ],
        ),
    )

    assert (message.deliveries, message.receive_count) == (2, 3)
    assert (message.first_received_at, message.last_received_at) == (1 * MIN, 3 * MIN)
    assert (message.last_active_at, message.sent_at) == (3 * MIN, 5_000)
    assert (message.group_id, message.deduplication_id, message.is_dead_lettered) == ("g", "d", True)
    assert (message.business_keys, message.evidence_ids) == (["j", "k"], ["a", "b"])
    assert (message.visibility_timeout_s, message.batch_position) == (30, 2)


ENDS = {
    "its last run ended last": ([YES, {**NO, "run_ended_at": 9 * MIN}], (9 * MIN, False)),
    "its first run ended last": ([{**YES, "run_ended_at": 9 * MIN}, NO], (9 * MIN, False)),
    "no end is known": ([YES, NO], (2 * MIN, False)),
    "it went to the dead-letter queue": ([YES, {**NO, "ended_by": "dead_lettered"}], (2 * MIN, True)),
}


def ends(of, deliveries):
    (message,) = found(of, ("m1", deliveries))
    return message.last_active_at, message.is_dead_lettered


@pytest.mark.parametrize(("deliveries", "expected"), ENDS.values(), ids=ENDS)
def test_a_message_is_active_until_its_last_run_ends(deliveries, expected):
    assert ends(messages, deliveries) == expected


def test_causes_stand_in_the_order_of_redeliveries_each_once():
    timed_out = {**OPEN, "run_status": "timeout", "is_fifo": True, "run_ended_at": 0}
    untold = {**OPEN, "run_status": "unknown"}

    (message,) = found(messages, ("m1", [untold, timed_out, timed_out, NO]))

    assert message.causes == ["undecidable", "function_timeout"]
    assert (
        "redelivered for a reason that the evidence leaves open, then because the function" in message.trigger_sentence
    )


def test_a_delivery_that_may_be_of_the_receive_before_is_not_said_to_be_another():
    maybe = {"may_be_same_receive": True, "effect": "unknown", "basis": "same_receive"}
    uncounted = {"receive_count": None}

    (message,) = found(messages, ("m1", [YES | uncounted, YES | maybe | uncounted]))
    (counted,) = found(messages, ("m2", [YES, YES | maybe | {"receive_count": 2}]))

    assert message.trigger_sentence.startswith("It was delivered 1 to 2 times")
    assert counted.trigger_sentence.startswith("It was delivered 2 times")


def test_another_message_of_the_work_says_where_it_comes_from():
    first, second = found(
        messages,
        ("m1", [{**YES, "sent_ms": 0, "business_keys": ["k"]}]),
        ("m2", [{**YES, "sent_ms": 2_000, "business_keys": ["k"]}]),
    )

    assert (first.origin, second.origin) == (None, "producer_retry")
    assert first.trigger_sentence == "It was delivered 1 time."
    assert "sent again 2 s later" in second.trigger_sentence


def test_guards_of_a_work_are_told_of_each_message():
    (message,) = found(messages, ("m1", [YES, GUARDED]))

    assert message.guard_sentence == "A guard stopped 1 repeat: a configured guard line shows it."
    assert message.effect_sentence == "The work was done exactly once, shown by its effect line."


class Unread:
    """Nothing was read again yet; whatever rests on an absence will be final at minute 99."""

    def of_groups(self, log_groups, start, end):
        return 99 * MIN

    def of_queue(self, queue_arn, start, end):
        return 99 * MIN


NOT_REACHED = {"effect": "no", "basis": "not_reached"}
OVER = {"ended_by": "deleted"}
FINAL = {
    "done once, and a second time no line tells of": ([YES, NOT_REACHED | OVER], "inferred", True),
    "done twice, and a third time no line tells of": ([YES, NOT_REACHED, YES | OVER], "proved", True),
    "done twice, and nothing is missing": ([YES, YES | OVER], "proved", False),
    "done once, and a guard's line": ([YES, GUARDED | OVER], "proved", False),
    "done twice, as runs that returned say": ([RETURNED, RETURNED | NOT_REACHED, RETURNED | OVER], "inferred", True),
}


def final(of, deliveries):
    [message] = found(of, ("m1", deliveries), around=Around(finality=Unread()))
    return message.certainty, message.is_provisional


@pytest.mark.parametrize(("deliveries", "certainty", "is_provisional"), FINAL.values(), ids=FINAL)
def test_what_late_lines_may_change_is_provisional_and_proves_nothing(deliveries, certainty, is_provisional):
    assert final(messages, deliveries) == (certainty, is_provisional)
