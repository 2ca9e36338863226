"""Workers that have several messages in hand at once and write one stream, correlated before anything of them is said."""

import pytest

from forensics.identity import handle_token
from forensics.lake import Lake
from forensics.lake.findings import rows_of
from forensics.parsers.marks import mark
from forensics.settings import Settings
from forensics.tables.findings import MESSAGES
from spark_jobs.carrier import Here
from spark_jobs.runner import correlate
from tests.forensics.suggestions.test_nameless import WORKER, an_id, lake_of, proposed

pytestmark = pytest.mark.lake

IN_THREADS = "2026-11-20 05:00:00,000 INFO [ThreadPoolExecutor-0_{thread}] orders: {said}"
NAMED_ALWAYS = '{{"level":30,"time":1795150800000,"hostname":"mailer","messageId":"{id}",{said}}}'
IN_SPANS = "2026-11-20T05:00:00.000000Z  INFO handle{{message_id={id} receive_count={count}}}: billing::worker: {said}"
BY_EVENTS = "timestamp=2026-11-20T05:00:00.000000Z level=info worker=w1 event={said}"
IN_TEXT_AND_FIELD = '{{"@t":"2026-11-20T05:00:00Z","@m":{said},"MessageId":"{id}"}}'
WITH_HANDLES = '{{"level":"info",{said},"messageId":"{id}","receiptHandle":"{handle}"}}'
SAYS = {
    WITH_HANDLES: (
        '"msg":"received message","receive_count":{count}',
        '"msg":"payment charged","paymentId":"pay-{number}"',
        '"msg":"message deleted"',
    ),
    IN_SPANS: ("received", "captured payment order=ord-{number}", "deleted"),
    BY_EVENTS: (
        "message_received message_id={id} receive_count={count}",
        "payment_taken message_id={id} order_id=ord-{number} amount=19.90",
        "message_deleted message_id={id}",
    ),
    IN_TEXT_AND_FIELD: (
        '"Received message {id} ({count})"',
        '"Invoice for order ord-{number} booked","OrderId":"ord-{number}"',
        '"Deleted message {id}"',
    ),
    IN_THREADS: (
        "Received message {id} (receive count {count})",
        "Charged order ord-{number} for 19.90 EUR",
        "Deleted message {id}",
    ),
    NAMED_ALWAYS: ('"msg":"received message"', '"order":"ord-{number}","msg":"sent mail"', '"msg":"deleted"'),
}
TWICE = 99


def handled(form, number, thread, at, took, count=1):
    """Yield the lines of one handling: received, done, and over a moment later."""
    handle = handle_token(f"AQEB{count:04}{an_id(number)}{an_id(number)}")  # as the lake has it
    for seconds, said in zip((at, at + took, at + took + 0.1), SAYS[form], strict=True):
        told = said.format(number=number, id=an_id(number), count=count)
        named = {"id": an_id(number), "count": count, "handle": handle}
        yield seconds, "worker-1", form.format(thread=thread, said=told, **named)


def correlated(tmp_path, form, settings="", again=2):
    """Return findings of 40 messages, each begun before the one before it was over, and of one that two threads had in hand."""
    lines = [line for n in range(40) for line in handled(form, n, n % 3, 1.1 * n, 1.5)]
    lines += [*handled(form, TWICE, 0, 60.0, 41.0), *handled(form, TWICE, 1, 90.4, 1.6, count=again)]
    lake_of(tmp_path, WORKER, sorted(lines))
    lake = Lake(tmp_path / "lake")
    correlate(lake, Settings.parse(settings), carrier=Here())
    return lake.findings()


def test_what_a_thread_says_between_its_lines_about_a_message_is_of_that_message(tmp_path):
    told = {p.kind: p.value for p in proposed(correlated(tmp_path, IN_THREADS)).proposals}

    assert mark("orders: Charged order ord-7 for 19.90 EUR", told["effect"]).key == "ord-7"
    assert told.keys() == {"started", "effect", "deleted", "receive_count"}


def test_the_receive_count_is_a_number_that_goes_up_where_a_message_comes_again(tmp_path):
    told = {p.kind: p.value for p in proposed(correlated(tmp_path / "up", IN_THREADS)).proposals}
    of_attempts = proposed(correlated(tmp_path / "the same", IN_THREADS, again=1)).proposals

    assert told["receive_count"] == r"receive count (?P<receive_count>\d+)"
    assert "receive_count" not in {p.kind for p in of_attempts}


def test_a_line_with_a_receipt_handle_opens_a_handling_only_where_it_is_the_first_with_it(tmp_path):
    findings = correlated(tmp_path, WITH_HANDLES)
    told = {p.kind: p.value for p in proposed(findings).proposals}
    again = [row["message_id"] for row in rows_of(findings.read(MESSAGES))]

    assert again == [an_id(TWICE)]
    assert told.keys() == {"started", "effect", "effect_is_exhaustive", "deleted", "receive_count"}


START_AND_END = r"""
[[worker]]
log_group = "/ecs/pay"
queue = "orders"
started = 'Received message (?P<message_id>\S+)'
deleted = 'Deleted message (?P<message_id>\S+)'
"""


def test_so_it_is_where_its_start_and_its_end_are_known_already(tmp_path):
    found = proposed(correlated(tmp_path, IN_THREADS, START_AND_END), START_AND_END)
    told = {p.kind: p.value for p in found.proposals}

    assert mark("orders: Charged order ord-7 for 19.90 EUR", told["effect"]).key == "ord-7"


def test_a_message_that_was_done_twice_at_once_takes_the_effect_from_no_other(tmp_path):
    told = {p.kind: p.value for p in proposed(correlated(tmp_path, NAMED_ALWAYS)).proposals}
    line = NAMED_ALWAYS.format(id=an_id(7), said='"order":"ord-7","msg":"sent mail"')

    marked = mark(line, told["effect"])
    assert (marked.message_id, marked.key) == (an_id(7), "ord-7")


@pytest.mark.parametrize("form", [IN_SPANS, BY_EVENTS, IN_TEXT_AND_FIELD], ids=["spans", "events", "text and field"])
def test_the_effect_its_key_and_the_delete_are_told_in(tmp_path, form):
    told = {p.kind: p.value for p in proposed(correlated(tmp_path, form)).proposals}
    _, (_, _, effect), (_, _, deleted) = handled(form, 7, 1, 0, 1)

    marked = mark(effect, told["effect"])
    assert (marked.message_id, marked.key) == (an_id(7), "ord-7")
    assert mark(deleted, told["effect"]) is None
    assert mark(deleted, told["deleted"]).message_id == an_id(7)
