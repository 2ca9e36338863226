"""Configured expressions and places: any regular expression of Python, any JSON path, on one line."""

import polars as pl
import pytest

from forensics.counting.line_shapes import shapes_of
from forensics.counting.vector_marks import Marks
from forensics.parsers.marks import Mark, mark, placed
from forensics.settings import Consumer

ID = "861bec95-b670-4f2a-acf9-19d5bdd7cbe5"

MARKS = {
    "a look behind": (r"(?<=paid )(?P<key>\S+)", "card 7 paid p-7 at once", Mark(None, "p-7")),
    "a text that stands there twice": (
        r"(?P<key>[a-z]-[0-9]+) done (?P=key)",
        "x-1 done y-2, p-7 done p-7",
        Mark(None, "p-7"),
    ),
    "the end of the line": (r"charged (?P<key>\S+)\Z", "charged p-6\ncharged p-7", Mark(None, "p-7")),
    "an atomic group": (r"(?P<key>p-(?>[0-9]+)) charged", "p-71 charged", Mark(None, "p-71")),
    "flags for a part": (r"(?i:CHARGED) (?P<key>\S+)", "Charged p-7", Mark(None, "p-7")),
    "an id in capitals": (r"charged (?P<message_id>\S+)", f"charged {ID.upper()}", Mark(ID, None)),
    "a group that matched nothing": (r"charged(?: (?P<key>p-[0-9]+))?", "charged card", None),
    "digits of another script": (r"charged p-(?P<key>\d+)", "charged p-٧", None),
}


@pytest.mark.parametrize(("expression", "line", "found"), MARKS.values(), ids=MARKS)
def test_a_mark_is_whatever_python_finds_by_it(expression, line, found):
    assert mark(line, expression) == found


UP_TO_A_BLANK = {
    "a line of JSON without blanks": ('{"message":"charged p-7","level":"INFO"}', "p-7"),
    "JSON in JSON": (r'{"message":"{\"text\":\"charged p-7\",\"n\":1}"}', "p-7"),
    "a value in quotes": ('charged "p-7" at once', "p-7"),
    "a value in escaped quotes": (r'{"message":"charged \"p-7\" at once"}', "p-7"),
    "Python's way to print a text": ("{'message': 'charged p-7'}", "p-7"),
    "a comma": ("charged p-7, amount 3", "p-7"),
    "a full stop": ("It charged p-7.", "p-7"),
    "a bracket": ("(charged p-7)", "p-7"),
    "signs inside a value": ("charged O'Neil:p/7.1,a@b", "O'Neil:p/7.1,a@b"),
    "one character": ("charged 7", "7"),
    "nothing but signs": ("charged ...", None),
    "the end of the line": ("charged p-7", "p-7"),
}


@pytest.mark.parametrize(("line", "key"), UP_TO_A_BLANK.values(), ids=UP_TO_A_BLANK)
def test_a_group_up_to_the_next_blank_is_the_value_that_stands_there(line, key):
    expression = r"charged (?P<key>\S+)"

    assert getattr(mark(line, expression), "key", None) == key
    lines = pl.Series([line])
    assert Marks(Consumer(effect=expression)).values("effect", lines, shapes_of(lines))["key"].to_list() == [key]


def test_what_follows_a_value_may_follow_its_signs():
    for line in ("charged p-7, in 3 s", "charged p-7 in 3 s", '{"text":"charged "p-7" in 3 s"}'):
        assert mark(line, r"charged (?P<key>\S+) in") == Mark(None, "p-7")
    assert mark("charged p-7: done", r"charged (?P<key>\S+): done") == Mark(None, "p-7")


def test_any_other_group_is_what_its_expression_says():
    assert mark('{"message":"charged p-7","n":1}', r"charged (?P<key>[^ ]+)") == Mark(None, 'p-7","n":1}')


PLACES = {
    "a decimal as it was printed": ('{"amount": 1.10}', "$.amount", "1.10"),
    "a decimal of many digits": ('{"amount": 0.10000000000000000555}', "$.amount", "0.10000000000000000555"),
    "a whole number": ('{"count": 3}', "$.count", "3"),
    "a text in single quotes": ("{'sqs': {'id': 'A1'}}", "$.sqs.id", "A1"),
    "true is no value": ('{"count": true}', "$.count", None),
    "nothing there": ('{"count": 3}', "$.id", None),
    "an expression": ("count=3 id=7", r"count=(?P<receive_count>[0-9]+)", "3"),
}


@pytest.mark.parametrize(("line", "place", "found"), PLACES.values(), ids=PLACES)
def test_a_place_holds_what_was_printed_there(line, place, found):
    assert placed(line, place, "receive_count") == found
