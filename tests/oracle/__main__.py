"""Print the score table: python -m tests.oracle --worlds 200."""

import argparse
import os
import pickle
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from tests.oracle.judge import Problem, Score, stories

_ROOT = Path(__file__).parents[2]


def main(argv: list[str] | None = None) -> int:
    """Play worlds, correlate them, print how good the findings are; 1 if any is unsound."""
    args = _arguments().parse_args(argv)
    last = args.seed + args.worlds
    lakes = [range(first, min(first + args.per_lake, last)) for first in range(args.seed, last, args.per_lake)]
    problems: list[Problem] = []
    score = Score()
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(args.processes) as waiting:
        judged = waiting.map(partial(judged_apart, Path(args.keep or folder), not args.keep), lakes)
        for seeds, (found, part) in zip(lakes, judged, strict=True):
            print(f"worlds {seeds[0]} to {seeds[-1]}", file=sys.stderr)
            problems += found
            score.add(part)
    print(score.table())
    print(f"{score.worlds} worlds, seeds {args.seed} to {last - 1}, {time.monotonic() - began:.0f} s")
    shown = [p for p in problems if p.is_unsound or args.blunt]
    if args.kind:
        shown = [p for p in shown if p.kind == args.kind]
    print(stories(sorted(shown, key=lambda p: not p.is_unsound), args.stories))
    return int(any(p.is_unsound for p in problems))


def judged_apart(root: Path, is_passing: bool, seeds: range) -> tuple[list[Problem], Score]:
    """Have the worlds of some seeds judged by a process of their own, as trial.judged does.

    A process pool would need semaphores, which a machine without /dev/shm lacks.
    """
    command = [sys.executable, "-m", "tests.oracle.trial", str(root), str(seeds.start), str(seeds.stop)]
    one_core = {**os.environ, "POLARS_MAX_THREADS": "1"}
    ended = subprocess.run(
        [*command, *["--keep"] * (not is_passing)], cwd=_ROOT, env=one_core, stdout=subprocess.PIPE, check=True
    )
    told: tuple[list[Problem], Score] = pickle.loads(ended.stdout)  # noqa: S301 - what our own process wrote
    return told


def _arguments() -> argparse.ArgumentParser:
    cores = os.cpu_count() or 1
    parser = argparse.ArgumentParser(prog="python -m tests.oracle", description=__doc__)
    parser.add_argument("--worlds", type=int, default=240, help="how many worlds to play (default: 240)")
    parser.add_argument("--seed", type=int, default=0, help="seed of the first world (default: 0)")
    parser.add_argument("--per-lake", type=int, default=50, help="worlds judged by one run (default: 50)")
    parser.add_argument("--processes", type=int, default=cores, help=f"runs at the same time (default: {cores})")
    parser.add_argument("--stories", type=int, default=3, help="how many problems to tell in full (default: 3)")
    parser.add_argument("--blunt", action="store_true", help="also tell problems that break no promise")
    parser.add_argument("--kind", help="only problems of this kind")
    parser.add_argument("--keep", help="folder to leave the lakes in")
    return parser


if __name__ == "__main__":
    sys.exit(main())
