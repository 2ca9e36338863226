"""Shapes made of the bytes of many lines are those that patterns would make of each."""

import re

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from forensics.counting.line_shapes import hold_any, masked, shapes_of
from forensics.parsers.grammar import UUID
from forensics.parsers.mentions import SEND_NEEDLE
from forensics.streams.shapes import OTHER_ID, SEND

ID = "8C0Fee00-1234-4000-8000-0000000000a1"
PIECES = st.sampled_from(
    [
        ID,
        ID[:-1],
        ID[1:],
        ID[9:],
        ID[:19],
        "-",
        "a",
        "7",
        "x",
        " ",
        "é",
        "\n",
        SEND_NEEDLE,
        SEND_NEEDLE[:9],
        SEND_NEEDLE[9:],
    ]
)
TEXTS = st.lists(PIECES, max_size=7).map("".join)


def by_patterns(text: str) -> str:
    """Mask one text by the grammar's own pattern of ids."""
    ids = re.sub(UUID, OTHER_ID, text.replace(SEND_NEEDLE, SEND))
    return re.sub("[0-9]", "0", ids)


@given(st.lists(TEXTS | st.none(), max_size=6))
def test_texts_are_masked_each_by_itself(texts):
    expected = [None if text is None else by_patterns(text) for text in texts]

    assert masked(pl.Series(texts, dtype=pl.String)).to_list() == expected


@given(st.lists(TEXTS | st.none(), max_size=6))
def test_each_line_has_its_shape(texts):
    shapes, of_lines = shapes_of(pl.Series(texts, dtype=pl.String))

    assert shapes.n_unique() == len(shapes)
    assert shapes.gather(of_lines).to_list() == [None if text is None else by_patterns(text) for text in texts]


def test_what_an_id_took_is_of_no_other_id():
    text = ID + ID[1:] + "x"

    assert hold_any(pl.Series([by_patterns(text)]), [text[1:]]).all()


@given(TEXTS.filter(len), st.data())
def test_a_line_that_holds_a_needle_has_it_in_its_shape(text, data):
    begin = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(begin + 1, len(text)))

    assert hold_any(pl.Series([by_patterns(text)]), [text[begin:end]]).all()


def test_a_text_that_no_line_of_a_shape_holds_is_not_held():
    shapes = pl.Series(["charged pay_00 ils", f"sent {SEND}"])

    assert hold_any(shapes, ["charged pay_7"]).to_list() == [True, False]
    assert hold_any(shapes, ["fails"]).to_list() == [False, False]
    assert hold_any(shapes, ["refunded", SEND_NEEDLE]).to_list() == [False, True]


def test_ids_that_share_characters_are_told_from_left_to_right():
    chain = "-".join(["00000000", *["1111"] * 3, "222222222222", *["3333"] * 3, "444444444444"])

    assert masked(pl.Series([chain, chain])).to_list() == [by_patterns(chain)] * 2


def test_shapes_of_many_lines_are_found_in_stretches():
    lines = pl.Series([f"charged pay_{n % 3} {'x' * (n % 5)}" if n % 7 else None for n in range(20_000)])

    shapes, of_lines = shapes_of(lines)

    assert len(shapes) == 5
    assert shapes.gather(of_lines).equals(masked(lines), null_equal=True)
