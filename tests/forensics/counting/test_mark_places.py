"""Where a mark's values stand in a shape, they stand in every line of it."""

import random
import re

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from forensics.counting.line_shapes import masked, shapes_of
from forensics.counting.mark_places import places_in
from forensics.counting.vector_marks import Marks, for_vectors
from forensics.parsers.grammar import UUID
from forensics.settings import Consumer

ID = "8c0fee00-0000-4000-8000-00000000000a"
IDS = (ID, "ffffffff-ffff-ffff-ffff-ffffffffffff", "CAFEBABE-1234-4abc-9def-0123456789ab")

HIDES = {
    "a fixed digit": ("paid p_17", "paid (?P<key>p_1[0-9])"),
    "a class of some digits": ("paid 17", "paid (?P<key>[1-9]+)"),
    "letters that an id may hold": (f"{ID} cafe 1", "(?P<key>cafe)"),
    "digits and no letters": (f"id={ID}", "id=(?P<key>[0-9]+)"),
    "all but one digit": ("paid 17", "paid (?P<key>[^0 ]+)"),
    "a line's end": ("paid 17\n", "paid (?P<key>[0-9]+)$"),
    "letters of ids beside one": (f"of{ID}", "of(?P<key>[a-z]*)"),
    "a text that begins in an id": (f"{ID}paid 17", "(?P<key>a?paid)"),
    "either case": (f"{ID} Paid 17", "(?i)paid (?P<key>[0-9]+)"),
    "the answer to a send": ('{"MD5OfMessageBody": "x"} paid 17', 'MD5OfMessageBody": "(?P<key>[a-z]+)'),
}
SHOWS = {
    "a value up to the next blank": ("paid p_17 now", r"paid (?P<key>\S+)", "p_17"),
    "digits": ("paid 17, now", r"paid (?P<key>\d+)", "17"),
    "an id": (f"did {ID}.", rf"did (?P<key>{UUID})", ID),
    "words around an id": (f"{ID} charged 7 of {ID}", r"charged (?P<key>\w+) of (?P<message_id>\S+)", "7"),
    "letters outside of ASCII": (f"é{ID} bezahlt ü_7 €", r"bezahlt (?P<key>[^ ]+)", "ü_7"),
    "words with dashes": (f"did a-{ID}.", r"did (?P<key>[\w-]+)", f"a-{ID}"),
    "digits among ids": (f"{ID} order=17 of {ID} done", r"order=(?P<key>\d+) of (?P<message_id>\S+)", "17"),
    "small letters among ids": (f"{ID} kind=xyz of {ID}", r"kind=(?P<key>[a-z]+)", "xyz"),
    "one of two": ("paid by card 17", r"paid by (?:card|bank) (?P<key>\d+)", "17"),
    "nothing": ("paid ()", r"paid \((?P<key>[a-z]*)\)", None),
    "no part in the match": ("paid 17", r"paid 17|done (?P<key>\d+)", None),
}


def shape_of(line: str) -> str:
    return masked(pl.Series([line]))[0]


@pytest.mark.parametrize(("line", "expression"), HIDES.values(), ids=HIDES)
def test_no_place_is_told_where_a_shape_hides_what_an_expression_asks_for(line, expression):
    assert places_in(shape_of(line), for_vectors(expression) or expression) is None


@pytest.mark.parametrize(("line", "expression", "key"), [case for name, case in SHOWS.items() if "no part" not in name])
def test_a_value_stands_where_the_shape_has_it(line, expression, key):
    places = places_in(shape_of(line), for_vectors(expression))

    place = places.get("key")
    assert (place and line[place.at : place.at + place.length]) == key


@pytest.mark.parametrize(("line", "expression", "key"), SHOWS.values(), ids=SHOWS)
def test_lines_are_read_as_their_expression_reads_them(line, expression, key):
    lines = pl.Series([line, None])

    found = Marks(Consumer(effect=expression)).values("effect", lines, shapes_of(lines))

    assert found["key"].to_list() == [key, None]


PIECES = ("paid ", "p_", "cafe", "é", " ", "=", "1", "07", "a", "f-", "-", '"', "\\", ",", ".", "\n", *IDS)
ATOMS = (
    *("paid ", "p_", "cafe", "a", "7", "0", "é", " ", "=", "-"),
    *(
        r"\S+",
        r"\d+",
        r"\w*",
        "[0-9]*",
        "[^ ]+",
        "[a-z]",
        "[a-fA-F0-9-]+",
        "[^0]",
        r"[\w-]+",
        "[]a-f0-9]+",
        "[^]a]",
        "[1-9]?",
        ".",
        ".*",
        ".*?",
        "[é ]?",
    ),
    *("(?:a|paid )", "(?:cafe)?", "(?:1|[0-9]{2}) ", UUID, "^", "$"),
)
lines_drawn = st.lists(st.sampled_from(PIECES), max_size=8).map("".join)
expressions_drawn = st.tuples(*(st.lists(st.sampled_from(ATOMS), max_size=n).map("".join) for n in (3, 2, 2))).map(
    lambda parts: f"{parts[0]}(?P<key>{parts[1]}){parts[2]}"
)


def another(line: str, rng: random.Random) -> str:
    """Return a line of the same shape."""

    def of_id(found: re.Match[str]) -> str:
        return re.sub("[^-]", lambda _: rng.choice("0123456789abcdefABCDEF"), found[0])

    parts = re.split(f"({UUID})", line)
    return "".join(
        of_id(re.match(UUID, part)) if number % 2 else re.sub("[0-9]", lambda _: rng.choice("0123456789"), part)
        for number, part in enumerate(parts)
    )


@given(lines=st.lists(lines_drawn, min_size=1, max_size=8), expression=expressions_drawn, seed=st.integers(0, 2**32))
def test_values_are_those_that_a_search_of_each_line_finds(lines, expression, seed):
    rng = random.Random(seed)
    lines = pl.Series([*lines, *(another(line, rng) for line in lines for _ in range(6))])
    pattern = for_vectors(expression)

    found = Marks(Consumer(effect=expression)).values("effect", lines, shapes_of(lines))

    searched = lines.str.extract(pattern, 1).replace("", None)
    assert found["key"].to_list() == searched.to_list()
