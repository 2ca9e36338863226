"""Findings against the truth: simulated worlds that know how often each message's work was really done."""

import pytest

from tests.oracle.bundle import read_findings
from tests.oracle.judge import Problem, Score, judge, stories
from tests.oracle.trial import judged

pytestmark = pytest.mark.slow

# The goals of the product; today more is reached.
CAUSE_ACCURACY = 0.98
RECALL_WHERE_TOLD = 0.99


@pytest.fixture(scope="module")
def seeded(many_worlds) -> tuple[list[Problem], Score]:
    """What the judge says of the worlds with fixed seeds."""
    return judge(many_worlds.seeded, read_findings(many_worlds.lake))


def test_no_finding_breaks_a_promise(seeded):
    """The truth lies inside every interval, nothing confirmed is false, nothing done twice is left out."""
    problems, _ = seeded
    unsound = [p for p in problems if p.is_unsound]

    assert not unsound, stories(unsound)


def test_the_worlds_put_the_rules_to_the_test(seeded):
    """Were hardly anything redelivered or repeated, the other tests here would prove nothing."""
    _, score = seeded

    assert score.redelivered > 200
    assert score.repeated > 50
    assert score.told > 10
    assert len({truth for truth, _ in score.causes}) >= 8


def test_work_done_twice_is_confirmed_where_every_effect_is_marked_and_logged(seeded):
    problems, score = seeded

    assert score.told_confirmed >= RECALL_WHERE_TOLD * score.told, stories([p for p in problems if p.kind == "blunt"])


def test_a_named_cause_is_the_true_one(seeded):
    problems, score = seeded

    assert score.right >= CAUSE_ACCURACY * (score.right + score.wrong), score.table() + stories(
        [p for p in problems if p.kind == "wrong cause"]
    )


def test_no_finding_breaks_a_promise_before_late_lines_were_read_nor_after(tmp_path):
    problems, score = judged(tmp_path, True, "lines to come", range(7000, 7012))
    unsound = [p for p in problems if p.is_unsound]

    assert not unsound, stories(unsound)
    assert score.repeated > 10


# -- worlds that hypothesis thinks up --------------------------------------------------------------------------


def test_no_world_can_make_a_finding_break_a_promise(many_worlds):
    problems, score = judge(many_worlds.thought_up, read_findings(many_worlds.lake))

    unsound = [p for p in problems if p.is_unsound]
    assert not unsound, stories(unsound)
    assert score.worlds > 40
    assert score.redelivered > 150
    assert score.repeated > 15
