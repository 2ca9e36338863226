"""Print the score table: python -m tests.oracle --worlds 200."""

import argparse
import sys
import tempfile
import time
from pathlib import Path

from spark_jobs.runner import correlate
from spark_jobs.session import spark_session
from tests.oracle import World
from tests.oracle.bundle import fill_lake, read_findings, settings_of
from tests.oracle.judge import Problem, Score, judge, stories


def main(argv: list[str] | None = None) -> int:
    """Play worlds, correlate them, print how good the findings are; 1 if any is unsound."""
    args = _arguments().parse_args(argv)
    problems: list[Problem] = []
    score = Score()
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        spark = spark_session("local[2]", few_lines=True)
        for first in range(args.seed, args.seed + args.worlds, args.per_lake):
            last = min(first + args.per_lake, args.seed + args.worlds)
            print(f"worlds {first} to {last - 1}", file=sys.stderr)
            worlds = [World(seed) for seed in range(first, last)]
            lake = fill_lake(worlds, Path(args.keep or folder) / f"lake-{first}")
            correlate(lake, settings_of(worlds), spark=spark)
            found, part = judge(worlds, read_findings(lake))
            problems += found
            score.add(part)
        spark.stop()
    print(score.table())
    print(
        f"{score.worlds} worlds, seeds {args.seed} to {args.seed + args.worlds - 1}, {time.monotonic() - began:.0f} s"
    )
    shown = [p for p in problems if p.is_unsound or args.blunt]
    if args.kind:
        shown = [p for p in shown if p.kind == args.kind]
    print(stories(sorted(shown, key=lambda p: not p.is_unsound), args.stories))
    return int(any(p.is_unsound for p in problems))


def _arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.oracle", description=__doc__)
    parser.add_argument("--worlds", type=int, default=240, help="how many worlds to play (default: 240)")
    parser.add_argument("--seed", type=int, default=0, help="seed of the first world (default: 0)")
    parser.add_argument("--per-lake", type=int, default=120, help="worlds judged by one run (default: 120)")
    parser.add_argument("--stories", type=int, default=3, help="how many problems to tell in full (default: 3)")
    parser.add_argument("--blunt", action="store_true", help="also tell problems that break no promise")
    parser.add_argument("--kind", help="only problems of this kind")
    parser.add_argument("--keep", help="folder to leave the lakes in")
    return parser


if __name__ == "__main__":
    sys.exit(main())
