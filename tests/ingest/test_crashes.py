"""Killed anywhere, out of room, or two at once: nothing is lost, nothing is doubled. The mutants prove the test."""

import random
import signal
from pathlib import Path

import pytest

from forensics.lake import Lake
from forensics.lake.doctor import heal
from forensics.lake.recount import recount
from forensics.tables import BY_NAME
from tests.ingest import crash
from tests.waiting import PATIENCE_S

pytestmark = pytest.mark.process

KILLS = 25
FEW = 4
"""Windows, where the number does not matter."""


def killed_again_and_again(root: Path, seed: int, kills: int, mutant=None) -> tuple[int, list[str]]:
    """Let collectors be killed one after another; returns how many died, and the first ids doubled or missing."""
    draw, died = random.Random(seed), 0
    for _ in range(kills):
        # Half of them as a commit begins, whatever the machine's speed: what the commits before it left is then all there is.
        commits, wait_s = draw.randint(1, 12), draw.choice((0.0, draw.uniform(0, crash.LONGEST_WAIT_S)))
        started = crash.process(crash.run_and_die, str(root), commits, wait_s, mutant)
        started.join(PATIENCE_S)
        died += started.exitcode == -signal.SIGKILL
        if wrong := crash.doubled(root) or sorted(crash.claimed_but_missing(root)):
            return died, wrong
    last = crash.process(crash.run_whole, str(root), mutant)
    last.join(PATIENCE_S)
    assert last.exitcode == 0
    return died, crash.doubled(root)


def test_a_collector_that_is_killed_again_and_again_loses_and_doubles_nothing(tmp_path):
    died, wrong = killed_again_and_again(tmp_path / "lake", seed=1, kills=KILLS)

    assert died >= KILLS * 2 // 3
    assert wrong == []
    assert sorted(crash.ids(tmp_path / "lake")) == crash.ids_of()
    lake = Lake(tmp_path / "lake")
    assert recount(lake).miscounts == ()
    assert heal(lake).repairs == ()


@pytest.mark.parametrize("mutant", [crash.without_comparison, crash.with_coverage_first], ids=lambda m: m.__name__)
def test_the_same_harness_catches_a_collector_without_the_mechanism(tmp_path, mutant):
    _, wrong = killed_again_and_again(tmp_path / "lake", seed=2, kills=KILLS, mutant=mutant)

    assert wrong or sorted(crash.ids(tmp_path / "lake")) != crash.ids_of()


@pytest.mark.parametrize("most_bytes", [0, 1500, 4000])
def test_a_disk_without_room_ends_the_run_and_the_next_completes_it(tmp_path, most_bytes):
    root = tmp_path / "lake"
    cramped = crash.process(crash.run_with_little_room, str(root), most_bytes, FEW)
    cramped.join(PATIENCE_S)
    whole = crash.process(crash.run_whole, str(root), None, FEW)
    whole.join(PATIENCE_S)

    assert cramped.exitcode == 1
    assert whole.exitcode == 0
    assert sorted(crash.ids(root)) == crash.ids_of(FEW)


@pytest.mark.parametrize("mutant", [None, crash.without_lock], ids=["with the lock", "without it"])
def test_two_collectors_at_once_do_no_harm(tmp_path, mutant):
    for race in range(2):
        root = tmp_path / f"lake-{race}"
        both = [crash.process(crash.run_whole, str(root), mutant, FEW) for _ in range(2)]
        for started in both:
            started.join(PATIENCE_S)

        assert {started.exitcode for started in both} <= {0, crash.BUSY}
        assert 0 in {started.exitcode for started in both}
        assert sorted(crash.ids(root)) == crash.ids_of(FEW)
        assert Lake(root).count(BY_NAME["coverage"]) > 0
