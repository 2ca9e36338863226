"""Workers that have several messages in hand at once and write one stream, correlated before anything of them is said."""

from functools import partial

import pytest

from forensics.identity import handle_token
from forensics.parsers.marks import mark
from tests.forensics.suggestions.test_nameless import an_id
from tests.forensics.suggestions.workers import SideBySide, Worker

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


def handled(form, number, thread, at, took, count=1, kind=0):
    """Yield the lines of one handling: received, done, and over a moment later."""
    mine = an_id(number, kind)
    handle = handle_token(f"AQEB{count:04}{mine}{mine}")  # as the lake has it
    for seconds, said in zip((at, at + took, at + took + 0.1), SAYS[form], strict=True):
        told = said.format(number=number, id=mine, count=count)
        named = {"id": mine, "count": count, "handle": handle}
        yield seconds, "worker-1", form.format(thread=thread, said=told, **named)


def lines_of(form, again, kind):
    """Return lines of 40 messages, each begun before the one before it was over, and of one that two threads had in hand."""
    lines = [line for n in range(40) for line in handled(form, n, n % 3, 1.1 * n, 1.5, kind=kind)]
    of_one = handled(form, TWICE, 0, 60.0, 41.0, kind=kind), handled(form, TWICE, 1, 90.4, 1.6, again, kind)
    return lines + [line for handling in of_one for line in handling]


def worker(form, says=None, again=2):
    return Worker(partial(lines_of, form, again), says)


START_AND_END = r"""
started = 'Received message (?P<message_id>\S+)'
deleted = 'Deleted message (?P<message_id>\S+)'
"""
OF_FORMS = {form: worker(form) for form in SAYS}
OF_ATTEMPTS = worker(IN_THREADS, again=1)
SAID_ALREADY = worker(IN_THREADS, START_AND_END)


@pytest.fixture(scope="module")
def together(tmp_path_factory):
    workers = [*OF_FORMS.values(), OF_ATTEMPTS, SAID_ALREADY]
    return SideBySide(tmp_path_factory.mktemp("side by side") / "lake", workers)


@pytest.fixture(scope="module")
def told(together):
    """What is proposed of each worker, by its kind."""
    return {w: {p.kind: p.value for p in found.proposals} for w, found in together.proposed.items()}


def test_what_a_thread_says_between_its_lines_about_a_message_is_of_that_message(told):
    in_threads = told[OF_FORMS[IN_THREADS]]

    assert mark("orders: Charged order ord-7 for 19.90 EUR", in_threads["effect"]).key == "ord-7"
    assert in_threads.keys() == {"started", "effect", "deleted", "receive_count"}


def test_the_receive_count_is_a_number_that_goes_up_where_a_message_comes_again(told):
    assert told[OF_FORMS[IN_THREADS]]["receive_count"] == r"receive count (?P<receive_count>\d+)"
    assert "receive_count" not in told[OF_ATTEMPTS]


def test_a_line_with_a_receipt_handle_opens_a_handling_only_where_it_is_the_first_with_it(together, told):
    worker = OF_FORMS[WITH_HANDLES]
    again = [row["message_id"] for row in together.messages(together.findings, worker)]

    assert again == [an_id(TWICE, together.kind(worker))]
    assert told[worker].keys() == {"started", "effect", "effect_is_exhaustive", "deleted", "receive_count"}


def test_so_it_is_where_its_start_and_its_end_are_known_already(told):
    assert mark("orders: Charged order ord-7 for 19.90 EUR", told[SAID_ALREADY]["effect"]).key == "ord-7"


def test_a_message_that_was_done_twice_at_once_takes_the_effect_from_no_other(told):
    line = NAMED_ALWAYS.format(id=an_id(7), said='"order":"ord-7","msg":"sent mail"')

    marked = mark(line, told[OF_FORMS[NAMED_ALWAYS]]["effect"])
    assert (marked.message_id, marked.key) == (an_id(7), "ord-7")


@pytest.mark.parametrize("form", [IN_SPANS, BY_EVENTS, IN_TEXT_AND_FIELD], ids=["spans", "events", "text and field"])
def test_the_effect_its_key_and_the_delete_are_told_in(told, form):
    of_form = told[OF_FORMS[form]]
    _, (_, _, effect), (_, _, deleted) = handled(form, 7, 1, 0, 1)

    marked = mark(effect, of_form["effect"])
    assert (marked.message_id, marked.key) == (an_id(7), "ord-7")
    assert mark(deleted, of_form["effect"]) is None
    assert mark(deleted, of_form["deleted"]).message_id == an_id(7)
