"""What gives nothing back is read as it is meant, by every Python there is."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forensics.possessive import compiled

AS_MEANT = {
    "a group": (r"(?:ab)*+c", "(?>(?:ab)*)c"),
    "a group with a name": (r"(?P<id>a)?+b", "(?>(?P<id>a)?)b"),
    "a group by number": (r"(a){0,2}+\1", r"(?>(a){0,2})\1"),
    "a group in a group": (r"(?:x(?:ab)++)*+", "(?>(?:x(?>(?:ab)+))*)"),
    "a group with flags of its own": (r"(?i:a)++", "(?>(?i:a)+)"),
    "what is looked for ahead": (r"(?=(?:ab)++c)a", "(?=(?>(?:ab)+)c)a"),
    "parentheses that are escaped, or in a class": (r"(?:\)[(]a)*+", r"(?>(?:\)[(]a)*)"),
    "a class that begins with a bracket": (r"(?:[])]a)*+", r"(?>(?:[])]a)*)"),
}
"""Expressions with possessive groups, and what stands for them."""

LEFT_ALONE = {
    "a class": r"[a-z]*+c",
    "a character": r"a?+b",
    "a group that gives back": r"(?:ab)*c",
    "as little as may be": r"(?:ab)*?c",
    "an escaped parenthesis": r"a\)++",
    "a class of parentheses": r"[()]++",
    "braces that count nothing": r"(a){}+",
    "an atomic group": r"(?>ab|a)+",
}


@pytest.mark.parametrize(("text", "stands_for_it"), AS_MEANT.values(), ids=AS_MEANT)
def test_a_group_that_gives_nothing_back_is_an_atomic_one(text, stands_for_it):
    assert compiled(text).pattern == stands_for_it


@pytest.mark.parametrize("text", LEFT_ALONE.values(), ids=LEFT_ALONE)
def test_all_else_is_left_as_it_is(text):
    assert compiled(text).pattern == text


def test_what_is_no_expression_is_refused_as_ever():
    with pytest.raises(re.error, match="unbalanced parenthesis"):
        compiled("a)*+")


def test_a_repeat_that_was_begun_in_vain_takes_nothing():
    """Python 3.11.2 takes the first letter."""
    found = compiled(r"(?:ba++)*+").match("bc")

    assert found and found[0] == ""


REPEATS = st.sampled_from(["*", "+", "?", "{0,2}", "{2}", "{1,}"])
EXPRESSIONS = st.recursive(
    st.sampled_from(["a", "b*+", "[ab]", "[^a]", r"\(", r"[)]", "[]()]?+"]).map(lambda text: (text, text)),
    lambda inner: st.one_of(
        st.builds(lambda one, other: (one[0] + other[0], one[1] + other[1]), inner, inner),
        st.builds(lambda one, other: (f"(?:{one[0]}|{other[0]})", f"(?:{one[1]}|{other[1]})"), inner, inner),
        st.builds(lambda one, many: (f"({one[0]}){many}", f"({one[1]}){many}"), inner, REPEATS),
        st.builds(lambda one, many: (f"({one[0]}){many}+", f"(?>({one[1]}){many})"), inner, REPEATS),
        st.builds(lambda one, many: (f"(?:{one[0]}){many}+", f"(?>(?:{one[1]}){many})"), inner, REPEATS),
    ),
    max_leaves=8,
)
"""Expressions, and each as it is meant."""


@given(EXPRESSIONS)
def test_however_deep_groups_lie_in_groups_each_is_atomic(expressions):
    text, meant = expressions

    assert compiled(text).pattern == meant
