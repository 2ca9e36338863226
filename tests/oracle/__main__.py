"""Print the score table: python -m tests.oracle --worlds 200."""

import argparse
import os
import pickle
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from itertools import count
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import NamedTuple

from tests.cores import on_one_core
from tests.oracle.judge import Problem, Score, kinds_table, stories
from tests.oracle.kinds import KINDS, dealt
from tests.oracle.left_out import LEFT_OUT

ONE_IN = 10
"""For so many worlds judged with all of their log events, one more is judged of which some are left out."""
_ROOT = Path(__file__).parents[2]


class Trial(NamedTuple):
    """Worlds of one kind that one lake holds."""

    kind: str
    seeds: range


def main(argv: list[str] | None = None) -> int:
    """Play worlds, correlate them, print how good the findings are; 1 if any is unsound."""
    args = _arguments().parse_args(argv)
    trials = _trials(args.of, args.worlds, args.seed, args.per_lake)
    problems: list[Problem] = []
    scores: dict[str, Score] = {}
    began = time.monotonic()
    with (
        tempfile.TemporaryDirectory() as folder,
        Apart(Path(args.keep or folder), not args.keep) as apart,
        ThreadPoolExecutor(args.processes) as waiting,
    ):
        for trial, (found, part) in zip(trials, waiting.map(apart.judged, trials), strict=True):
            print(f"{trial.kind}: worlds {trial.seeds[0]} to {trial.seeds[-1]}", file=sys.stderr)
            problems += found
            scores.setdefault(trial.kind, Score()).add(part)
    whole = Score()
    for kind, score in scores.items():
        if kind != LEFT_OUT or len(scores) == 1:
            whole.add(score)
    print(whole.table())
    print(kinds_table(scores, problems))
    print(f"{whole.worlds} worlds, seeds from {args.seed}, {time.monotonic() - began:.0f} s")
    shown = [p for p in problems if p.is_unsound or args.blunt]
    if args.kind:
        shown = [p for p in shown if p.kind == args.kind]
    print(stories(sorted(shown, key=lambda p: not p.is_unsound), args.stories))
    return int(any(p.is_unsound for p in problems))


def _trials(of: str | None, worlds: int, seed: int, per_lake: int) -> list[Trial]:
    """Deal worlds out to lakes, each of one kind; every kind begins with the same seed.

    To those of every kind come others, of which log events are left out.
    """
    counts = {**dealt(worlds), LEFT_OUT: worlds // ONE_IN} if of is None else {of: worlds}
    return [
        Trial(kind, range(first, min(first + per_lake, seed + count)))
        for kind, count in counts.items()
        for first in range(seed, seed + count, per_lake)
    ]


class Apart:
    """Processes that judge trials, each one after another: to begin one costs as much as twenty worlds.

    As many as threads ask at once. A process pool would need semaphores, which a machine without /dev/shm lacks.
    """

    def __init__(self, root: Path, is_passing: bool) -> None:
        self._command = [sys.executable, "-m", "tests.oracle.trial", str(root), *["--keep"] * (not is_passing)]
        self._idle: SimpleQueue[subprocess.Popen[bytes]] = SimpleQueue()
        self._begun = ExitStack()
        self._numbers = count()

    def judged(self, trial: Trial) -> tuple[list[Problem], Score]:
        """Have the worlds of a trial judged as trial.judged does; raises CalledProcessError where the process has ended."""
        process = self._taken()
        assert process.stdin and process.stdout
        try:
            pickle.dump(tuple(trial), process.stdin)
            process.stdin.flush()
            told: tuple[list[Problem], Score] = pickle.load(process.stdout)
        except (BrokenPipeError, EOFError) as problem:
            raise subprocess.CalledProcessError(process.wait(), self._command) from problem
        self._idle.put(process)
        return told

    def _taken(self) -> subprocess.Popen[bytes]:
        try:
            return self._idle.get_nowait()
        except Empty:
            one_core = {**os.environ, "POLARS_MAX_THREADS": "1"}
            pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
            process = self._begun.enter_context(subprocess.Popen(self._command, cwd=_ROOT, env=one_core, **pipes))
            on_one_core(next(self._numbers), process.pid)
            return process

    def __enter__(self) -> "Apart":
        return self

    def __exit__(self, *_: object) -> None:
        self._begun.close()  # closes what each reads from, and waits until it has ended


def _arguments() -> argparse.ArgumentParser:
    cores = os.cpu_count() or 1
    parser = argparse.ArgumentParser(prog="python -m tests.oracle", description=__doc__)
    parser.add_argument("--worlds", type=int, default=240, help="how many worlds to play (default: 240)")
    parser.add_argument("--seed", type=int, default=0, help="seed of the first world (default: 0)")
    parser.add_argument(
        "--of",
        choices=[*KINDS, LEFT_OUT],
        help="only worlds of this kind (default: half of them of any, the others share, and a tenth more with log events left out)",
    )
    parser.add_argument("--per-lake", type=int, default=50, help="worlds judged by one run (default: 50)")
    parser.add_argument("--processes", type=int, default=cores, help=f"runs at the same time (default: {cores})")
    parser.add_argument("--stories", type=int, default=3, help="how many problems to tell in full (default: 3)")
    parser.add_argument("--blunt", action="store_true", help="also tell problems that break no promise")
    parser.add_argument("--kind", help="only problems of this kind")
    parser.add_argument("--keep", help="folder to leave the lakes in")
    return parser


if __name__ == "__main__":
    sys.exit(main())
