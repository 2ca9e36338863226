import csv
import io
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forensics.report.csv_text import cell_text, to_csv

FORMULAS = {
    "equals": "=HYPERLINK(1)",
    "plus": "+1",
    "minus": "-2+3",
    "at": "@SUM(A1)",
    "tab": "\tx",
    "carriage return": "\rx",
    "line feed": "\nx",
    "behind blanks": "   =1",
    "behind a no-break space": "\u00a0=1",
    "behind an ideographic space": "\u3000=1",
    "behind a zero-width space": "\u200b=1",
    "behind a byte order mark": "\ufeff=1",
    "full-width equals": "\uff1d1",
    "full-width plus": "\uff0b1",
    "full-width minus": "\uff0d1",
    "full-width at": "\uff20A1",
    "small-form plus": "\ufe621",
}
PLAIN = {"an id": "pay-17", "a time": "2026-11-20T05:12:00.200Z", "blank": "", "Japanese": "注文 17"}


@pytest.mark.parametrize("text", FORMULAS.values(), ids=FORMULAS)
def test_text_that_a_spreadsheet_could_run_gets_an_apostrophe(text):
    assert cell_text(text) == f"'{text}"


@pytest.mark.parametrize("text", PLAIN.values(), ids=PLAIN)
def test_other_text_stays_as_it_is(text):
    assert cell_text(text) == text


def test_a_list_that_begins_with_a_formula_is_one_harmless_cell():
    assert cell_text(["=1", "b"]) == "'=1; b"


def test_numbers_stay_numbers_also_below_zero():
    assert cell_text(-3) == -3


@given(st.lists(st.lists(st.text(), min_size=2, max_size=2), max_size=5))
def test_no_cell_of_any_export_begins_like_a_formula(rows):
    text = to_csv([dict(zip("ab", row, strict=True)) for row in rows], ("a", "b"))
    cells = [cell for row in list(csv.reader(io.StringIO(text)))[1:] for cell in row]

    for cell in cells:
        seen = [c for c in cell if not c.isspace() and unicodedata.category(c) not in ("Cc", "Cf")]
        assert not cell.startswith(("\t", "\r", "\n"))
        assert not seen or unicodedata.normalize("NFKC", seen[0])[:1] not in tuple("=+-@")


@given(st.lists(st.text(st.characters(exclude_characters="\x00")), min_size=1, max_size=4))
def test_a_spreadsheet_reads_back_what_was_written_but_for_the_apostrophe(values):
    columns = [f"c{n}" for n in range(len(values))]
    text = to_csv([dict(zip(columns, values, strict=True))], columns)
    _, read = csv.reader(io.StringIO(text, newline=""))

    assert [r.removeprefix("'") for r in read] == [v.removeprefix("'") for v in values]
