"""Expressions of the settings that take long to search a line are told of, before a correlation asks them of every line."""

import pytest

from forensics.lake import Lake
from forensics.settings import Settings
from forensics.suggestions.slow_expressions import SLOW_S, slow_expressions, slowest
from tests.forensics.report import world

LINE = '{"level":"INFO","message":"charged the card of a customer with many words","message_id":"861bec95-b670-4f2a-acf9-19d5bdd7cbe5"}'
SLOW = {
    "a repeat in a repeated group": r'"message":"([\w ]+)+ (?P<key>\d+)"',
    "words and blanks, each in repeats": r"(\w+\s*)+:(?P<key>\d+)$",
    "three ways to say the same": r"charged (a|[a-z]+|\w+| )*=(?P<key>\d+)",
    "many lazy repeats": r".*?.*?.*?.*?.*?.*?(?P<key>xyz)",
}
QUICK = {
    "words before the value": r"charged the card of (?P<key>\S+)",
    "fields passed over": r'"message":"charged.*?"message_id":"(?P<message_id>[\w.@+-]+)',
    "another line's": r"paid ([\w ]+)+ (?P<key>\d+)x",
    "a repeat that cannot fail": r"charged ([\w ]+)+(?P<key>[a-z])",
}


@pytest.mark.parametrize("expression", SLOW.values(), ids=SLOW)
def test_an_expression_that_takes_long_is_found_in_no_time(expression):
    seconds, characters = slowest(expression, [LINE])

    assert SLOW_S <= seconds < 5
    assert characters <= len(LINE)


@pytest.mark.parametrize("expression", QUICK.values(), ids=QUICK)
def test_an_expression_that_is_quick_is_not(expression):
    assert slowest(expression, [LINE]) is None


@pytest.mark.lake
def test_a_sentence_names_the_expression_and_whose_it_is(tmp_path):
    line = world.lines()[0] | {"evidence_id": "log:slow", "event_id": "slow", "line": LINE}
    lake = world.save(tmp_path / "lake", {}, [line])
    slow, quick = next(iter(SLOW.values())), next(iter(QUICK.values()))
    settings = Settings.parse(
        f"[[function]]\nname = '{world.FUNCTION}'\neffect = '''{slow}'''\nguard = '''{quick}'''\nmessage_id = '$.id'"
    )
    (told,) = slow_expressions(lake, settings)

    assert f"{world.FUNCTION}: effect = {slow!r} takes" in told
    assert slow_expressions(lake, Settings()) == []
    assert slow_expressions(Lake(tmp_path / "none"), settings) == []
