"""What judging asks besides a work's own lines: what was read, throttled, moved and set aside, and when."""

import pickle

import pytest

from forensics.judging.surroundings import Surroundings
from forensics.judging.written import GroupLines
from tests.forensics.judging.around import (
    ACCOUNT,
    CHARGE,
    DEAD,
    MAILER,
    MAILS,
    PAYMENTS,
    at,
    consumer,
    depth,
    function,
    moment,
    point,
    poll,
    queue,
    read,
    task,
)
from tests.forensics.judging.plain import delivery

REFUNDS = "/aws/lambda/refund"
REFUND = consumer(log_group=REFUNDS, function="refund")
OF_MAILS = consumer(MAILS, MAILER, "worker", None)
DAY = 24 * 60


def lines(log_group=CHARGE, first=0, last=10, has_starts=True, blind=(), has_guard_line=False, workable=()):
    starts, works = ([at(m) for m in minutes] for minutes in (blind, workable))
    return GroupLines(log_group, at(first), at(last), has_starts, starts, has_guard_line, workable_starts=works)


BORDERS = {
    "from its first line to its last, where nobody says what was read": ([], (0, 10)),
    "as far as it was read": ([read(-5, 20)], (-5, 20)),
    "and as far as its lines reach": ([read(2, 4), read(6, 8)], (0, 10)),
    "whatever was not read in between": ([read(-9, -8), read(15, 16)], (-9, 16)),
    "a reading that failed says nothing": ([read(-5, 20, status="denied")], (0, 10)),
}


@pytest.mark.parametrize(("coverage", "expected"), BORDERS.values(), ids=BORDERS)
def test_a_log_group_was_read(coverage, expected):
    around = Surroundings(coverage=coverage, lines=[lines()])

    assert around.read_span(CHARGE) == tuple(at(m) for m in expected)


def test_a_log_group_without_lines_has_no_span():
    assert Surroundings(coverage=[read(0, 9)]).read_span(CHARGE) is None


METRIC = read(0, 60, "charge", "metric_points")
THROTTLES = {
    "by a point inside": ([METRIC], [point(5)], 0, 10, True, ["metric:Throttles:5"]),
    "by a point that ends as it begins": ([METRIC], [point(5)], 6, 10, True, ["metric:Throttles:5"]),
    "by a point that begins as it ends": ([METRIC], [point(5)], 0, 5, True, ["metric:Throttles:5"]),
    "by a long point from before": ([METRIC], [point(1, period_s=600), point(2)], 9, 10, True, ["metric:Throttles:1"]),
    "also where the metric was read in part": ([], [point(5)], 0, 10, True, ["metric:Throttles:5"]),
    "not by a point of zero": ([METRIC], [point(5, value=0.0)], 0, 10, False, []),
    "not by another function's": ([METRIC], [point(5, resource="other")], 0, 10, False, []),
    "not where it was read and shows none": ([METRIC], [point(5)], 7, 10, False, []),
    "unknown where it was not read": ([METRIC], [], 59, 61, None, []),
    "unknown where a part was lost": ([METRIC, read(3, 4, "charge", "metric_points", "lost")], [], 0, 10, None, []),
    "unknown where nothing tells when": ([METRIC], [point(5)], None, 10, None, []),
}


@pytest.mark.parametrize(("coverage", "points", "start", "end", "expected", "ids"), THROTTLES.values(), ids=THROTTLES)
def test_a_queue_was_throttled(coverage, points, start, end, expected, ids):
    around = Surroundings(consumers=[consumer()], coverage=coverage, metric_points=points)
    span = [None if m is None else at(m) for m in (start, end)]

    assert around.throttled(PAYMENTS, *span) == (expected, ids)


def test_a_metric_tells_of_a_queue_where_it_tells_of_all_its_functions():
    around = Surroundings(consumers=[consumer(), REFUND], coverage=[METRIC])

    assert around.throttled(PAYMENTS, at(0), at(1)) == (None, [])


def test_workers_are_never_throttled():
    around = Surroundings(consumers=[OF_MAILS])

    assert around.throttled(MAILS, at(0), at(1)) == (False, [])
    assert around.throttled("another", at(0), at(1)) == (None, [])


EARLY = read(0, 60, collected=60, provisional=True)

WATCHED = {
    "its log group was read in full": ({}, 0, 10, True),
    "to the very moment the reading ended": ({}, 0, 60, True),
    "not behind it": ({}, 55, 61, False),
    "not where events could still come late": ({"coverage": [EARLY]}, 50, 55.1, False),
    "before that even an early reading tells": ({"coverage": [EARLY]}, 50, 55, True),
    "a later reading makes good an early one": ({"coverage": [EARLY, read(45, 60)]}, 50, 60, True),
    "an early reading of too short a time tells nothing": (
        {"coverage": [read(57, 60, collected=60, provisional=True)]},
        57,
        58,
        False,
    ),
    "not over a gap": ({"coverage": [read(0, 4), read(5, 60)]}, 3, 6, False),
    "not where the times are not known": ({}, None, 10, False),
    "not for longer than a day": ({"coverage": [read(0, 2 * DAY)]}, 0, DAY + 0.001, False),
    "for a day": ({"coverage": [read(0, 2 * DAY)]}, 0, DAY, True),
    "not where an invocation in between hides its batch": ({"lines": [lines(blind=[5])]}, 0, 10, False),
    "nor one that begins with the span": ({"lines": [lines(blind=[0])]}, 0, 10, False),
    "nor one that begins as it ends": ({"lines": [lines(blind=[10])]}, 0, 10, False),
    "one before or behind hides nothing": ({"lines": [lines(blind=[-1, 11])]}, 0, 10, True),
    "not where no invocation shows its START": ({"lines": [lines(has_starts=False)]}, 0, 10, False),
    "not where the group has no lines": ({"lines": []}, 0, 10, False),
    "not where START is turned off": ({"function_settings": [function(level="WARN")]}, 0, 10, False),
    "not where a worker takes messages too": (
        {"consumers": [consumer(), consumer(PAYMENTS, MAILER, "worker", None)]},
        0,
        10,
        False,
    ),
    "not where nobody knows what takes them": (
        {"consumers": [consumer(), consumer(PAYMENTS, MAILER, None, None)]},
        0,
        10,
        False,
    ),
    "not where another function's log group was not read": ({"consumers": [consumer(), REFUND]}, 0, 10, False),
}


@pytest.mark.parametrize(("other", "after", "before", "expected"), WATCHED.values(), ids=WATCHED)
def test_the_logs_would_have_shown_an_invocation_where(other, after, before, expected):
    around = Surroundings(**({"consumers": [consumer()], "coverage": [read(0, 60)], "lines": [lines()]} | other))
    span = [None if m is None else at(m) for m in (after, before)]

    assert around.is_watched(PAYMENTS, *span) is expected


WORK = {
    "every invocation names its messages": (lines(), True),
    "one names none, and shows all its work": (lines(blind=[5]), True),
    "one names none, and may have worked on them": (lines(blind=[5], workable=[5]), False),
    "one that may have begins with the span": (lines(blind=[0], workable=[0]), False),
    "one that may have stands behind it": (lines(blind=[5, 11], workable=[11]), True),
    "no invocation shows its START": (lines(has_starts=False), False),
}


OWN = {"it had the message": ([5], True), "another one had": ([4], False), "it and another, at once": ([5], False)}


@pytest.mark.parametrize(("own", "expected"), OWN.values(), ids=OWN)
def test_a_run_that_had_a_message_hides_it_no_second_time(own, expected, request):
    starts = [5, 5] if "at once" in request.node.callspec.id else [5]
    around = Surroundings(consumers=[consumer()], coverage=[read(0, 60)], lines=[lines(blind=starts, workable=starts)])

    assert around.shows_all_work(PAYMENTS, at(0), at(10), [at(m) for m in own]) is expected


@pytest.mark.parametrize(("written", "expected"), WORK.values(), ids=WORK)
def test_the_logs_would_have_shown_a_message_s_work_where(written, expected):
    around = Surroundings(consumers=[consumer()], coverage=[read(0, 60)], lines=[written])

    assert around.shows_all_work(PAYMENTS, at(0), at(10)) is expected


NAMED = {
    "every invocation names its messages": (lines(), (), True),
    "one names none, though it shows all its work": (lines(blind=[5]), (), False),
    "one names none, and is known to have had the message": (lines(blind=[5]), [5], True),
    "one that names none stands behind it": (lines(blind=[11]), (), True),
    "no invocation shows its START": (lines(has_starts=False), (), False),
}


@pytest.mark.parametrize(("written", "own", "expected"), NAMED.values(), ids=NAMED)
def test_the_logs_would_have_named_a_message_where(written, own, expected):
    around = Surroundings(consumers=[consumer()], coverage=[read(0, 60)], lines=[written])

    assert around.names_messages(PAYMENTS, at(0), at(10), [at(m) for m in own]) is expected


def of_mailer(has_starts=True, unopened=()):
    return lines(MAILER, has_starts=has_starts, workable=unopened)


WORKER = {"consumers": [consumer(PAYMENTS, MAILER, "worker", None)], "coverage": [read(0, 60, MAILER)]}
BOTH = {"consumers": [consumer(), *WORKER["consumers"]], "coverage": [read(0, 60), *WORKER["coverage"]]}
WORK_OF_WORKERS = {
    "each handling of a worker shows how it was opened": (WORKER | {"lines": [of_mailer()]}, True),
    "not where one does not": (WORKER | {"lines": [of_mailer(unopened=[5])]}, False),
    "one before or behind hides nothing": (WORKER | {"lines": [of_mailer(unopened=[-1, 11])]}, True),
    "not where none does": (WORKER | {"lines": [of_mailer(has_starts=False)]}, False),
    "not where the worker's log group has a gap": (
        WORKER | {"coverage": [read(0, 4, MAILER), read(5, 60, MAILER)], "lines": [of_mailer()]},
        False,
    ),
    "runs of a function and handlings of a worker both do": (BOTH | {"lines": [lines(), of_mailer()]}, True),
    "not where the function's does not": (BOTH | {"lines": [lines(has_starts=False), of_mailer()]}, False),
    "not where nobody knows what takes messages": (
        {"consumers": [consumer(), consumer(PAYMENTS, MAILER, None, None)], "lines": [lines(), of_mailer()]},
        False,
    ),
}


@pytest.mark.parametrize(("other", "expected"), WORK_OF_WORKERS.values(), ids=WORK_OF_WORKERS)
def test_the_logs_would_have_shown_the_work_of_workers_where(other, expected):
    around = Surroundings(**({"consumers": [consumer()], "coverage": [read(0, 60)], "lines": [lines()]} | other))

    assert around.shows_all_work(PAYMENTS, at(0), at(10)) is expected


def test_workers_are_read_where_the_log_groups_of_all_were_and_no_function_takes_messages():
    second = consumer(MAILS, "mailer-2", "worker", None)
    both = [read(0, 60, MAILER), read(5, 90, "mailer-2")]

    around = Surroundings(consumers=[OF_MAILS, second], coverage=both)
    assert around.are_workers_read(MAILS, at(5), at(60))
    assert not around.are_workers_read(MAILS, at(4), at(60))
    assert not around.are_workers_read(MAILS, None, at(60))
    with_function = Surroundings(consumers=[OF_MAILS, consumer(MAILS)], coverage=[*both, read(0, 60)])
    assert not with_function.are_workers_read(MAILS, at(5), at(50))


ALONE, BOTH = [consumer()], [consumer(), REFUND]
GAPS = {
    "in a gap of its log": (ALONE, [read(0, 20), read(30, 60)], 25, 26, True),
    "in what begins in a gap": (ALONE, [read(0, 20), read(30, 60)], 29.9, 40, True),
    "in what ends in a gap": (ALONE, [read(0, 20), read(30, 60)], 10, 20.1, True),
    "not in what a gap follows": (ALONE, [read(0, 20), read(30, 60)], 10, 20, False),
    "not behind a gap": (ALONE, [read(0, 20), read(30, 60)], 30, 40, False),
    "not where a later reading filled it": (ALONE, [read(0, 20), read(30, 60), read(15, 40)], 10, 40, False),
    "not behind the window": (ALONE, [read(0, 20)], 15, 26, False),
    "where another consumer's log was not read": (BOTH, [read(0, 20), read(0, 9, REFUNDS)], 8, 10, True),
    "not behind the window, whatever was read of another's": (BOTH, [read(0, 20), read(0, 20, REFUNDS)], 15, 26, False),
    "where another consumer's log was never read": (BOTH, [read(0, 20)], 8, 10, True),
    "not where its own was not read at all": (ALONE, [read(0, 60, REFUNDS)], 8, 10, False),
}


@pytest.mark.parametrize(("consumers", "coverage", "after", "before", "expected"), GAPS.values(), ids=GAPS)
def test_a_receive_may_have_been_missed(consumers, coverage, after, before, expected):
    written = [lines()] if any(row["resource"] == CHARGE for row in coverage) else []
    around = Surroundings(consumers=consumers, coverage=coverage, lines=written)

    assert around.may_have_been_missed(PAYMENTS, at(after), at(before), CHARGE) is expected
    assert not around.may_have_been_missed(MAILS, at(after), at(before), CHARGE)


SIGNS = {
    "within a quarter of an hour before it was seen": (-15, True),
    "not longer before": (-15.1, False),
    "while it was seen": (0.5, True),
    "to the end of the period": (1, True),
    "not behind it": (1.1, False),
    "never where nothing tells until when it was hidden": (None, False),
}


@pytest.mark.parametrize(("minutes", "expected"), SIGNS.values(), ids=SIGNS)
def test_a_dead_letter_queue_that_held_a_message_is_a_sign(minutes, expected):
    around = Surroundings(queue_settings=[queue()], metric_points=[depth(0), depth(30, value=0.0)])

    assert around.has_dead_letter_sign(DEAD, None if minutes is None else at(minutes)) is expected
    assert not around.has_dead_letter_sign(PAYMENTS, at(0))
    assert not around.has_dead_letter_sign(None, at(0))


def test_dead_letter_queues_are_those_that_some_queue_names():
    assert Surroundings(queue_settings=[queue(), queue(MAILS, dead=None)]).dead_letter_sources == {DEAD: [PAYMENTS]}


ASKED = read(0, 60, DEAD, "move_tasks")
MOVES = {
    "from its start": ([ASKED], [task(10, 20)], 10, True),
    "to when it was seen to be over": ([ASKED], [task(10, 20)], 20, True),
    "not behind that": ([ASKED], [task(10, 20)], 21, False),
    "the first look that shows it over counts": ([ASKED], [task(10, 30), task(10, 20, "FAILED")], 25, False),
    "for 36 hours where it was only seen running": ([ASKED], [task(10, 20, "RUNNING")], 10 + 36 * 60, True),
    "not longer": ([ASKED], [task(10, 20, "RUNNING")], 11 + 36 * 60, False),
    "until it was over, where it was seen running before": (
        [ASKED],
        [task(10, 30), task(10, 20, "RUNNING")],
        31,
        False,
    ),
    "known though nobody says that it was asked for": ([], [task(10, 20)], 15, True),
    "unknown where nobody asked": ([], [], 15, None),
    "asked for by the queue's name": ([read(0, 60, "dead", "move_tasks")], [], 15, False),
    "not where the send is not known": ([ASKED], [task(10, 20)], None, False),
}


@pytest.mark.parametrize(("coverage", "tasks", "sent", "expected"), MOVES.values(), ids=MOVES)
def test_a_move_task_was_on(coverage, tasks, sent, expected):
    around = Surroundings(queue_settings=[queue()], coverage=coverage, move_tasks=tasks)

    assert around.was_moved(PAYMENTS, None if sent is None else at(sent)) is expected
    assert around.has_move_tasks is bool(tasks)


def test_a_move_task_with_a_destination_moves_there_and_nowhere_else():
    around = Surroundings(queue_settings=[queue()], coverage=[ASKED], move_tasks=[task(10, 20, destination=MAILS)])

    assert (around.was_moved(PAYMENTS, at(15)), around.was_moved(MAILS, at(15))) == (False, True)


def mapping(state="Enabled", minutes=0, arn=PAYMENTS):
    return {
        "evidence_id": f"mapping:{minutes}",
        "mapping_uuid": "u-1",
        "queue_arn": arn,
        "function_name": "charge",
        "state": state,
        "last_modified_at": None,
        "observed_at": moment(minutes),
    }


POLLED = {
    "its metrics count a poll": ({"metric_points": [poll(5)]}, 5, True),
    "not from then on": ({"metric_points": [poll(4)]}, 5, False),
    "a mapping that feeds it polls soon after": ({"event_source_mappings": [mapping()]}, 20, True),
    "nobody looked for long enough": ({"event_source_mappings": [mapping()]}, 19.999, False),
    "one that was disabled": ({"event_source_mappings": [mapping("Disabled")]}, 20, False),
    "one of another queue": ({"event_source_mappings": [mapping(arn=MAILS)]}, 20, False),
    "nothing is known": ({}, 20, False),
}


@pytest.mark.parametrize(("rows", "until", "expected"), POLLED.values(), ids=POLLED)
def test_a_queue_was_polled_from_a_moment_on(rows, until, expected):
    assert Surroundings(**rows).was_polled(PAYMENTS, at(5), at(until)) is expected


FIFO = ACCOUNT + "orders.fifo"
FIFO_DEAD_LETTERS = {
    "one that its settings name": ({"queue_settings": [queue(FIFO)]}, True),
    "none, as its settings say": ({"queue_settings": [queue(FIFO, dead=None)], "consumers": [consumer(FIFO)]}, False),
    "perhaps, where no settings were read": ({"consumers": [consumer(FIFO)]}, True),
    "a standard queue's is none": ({"queue_settings": [queue()], "consumers": [consumer()]}, False),
}


@pytest.mark.parametrize(("rows", "expected"), FIFO_DEAD_LETTERS.values(), ids=FIFO_DEAD_LETTERS)
def test_a_fifo_queue_has_a_dead_letter_queue(rows, expected):
    assert Surroundings(**rows).has_fifo_dead_letters is expected


SHARED = [lines(), lines(MAILER, has_guard_line=True), lines("shared", has_guard_line=True)._replace(function_name="a")]
GUARDED = {
    "a log group without such lines": (CHARGE, "charge", False),
    "a worker's, or one of which nothing says whose they are": (MAILER, None, True),
    "the function that wrote them": ("shared", "a", True),
    "no other function of the group": ("shared", "b", False),
}


@pytest.mark.parametrize(("log_group", "function", "expected"), GUARDED.values(), ids=GUARDED)
def test_lines_show_the_guard_of(log_group, function, expected):
    assert Surroundings(lines=SHARED).shows_guard_lines(log_group, function) is expected


def test_a_writer_none_of_whose_lines_is_an_effects_shows_none():
    told = [lines(), lines(MAILER)._replace(has_effect_line=False)]

    assert Surroundings(lines=told).shows_no_effect(MAILER, None)
    assert not Surroundings(lines=told).shows_no_effect(CHARGE, None)
    assert not Surroundings().shows_no_effect(MAILER, None)


def test_a_log_group_tells_each_effect_once():
    told = Surroundings(lines=[lines(), lines(MAILER)._replace(tells_effect_once=True)])

    assert told.tells_effect_once(MAILER)
    assert not told.tells_effect_once(CHARGE)
    assert not told.tells_effect_once(None)


OF_SEVERAL = {
    "that its record or its log group's only consumer tells": ([consumer()], PAYMENTS, True, True),
    "of two that its function consumes": ([consumer(), consumer(MAILS)], CHARGE, False, False),
    "of two whose consumer is known by its log group alone": (
        [consumer(function=None), consumer(MAILS, function=None)],
        CHARGE,
        False,
        False,
    ),
    "of none, where another function of its log group consumes one": (
        [consumer(function="mail"), consumer(DEAD, function="mail")],
        CHARGE,
        False,
        False,
    ),
    "of no consumer that is known": ([], CHARGE, False, False),
    "that an import named like its log group": ([consumer(CHARGE)], CHARGE, True, True),
    "of two, of which one is named like its log group": ([consumer(CHARGE), consumer(MAILS)], CHARGE, False, False),
    "and that queue's dead-letter queue": ([consumer(), consumer(DEAD)], CHARGE, False, True),
    "the dead-letter queue of another": ([consumer(MAILS), consumer(DEAD)], CHARGE, False, False),
}
"""Consumers, the queue's ARN or what stands for it, whether it is known, and whether a key is one work's there."""


@pytest.mark.parametrize(("consumers", "arn", "is_known", "is_one"), OF_SEVERAL.values(), ids=OF_SEVERAL)
def test_a_delivery_came_from_the_queue(consumers, arn, is_known, is_one):
    around = Surroundings(consumers=consumers, queue_settings=[queue(), queue(MAILS, dead=None)])
    mine = delivery(queue_arn=arn, log_group=CHARGE, function_name="charge")

    assert (around.is_queue_known(mine), around.is_of_one_queue(mine)) == (is_known, is_one)


def test_a_second_queue_of_a_log_group_bears_on_what_it_received():
    asked = ([CHARGE], [CHARGE], at(0), at(10))

    assert Surroundings(consumers=[consumer()]).bearing(*asked) != Surroundings(
        consumers=[consumer(), consumer(MAILS)]
    ).bearing(*asked)


def test_the_settings_in_force_include_what_cloudtrail_recorded():
    change = {
        "evidence_id": "change:1",
        "changed_at": moment(5),
        "resource_kind": "queue",
        "resource": "payments",
        "queue_arn": PAYMENTS,
        "function_name": None,
        "settings": ["VisibilityTimeout=600"],
        "error_code": None,
    }
    around = Surroundings(queue_settings=[queue()], setting_changes=[change])

    assert [around.in_force.queue(PAYMENTS, at(m))["visibility_timeout_s"] for m in (4, 5)] == [120, 600]


def test_surroundings_travel_to_other_processes_whole():
    around = Surroundings(consumers=[consumer()], coverage=[read(0, 60)], lines=[lines()], queue_settings=[queue()])
    copy = pickle.loads(pickle.dumps(around))

    asked = ([PAYMENTS], [CHARGE], at(0), at(10))
    assert copy.is_watched(PAYMENTS, at(0), at(10))
    assert copy.bearing(*asked) == around.bearing(*asked)


def told(function_name, has_starts=True, blind=()):
    return lines("shared", 0, 60, has_starts, blind)._replace(function_name=function_name)


IN_ONE_GROUP = {
    "its function shows STARTs": ([told("charge")], True),
    "another one shows none": ([told("charge"), told("audit", has_starts=False)], True),
    "only another one shows them": ([told("charge", has_starts=False), told("audit")], False),
    "only lines of which nothing tells whose they are": ([told("charge", has_starts=False), told(None)], False),
    "its function did not run": ([told("audit")], False),
    "its function hides a batch": ([told("charge", blind=[5])], False),
    "another one hides its batches": ([told("charge"), told("audit", blind=[5])], True),
    "one of which nothing tells whose it is hides its batch": ([told("charge"), told(None, blind=[5])], False),
}


@pytest.mark.parametrize(("written", "expected"), IN_ONE_GROUP.values(), ids=IN_ONE_GROUP)
def test_a_queue_whose_function_shares_its_log_group_is_watched_where(written, expected):
    around = Surroundings(consumers=[consumer(log_group="shared")], coverage=[read(0, 60, "shared")], lines=written)

    assert around.is_watched(PAYMENTS, at(1), at(9)) is expected
