"""An effect that no line is like: readiness, judging, the command and the trial of proposals give one answer."""

import pytest

from forensics.judging.surroundings import Surroundings
from forensics.judging.written import lines_of_writers
from forensics.known import Known
from forensics.readiness import COUNTS, logging_readiness
from forensics.report.log_readiness import unlike_effects
from forensics.settings import Consumer
from forensics.suggestions.trial import _group_lines
from tests.forensics.report import world

QUEUE_ARN, GROUP, EFFECT = world.QUEUE_ARN, world.GROUP, "charged (?P<key>.*)"


def counts(function, with_effect, named=4):
    told = dict.fromkeys(COUNTS, 0) | {"handlings": 4, "with_message": named, "with_effect": with_effect}
    return told | {"log_group": GROUP, "function_name": function, "samples": ["a"], "first_at": 0, "last_at": 9}


def row_of(parts, function, effect):
    """Return what readiness says of one function of the group."""
    consumer = {"queue_arn": QUEUE_ARN, "queue_name": world.QUEUE, "log_group": GROUP, "kind": "lambda"}
    known = Known(
        consumers=[consumer | {"function_name": function}],
        consumers_by_group={GROUP: Consumer(name=function, effect=effect, effect_is_exhaustive=True)},
    )
    (row,) = logging_readiness(parts, [], known, {GROUP: "lambda"})
    return row


def shows_no_effect(parts, function):
    """Ask judging the same."""
    told = [
        {
            "log_group": GROUP,
            "function_name": part["function_name"],
            "has_starts": True,
            "has_guard_line": False,
            "has_effect_line": part["with_effect"] > 0,
        }
        for part in parts
    ]
    lines = lines_of_writers([{"log_group": GROUP, "first_at": 0, "last_at": 9}], told, [], {GROUP: "charge"}, {})
    return Surroundings(lines=lines).shows_no_effect(GROUP, function)


PARTS = {
    "no line of it": ([counts("charge", 0)], True),
    "a line of it": ([counts("charge", 1)], False),
    "a line in another part": ([counts("charge", 0), counts("charge", 2)], False),
    "a line of which nothing tells whose it is, and only it writes there": (
        [counts("charge", 0), counts(None, 1)],
        False,
    ),
    "a line of another function of the group": ([counts("charge", 0), counts("mail", 1)], True),
    "a line of nobody's where several write": ([counts("charge", 0), counts("mail", 0), counts(None, 1)], True),
}


@pytest.mark.parametrize(("parts", "is_unlike"), PARTS.values(), ids=PARTS)
def test_readiness_and_judging_give_one_answer(parts, is_unlike):
    row = row_of(parts, "charge", EFFECT)

    assert (row["unlike_effect"] == EFFECT) is is_unlike
    assert ("No line is like the effect of the settings file" in row["sentence"]) is is_unlike
    assert shows_no_effect(parts, "charge") is is_unlike


def test_where_no_effect_is_declared_or_no_line_is_in_evidence_nothing_is_unlike():
    assert row_of([counts("charge", 0)], "charge", None)["unlike_effect"] is None
    assert row_of([], "charge", EFFECT)["unlike_effect"] is None


@pytest.mark.lake
@pytest.mark.parametrize(("parts", "is_unlike"), PARTS.values(), ids=PARTS)
def test_the_command_and_the_trial_read_the_same_answer(tmp_path, parts, is_unlike):
    row = row_of(parts, "charge", EFFECT)
    found = world.findings() | {"logging_readiness": [row]}
    for invocation in found["invocations"]:
        invocation["function_name"] = "charge"
    findings = world.save(tmp_path / "lake", found).findings()
    (lines,) = (told for told in _group_lines(findings) if told.log_group == GROUP)

    assert any("No line of charge is like its effect" in told for told in unlike_effects(findings)) is is_unlike
    assert lines.has_effect_line is not is_unlike


def test_of_a_blind_consumer_no_more_is_said_than_that_it_is_blind():
    row = row_of([counts("charge", 0, named=0)], "charge", EFFECT)

    assert (row["level"], row["unlike_effect"]) == ("blind", EFFECT)
    assert "No line is like" not in row["sentence"]
