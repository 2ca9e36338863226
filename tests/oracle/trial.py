"""Play worlds, correlate what AWS would have kept of them, and judge what comes out: the one place that runs both."""

import pickle
import shutil
import sys
from pathlib import Path

from spark_jobs.carrier import Here
from spark_jobs.runner import correlate
from tests.oracle import World
from tests.oracle.bundle import fill_lake, read_findings, settings_of
from tests.oracle.judge import Problem, Score, judge


def judged(root: Path, is_passing: bool, seeds: range) -> tuple[list[Problem], Score]:
    """Play the worlds of some seeds into a lake of their own below a folder, correlate it and judge what it says."""
    worlds = [World(seed) for seed in seeds]
    folder = root / f"lake-{seeds[0]}"
    lake = fill_lake(worlds, folder)
    correlate(lake, settings_of(worlds), carrier=Here())
    found = judge(worlds, read_findings(lake))
    if is_passing:
        shutil.rmtree(folder)
    return found


if __name__ == "__main__":
    sys.stdout.buffer.write(
        pickle.dumps(judged(Path(sys.argv[1]), "--keep" not in sys.argv, range(*map(int, sys.argv[2:4]))))
    )
