"""Play worlds, correlate what AWS would have kept of them, and judge what comes out: the one place that runs both."""

import pickle
import shutil
import sys
from pathlib import Path

from forensics.clock import moment
from spark_jobs.carrier import Here
from spark_jobs.runner import correlate
from tests.oracle import World
from tests.oracle.bundle import fill_lake, read_again, read_findings, settings_of
from tests.oracle.judge import Problem, Score, judge
from tests.oracle.left_out import LEFT_OUT, SINCE_MS, world_of


def judged(root: Path, is_passing: bool, kind: str, seeds: range) -> tuple[list[Problem], Score]:
    """Play worlds of one kind into a lake of their own below a folder, correlate it and judge what it says."""
    is_cut = kind == LEFT_OUT
    worlds = [world_of(seed) if is_cut else World(seed, kind=kind) for seed in seeds]
    since = moment(SINCE_MS * 1000) if is_cut else None
    folder = root / f"lake-{kind.replace(' ', '-')}-{seeds[0]}"
    lake = fill_lake(worlds, folder)
    correlate(lake, settings_of(worlds), since=since, carrier=Here())
    problems, score = judge(worlds, read_findings(lake))
    late = [world for world in worlds if world.has_late_lines]
    if late:
        problems = [problem for problem in problems if problem.is_unsound]
        read_again(late, lake)
        correlate(lake, settings_of(worlds), since=since, carrier=Here())
        more, score = judge(worlds, read_findings(lake))
        problems = sorted(problems + more, key=lambda p: not p.is_unsound)
    if is_passing:
        shutil.rmtree(folder)
    return problems, score


def main(root: Path, is_passing: bool) -> None:
    """Judge each trial that standard input names, a kind and its seeds, and write what comes out to standard output."""
    while True:
        try:
            kind, seeds = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        pickle.dump(judged(root, is_passing, kind, seeds), sys.stdout.buffer)
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    main(Path(sys.argv[1]), "--keep" not in sys.argv)
