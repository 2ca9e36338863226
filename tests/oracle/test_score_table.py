"""`make truth`: worlds judged in several processes give one score, and an unsound finding fails the command."""

import pickle
from dataclasses import replace
from pathlib import Path

import pytest

from tests.oracle import World, __main__
from tests.oracle.bundle import TABLES
from tests.oracle.judge import Problem, Score
from tests.oracle.trial import judged


@pytest.mark.parametrize("is_planned", [False, True], ids=["a drawn world", "a planned world"])
def test_a_world_that_travels_to_another_process_is_the_same_world(is_planned):
    drawn = World(7)
    world = World(7, replace(drawn.plan, message_count=drawn.plan.message_count + 1)) if is_planned else drawn

    again = pickle.loads(pickle.dumps(world))

    assert [again.rows(name) for name in TABLES] == [world.rows(name) for name in TABLES]
    assert list(again.truth) == list(world.truth)


@pytest.mark.process
def test_the_score_does_not_depend_on_how_worlds_are_dealt_out(tmp_path, capsys):
    problems, score = judged(tmp_path, True, range(6))

    assert __main__.main(["--worlds", "6", "--per-lake", "2", "--processes", "2"]) == 0

    printed = capsys.readouterr()
    assert printed.out.startswith(score.table())
    assert printed.err.splitlines() == ["worlds 0 to 1", "worlds 2 to 3", "worlds 4 to 5"]
    assert not any(tmp_path.iterdir())
    assert not any(p.is_unsound for p in problems)


def one_unsound(root: Path, is_passing: bool, seeds: range) -> tuple[list[Problem], Score]:
    """Stand in for a trial: its last world has a false finding."""
    problems = [Problem("false confirmed", World(5), None, "work done once")] if 5 in seeds else []
    return problems, Score(worlds=len(seeds))


def test_an_unsound_finding_in_any_process_fails_the_command(monkeypatch, capsys):
    monkeypatch.setattr(__main__, "judged_apart", one_unsound)

    assert __main__.main(["--worlds", "6", "--per-lake", "3", "--processes", "2"]) == 1

    printed = capsys.readouterr().out
    assert "6 worlds" in printed and "false confirmed: work done once" in printed and "seed 5" in printed
