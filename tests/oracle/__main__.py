"""Print the score table: python -m tests.oracle --worlds 200."""

import argparse
import multiprocessing
import os
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

from tests.oracle.judge import Problem, Score, stories
from tests.oracle.trial import judged


def main(argv: list[str] | None = None) -> int:
    """Play worlds, correlate them, print how good the findings are; 1 if any is unsound."""
    args = _arguments().parse_args(argv)
    last = args.seed + args.worlds
    lakes = [range(first, min(first + args.per_lake, last)) for first in range(args.seed, last, args.per_lake)]
    problems: list[Problem] = []
    score = Score()
    began = time.monotonic()
    os.environ["POLARS_MAX_THREADS"] = "1"  # read by the processes: each has one core
    with (
        tempfile.TemporaryDirectory() as folder,
        ProcessPoolExecutor(min(args.processes, len(lakes)), multiprocessing.get_context("spawn")) as pool,
    ):
        root = Path(args.keep or folder)
        for seeds, (found, part) in zip(lakes, pool.map(partial(judged, root, not args.keep), lakes), strict=True):
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
