"""Ids that come again: as a queue's messages do, or as customers do; and ids that are known as messages'."""

from datetime import timedelta

import pytest

from forensics.clock import micros
from forensics.identity import evidence_id
from forensics.suggestions.coming_again import QueueMessages
from forensics.suggestions.model import RunLines
from forensics.suggestions.nameless import nameless_runs
from forensics.tables.evidence import QUEUE_SETTINGS, SEND_RECORDS
from tests.forensics.report import world
from tests.forensics.suggestions.test_nameless import (
    FUNCTION,
    GROUP,
    QUEUE,
    STREAM,
    WORKER,
    an_id,
    lake_of,
    proposed,
    run,
)

pytestmark = pytest.mark.lake

HIDDEN_S = 60
SETTINGS = [
    row | {"evidence_id": "queue:2", "queue_arn": QUEUE, "visibility_timeout_s": HIDDEN_S}
    for row in world.settings()[QUEUE_SETTINGS]
]


def handling(at_s, status):
    at = micros(world.after(at_s))
    return RunLines(f"run-{at_s}", GROUP, status, at, at)


AGAIN = {
    "once": ([(0, "success")], True),
    "behind a run that failed": ([(0, "timeout"), (1, "success")], True),
    "behind one of which nothing tells how it ended": ([(0, "unknown"), (1, "success")], True),
    "behind a handling that ended well, too soon": ([(0, "success"), (47.9, "success")], False),
    "not too soon": ([(0, "success"), (48, "success")], True),
    "not too late": ([(0, "success"), (120, "success")], True),
    "too late": ([(0, "success"), (120.1, "success")], False),
    "each time in its time": ([(0, "success"), (60, "success"), (120, "error"), (500, "success")], True),
    "once too late": ([(0, "success"), (60, "success"), (400, "success")], False),
}


@pytest.mark.parametrize(("handlings", "expected"), AGAIN.values(), ids=AGAIN)
def test_an_id_comes_again_as_a_message_does(tmp_path, handlings, expected):
    findings = lake_of(tmp_path, GROUP, [], evidence=[(QUEUE_SETTINGS, SETTINGS)])

    assert QueueMessages(findings, QUEUE).come_so([handling(*one) for one in handlings]) is expected


NOT_TOLD = {"no settings": [], "settings without it": [row | {"visibility_timeout_s": None} for row in SETTINGS]}


@pytest.mark.parametrize("settings", NOT_TOLD.values(), ids=NOT_TOLD)
def test_where_nobody_knows_for_how_long_a_receive_hides_a_message_only_failures_tell(tmp_path, settings):
    evidence = [(QUEUE_SETTINGS, settings)] if settings else []
    messages = QueueMessages(lake_of(tmp_path, GROUP, [], evidence=evidence), QUEUE)

    assert not messages.come_so([handling(0, "success"), handling(60, "success")])
    assert messages.come_so([handling(0, "error"), handling(60, "success")])


def shipped(tmp_path, gap_s, first="success"):
    """Return the findings of 20 runs of a message each, of which eight are run again."""
    begun = [(30.0 * n, n, first if n < 8 else "success") for n in range(20)]
    begun += [(30.0 * n + gap_s, n, "success") for n in range(8)]
    invocations, lines = [], []
    for place, (at, number, status) in enumerate(sorted(begun)):
        invocations.append(run(place, 10_000 + at, status))
        told = (
            (f"got {an_id(number)}", f"shipped {an_id(number)}") if status == "success" else (f"got {an_id(number)}",)
        )
        lines += [(10_000 + at + 0.1 + 4.8 * step, STREAM, text) for step, text in enumerate(told)]
    return lake_of(tmp_path, GROUP, lines, invocations, evidence=[(QUEUE_SETTINGS, SETTINGS)])


def test_ids_of_which_many_come_again_as_messages_do_are_messages(tmp_path):
    findings = shipped(tmp_path, gap_s=HIDDEN_S + 15.0)

    told = {p.kind: p.value for p in proposed(findings).proposals}
    assert told["started"] == r"got (?P<message_id>\S+)"
    assert told["effect"] == r"shipped (?P<message_id>\S+)"


def test_ids_of_which_many_come_again_at_any_time_are_not_messages(tmp_path):
    findings = shipped(tmp_path, gap_s=7_205.0)

    assert nameless_runs(findings, QUEUE, GROUP, FUNCTION).runs == []


def test_ids_of_which_many_come_again_behind_runs_that_failed_are_messages(tmp_path):
    assert len(nameless_runs(shipped(tmp_path, 7_205.0, "error"), QUEUE, GROUP, FUNCTION).runs) == 28


def worked(order, again=20):
    """Return a worker's lines about 40 messages, each with the order it is for, and about some of them twice at any time."""
    for place, number in enumerate([*range(40), *range(again)]):
        at = 5.0 * place + 7.0 * (place % 3)
        yield at, "worker-1", f"INFO got {an_id(number)} from queue"
        yield at + 2, "worker-1", f"INFO cart {order(number)} shipped"


def sent(number):
    called = world.after(0) - timedelta(minutes=1)
    return {
        "evidence_id": evidence_id("send", "111122223333", "eu-west-1", "CloudTrail", str(number)),
        "account_id": "111122223333",
        "region": "eu-west-1",
        "event_id": f"event {number}",
        "place": 0,
        "called_at": called,
        "operation": "SendMessage",
        "queue_arn": QUEUE,
        "message_id": an_id(number),
        "collected_at": called,
    }


@pytest.mark.parametrize(("known", "expected"), [(2, 0), (3, 60)])
def test_ids_of_which_some_are_known_as_messages_are_messages_whatever_else_comes_again(tmp_path, known, expected):
    sends = [(SEND_RECORDS, [sent(number) for number in range(known)])]
    findings = lake_of(tmp_path, WORKER, worked(lambda number: an_id(number, 5)), evidence=sends)

    found = nameless_runs(findings, QUEUE, WORKER, None)

    assert len(found.runs) == expected
    assert {item.message_id for r in found.runs for item in r.items} <= {an_id(number) for number in range(40)}


def test_sends_that_were_imported_before_anything_told_the_queue_s_arn_are_known(tmp_path):
    findings = lake_of(tmp_path, WORKER, worked(an_id), evidence=[(SEND_RECORDS, [sent(1)])])
    messages = QueueMessages(findings, f"arn:aws:sqs:eu-west-1:111122223333:{QUEUE}")

    assert messages.among({an_id(1), an_id(2)}) == {an_id(1)}


@pytest.mark.parametrize(("again", "is_told"), [(23, True), (24, False)])
def test_half_of_the_ids_are_known_or_come_as_messages_do(tmp_path, again, is_told):
    sends = [(SEND_RECORDS, [sent(number) for number in range(3)])]
    findings = lake_of(tmp_path, WORKER, worked(lambda number: number, again), evidence=sends)

    assert bool(nameless_runs(findings, QUEUE, WORKER, None).runs) is is_told
