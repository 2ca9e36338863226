"""Consumers that name messages in words of their own: which ids are taken for messages', and what is proposed of them."""

import atexit
import re
import shutil
import tempfile
from datetime import timedelta
from functools import cache
from pathlib import Path
from uuid import UUID

import pytest

from forensics.clock import micros
from forensics.identity import evidence_id
from forensics.lake import Lake
from forensics.parsers.marks import mark
from forensics.settings import Settings
from forensics.suggestions.nameless import nameless_runs
from forensics.suggestions.suggest import suggest
from forensics.tables import FINDINGS, GENERATIONS
from forensics.tables.evidence import CONSUMERS, LOG_EVENTS
from tests.forensics.report import world
from tests.lakes import written_once
from tests.tables import put_tables

pytestmark = pytest.mark.lake

QUEUE = "orders"
FUNCTION, GROUP, STREAM = "ship", "/aws/lambda/ship", "2026/11/20/[$LATEST]" + "0" * 32
WORKER = "/ecs/pay"


def an_id(number, kind=0):
    return str(UUID(int=number + 1 + (kind << 96) + (4 << 76)))


def log_events(log_group, lines):
    """Return rows of lines: seconds, stream and text."""
    return [
        {
            "evidence_id": evidence_id("log", "111122223333", "eu-west-1", log_group, f"n {number}"),
            "account_id": "111122223333",
            "region": "eu-west-1",
            "log_group": log_group,
            "log_stream": stream,
            "event_id": f"n {number}",
            "logged_at": world.after(seconds),
            "ingested_at": world.after(seconds),
            "order_in_ms": 0,
            "line": text,
            "collected_at": world.after(seconds),
        }
        for number, (seconds, stream, text) in enumerate(lines)
    ]


def consumer(log_group, queue=QUEUE):
    is_function = log_group == GROUP
    return {
        "evidence_id": f"consumer:{log_group}",
        "account_id": "111122223333",
        "region": "eu-west-1",
        "queue_arn": queue,
        "queue_name": queue,
        "log_group": log_group,
        "kind": "lambda" if is_function else "worker",
        "function_name": FUNCTION if is_function else None,
        "found_by": "option (--log-group)",
    }


@cache
def unread(log_group):
    """Return the folder of a lake of one queue with one consumer that has logged nothing, written once."""
    folder = Path(tempfile.mkdtemp(prefix="doubletake-nameless-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    lake = Lake(folder / "lake")
    with written_once():
        for table, rows in {**world.settings(), CONSUMERS: [consumer(log_group)]}.items():
            lake.append(table, rows, "test|nameless")
        put_tables(lake, (*FINDINGS, GENERATIONS))
    return lake.root


def lake_of(tmp_path, log_group, lines, invocations=(), deliveries=(), evidence=()):
    """Return the findings of a lake of one queue with one consumer; lines are seconds, stream and text, evidence a table and its rows."""
    lake = Lake(shutil.copytree(unread(log_group), tmp_path / "lake"))
    for number, (table, rows) in enumerate([(LOG_EVENTS, log_events(log_group, lines)), *evidence]):
        lake.append(table, rows, f"test|nameless {number}")
    world.publish(lake, {"invocations": list(invocations), "deliveries": list(deliveries)}, "run-1")
    return lake.findings()


def run(number, seconds, status="success", took=5.0):
    started = world.after(seconds)
    return {
        "invocation_id": f"{GROUP}|{STREAM}|{an_id(number, 9)}|{micros(started) // 1000}",
        "log_group": GROUP,
        "log_stream": STREAM,
        "request_id": an_id(number, 9),
        "start_index": 1,
        "function_name": FUNCTION,
        "queue_arn": QUEUE,
        "started_at": started,
        "ended_at": started + timedelta(seconds=took),
        "end_status": status,
        "has_start": True,
        "message_count": 0,
        "evidence_ids": [],
    }


def shipped(tmp_path, says, runs=40, failed=()):
    """Return the findings of runs of two messages each; those that failed stop in the second, and come again as a whole."""
    lines, invocations = [], []
    batches = [(n, n in failed) for n in range(runs)] + [(n, False) for n in failed]
    for place, (number, fails) in enumerate(batches):
        at = 10_000 + 60 * place
        invocations.append(run(place, at, "timeout" if fails else "success", 30.0 if fails else 4.2))
        for item in (0, 1):
            told = says(an_id(2 * number + item), an_id(place, 9), an_id(2 * number + item, 5))
            for step, text in enumerate(told[:1] if fails and item else told):
                lines.append((at + 0.1 + 2 * item + 1.9 * step, STREAM, text))
    return lake_of(tmp_path, GROUP, lines, invocations)


def in_own_words(message, request, _):
    return f"2026-11-20T03:00:00.123Z\t{request}\tINFO\tgot {message}", f"shipped {message} for order"


def proposed(findings, settings=""):
    return suggest(findings, QUEUE, Settings.parse(settings))


def test_a_function_that_names_messages_in_its_own_words_gets_its_marks_proposed(tmp_path):
    found = proposed(shipped(tmp_path, in_own_words, failed=(7, 8)))

    assert {p.kind: p.value for p in found.proposals} == {
        "effect": r"shipped (?P<message_id>\S+)",
        "effect_is_exhaustive": True,
        "started": r"got (?P<message_id>\S+)",
        "order": "sequential",
    }
    assert found.items == 84
    assert "correlate again to see what they decide" in found.decides


def test_it_is_said_that_nothing_but_their_behaviour_tells_that_ids_are_messages(tmp_path):
    found = proposed(shipped(tmp_path, in_own_words))

    assert any("hold one against a message id of the queue before you accept" in why for why in found.cannot_tell)


def test_the_id_of_the_run_itself_names_no_message(tmp_path):
    findings = shipped(tmp_path, lambda message, request, _: (f"begin {request} now", f"end {request} now"))
    found = nameless_runs(findings, QUEUE, GROUP, FUNCTION)

    assert (found.runs, found.why_not) == ([], "no id stands in its lines that is another in each handling")


NOT_MESSAGES = {
    "the same tenant in every run": lambda _m, _r, _o: (f"for shop {an_id(0, 7)}",),
    "an id behind the word of something else": lambda message, _r, _o: (f"trace id {message}",),
    "a session in JSON": lambda message, _r, _o: (f'{{"session_id": "{message}"}}',),
    "a number and no id": lambda message, _r, _o: (f"got {message[-4:]}",),
}


@pytest.mark.parametrize("says", NOT_MESSAGES.values(), ids=NOT_MESSAGES)
def test_what_does_not_behave_as_a_message_id_names_none(tmp_path, says):
    assert nameless_runs(shipped(tmp_path, says), QUEUE, GROUP, FUNCTION).runs == []


def in_keys(message, _r, _o):
    return (f'{{"level":"INFO","message":"charged payment_id=p-{int(message[-4:], 16)}"}}',)


def keys_of(tmp_path, says, failed=()):
    """The findings of runs of two messages each whose lines stand behind the work; of those that failed only the first was done."""
    lines, invocations = [], []
    batches = [(n, n in failed) for n in range(40)] + [(n, False) for n in failed]
    for place, (number, fails) in enumerate(batches):
        at = 10_000 + 60 * place
        invocations.append(run(place, at, "timeout" if fails else "success", 30.0 if fails else 4.1))
        for item in (0,) if fails else (0, 1):
            for text in says(an_id(2 * number + item), an_id(place, 9), None):
                lines.append((at + 2 * (item + 1), STREAM, text))
    return lake_of(tmp_path, GROUP, lines, invocations)


def test_a_function_that_logs_its_business_key_alone_gets_the_line_proposed_though_it_hung_behind_one(tmp_path):
    found = proposed(keys_of(tmp_path, in_keys, failed=(7, 8)))

    [effect] = [p for p in found.proposals if p.kind == "effect"]
    assert mark('{"level":"INFO","message":"charged payment_id=p-7"}', effect.value).key == "p-7"
    assert (effect.fits, effect.of) == (80, 80)
    assert not any(p.kind == "effect_is_exhaustive" for p in found.proposals)
    assert any(
        "behind payment_id is another in each run, so it is taken for the business key" in w for w in found.cannot_tell
    )


NO_KEYS = {
    "a customer": lambda message, _r, _o: (f"served customer_id=c-{message[-4:]}",),
    "a customer in words": lambda message, _r, _o: (f"served customer id {message[-4:]}1",),
    "the same order in every run": lambda _m, _r, _o: ("order_id=o-7 seen",),
    "a duration": lambda message, _r, _o: (f"order took 0.{message[-4:]}1",),
    "a name that tells no work": lambda message, _r, _o: (f"step=s-{message[-4:]}",),
    "two keys, and nothing tells which": lambda m, _r, _o: (f"order_id=o-{m[-4:]} payment_id=p-{m[-4:]}",),
}


@pytest.mark.parametrize("says", NO_KEYS.values(), ids=NO_KEYS)
def test_what_does_not_behave_as_a_key_of_work_is_none(tmp_path, says):
    assert nameless_runs(keys_of(tmp_path, says), QUEUE, GROUP, FUNCTION).runs == []


def test_whoever_waits_hears_what_is_read(tmp_path):
    said = []

    suggest(shipped(tmp_path, in_own_words), QUEUE, Settings(), said.append)

    assert said == [
        f"reading runs of {QUEUE}",
        f"reading lines of {GROUP} that name no message",
        "comparing the lines of ship",
        "judging what was redelivered",
    ]


def test_of_two_kinds_of_ids_nothing_tells_which_is_the_messages(tmp_path):
    findings = shipped(tmp_path, lambda message, _, order: (f"got {message}", f"cart {order} shipped"))
    found = nameless_runs(findings, QUEUE, GROUP, FUNCTION)

    assert found.runs == []
    assert "several kinds of ids" in found.why_not


def test_the_ids_of_json_lines_are_told_by_their_path(tmp_path):
    def says(message, _, order):
        return f'{{"msg": "begin", "unit": "{message}"}}', f'{{"msg": "end", "unit": "{message}"}}'

    found = nameless_runs(shipped(tmp_path, says), QUEUE, GROUP, FUNCTION)

    assert [item.message_id for item in found.runs[0].items] == [an_id(0), an_id(1)]


def test_a_worker_that_names_messages_in_its_own_words_gets_its_marks_proposed(tmp_path):
    lines = []
    for number in (*range(60), 3, 4):
        at = 5.0 * len(lines)
        lines.append((at, "worker-1", f"INFO got {an_id(number)} from queue"))
        lines.append((at + 2, "worker-1", f"INFO charged card for {an_id(number)} amount=12.{number}"))
    found = proposed(lake_of(tmp_path, WORKER, lines))

    told = {p.kind: (p.section, p.name, p.value) for p in found.proposals}
    assert told["started"] == ("worker", WORKER, r"got (?P<message_id>\S+)")
    assert told["effect"] == ("worker", WORKER, r"charged card for (?P<message_id>\S+)")
    assert found.items == 62


def test_that_no_verdict_would_change_is_not_said_where_only_a_failure_was_known(tmp_path):
    lines = []
    for number in (*range(60), 3, 4):
        at = 5.0 * len(lines)
        lines.append((at, "worker-1", f"INFO got {an_id(number)} from queue"))
        lines.append((at + 2, "worker-1", f"INFO charged card for {an_id(number)} amount=12.{number}"))
    failed = world.findings()["deliveries"][0] | {
        "queue": QUEUE,
        "queue_arn": QUEUE,
        "log_group": WORKER,
        "log_stream": "worker-1",
        "consumer": f"{WORKER}|worker-1|{an_id(99)}|1",
        "consumer_kind": "worker",
        "function_name": None,
        "item_id": an_id(99),
        "message_id": an_id(99),
        "run_status": "error",
    }
    found = proposed(lake_of(tmp_path, WORKER, lines, deliveries=[failed]))

    assert "effect" in {p.kind for p in found.proposals}
    assert "not known" in found.decides


def test_the_thread_that_a_line_begins_with_parts_no_ids_of_one_place_from_others(tmp_path):
    lines = []
    for number in range(60):
        thread, at = f"[consumer-{'abc'[number % 3]}] INFO orders -", 5.0 * len(lines)
        lines.append((at, "worker-1", f"{thread} got {an_id(number)} from queue"))
        lines.append((at + 2, "worker-1", f"{thread} charged card for {an_id(number)} amount=12.{number}"))
    found = proposed(lake_of(tmp_path, WORKER, lines))

    told = {p.kind: p.value for p in found.proposals}
    assert mark(f"[consumer-d] INFO orders - got {an_id(7)} from queue", told["started"]).message_id == an_id(7)
    assert mark(f"[consumer-d] INFO orders - charged card for {an_id(7)} amount=1", told["effect"])
    assert found.items == 60


def test_a_queue_of_which_only_the_consumer_is_known_is_known(tmp_path):
    found = proposed(lake_of(tmp_path, WORKER, [(0, "worker-1", "INFO started")]))

    assert found.proposals == ()
    assert found.cannot_tell == (
        f"{WORKER}: no line names a message by a word that is known, and no id stands in its lines that is another in each handling.",
    )


KEYS = {
    "a name and a value": ("order_id=ord-{n}", r"order_id=(?P<key>"),
    "beside what is no key": ("took=0.{n:03} amount=9.99 invoice: inv-{n}", r"invoice: (?P<key>"),
    "a fraction is none": ("order_no=0.{n:03}", None),
    "the same one for several messages": ("shop_id=s-{shop}", None),
    "two that fit": ("order_id=ord-{n} payment_id=pay-{n}", None),
    "another thing's": ("request_id=req-{n}", None),
    "a printed object": ("{{ orderId: 'ord-{n}', shop: 's-1' }}", r"orderId: '(?P<key>"),
    "a printed object of several lines": ("{{\n  orderId: 'ord-{n}',\n  shop: 's-1'\n}}", r"orderId: '(?P<key>"),
    "a printed dictionary": ("{{'order_id': 'ord-{n}'}}", r"order_id': '(?P<key>"),
    "a name before a value": ("of order 10{n:02}", r"order (?P<key>"),
    "nothing": ("", None),
}


@pytest.mark.parametrize(("tail", "expected"), KEYS.values(), ids=KEYS)
def test_the_key_that_the_effects_line_prints_is_proposed_with_it(tmp_path, tail, expected):
    def says(message, _, __):
        number = UUID(message).int & 0xFFFF
        return f"got {message}", f"shipped {message} {tail.format(n=number, shop=number % 3)}".rstrip()

    found = proposed(shipped(tmp_path, says, failed=(7, 8)))
    (effect,) = [p.value for p in found.proposals if p.kind == "effect"]

    assert (expected or "shipped") in effect
    assert ("(?P<key>" in effect) is (expected is not None)
    Settings.parse(f"[[function]]\nname = 'ship'\neffect = '''{effect}'''")


def test_a_field_of_a_json_line_is_a_key_too_and_the_expression_passes_over_what_changes(tmp_path):
    def says(message, request, _):
        head = f'{{"level": "INFO", "function_request_id": "{request}", "message": '
        number = UUID(message).int & 0xFFFF
        return f'{head}"begin", "unit": "{message}"}}', f'{head}"sent", "unit": "{message}", "order_id": "o-{number}"}}'

    told = {p.kind: p.value for p in proposed(shipped(tmp_path, says)).proposals}

    assert (
        told["effect"] == r'"message": "sent".*?"unit": "(?P<message_id>[\w.@+-]+).*?\border_id": "(?P<key>[\w.@+/-]+)'
    )
    assert told["started"] == r'"message": "begin".*?"unit": "(?P<message_id>[\w.@+-]+)'


IN_FIELDS = {
    "between the id and what is said": '{{"level": 30, "messageId": "{id}", "orderId": "ord-{n}", "msg": "{said} message"}}',
    "between what is said and the id": '{{"level": "INFO", "msg": "{said} it", "orderId": "ord-{n}", "messageId": "{id}"}}',
    "in a string of JSON, as FireLens wraps a line": (
        r'{{"log":"{{\"msg\":\"{said}\",\"orderId\":\"ord-{n}\",\"message_id\":\"{id}\"}}","source":"stdout"}}'
    ),
    "there, behind the id": (
        r'{{"log":"{{\"msg\":\"{said}\",\"message_id\":\"{id}\",\"orderId\":\"ord-{n}\"}}","source":"stdout"}}'
    ),
    "in the text, before the field of the id": '{{"level": "info", "msg": "{said} order ord-{n} now", "message_id": "{id}"}}',
}


@pytest.mark.parametrize("line", IN_FIELDS.values(), ids=IN_FIELDS)
def test_a_key_that_the_expression_goes_over_is_told_there(tmp_path, line):
    def says(message, _, __):
        number = UUID(message).int & 0xFFFF
        return tuple(line.format(said=said, id=message, n=number) for said in ("got", "charged"))

    told = {p.kind: p.value for p in proposed(shipped(tmp_path, says)).proposals}
    marked = mark(line.format(said="charged", id=an_id(5), n=1017), told["effect"])

    assert (marked.message_id, marked.key) == (an_id(5), "ord-1017")


@pytest.mark.parametrize("said", ["Charged card for order ord-{n}", "Order ord-{n} charged"])
def test_a_json_line_is_known_by_what_it_says_and_not_by_who_writes_it(tmp_path, said):
    line = '{{"logger_name": "com.acme.OrderListener", "message": "{said}", "messageId": "{id}"}}'

    def says(message, _, __):
        told = line.format(said=said.format(n=UUID(message).int & 0xFFFF), id=message)
        return f'{{"logger_name": "com.acme.OrderListener", "message": "Received message {message}"}}', told

    effect = {p.kind: p.value for p in proposed(shipped(tmp_path, says)).proposals}["effect"]
    marked = mark(line.format(said=said.format(n=1017), id=an_id(5)), effect)

    assert (marked.message_id, marked.key) == (an_id(5), "ord-1017")
    assert mark(line.format(said="Refunded order ord-1017", id=an_id(5)), effect) is None
    assert mark(line.format(said="Order ord-1017 refunded", id=an_id(5)), effect) is None


SENTENCES = {
    "for whom": "{what} order ord-{n} for message {id}",
    "a field in brackets": "[w-1] ChargeHandler:42 - {what} order ord-{n} (messageId={id})",
    "a field of its own": 'level=INFO msg="{what} it" order_id=ord-{n} message_id={id}',
}


@pytest.mark.parametrize("said", SENTENCES.values(), ids=SENTENCES)
def test_a_line_is_known_by_what_happened_where_nothing_else_stands_right_before_its_id(tmp_path, said):
    def says(message, _, __):
        return f"processing message {message}", said.format(what="Charged", n=UUID(message).int & 0xFFFF, id=message)

    effect = {p.kind: p.value for p in proposed(shipped(tmp_path, says)).proposals}["effect"]
    marked = mark(said.format(what="Charged", n=1017, id=an_id(5)), effect)

    assert (marked.message_id, marked.key) == (an_id(5), "ord-1017")
    assert mark(said.format(what="Refunded", n=1017, id=an_id(5)), effect) is None


def test_a_worker_whose_lines_name_messages_by_a_known_word_gets_its_marks_proposed_too(tmp_path):
    lines = []
    for number in (*range(60), 3, 4):
        at = 5.0 * len(lines)
        lines.append((at, "worker-1", f'{{"level": 30, "msg": "got it", "messageId": "{an_id(number)}"}}'))
        lines.append((at + 2, "worker-1", f'{{"level": 30, "msg": "charged", "messageId": "{an_id(number)}"}}'))
    told = {p.kind: p.value for p in proposed(lake_of(tmp_path, WORKER, lines)).proposals}

    assert told["effect"] == r'"msg": "charged".*?"messageId": "(?P<message_id>[\w.@+-]+)'
    assert told["started"] == r'"msg": "got it".*?"messageId": "(?P<message_id>[\w.@+-]+)'


ALONE = {
    "it begins": ("processing {id}", r"processing (?P<message_id>\S+)"),
    "it was taken": ("[worker-1] Got {id} from queue", r"Got (?P<message_id>\S+)"),
    "it was received": ("received {id}", r"received (?P<message_id>\S+)"),
    "it was done": ("processed {id}", None),
    "done, with a word for a beginning": ("charged {id} when received", None),
    "nothing of either": ("at {id}", None),
}


@pytest.mark.parametrize(("line", "expected"), ALONE.values(), ids=ALONE)
def test_words_tell_that_work_begins_where_the_line_is_all_that_names_a_message(tmp_path, line, expected):
    told = [(5.0 * place, "worker-1", line.format(id=an_id(n))) for place, n in enumerate((*range(60), 3, 4))]
    found = proposed(lake_of(tmp_path, WORKER, told))

    assert {p.kind: p.value for p in found.proposals} == ({"started": expected} if expected else {})
    assert all("its words say that the message's work begins" in p.sentence for p in found.proposals)


def test_time_tells_more_than_words(tmp_path):
    def says(message, _, __):
        return f"at {message}", f"got {message} through"

    assert {p.kind: p.value for p in proposed(shipped(tmp_path, says)).proposals if p.kind == "started"} == {
        "started": r"at (?P<message_id>\S+)"
    }


@pytest.mark.parametrize("log_group", [WORKER, GROUP])
def test_lines_that_were_delivered_twice_are_read_once(tmp_path, log_group):
    told = [
        (at + step, STREAM, f"{said} {an_id(n)}")
        for at, n in zip(range(0, 500, 10), range(50), strict=True)
        for step, said in ((0.0, "got"), (2.0, "shipped"))
    ]
    runs = [run(n, 10.0 * n, took=2.1) for n in range(50)] if log_group == GROUP else []
    once, twice = (
        proposed(lake_of(tmp_path / name, log_group, lines, runs)).proposals
        for name, lines in (("once", told), ("twice", [*told, *told]))
    )

    assert twice == once
    assert {p.kind for p in twice} >= {"started", "effect"}


HEADS = {
    "plain text": "2026-11-20 05:00:00,000 INFO worker {said} {id}",
    "JSON with the id in its text": '{{"level": "info", "message": "{said} {id}", "timestamp": "2026-11-20T05:00:00.797Z"}}',
    "JSON with the id in its text and in a field": '{{"level": "info", "msg": "{said} {id}", "message_id": "{id}"}}',
    "Celery's task before the text": "[2026-11-20 05:00:00,797: INFO/ForkPoolWorker-1] tasks.charge[{id}]: {said} {id}",
    "Laravel's context behind the text": '[2026-11-20 05:00:00] production.INFO: {said} {{"message_id":"{id}"}}',
    "JSON that a log tool put around the text": '{{"labels": {{"app": "worker"}}, "line": "{said} {id}", "timestamp": "2026-11-20T05:00:00Z"}}',
}
SLOW_DELETE = ((0, "Received message"), (2, "Charged order ord-{n} for message"), (3, "Deleted message"))


def handled(head, says, numbers):
    for place, number in enumerate(numbers):
        for seconds, said in says:
            yield 10.0 * place + seconds, "worker-1", head.format(said=said.format(n=number), id=an_id(number))


@pytest.mark.parametrize("head", HEADS.values(), ids=HEADS)
def test_what_a_worker_did_before_it_deletes_is_its_effect_however_long_the_delete_takes(tmp_path, head):
    found = proposed(lake_of(tmp_path, WORKER, [*handled(head, SLOW_DELETE, (*range(40), 3, 4))]))
    told = {p.kind: p for p in found.proposals}

    assert {
        kind: re.search(kind_says, told[kind].value) is not None for kind, kind_says in SAYS.items()
    } == dict.fromkeys(SAYS, True)
    assert told.keys() == SAYS.keys(), "a line that the delete is slow behind is not held to be exhaustive"
    assert "33.3 % of the time lies behind it: hold it against the code before you accept" in told["effect"].sentence


def test_a_key_before_the_message_id_is_proposed_too(tmp_path):
    lines = [*handled(HEADS["JSON with the id in its text"], SLOW_DELETE, (*range(40), 3, 4))]
    found = proposed(lake_of(tmp_path, WORKER, lines))
    (effect,) = [p.value for p in found.proposals if p.kind == "effect"]

    marked = mark(lines[1][2], effect)
    assert (marked.key, marked.message_id) == ("ord-0", an_id(0))


THREADS = {
    "Java's threads": "2026-11-20 05:00:00.797 INFO  [sqs-{thread}] c.a.Worker - {said}",
    "a field of JSON": '{{"message": "{said}", "thread_name": "sqs-{thread}", "level": "INFO"}}',
    "the request of an event loop": '{{"level": 30, "msg": "{said}", "reqId": "r-000{thread}"}}',
}


def in_threads(head, numbers):
    """Yield lines of messages of which five are in hand at once, each in a thread that names it first and last."""
    for place, number in enumerate(numbers):
        for seconds, said in ((0, f"Received message {an_id(number)}"), (4.2, f"Charged order ord-{number}")):
            yield place + seconds, "worker-1", head.format(said=said, thread=place % 5)
        yield place + 4.5, "worker-1", head.format(said=f"Deleted message {an_id(number)}", thread=place % 5)


@pytest.mark.parametrize("head", THREADS.values(), ids=THREADS)
def test_the_work_that_a_line_names_by_its_key_alone_is_of_the_message_that_its_thread_has_in_hand(tmp_path, head):
    found = proposed(lake_of(tmp_path, WORKER, sorted(in_threads(head, (*range(40), 3, 4)))))
    told = {p.kind: p.value for p in found.proposals}

    assert mark(head.format(said="Charged order ord-7", thread=1), told["effect"]).key == "ord-7"
    assert told.keys() == {"started", "effect", "deleted"}, "a line whose message another line tells is not exhaustive"


def test_without_threads_a_line_between_those_of_several_messages_is_of_none(tmp_path):
    found = proposed(lake_of(tmp_path, WORKER, sorted(in_threads("INFO {said}", range(40)))))

    assert {p.kind for p in found.proposals} == {"started", "deleted"}


SAYS = {"started": "[Rr]eceived message", "effect": "message", "deleted": "Deleted message"}
NO_EFFECT = {
    "work that only begins": ((0, "Received message"), (1, "Calling the bank for message"), (3, "Deleted message")),
    "what went wrong": ((0, "Received message"), (1, "Failed to charge message"), (3, "Deleted message")),
    "nothing between receipt and delete": ((0, "Received message"), (3, "Deleted message")),
}


@pytest.mark.parametrize("says", NO_EFFECT.values(), ids=NO_EFFECT)
def test_no_effect_is_made_of(tmp_path, says):
    found = proposed(lake_of(tmp_path, WORKER, [*handled(HEADS["plain text"], says, range(40))]))

    assert {p.kind for p in found.proposals} == {"started", "deleted"}


def test_a_delete_that_failed_is_no_delete(tmp_path):
    says = ((0, "Received message"), (2.9, "Charged order ord-{n} for message"), (3, "Could not delete message"))
    found = proposed(lake_of(tmp_path, WORKER, [*handled(HEADS["plain text"], says, range(40))]))

    assert "deleted" not in {p.kind for p in found.proposals}
