"""Lines that read as if a repeat was stopped, where no settings name them."""

from copy import copy

import pytest

from forensics.parsers import parse_line
from forensics.settings import Consumer
from forensics.streams.business_keys import BusinessKeys
from forensics.streams.deliveries import gathered
from forensics.streams.invocations import invocations_of, statements_of
from forensics.streams.model import REPEAT, Fact, LogGroup, LogLine
from forensics.streams.repeats import is_asked, mark_in_hand, reads_as_repeat, repeat_of

RUN = "8e7dced5-ced0-4cc5-be7d-b55df037e130"
M = "c7b168c5-b5d8-424b-a576-490123f2c4a9"
STOPPED = f"2026-10-28T22:38:17.716Z\t{RUN}\tINFO\talready processed pay_4"
EVENT = f'{{"Records": [{{"messageId": "{M}", "receiptHandle": "h", "body": "already charged", "eventSource": "aws:sqs"}}]}}'
ASKED = {
    "nothing said": ({}, True),
    "an effect's line": ({"effect": "charged (?P<key>.+)"}, False),
    "that every run does the work again": ({"idempotent": False}, False),
    "that no run does": ({"idempotent": True}, True),
    "a guard's line": ({"guard": "seen (?P<key>.+)"}, True),
}
LINES = {
    "that it was processed already": (STOPPED, {}, True),
    "in words without a level": ("duplicate payment pay_4", {}, True),
    "as an error": (f"2026-10-28T22:38:17.716Z\t{RUN}\tERROR\tpay_4 was already charged", {}, True),
    "nothing of it": (f"2026-10-28T22:38:17.716Z\t{RUN}\tINFO\tprocessed pay_4", {}, False),
    "in a body": (EVENT, {}, False),
    "as a library": ("IdempotencyItemAlreadyExists: skipped", {}, False),
    "as the settings name it": (STOPPED, {"guard": "already processed (?P<key>.+)"}, False),
    "as the line of a start": (STOPPED, {"started": "already processed (?P<key>.+)"}, False),
    "as that of a delete": (STOPPED, {"deleted": "already processed (?P<key>.+)"}, False),
    "as that of a failure": (STOPPED, {"failed": "already processed (?P<key>.+)"}, False),
    "as that of a lease": (
        "already processed pay_4, 30 s",
        {"visibility_set": "processed (?P<key>.+), (?P<seconds>[0-9]+) s"},
        False,
    ),
    "as that of an effect": (STOPPED, {"effect": "already processed (?P<key>.+)"}, False),
    "of a receipt handle": (
        "duplicate: An error occurred (InvalidParameterValue) when calling the DeleteMessage operation: Value RH for parameter "
        "ReceiptHandle is invalid. Reason: The receipt handle has expired",
        {},
        False,
    ),
    "by a framework whose job is called so": (
        f"2026-11-20T12:00:00Z 71 TID-ox9 DuplicateWorker/orders/{M} INFO: completed in: 900 ms",
        {},
        False,
    ),
    "as a task's result": (f"Task charge[{RUN}] succeeded in 0.3s: 'skipped'", {}, True),
    "as a task's name": (f"Task duplicate.charge[{RUN}] succeeded in 0.3s: None", {}, False),
    "as what a task raised": (f"Task charge[{RUN}] raised expected: Duplicate('already charged')", {}, False),
    "of the platform": (f"REPORT RequestId: {RUN}\tDuration: 5.00 ms\tduplicate", {}, False),
}


@pytest.mark.parametrize(("said", "expected"), ASKED.values(), ids=ASKED)
def test_such_a_line_matters_where_a_success_alone_shows_the_work(said, expected):
    assert is_asked(Consumer(**said)) is expected


@pytest.mark.parametrize(("line", "said", "expected"), LINES.values(), ids=LINES)
def test_what_an_application_says_in_words_of_its_own(line, said, expected):
    consumer = Consumer(**said)

    assert reads_as_repeat(parse_line(line, consumer, "/ecs/charge"), line) is expected


GROUP = LogGroup("/aws/lambda/charge", "lambda", "charge")


@pytest.mark.parametrize(("line", "roles"), [(STOPPED, [REPEAT]), (EVENT, ["record"])])
def test_a_line_of_a_function_states_it(line, roles):
    (statement,) = statements_of([LogLine(5_000, 0, "e-1", line)], GROUP, BusinessKeys({}))

    assert [(fact.role, fact.at, fact.evidence_id) for fact in statement.facts] == [
        (role, 5_000, "e-1") for role in roles
    ]
    assert line in [fact.detail for fact in statement.facts] or roles != [REPEAT]


class Unknown:
    """No settings at all."""

    def function(self, function_name, at):
        return None


def test_in_no_run_it_makes_none():
    line = LogLine(5_000, 0, "e-1", "duplicate payment pay_4")

    assert invocations_of([line], "s", GROUP, Unknown(), BusinessKeys({})) == []


SECOND = 1_000_000


def handling(*roles, item_id=M, **more):
    """A handling of a worker as (second, role[, thread]) with the delivery that they make; ``more`` are fields of its facts."""
    named = {"key": item_id} if item_id.startswith("task") else {"message_id": item_id}
    facts = [
        Fact(role, s * SECOND, f"{item_id} {s}", thread=thread, **named | more)
        for s, role, thread in ((*said, None)[:3] for said in roles)
    ]
    return facts, gathered(item_id, facts, consumer="c", consumer_kind="worker")


def copied(delivery):
    mine = copy(delivery)
    mine.fact_ids = list(delivery.fact_ids)
    return mine


def repeat(second, text="already charged pay-1", thread=None):
    return repeat_of(text, second * SECOND, "e-repeat")._replace(thread=thread)


N = "c7b168c5-b5d8-424b-a576-490123f2c4aa"
STRANGER = "c7b168c5-b5d8-424b-a576-490123f2c4ab"
MINE = handling((0, "started"), (9, "worker_finished"))
OTHERS = handling((5, "started"), (20, "worker_finished"), item_id=N)
OPEN = handling((0, "started"), (40, "mention"), item_id=N)
IN_HAND = {
    "while it is in hand": ([MINE], repeat(4), {M}),
    "with its first line": ([MINE], repeat(0), {M}),
    "with its end": ([MINE], repeat(9), {M}),
    "before it": ([handling((1, "started"), (9, "worker_finished"))], repeat(0), set()),
    "behind its end": ([MINE], repeat(10), set()),
    "behind its failed delete": (
        [handling((0, "started"), (9, "handle_error"), detail="expired:DeleteMessage")],
        repeat(10),
        set(),
    ),
    "with its failed delete": (
        [handling((0, "started"), (9, "handle_error"), detail="expired:DeleteMessage")],
        repeat(9),
        {M},
    ),
    "while nothing tells its end, until it was visible again": ([handling((0, "started"))], repeat(30), {M}),
    "and later": ([handling((0, "started"))], repeat(31), set()),
    "and a line of it still later": ([OPEN], repeat(40), {N}),
    "and behind that": ([OPEN], repeat(41), set()),
    "of two in hand": ([MINE, OTHERS], repeat(6), {M, N}),
    "of the one left": ([MINE, OTHERS], repeat(12), {N}),
    "in whatever order they are": ([OTHERS, MINE], repeat(4), {M}),
    "with the key of one": ([handling((0, "started"), key="pay-1"), OTHERS], repeat(6), {M}),
    "with the id of one, whose mention tells it": ([MINE, OTHERS], repeat(6, f"skipping {M.upper()}"), set()),
    "with an id that is no message's": ([MINE, OTHERS], repeat(6, f"skipping {STRANGER}"), {M, N}),
    "without any": ([MINE, OTHERS], repeat(6, "skipping the newsletter"), set()),
    "without any, of a message that came twice": ([MINE, OTHERS], repeat(6, "Duplicate delivery, skipping"), {M, N}),
    "without any, of a part that did": ([MINE, OTHERS], repeat(6, "duplicate newsletter, skipping"), set()),
    "with one that is only mentioned": (
        [MINE, handling((4, "mention"), item_id=STRANGER)],
        repeat(4, f"skipping {STRANGER}"),
        {M},
    ),
    "by the thread of one": (
        [handling((0, "started", "t-1")), handling((0, "started", "t-2"), item_id=N)],
        repeat(6, thread="t-2"),
        {N},
    ),
    "by a thread that has none": ([handling((0, "started", "t-1")), OTHERS], repeat(6, thread="t-3"), {M, N}),
    "by no thread": ([handling((0, "started", "t-1")), OTHERS], repeat(6), {M, N}),
    "of a task": ([handling((0, "worker_started"), (9, "worker_finished"), item_id="task-1")], repeat(9), {"task-1"}),
}


@pytest.mark.parametrize(("handlings", "line", "expected"), IN_HAND.values(), ids=IN_HAND)
def test_a_line_of_a_worker_is_of_what_was_in_hand(handlings, line, expected):
    made = [(facts, copied(delivery)) for facts, delivery in handlings]

    mark_in_hand([line], made, 30_000)

    assert {delivery.item_id for _, delivery in made if delivery.may_be_skipped} == expected
    assert {delivery.item_id for _, delivery in made if "e-repeat" in delivery.fact_ids} == expected


def test_several_lines_each_are_of_what_was_in_hand_then():
    made = [(facts, copied(delivery)) for facts, delivery in (handling((0, "started"), (3, "deleted")), OTHERS)]

    mark_in_hand([repeat(2), repeat(4), repeat(6)], made, 30_000)

    assert [delivery.fact_ids.count("e-repeat") for _, delivery in made] == [1, 1]
