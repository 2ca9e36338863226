"""Configured expressions and places: any regular expression of Python, any JSON path, on one line."""

import pytest

from forensics.parsers.marks import Mark, mark, placed

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
