"""A configured JSON path finds what a consumer would find there, and never guesses."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forensics.json_path import is_path, steps_of, text_in, value_at, value_in
from tests.waiting import grows_with_its_input

STANDS = {
    "a string": ('{"id": "p-7"}', "$.id", "p-7"),
    "a number": ('{"id": 7}', "$.id", "7"),
    "a number that no float holds": ('{"id": 12345678901234567890}', "$.id", "12345678901234567890"),
    "a decimal number, as printed": ('{"id": 1.10}', "$.id", "1.10"),
    "a truth": ('{"paid": true}', "$.paid", "true"),
    "an object, without blanks": ('{"order": {"id": 7, "of": ["é", null]}}', "$.order", '{"id":7,"of":["é",null]}'),
    "deep inside": ('{"order": {"ids": [1, {"x": "y"}]}}', "$.order.ids[1].x", "y"),
    "in a list": ('[{"id": 1}, {"id": 2}]', "$[1].id", "2"),
    "in single quotes": ("{'id': 'it\\'s \"7\"'}", "$.id", 'it\'s "7"'),
    "before what is no JSON": ('{"id": 7} and more', "$.id", "7"),
    "after a blank": (' \n{"id": 7}', "$.id", "7"),
    "beside a line break in a string": ('{"note": "a\nb", "id": 7}', "$.id", "7"),
    "the whole text": ("p-7", "$", "p-7"),
    "an empty string": ('{"id": ""}', "$.id", ""),
}


@pytest.mark.parametrize(("text", "path", "found"), STANDS.values(), ids=STANDS)
def test_what_stands_at_a_path(text, path, found):
    assert text_in(text, path) == found


NOTHING = {
    "null": ('{"id": null}', "$.id"),
    "another name": ('{"ID": 7}', "$.id"),
    "a name in a list": ('[{"id": 7}]', "$.id"),
    "an index in an object": ('{"0": 7}', "$[0]"),
    "an index in a string": ('{"id": "p-7"}', "$.id[0]"),
    "past the end of a list": ('{"ids": [1]}', "$.ids[1]"),
    "text that is no JSON": ("order 7", "$.id"),
    "no text": ("", "$.id"),
    "cut JSON": ('{"id": 7, "note": "a', "$.id"),
    "not a number": ('{"id": NaN}', "$.id"),
    "half a character, which no file can hold": ('{"id": "\\ud83d"}', "$.id"),
    "half a character inside": ('{"id": ["\\ud83d"]}', "$.id"),
    "deeper than anybody nests": ('{"a":' * 100_000, "$.a"),
}


@pytest.mark.parametrize(("text", "path"), NOTHING.values(), ids=NOTHING)
def test_where_nothing_stands_nothing_is_found(text, path):
    assert text_in(text, path) is None


PATHS = {"$": True, "$.a": True, "$.a-b._c[0][12].d": True, "a": False, "$.": False, "$..a": False, "$.a[-1]": False}


@pytest.mark.parametrize(("text", "expected"), PATHS.items(), ids=PATHS)
def test_only_plain_paths_are_taken(text, expected):
    assert is_path(text) is expected


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["a", "b", "c-1"]), inner, max_size=3),
)
STEPS = st.lists(st.sampled_from(["a", "b", "c-1"]) | st.integers(0, 3), max_size=4)


@given(VALUES, STEPS)
def test_a_path_leads_where_its_steps_lead(value, steps):
    path = "$" + "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in steps)

    assert steps_of(path) == tuple(steps)
    assert value_in(json.dumps(value), path) == value_at(value, steps)


@given(st.text(), st.sampled_from(["$", "$.a", "$[0]"]))
def test_no_text_breaks_the_reader(text, path):
    text_in(text, path)


PIECES = (
    '"a"',
    '"b"',
    '"a":',
    '"b":',
    "1",
    "-0",
    "01",
    "1.5",
    "1e5",
    "NaN",
    "null",
    "true",
    "\\u",
    "\0",
    "\\ud800",
    "é",
    " ",
    "\n",
)


@given(
    st.lists(st.sampled_from([*'{}[]:,"/\\', *PIECES]), max_size=9).map("".join),
    st.sampled_from(['{"a": "x", %s}', '{%s, "a": {"b": 7}}', '{"a": {%s, "b": "y"}}', "%s"]),
    st.sampled_from(["$.a", "$.a.b"]),
)
def test_a_value_is_read_alike_alone_and_with_all_that_stands_around_it(text, around, path):
    whole = value_in(around % text, path)
    as_text = (
        whole
        if whole is None or isinstance(whole, str)
        else json.dumps(whole, separators=(",", ":"), ensure_ascii=False)
    )
    assert text_in(around % text, path) == as_text


@pytest.mark.parametrize("unit", ['\\"', "'", "'\\", '{"a":\''], ids=["escapes", "quotes", "both", "open objects"])
def test_quotes_that_nothing_closes_cost_no_more_than_their_length(unit):
    assert grows_with_its_input(lambda text: value_in(text, "$.a"), "{'" + unit * 100_000)
