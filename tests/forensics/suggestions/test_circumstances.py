"""Fields that tell of a run's circumstances where each message has one line."""

import json

import pytest

from forensics.suggestions.circumstances import circumstances
from tests.forensics.suggestions.handlers import day
from tests.forensics.suggestions.test_marks import found, values


def lines(**of_line):
    """Return runs of two lines, of which only the second names its message; a value may be given for each line."""

    def text(run, number):
        told = {name: value(run, number) for name, value in of_line.items()}
        return json.dumps({"message": ("begun", "captured")[number], **told, "order": f"ord-{run}x"})

    told = [(run, text(run, number)) for run in range(40) for number in (0, 1)]
    named = [(run, said, said.index("ord-")) for run, said in told if "captured" in said]
    return named, told


FIELDS = {
    "one value in each run": (lambda run, number: run % 9 == 0, True),
    "one value in all runs": (lambda run, number: False, False),
    "another in each line": (lambda run, number: bool(number), False),
    "another in the lines of a few runs": (lambda run, number: bool(number and run % 5 == 0), False),
}


@pytest.mark.parametrize(("value", "expected"), FIELDS.values(), ids=FIELDS)
def test_a_field_on_every_line_is_a_circumstance_where_it_differs_from_run_to_run_alone(value, expected):
    assert ("cold" in circumstances(*lines(cold=value))) is expected


def test_a_field_that_not_every_line_has_may_say_what_happened():
    named, told = lines(cold=lambda run, number: run % 9 == 0)
    told = [(run, text if "captured" in text else '{"message": "begun"}') for run, text in told]

    assert "cold" not in circumstances(named, told)


def test_fewer_than_five_runs_of_several_lines_tell_nothing():
    named, told = lines(cold=lambda run, number: run % 2 == 0)

    assert "cold" in circumstances(named, [of for of in told if of[0] < 5])
    assert "cold" not in circumstances(named, [of for of in told if of[0] < 4])


def test_the_effect_is_found_in_an_environments_first_run_too():
    def cold(message, key, count):
        is_cold = json.dumps(int(key[4:-1]) % 12 == 0)
        about = f'"cold_start": {is_cold}, "service": "pay"'
        return [
            (1, f'{{"message": "processing", {about}}}'),
            (400, f'{{"message": "captured", {about}, "order": "{key}"}}'),
        ]

    marks = values(found(day(cold, size=1)))

    assert marks["effect"] == r'"message": "captured".*?"order": "(?P<key>[\w.@+-]+)'
    assert marks["effect_is_exhaustive"] is True
