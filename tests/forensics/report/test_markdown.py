import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forensics.report import markdown

HOSTILE = {
    "an image": ("![x](http://e.example/p.png)", "!["),
    "a link": ("[x](javascript:alert(1))", "[x]("),
    "an element": ("<script>alert(1)</script>", "<script"),
    "a table cell": ("a | b", " | "),
    "a bare address": ("see https://e.example", "https://"),
    "a new row": ("a\n| b |", "\n"),
}


@pytest.mark.parametrize(("value", "forbidden"), HOSTILE.values(), ids=HOSTILE)
def test_running_text_carries_nothing_that_markdown_reads(value, forbidden):
    assert forbidden not in markdown.text(value)


STARTS = {"list": "- a", "numbers": "1. a", "heading": "# a", "quote": "> a", "plus": "+ a", "rule": "=== a"}


@pytest.mark.parametrize("value", STARTS.values(), ids=STARTS)
def test_text_at_the_start_of_a_line_starts_nothing(value):
    assert not re.match(r"([-+#>=]|[0-9]+[.)])", markdown.text(value))


@given(st.text(alphabet="`ab|\\ \n"))
def test_nothing_inside_closes_a_code_span(value):
    span = str(markdown.code(value))
    if not span.startswith("`"):
        return  # written as running text
    ticks = re.match(r"`+", span)[0]

    assert span.endswith(ticks)
    assert ticks not in re.findall(r"`+", span[len(ticks) : -len(ticks)])
    assert "\n" not in span


@given(st.text(alphabet="`~a\n\r\u2028 "))
def test_nothing_inside_closes_a_fenced_block(value):
    first, *inside, last = str(markdown.fence(value)).split("\n")
    ticks = first.removesuffix("text")

    assert last == ticks
    assert not any(line.strip().startswith(ticks) for line in inside)
