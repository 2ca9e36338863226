"""Loggers that put the message's id before each line: what a line says then stands behind it."""

import pytest

from forensics.parsers.marks import mark
from forensics.suggestions.telling_fields import is_metadata
from tests.forensics.suggestions.test_nameless import WORKER, an_id, lake_of, proposed

HEADS = {
    "Elixir's metadata": "05:00:02.715 [info] pid=<0.512.0> message_id={id} {said}",
    "fields before the text": "2026-11-20T05:00:02Z INFO app=billing msg_id={id} {said}",
    "a tag": "INFO [billing] id={id} {said}",
    "a logback pattern with its MDC": "2026-11-20 05:00:02,715 INFO  [main] [msg={id}, rc=1] c.acme.orders.in.OrderListener : {said}",
    "a path of Rust": "2026-11-20T05:00:02.715Z  INFO handle{{message_id={id} rc=1}}: acme::orders::inbound::consumer::handle: {said}",
}


def lines_of(head, says):
    return [
        (12.0 * number + at, "worker-1", head.format(id=an_id(number), said=said.format(n=number)))
        for number in range(40)
        for at, said in zip((0, 3.9, 4), says, strict=True)
    ]


@pytest.mark.lake
@pytest.mark.parametrize("head", HEADS.values(), ids=HEADS)
def test_lines_that_begin_with_the_same_fields_are_told_apart_by_what_they_say(tmp_path, head):
    lines = lines_of(head, ("handling message", "order ord-{n} charged", "acked"))
    told = {p.kind: p.value for p in proposed(lake_of(tmp_path, WORKER, lines)).proposals}

    assert mark(lines[0][2], told["started"]).message_id == an_id(0)
    assert mark(lines[1][2], told["effect"]).message_id == an_id(0)
    assert mark(lines[2][2], told["deleted"]).message_id == an_id(0)
    assert not mark(lines[0][2], told["effect"])


@pytest.mark.lake
def test_lines_of_fields_alone_are_told_apart_by_the_one_that_says_what_happened(tmp_path):
    head = "time=2026-11-20T05:00:02Z level=info task={id} {said} thread=2"
    lines = lines_of(head, ("action=start", "action=charge order=ord-{n}", "action=finish"))
    told = {p.kind: p.value for p in proposed(lake_of(tmp_path, WORKER, lines)).proposals}

    assert told["started"].endswith("action=start")
    assert told["effect"].endswith("action=finish")


METADATA = {
    "fields alone": ("[info] pid=7 message_id=", True),
    "a level in words": ("2026 WARN id=", True),
    "a quoted field": ('level="info" host="a b" id=', True),
    "one word": ("[info] charged id=", False),
    "a level's word inside another": ("information id=", False),
}


@pytest.mark.parametrize(("text", "expected"), METADATA.values(), ids=METADATA)
def test_what_a_logger_puts_before_a_line_says_nothing_of_what_happened(text, expected):
    assert is_metadata(text) is expected
