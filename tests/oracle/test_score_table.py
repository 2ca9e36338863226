"""`make truth`: worlds judged in several processes give one score, and an unsound finding fails the command."""

import pickle
from dataclasses import replace
from subprocess import CalledProcessError

import pytest

from tests.oracle import World, __main__
from tests.oracle.bundle import TABLES
from tests.oracle.judge import Problem, Score, kinds_table
from tests.oracle.kinds import ANYTHING, KINDS, dealt
from tests.oracle.trial import judged
from tests.oracle.world import chance

LAST = list(KINDS)[-1]


@pytest.mark.parametrize("is_planned", [False, True], ids=["a drawn world", "a planned world"])
def test_a_world_that_travels_to_another_process_is_the_same_world(is_planned):
    drawn = World(7)
    world = World(7, replace(drawn.plan, message_count=drawn.plan.message_count + 1)) if is_planned else drawn

    again = pickle.loads(pickle.dumps(world))

    assert [again.rows(name) for name in TABLES] == [world.rows(name) for name in TABLES]
    assert list(again.truth) == list(world.truth)


@pytest.mark.process
def test_the_score_does_not_depend_on_how_worlds_are_dealt_out(tmp_path, capsys):
    problems, score = judged(tmp_path, True, ANYTHING, range(6))

    assert __main__.main(["--worlds", "6", "--of", ANYTHING, "--per-lake", "2", "--processes", "2"]) == 0

    printed = capsys.readouterr()
    assert printed.out.startswith(score.table() + "\n" + kinds_table({ANYTHING: score}, problems))
    assert printed.err.splitlines() == [f"{ANYTHING}: worlds {n} to {n + 1}" for n in (0, 2, 4)]
    assert not any(tmp_path.iterdir())
    assert not any(p.is_unsound for p in problems)


def one_unsound(apart: __main__.Apart, trial: __main__.Trial) -> tuple[list[Problem], Score]:
    """Stand in for a trial: one world of one kind has a false finding."""
    problems = []
    if trial.kind == LAST and 5 in trial.seeds:
        problems.append(Problem("false confirmed", World(5, kind=LAST), None, "work done once"))
    return problems, Score(worlds=len(trial.seeds))


def test_every_kind_of_world_is_played_and_half_of_them_are_of_any():
    counts = dealt(20 * len(KINDS))

    assert set(counts) == set(KINDS)
    assert counts[ANYTHING] == sum(counts.values()) // 2
    assert dealt(2) == {ANYTHING: 1, list(KINDS)[1]: 1}


@pytest.mark.parametrize("kind", KINDS)
def test_worlds_of_one_kind_are_worlds_that_an_account_could_hold(kind):
    for seed in range(4):
        plan = KINDS[kind](chance(seed))
        assert plan == plan.made_fair()


@pytest.mark.process
def test_a_process_that_ends_in_the_middle_of_a_trial_ends_the_command(tmp_path):
    with __main__.Apart(tmp_path, True) as apart, pytest.raises(CalledProcessError):
        apart.judged(__main__.Trial("no kind of world", range(2)))


def test_an_unsound_finding_in_any_process_fails_the_command(monkeypatch, capsys):
    monkeypatch.setattr(__main__.Apart, "judged", one_unsound)

    assert __main__.main(["--worlds", str(12 * len(KINDS)), "--per-lake", "3", "--processes", "2"]) == 1

    printed = capsys.readouterr().out
    (line,) = [line for line in printed.splitlines() if line.startswith(LAST)]
    assert line.split()[len(LAST.split()) + 2 :][:2] == ["1", "1"]
    assert (
        f"{12 * len(KINDS)} worlds" in printed and "false confirmed: work done once" in printed and "seed 5" in printed
    )
