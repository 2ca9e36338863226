"""What a replay says, in the other languages: by its phrases and values, none recognised by its form."""

import pytest

from forensics.choices import LANGUAGES
from forensics.language import Language
from forensics.what_if import answer
from forensics.what_if.answer import Row
from forensics.what_if.model import Outcome, Setup
from forensics.what_if.observed import Observation
from tests.forensics.what_if.test_replay import messages
from tests.pages.english import english_in

OTHERS = [code for code in LANGUAGES if code != "en"]
TOLD = Outcome(2, 1, 41.0, 10, 7, 0, 0, 570.0, [1.0, 2.0, 3.0])


def _answers():
    numbers = TOLD.numbers()
    same = Row("replayed as it was", Setup(600), numbers, numbers)
    seen = Observation("orders", messages(3), Setup(600, 10, 30), TOLD, 0.1, True, 1_200, 3, beside=2)
    yield from answer._assumptions(seen)
    yield from answer._warnings(Setup(20, 11, 30), seen)
    yield answer._beside(seen)
    yield answer._faithful(TOLD, same)[1]
    yield answer._faithful(TOLD, Row("x", Setup(600), numbers | {"repeats": 1}, numbers | {"repeats": 2}))[1]
    yield answer._named(Setup(180, 5, 30, partial_responses=True), Setup(600, 10, 30))
    yield answer._named(Setup(600, 10, 30), Setup(600, 10, 30, partial_responses=True))
    yield answer._named(Setup(600), Setup(600))
    yield from ("observed", "replayed as it was", "as asked")


@pytest.mark.parametrize("code", OTHERS)
def test_every_sentence_is_said_by_its_phrase(code):
    told = list(_answers())

    assert {str(text): found for text in told if (found := english_in(Language(code).sentence(text)))} == {}
    assert len(told) > 10


def test_in_english_the_settings_and_numbers_stand_as_they_are():
    *_, named, without, unchanged = [str(text) for text in list(_answers())[:-3]]
    faithful, off = [str(text) for text in _answers() if str(text).startswith("Under the settings")]

    assert named == "visibility timeout 180 s, batch size 5, partial batch responses"
    assert (without, unchanged) == ("no partial batch responses", "as it was")
    assert "by 0.1 s: redelivered 10, repeats 7, failed runs 1, blocked 570 s, median wait 2 s" in faithful
    assert off.endswith("observed: repeats 1 to 2 instead of 7.")


def test_another_language_says_the_same_numbers():
    faithful, off = [text for text in _answers() if str(text).startswith("Under the settings")]

    assert "再配信 10、重複 7、失敗した実行 1、停止 570 秒" in Language("ja").sentence(faithful)
    assert "重複 1〜2（観測は 7）" in Language("ja").sentence(off)
