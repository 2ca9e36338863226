"""Play worlds, correlate what AWS would have kept of them, and judge what comes out: the one place that runs both."""

import shutil
from pathlib import Path
from typing import NamedTuple

from spark_jobs.carrier import Here
from spark_jobs.runner import correlate
from tests.oracle import World
from tests.oracle.bundle import fill_lake, read_findings, settings_of
from tests.oracle.judge import Problem, Score, judge


class Trial(NamedTuple):
    """Worlds of one kind that one lake holds."""

    kind: str
    seeds: range


def judged(root: Path, is_passing: bool, trial: Trial) -> tuple[list[Problem], Score]:
    """Play the worlds of a trial into a lake of their own below a folder, correlate it and judge what it says."""
    worlds = [World(seed, kind=trial.kind) for seed in trial.seeds]
    folder = root / f"lake-{trial.kind.replace(' ', '-')}-{trial.seeds[0]}"
    lake = fill_lake(worlds, folder)
    correlate(lake, settings_of(worlds), carrier=Here())
    found = judge(worlds, read_findings(lake))
    if is_passing:
        shutil.rmtree(folder)
    return found
