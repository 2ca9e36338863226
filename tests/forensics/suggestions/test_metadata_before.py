"""Loggers that put the message's id before each line: what a line says then stands behind it."""

import pytest

from forensics.parsers.marks import mark
from forensics.suggestions.telling_fields import is_metadata
from tests.forensics.suggestions.test_nameless import WORKER, an_id, lake_of, proposed

HEADS = {
    "Elixir's metadata": "05:00:02.715 [info] pid=<0.512.0> message_id={id} {said}",
    "fields before the text": "2026-11-20T05:00:02Z INFO app=billing msg_id={id} {said}",
    "a tag": "INFO [billing] id={id} {said}",
}


@pytest.mark.lake
@pytest.mark.parametrize("head", HEADS.values(), ids=HEADS)
def test_lines_that_begin_with_the_same_fields_are_told_apart_by_what_they_say(tmp_path, head):
    says = ((0, "handling message"), (3.9, "order ord-{n} charged"), (4, "acked"))
    lines = [
        (12.0 * number + at, "worker-1", head.format(id=an_id(number), said=said.format(n=number)))
        for number in range(40)
        for at, said in says
    ]
    told = {p.kind: p.value for p in proposed(lake_of(tmp_path, WORKER, lines)).proposals}

    assert mark(lines[0][2], told["started"]).message_id == an_id(0)
    assert mark(lines[1][2], told["effect"]).message_id == an_id(0)
    assert mark(lines[2][2], told["deleted"]).message_id == an_id(0)
    assert not mark(lines[0][2], told["effect"])


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
