"""An expression holds what makes a line the line it is, also where less of it tells the lines seen so far apart."""

import pytest

from forensics.parsers.marks import mark
from forensics.suggestions.line_keys import with_key
from tests.forensics.suggestions.handlers import day, message, run
from tests.forensics.suggestions.test_marks import found_of_worker, values

FORMS = {
    "JSON with the message text last": (
        '{{"level":"{level}","message_id":"{id}","receive_count":1,"time":"05:00:0{n}","message":"{said}"}}',
        "processing message",
        "order charged",
        "message deleted",
    ),
    "JSON with blanks": (
        '{{"level": "{level}", "id": "{id}", "msg": "{said}"}}',
        "processing",
        "charged",
        "message deleted",
    ),
    "JSON with the text in an object behind": (
        '{{"level":"{level}","sqs":{{"id":"{id}"}},"fields":{{"message":"{said}"}}}}',
        "processing",
        "charged",
        "message deleted",
    ),
    "JSON in a string of JSON": (
        '{{"log":"{{\\"level\\":\\"{level}\\",\\"id\\":\\"{id}\\",\\"msg\\":\\"{said}\\"}}"}}',
        "processing",
        "charged",
        "message deleted",
    ),
    "JSON whose text has quotes": (
        '{{"level":"{level}","id":"{id}","msg":"{said}"}}',
        'processing \\"a\\"',
        'charged \\"a\\"',
        'message \\"a\\" deleted',
    ),
    "JSON with a name of its own for what happened": (
        '{{"level":"{level}","id":"{id}","what":"{said}"}}',
        "processing",
        "charged",
        "deleted",
    ),
    "JSON with the id in its text": (
        '{{"level":"{level}","message":"message {id} on queue q (1) {said}"}}',
        "taken up",
        "charged",
        "deleted",
    ),
    "name=value with the text last": (
        'level={level} message_id={id} receive_count=1 msg="{said}"',
        "processing message",
        "order charged",
        "message deleted",
    ),
    "name=value with the text before a key": (
        'level={level} msg="{said}" n={n} message_id={id}',
        "processing message",
        "order charged",
        "message deleted",
    ),
    "a sentence with a field in it": ("{level} message {id} receive=1 {said}", "processing", "charged", "deleted"),
    "columns": ("{level} | {id} | {said}", "processing", "charged", "message deleted"),
    "an id in brackets with its receive count": (
        "05:00:0{n} | {level} | worker:ack:5{n} - {said} [message {id}, receive 1]",
        "charging ord-{n}",
        "charged ord-{n}",
        "deleted",
    ),
    "an id behind an amount": (
        "{level} {said}, message {id}",
        "Charging order ord-{n}",
        "Charged order ord-{n} 1{n}.50 EUR",
        "Acknowledged delivery {n} 3 ms",
    ),
    "an id in brackets behind what it was done to": (
        "{level} {said} (message {id})",
        "Charging order ord-{n}",
        "Charged order ord-{n}",
        "Acknowledged delivery {n}",
    ),
}


def marks_of_form(form, *said):
    """Return the marks of a worker whose lines on a delete are the only ones at level debug."""

    def says(message_id, key, count):
        levels = ("info", "info", "debug")
        fields = [{"id": message_id, "level": level, "n": int(message_id[-2:]) % 10} for level in levels]
        lines = [form.format(said=text.format(**field), **field) for text, field in zip(said, fields, strict=True)]
        return list(zip((1, 400, 20), lines, strict=True))

    return values(found_of_worker(day(says, size=1)))


@pytest.mark.parametrize(("form", "begun", "done", "deleted"), FORMS.values(), ids=FORMS)
@pytest.mark.parametrize("kind", ["started", "effect", "deleted"])
def test_another_line_of_the_same_level_and_names_is_no_mark(form, begun, done, deleted, kind):
    told = marks_of_form(form, begun, done, deleted)[kind]
    mine = {"started": begun, "effect": done, "deleted": deleted}[kind]
    level = "debug" if kind == "deleted" else "info"

    def line(said):
        return form.format(said=said.format(n=7), id=message(7), level=level, n=7)

    assert mark(line(mine), told).message_id == message(7)
    assert mark(line("calling gateway"), told) is None
    assert mark(line("refused 12.50 EUR"), told) is None


def test_no_line_is_proposed_as_delete_by_an_expression_without_the_word():
    def says(message_id, key, count):
        return [(1, f"taken {message_id}"), (400, f"paid {message_id}"), (20, f"queue[{message_id}] {key}: deleted")]

    told = values(found_of_worker(day(says, size=1)))

    assert "deleted" not in told or "deleted" in told["deleted"]


def test_the_key_between_the_id_and_the_message_text_names_the_work():
    def says(message_id, key, count):
        rest = f'"message_id":"{message_id}","receive_count":1'
        return [
            (1, f'{{"level":"info",{rest},"message":"processing"}}'),
            (400, f'{{"level":"info",{rest},"order_id":"{key}","time":"1","message":"order charged"}}'),
        ]

    runs = day(says, size=1)
    for one in runs:
        for item in one.items:
            item.values.pop(next(v for v, where in item.values.items() if where == "$.order.id"))
    marks = found_of_worker(runs)
    effect = next(p for p in marks.proposals if p.kind == "effect")
    told = with_key(effect, marks.effect, runs)
    line = runs[7].lines[-1].text

    assert (mark(line, told.value).message_id, mark(line, told.value).key) == (message(7), "ord-7x")
    assert mark(line.replace("order charged", "order refused"), told.value) is None


def says_of(form, done, stopped="order {key} was charged before, nothing to do"):
    """Return a handler whose every line is ``form`` around what it says."""

    def handled(message_id, key, count):
        n = int(message_id[-4:]) % 1000
        told = stopped if count > 1 else done
        told = told.format(key=key, n=n, currency=("EUR", "USD", "GBP")[n % 3], who=("Ada", "Bob", "Cy")[n % 3])
        return [(1, form.format(id=message_id, said="begin", n=n)), (400, form.format(id=message_id, said=told, n=n))]

    return handled


LOGFMT, SENTENCE = 'time=05:00 level=INFO msg="{said}" id={id}', "INFO Message {id}: {said}"
MDC = "2026-11-20 05:00:02 INFO [main] [msg={id}, rc=1] c.acme.Orders : {said}"
OPEN = '{{"ColdStart":false,"Trace":"1-{n:08}","Arn":"arn:f","Message":"{said} ({id}).","Level":"Information"}}'
WAYS = {
    "an amount in several currencies": (
        LOGFMT,
        "refunded {n}.50 {currency}",
        "refunded 7.50 JPY",
        "voided 7.50 EUR",
    ),
    "a currency before its amount": (LOGFMT, "refunded {currency} {n}.50", "refunded CHF 7.50", "voided EUR 7.50"),
    "with what it was done, behind tags": (
        MDC,
        "order {key} shipped with {currency}",
        "order o-7 shipped by hand",
        "order o-7 sent",
    ),
    "whose the order is": (
        SENTENCE,
        "{who}'s order {key} charged",
        "Zoe's order o-7 charged",
        "Zoe's order o-7 voided",
    ),
    "one word of more that a guard says": (
        SENTENCE,
        "order {key} charged",
        "order o-7 charged",
        "order o-7 was charged before",
    ),
    "a field that is open where the id stands": (
        OPEN,
        "Invoiced {n} for order {key}",
        "Invoiced 7 for order o-7",
        "Fetched 7",
    ),
}


@pytest.mark.parametrize(("form", "done", "other", "unlike"), WAYS.values(), ids=WAYS)
def test_one_expression_finds_all_that_says_the_same_and_nothing_else(form, done, other, unlike):
    handled = says_of(form, done)
    told = values(found_of_worker([*day(handled, size=1), run(10**13, [3], handled, count=2)]))
    line = form.format(id=message(7), said="{}", n=99).replace("{}", "%s")

    assert mark(line % other, told["effect"])
    assert not mark(line % unlike, told["effect"])
    assert mark(line % "order o-7 was charged before, nothing to do", told["guard"])
    assert len(told["effect"]) < 100
