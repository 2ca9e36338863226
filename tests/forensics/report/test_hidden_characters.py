"""What drives a terminal or turns text around stands as an escape in every form that people read."""

import json
import re
import unicodedata

import pytest

from forensics.report.case import Case
from forensics.report.render import render
from tests.forensics.report.test_render import with_text

pytestmark = pytest.mark.slow

HOSTILE = "pay\x1b[2J\x1b]0;x\x07\x9b31m\u202egnp\u2066\u200b\u2028\x85\r\x00end"
_PLOTLY = re.compile(r"<script[^>]*>.*?</script>", re.DOTALL)


@pytest.fixture(scope="module")
def hostile(case) -> Case:
    return with_text(case, HOSTILE)


def hidden(text: str) -> set[str]:
    return {c for c in text if unicodedata.category(c) in ("Cc", "Cf", "Zl", "Zp")} - {"\n", "\t"}


@pytest.mark.parametrize("form", ["html", "md", "svg"])
def test_forms_for_people_show_hidden_characters_as_escapes(hostile, form):
    page = _PLOTLY.sub("", render(hostile, form).decode())

    assert hidden(page) == set()
    assert "\\x1b" in page
    assert "u202e" in page


def test_forms_for_programs_keep_the_truth(hostile):
    assert HOSTILE in json.loads(render(hostile, "json"))["incident"].values()
    assert "\x1b[2J" in render(hostile, "csv").decode()
