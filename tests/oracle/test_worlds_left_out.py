"""Worlds of which log events are left out: the moment lies in their span, and their evidence shows what lines from then on do."""

import pickle

import pytest

from tests.oracle import __main__
from tests.oracle.bundle import TABLES
from tests.oracle.judge import Problem, Score
from tests.oracle.left_out import LEFT_OUT, SINCE_MS, world_of
from tests.oracle.world import World

SEEDS = range(30)


@pytest.mark.slow
def test_the_moment_lies_among_a_worlds_lines_which_are_stored_and_those_before_it_left_out():
    for world in map(world_of, SEEDS):
        kept, stored = world.evidence.lines, world.evidence.stored
        before = [line for line in world.book.lines if line.at_ms < SINCE_MS]
        assert before
        assert len(before) < len(world.book.lines)
        assert kept == [line for line in stored if line.at_ms >= SINCE_MS]
        assert len(world.rows("log_events")) == len(stored)
        named = {id(d) for line in kept for d in line.names}
        assert named >= {id(d) for known in world.truth.values() for d in known.told}


@pytest.mark.slow
def test_a_seed_says_the_kind_and_the_moment():
    worlds = [world_of(seed) for seed in SEEDS]
    again = pickle.loads(pickle.dumps(worlds[7]))

    assert [again.rows(name) for name in TABLES] == [worlds[7].rows(name) for name in TABLES]
    assert again.since == worlds[7].since
    assert len({world.kind for world in worlds}) > 8
    assert len({SINCE_MS - world.started_ms for world in worlds}) == len(worlds)


def scored(apart: __main__.Apart, trial: __main__.Trial) -> tuple[list[Problem], Score]:
    """Stand in for a trial: the worlds of which log events are left out have a false finding."""
    worlds = Score(worlds=len(trial.seeds))
    return [Problem("false confirmed", world_of(5), None, "done once")] if trial.kind == LEFT_OUT else [], worlds


def test_they_are_told_in_a_line_of_their_own_and_leave_the_score_of_the_others_as_it_was(monkeypatch, capsys):
    monkeypatch.setattr(__main__.Apart, "judged", scored)

    assert __main__.main(["--worlds", "200", "--processes", "1"]) == 1

    printed = capsys.readouterr().out
    (line,) = [line for line in printed.splitlines() if line.startswith(f"{LEFT_OUT}  ")]
    assert line.removeprefix(LEFT_OUT).split()[:4] == ["20", "0", "1", "1"]
    assert printed.startswith(f"{'worlds':<40} 200\n")
    assert "200 worlds, seeds from 0" in printed
    assert f"log events before +{(SINCE_MS - world_of(5).started_ms) / 1000:.3f} are left out" in printed
    assert __main__.main(["--worlds", "20", "--of", LEFT_OUT, "--processes", "1"]) == 1
    assert capsys.readouterr().out.startswith(f"{'worlds':<40} 20\n")


def test_a_world_of_which_nothing_is_left_out_is_as_it_was():
    world = World(3)

    assert world.since is None
    assert world.evidence.lines == world.evidence.stored
    assert world.evidence.read_from_ms == world.evidence.start_ms
