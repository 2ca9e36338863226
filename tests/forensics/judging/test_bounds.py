"""Can deliveries hide? A gap, the borders of what was read, how the last one ended, and what is not known."""

import pytest

from forensics.identity import handle_token
from forensics.judging import bounds
from tests.forensics.judging.plain import LATE, MIN, Around, S, delivery

H = 60 * MIN
TWICE = 60 * S
HANDLE = handle_token("AQEB" + "h" * 60)
BESIDE = {"visibility_timeout_s": 30, "received_at": 5 * S}


class Watched(Around):
    """Surroundings in which every run named its messages from one moment to another, but for those that began at some times.

    Unless it ``is_named``, some of them showed all that they did, and not all that they had.
    """

    def __init__(self, start, end, *blind, is_named=True):
        super().__init__()
        self.start, self.end, self.blind, self.names_all, self.is_named = start, end, {*blind}, False, is_named

    def names_messages(self, queue_arn, after, before, own_starts=()):
        return self.is_named and self.shows_all_work(queue_arn, after, before, own_starts)

    def hides_no_work(self, queue_arn):
        return self.names_all

    def shows_all_work(self, queue_arn, after, before, own_starts=()):
        assert None not in own_starts
        return after is not None and self.start <= after <= before <= self.end and not self.blind - {*own_starts}


BEFORE = {
    "every run was named for two timeouts": ({}, (5 * S - TWICE, 5 * S), False),
    "for a microsecond less": ({}, (5 * S - TWICE + 1, 5 * S), True),
    "not up to the receive": ({}, (-LATE, 5 * S - 1), True),
    "every run was named, and one was throttled": ({}, (5 * S - TWICE, 5 * S, "throttled"), True),
    "every run was named since it was sent, and one was throttled": (
        {"sent_ms": 0},
        (5 * S - TWICE, 5 * S, "throttled"),
        False,
    ),
    "nobody knows when it was received": ({"received_at": None}, (-LATE, LATE), True),
    "no visibility timeout known": ({"visibility_timeout_s": None}, (-LATE, LATE), True),
}
"""The first delivery seen, when every run was named, and whether another one can hide before it."""


def before(of, facts, watched):
    around = Watched(*watched[:2])
    around.throttles = ("throttled" in watched or None, [])
    return of._hides_before(delivery(**{**BESIDE, **facts}), around, ())


@pytest.mark.parametrize(("facts", "watched", "expected"), BEFORE.values(), ids=BEFORE)
def test_a_delivery_can_hide_before_the_first_where_runs_name_no_message(facts, watched, expected):
    assert before(bounds, facts, watched) is expected


THROTTLED_FOR = {"one visibility timeout": ({}, [(5 * S - TWICE // 2, 5 * S)])}
"""The first delivery seen, and for which span it is asked whether its queue was throttled."""


def throttled_for(of, facts):
    around = Watched(-LATE, LATE)
    of._hides_before(delivery(**{**BESIDE, **facts}), around, ())
    return around.asked


@pytest.mark.parametrize(("facts", "expected"), THROTTLED_FOR.values(), ids=THROTTLED_FOR)
def test_a_first_delivery_may_have_waited_where_its_queue_was_throttled_before(facts, expected):
    assert throttled_for(bounds, facts) == expected


AFTER = {
    "every run was named for two timeouts": ({}, (5 * S, 5 * S + TWICE), False),
    "for a microsecond less": ({}, (5 * S, 5 * S + TWICE - 1), True),
    "not from the receive on": ({}, (5 * S + 1, LATE), True),
    "no run was named, and it ended its message": ({"ended_by": "in_flight"}, (0, 0), False),
    "no run was named, and it was moved away": ({"ended_by": "dead_lettered"}, (0, 0), False),
    "no run was named, and it succeeded": ({"ended_by": "deleted"}, (0, 0), True),
    "nobody knows when it was received": ({"received_at": None, "ended_by": "in_flight"}, (-LATE, LATE), True),
    "no visibility timeout known": ({"visibility_timeout_s": None, "ended_by": "in_flight"}, (-LATE, LATE), True),
}
"""The last delivery seen, when every run was named, and whether another one can follow."""


def after(of, facts, watched):
    return of._hides_after(delivery(**{**BESIDE, **facts}), Watched(*watched), ())


@pytest.mark.parametrize(("facts", "watched", "expected"), AFTER.values(), ids=AFTER)
def test_a_delivery_can_follow_the_last_where_runs_name_no_message(facts, watched, expected):
    assert after(bounds, facts, watched) is expected


SENT_AT = 5 * S - 10 * TWICE
SENT = {"sent_ms": SENT_AT // 1000}
UNNAMED = {
    "before, since it was sent": ("_hides_before", SENT, False, (SENT_AT, 5 * S), False),
    "before, since just after it was sent": ("_hides_before", SENT, False, (SENT_AT + 1, 5 * S), True),
    "before, for long, and nobody knows when it was sent": ("_hides_before", {}, False, (-LATE, 5 * S), True),
    "before, but not up to the receive": ("_hides_before", SENT, False, (-LATE, 5 * S - 1), True),
    "after, as every run at any time": ("_hides_after", {}, True, (5 * S, 5 * S + TWICE), False),
    "after, as every run, not read for so long": ("_hides_after", {}, True, (5 * S, 5 * S + TWICE - 1), True),
    "after, which others did not": ("_hides_after", {}, False, (5 * S, LATE), True),
}
"""Which side is asked of, what is known of the delivery, whether every run ever showed all that it did, when every run did and was read, and
whether another delivery can hide: handed out and not begun as often as it takes, a message leads to one that was."""


def unnamed(of, hides, facts, names_all, watched):
    around = Watched(*watched, is_named=False)
    around.names_all = names_all
    return getattr(of, hides)(delivery(**{**BESIDE, **facts}), around, ())


@pytest.mark.parametrize(("hides", "facts", "names_all", "watched", "expected"), UNNAMED.values(), ids=UNNAMED)
def test_a_delivery_can_hide_where_runs_show_all_that_they_did(hides, facts, names_all, watched, expected):
    assert unnamed(bounds, hides, facts, names_all, watched) is expected


RUN = {"received_at": 0, "received_basis": "run_start"}
SAID = {"received_at": 0, "received_basis": "first_receive"}
NOT_THROTTLED, THROTTLED = (False, []), (True, ["t"])

BETWEEN = {
    "exactly two timeouts": (SAID, TWICE, None, False),
    "a microsecond more": (SAID, TWICE + 1, None, True),
    "every run was named meanwhile": (SAID, 10 * TWICE, (0, 10 * TWICE), False),
    "not to the end": (SAID, 10 * TWICE, (0, 10 * TWICE - 1), True),
    "two timeouts, and so long as an environment may take to come up": (RUN, TWICE - 10 * S, NOT_THROTTLED, False),
    "a microsecond longer than it may take": (RUN, TWICE - 10 * S + 1, NOT_THROTTLED, True),
    "one timeout, where it is shorter than an environment may take": (
        {**RUN, "visibility_timeout_s": 5, "init_ms": 0},
        5 * S,
        NOT_THROTTLED,
        False,
    ),
    "a microsecond more than one": ({**RUN, "visibility_timeout_s": 5, "init_ms": 0}, 5 * S + 1, NOT_THROTTLED, True),
    "two timeouts but for a window and an init": (
        {**RUN, "batching_window_s": 5, "init_ms": 0},
        TWICE - 15 * S,
        NOT_THROTTLED,
        False,
    ),
    "a microsecond more than those": (
        {**RUN, "batching_window_s": 5, "init_ms": 0},
        TWICE - 15 * S + 1,
        NOT_THROTTLED,
        True,
    ),
    "one timeout, where a throttled poller may have held it for another": (RUN, TWICE // 2, THROTTLED, False),
    "a microsecond more than that": (RUN, TWICE // 2 + 1, THROTTLED, True),
    "nobody knows when the one before was received": ({**SAID, "received_at": None}, TWICE, None, True),
    "nobody knows when it was received": (SAID, None, None, True),
    "no visibility timeout known": ({**SAID, "visibility_timeout_s": None}, TWICE, (0, TWICE), True),
}
"""The earlier one, when the later one was received, when every run was named (or whether the function was throttled), and whether
another can hide between them."""


def between(of, facts, later_at, around):
    known = {"visibility_timeout_s": 30, **facts}
    later = delivery(received_at=later_at, visibility_timeout_s=known["visibility_timeout_s"])
    if around is None or isinstance(around[0], bool):
        surroundings = Around(would_be_logged=False, **({"throttles": around} if around else {}))
    else:
        surroundings = Watched(*around)
    return of._hides_between(delivery(**known), later, surroundings, ())


@pytest.mark.parametrize(("earlier", "later_at", "around", "expected"), BETWEEN.values(), ids=BETWEEN)
def test_a_delivery_hides_between_two(earlier, later_at, around, expected):
    assert between(bounds, earlier, later_at, around) is expected


UNSEEN = {"is_seen": False, "unseen_basis": "unseen", "consumer_kind": None, "is_durable": None}
UNSEEN_RUNS = {
    "of a plain function": ({}, {}, None),
    "of a durable one": ({}, {"is_durable": True}, "unseen_runs"),
    "of one that may be": ({}, {"is_durable": None}, "unseen_runs"),
    "of a worker": ({}, {"is_durable": None, "consumer_kind": "worker"}, None),
    "where the logs would have shown its runs": ({"unseen_basis": "never_started"}, {"is_durable": True}, None),
    "of one that was invoked again": ({}, {}, {}, "unseen_runs"),
    "of one that was invoked again, where the logs would have shown it": (
        {"unseen_basis": "never_started"},
        {},
        {},
        None,
    ),
    "of one that seems to be told twice": ({}, {}, {"may_be_same_receive": True}, None),
    "of one that had another receive": (
        {},
        {},
        {"receive_count": 3, "receipt_handle": handle_token("AQEB" + "i" * 60)},
        None,
    ),
    "of one, beside a worker with its receive": ({}, {}, {"consumer_kind": "worker"}, None),
}
"""A receive that no log shows, the delivery behind it, another one behind it, if any, and why nothing bounds how often the work was done."""


def unseen_runs(of, unseen, seen, *more):
    last = {"receive_count": 2, "ended_by": "dead_lettered", "receipt_handle": HANDLE, **seen}
    item = [delivery(receive_count=1, **UNSEEN | unseen), delivery(**last), *(delivery(**last | one) for one in more)]
    return of.why_open(item, Watched(-LATE, LATE))


@pytest.mark.parametrize("said", UNSEEN_RUNS.values(), ids=UNSEEN_RUNS)
def test_a_receive_that_no_log_shows_may_have_been_in_several_runs(said):
    *case, expected = said
    assert unseen_runs(bounds, *case) == expected


OUTLIVED = {
    "its run ended with the visibility timeout": ({"run_ended_at": 30 * S}, (LATE, LATE), None),
    "its run ended after it": ({}, (LATE, LATE), "outlived"),
    "its run ended after it, and every run was named for two timeouts": ({}, (0, 60 * S), None),
    "every run was named for a microsecond less": ({}, (0, 60 * S - 1), "outlived"),
    "its run lasted for longer than two timeouts": ({"run_ended_at": 70 * S}, (0, 70 * S - 1), "outlived"),
    "its own run did not name all it had": ({"run_started_at": 1}, (0, 60 * S, 1), None),
    "another run did not name all it had": ({"run_started_at": 1}, (0, 60 * S, 2), "outlived"),
    "it was moved away": ({"ended_by": "dead_lettered"}, (LATE, LATE), None),
    "it is hidden still": ({"ended_by": "in_flight"}, (LATE, LATE), None),
    "nobody knows when its run ended": ({"run_ended_at": None}, (LATE, LATE), None),
    "nobody knows when it was received": ({"received_at": None}, (LATE, LATE), None),
    "nobody knows until when it was hidden": ({"hidden_until_at": None}, (LATE, LATE), None),
    "a worker had it": ({"consumer_kind": "worker"}, (LATE, LATE), None),
}
"""The last delivery of a message of which every receive was counted, when every run was named, and whether another can follow."""


def outlived(of, facts, watched):
    last = {"receive_count": 2, "visibility_timeout_s": 30, "hidden_until_at": 30 * S, "run_ended_at": 31 * S}
    return of.why_open([delivery(**{**last, "ended_by": "deleted", **facts})], Watched(*watched))


@pytest.mark.parametrize(("facts", "watched", "expected"), OUTLIVED.values(), ids=OUTLIVED)
def test_a_delivery_can_follow_a_counted_one_that_outlived_its_visibility_timeout_unseen(facts, watched, expected):
    assert outlived(bounds, facts, watched) == expected


ON = {"run_started_at": 0, "function_timeout_s": 90, "run_status": "unknown", "ended_by": "unknown"}
ENDED_SOMEHOW = {"ended_by": "unknown"}
UNREAD = {
    "it failed, and a log has a gap where it would have come again": ({}, (59 * S, LATE), "unread"),
    "it waits until somebody polls, however late the gap begins": ({}, (LATE - 1, LATE), "unread"),
    "the gap was while it was handled": ({}, (-LATE, 1), "unread"),
    "the gap was before it": ({}, (-LATE, 0), None),
    "nothing tells how it ended": (ENDED_SOMEHOW, (59 * S, LATE), "unread"),
    "nor whether it waits, and the gap begins two visibility timeouts later": (ENDED_SOMEHOW, (60 * S, LATE), None),
    "its delete was refused": ({"ended_by": "delete_refused"}, (LATE - 1, LATE), "unread"),
    "it succeeded, and its mapping takes nothing back": (
        {"ended_by": "deleted", "reports_batch_item_failures": False},
        (-LATE, LATE),
        None,
    ),
    "it succeeded, and nothing tells whether its response gave it back": (
        {"ended_by": "deleted"},
        (59 * S, LATE),
        "unread",
    ),
    "nor of a mapping that would take it": (
        {"ended_by": "deleted", "reports_batch_item_failures": True},
        (59 * S, LATE),
        "unread",
    ),
    "its response was logged": ({"ended_by": "deleted", "has_response": True}, (-LATE, LATE), None),
    "its response was logged, and is none": (
        {"ended_by": "deleted", "has_response": True, "is_malformed_response": True},
        (59 * S, LATE),
        "unread",
    ),
    "counts tell that it was not given back": ({"ended_by": "deleted", "was_given_back": False}, (-LATE, LATE), None),
    "a recorded call deleted it": ({"ended_by": "deleted", "deleted_by_call_at": 9 * S}, (-LATE, LATE), None),
    "its work was done, and no line tells how its run ended": (
        {"ended_by": "deleted", "run_status": "unknown", "reports_batch_item_failures": False},
        (59 * S, LATE),
        "unread",
    ),
    "a worker deleted it": ({"ended_by": "deleted", "consumer_kind": "worker"}, (-LATE, LATE), None),
    "it was moved away": ({"ended_by": "dead_lettered"}, (-LATE, LATE), None),
    "it is hidden still": ({"ended_by": "in_flight"}, (-LATE, LATE), None),
    "it was received for the last time": ({"max_receive_count": 2}, (-LATE, LATE), None),
    "it may be received once more": ({"max_receive_count": 3}, (-LATE, LATE), "unread"),
    "it was hidden for longer than the visibility timeout": (
        ENDED_SOMEHOW | {"hidden_until_at": 90 * S},
        (119 * S, LATE),
        "unread",
    ),
    "the gap begins a visibility timeout after that": (
        ENDED_SOMEHOW | {"hidden_until_at": 90 * S},
        (120 * S, LATE),
        None,
    ),
    "nobody knows until when it was hidden": (
        ENDED_SOMEHOW | {"hidden_until_at": None},
        (12 * H + 29 * S, LATE),
        "unread",
    ),
    "the gap begins when no visibility timeout lasts so long": (
        ENDED_SOMEHOW | {"hidden_until_at": None},
        (12 * H + 30 * S, LATE),
        None,
    ),
    "no visibility timeout known": (ENDED_SOMEHOW | {"visibility_timeout_s": None}, (12 * H + 29 * S, LATE), "unread"),
    "the gap begins later than any visibility timeout": (
        ENDED_SOMEHOW | {"visibility_timeout_s": None},
        (12 * H + 30 * S, LATE),
        None,
    ),
    "no line tells when its run ended, which may have been on then": (ON, (89 * S, LATE), "unread"),
    "it was on for no longer than its function may run": (ON, (90 * S, LATE), None),
    "no line tells when its run ended, nor for how long its function may run": (
        ON | {"function_timeout_s": None},
        (899 * S, LATE),
        "unread",
    ),
    "no run is on for so long": (ON | {"function_timeout_s": None}, (900 * S, LATE), None),
    "its run had ended before": (ON | {"run_ended_at": 20 * S}, (60 * S, LATE), None),
    "a worker has no function's limit": (ON | {"consumer_kind": "worker"}, (60 * S, LATE), None),
    "nobody knows when it was received": ({"received_at": None}, (-LATE, LATE), None),
    "a recorded call shows it, and no log": ({"log_group": None}, (-LATE, LATE), None),
}
"""The last delivery of a message of which every receive was counted, when a consumer's log was not read, and whether another can
follow."""


def unread(of, facts, gap):
    last = {"receive_count": 2, "visibility_timeout_s": 30, "hidden_until_at": 30 * S, "ended_by": "visibility_expired"}
    return of.why_open([delivery(**{**last, **facts})], Around(unread=gap))


@pytest.mark.parametrize(("facts", "gap", "expected"), UNREAD.values(), ids=UNREAD)
def test_a_delivery_can_follow_a_counted_one_that_did_not_end_its_message_in_a_gap(facts, gap, expected):
    assert unread(bounds, facts, gap) == expected


KEPT = {
    "its run had succeeded": ({}, {}, "unread"),
    "its run had failed": ({"run_status": "error"}, {}, None),
    "its run had given it back by name": ({"is_named_failure": True}, {}, None),
    "its run had named it, which its mapping does not hear": (
        {"is_named_failure": True, "reports_batch_item_failures": False},
        {},
        "unread",
    ),
    "a worker had it": ({"consumer_kind": "worker"}, {}, None),
    "nobody saw who had it": ({"is_seen": False, "consumer_kind": None, "run_status": None}, {}, "unread"),
    "a recorded delete ended it in the end": ({}, {"deleted_by_call_at": 9 * S}, None),
    "it was moved away in the end": ({}, {"ended_by": "dead_lettered"}, None),
    "it is hidden still": ({}, {"ended_by": "in_flight"}, None),
}
"""The delivery before the last, the last one, whose run succeeded before a gap, and whether another can follow."""


def kept(of, earlier, last):
    known = {"receive_count": 2, "visibility_timeout_s": 30, "hidden_until_at": 30 * S, "ended_by": "deleted"}
    known["reports_batch_item_failures"] = False
    item = [delivery(**{"receive_count": 1, "received_at": -30 * S, **earlier}), delivery(**{**known, **last})]
    return of.why_open(item, Around(unread=(59 * S, LATE)))


@pytest.mark.parametrize(("earlier", "last", "expected"), KEPT.values(), ids=KEPT)
def test_a_delivery_can_follow_a_success_in_a_gap_where_a_success_had_ended_nothing_before(earlier, last, expected):
    assert kept(bounds, earlier, last) == expected


SLOW = {"delete_at": 36 * S, "marker_at": 34 * S}
TAKEN = {"delete_at": None, "delete_reason": None, "worker_finished_at": 36 * S, "is_fifo": True}
LATE_DELETE = {
    "it came long behind the work, when the message was visible again": ({}, "late_delete"),
    "its receives were counted": ({"receive_count": 1}, "late_delete"),
    "it may be received no more": ({"receive_count": 1, "max_receive_count": 1}, None),
    "when it was just visible again": ({"hidden_until_at": 36 * S}, "late_delete"),
    "a microsecond before that": ({"hidden_until_at": 36 * S + 1}, None),
    "nobody knows when it was": ({"hidden_until_at": None}, None),
    "a microsecond more than a moment behind the work": ({"marker_at": 35 * S - 1}, "late_delete"),
    "a moment behind it": ({"marker_at": 35 * S}, None),
    "no line tells the work": ({"marker_at": None}, None),
    "no line tells the delete": ({"delete_at": None, "delete_reason": None}, None),
    "SQS refused it": ({"delete_reason": "expired"}, None),
    "a function tried it": ({"consumer_kind": "lambda"}, None),
    "a FIFO queue took it": (TAKEN, "late_delete"),
    "a FIFO queue took it just when the message was visible again": (
        TAKEN | {"hidden_until_at": 36 * S},
        "late_delete",
    ),
    "a FIFO queue took it before that": (TAKEN | {"hidden_until_at": 36 * S + 1}, None),
    "a standard queue took it": (TAKEN | {"is_fifo": False}, None),
    "a FIFO queue refused it, and its framework ended the job": (TAKEN | {"delete_reason": "expired"}, None),
    "it failed at a FIFO queue when the message was hidden, and its framework ended the job": (
        TAKEN | {"delete_reason": "other", "delete_at": 34 * S},
        None,
    ),
}
"""What is known of a message's last delivery, whose delete failed, and why nothing bounds how often the work was done."""


def late_delete(of, facts):
    known = {"consumer_kind": "worker", "delete_reason": "other", "hidden_until_at": 35 * S, "ended_by": "in_flight"}
    return of.why_open([delivery(**{**known, **BESIDE, **SLOW, **facts})], Watched(-LATE, LATE))


@pytest.mark.parametrize(("facts", "expected"), LATE_DELETE.values(), ids=LATE_DELETE)
def test_a_late_delete_may_be_of_a_further_delivery(facts, expected):
    assert late_delete(bounds, facts) == expected


ROOM = {
    "exactly two timeouts, and no line is lost": ({}, TWICE, None, False),
    "a microsecond more": ({}, TWICE + 1, None, True),
    "by a clock that tells whole seconds": ({"received_at": 0}, TWICE, None, True),
    "by such a clock, a second less": ({"received_at": 0}, TWICE - S, None, False),
    "a microsecond less than that, by one that tells more": ({"received_at": 1}, TWICE - S + 1, None, False),
    "long enough, and each opening is shown": ({"received_at": 0}, TWICE + S, (0, LATE), False),
    "but the delete came when it was visible again": (
        {"received_at": 0, "delete_at": 30 * S},
        TWICE + S,
        (0, LATE),
        True,
    ),
    "it came a microsecond sooner": ({"received_at": 0, "delete_at": 30 * S - 1}, TWICE + S, (0, LATE), False),
    "it came then, and was refused": (
        {"received_at": 0, "delete_at": 30 * S, "delete_reason": "expired"},
        TWICE + S,
        (0, LATE),
        False,
    ),
    "it came then, with no room for another": (
        {"received_at": 0, "delete_at": 30 * S},
        TWICE - S,
        (0, LATE),
        False,
    ),
}
"""What is known of a worker's delivery, how long after it the next one was received, when each opening was shown, and whether another can
hide between the two."""


def room(of, facts, gap, watched):
    known = {"consumer_kind": "worker", "received_basis": "first_receive", "received_at": 1, "delete_reason": "other"}
    earlier = delivery(**{**known, "visibility_timeout_s": 30, "hidden_until_at": 30 * S, **facts})
    later = delivery(consumer_kind="worker", visibility_timeout_s=30, received_at=earlier.received_at + gap)
    return of._hides_between(earlier, later, Watched(*watched) if watched else Around(), ())


@pytest.mark.parametrize(("facts", "gap", "watched", "expected"), ROOM.values(), ids=ROOM)
def test_a_workers_delivery_hides_between_two(facts, gap, watched, expected):
    assert room(bounds, facts, gap, watched) is expected


OF_TWO = {
    "its lines are of it alone": ([{}], None),
    "its lines may be of two": ([{"may_be_two": True}], "uncounted"),
    "those of the first of two may be": ([{"may_be_two": True}, {}], "uncounted"),
    "it was counted": ([{"may_be_two": True, "receive_count": 1}], None),
}


def of_two(of, deliveries):
    known = {"receive_count": None, "ended_by": "in_flight", "sent_ms": SENT_AT // 1000, **BESIDE}
    return of.why_open([delivery(**(known | facts)) for facts in deliveries], Watched(-LATE, LATE))


@pytest.mark.parametrize(("deliveries", "expected"), OF_TWO.values(), ids=OF_TWO)
def test_a_delivery_can_hide_in_the_lines_of_one_that_nobody_counted(deliveries, expected):
    assert of_two(bounds, deliveries) == expected


COUNTED = {
    "each counted": ([1, 2], "unknown", None),
    "one of two not counted, and the message went on": ([1, None], "unknown", "partly_counted"),
    "one of two not counted, and the last one ended it": ([1, None], "in_flight", None),
    "one alone, not counted": ([None], "in_flight", None),
    "two, the last of which named it as a failure, and nobody knows that this is heard": (
        [None, None, "failed"],
        "unknown",
        "not_ended",
    ),
    "which is hidden all the same": ([None, None, "failed"], "in_flight", None),
    "three, with a gap before the last, in which every run was named": ([None, None, 9], "in_flight", None),
    "three, with a gap before the last, in which some were not": ([None, None, 9], "dead_lettered", "partly_counted"),
    "one of which only the key is known": (["key", None], "in_flight", "key_alone"),
    "one before which runs named no message": (["early"], "in_flight", "uncounted"),
    "two, whose own runs did not name all they had": ([None, None, "own"], "in_flight", None),
    "two, whose workers did not say that they began them": ([None, None, "worker"], "in_flight", "uncounted"),
    "two, of which one run's START is lost": ([None, None, "lost", "own"], "in_flight", "uncounted"),
    "two, beside a run that did not name all it had": ([None, None, "other"], "in_flight", "uncounted"),
    "two, the last of which failed, though every run was named for long": (
        [None, None],
        "visibility_expired",
        "not_ended",
    ),
    "two, the last of which failed, of a consumer that names every message whenever it runs": (
        [None, None, "named"],
        "visibility_expired",
        None,
    ),
    "two, the delete of the last refused": ([None, None], "delete_refused", "not_ended"),
    "two, the last of which failed at its queue's limit": ([None, 5, "limit"], "visibility_expired", None),
}


def counted(of, counts, ended_by):
    item_id = "key:pay_1" if "key" in counts else "m1"
    words = [count for count in counts if count in ("own", "other", "worker", "lost", "limit", "named", "failed")]
    blind = (
        [7 * S, 9 * S if "other" in counts else 8 * S]
        if words and words not in (["limit"], ["named"], ["failed"])
        else []
    )
    is_named = ended_by in ("in_flight", "visibility_expired", "delete_refused") or "failed" in words
    around = Watched(0 if "early" in counts else -LATE, LATE if is_named else 0, *blind)
    around.names_all = "named" in words
    counts = [count for count in counts if count not in words]
    counts = [count if isinstance(count, int) else None for count in counts]
    item = [
        delivery(
            item_id,
            receive_count=count,
            max_receive_count=5 if "limit" in words else None,
            received_at=(200 if count == 9 else 40 * n) * S,
            received_basis="first_receive",
            visibility_timeout_s=30,
            run_started_at=None if "lost" in words and not n else (7 + n) * S,
            consumer_kind="worker" if "worker" in words else "lambda",
            is_named_failure="failed" in words,
        )
        for n, count in enumerate(counts)
    ]
    item[-1].ended_by = ended_by
    return of.why_open(item, around)


@pytest.mark.parametrize(("counts", "ended_by", "expected"), COUNTED.values(), ids=COUNTED)
def test_a_bound_holds_where_every_delivery_was_counted_or_none_finds_room(counts, ended_by, expected):
    assert counted(bounds, counts, ended_by) == expected
