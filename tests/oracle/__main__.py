"""Print the score table: python -m tests.oracle --worlds 200."""

import argparse
import sys
import tempfile
from pathlib import Path

from spark_jobs.runner import correlate
from spark_jobs.session import spark_session
from tests.oracle import World
from tests.oracle.bundle import fill_lake, read_findings, settings_of
from tests.oracle.judge import judge, stories


def main(argv: list[str] | None = None) -> int:
    """Play worlds, correlate them in one lake, print how good the findings are; 1 if any is unsound."""
    args = _arguments().parse_args(argv)
    worlds = [World(args.seed + number) for number in range(args.worlds)]
    with tempfile.TemporaryDirectory() as folder:
        lake = fill_lake(worlds, Path(args.keep or folder) / "lake")
        spark = spark_session("local[2]")
        correlate(lake, settings_of(worlds), spark=spark, progress=lambda words: print(words, file=sys.stderr))
        problems, score = judge(worlds, read_findings(lake))
        spark.stop()
    print(score.table())
    shown = [p for p in problems if p.is_unsound or args.blunt]
    if args.kind:
        shown = [p for p in shown if p.kind == args.kind]
    print(stories(shown, args.stories))
    return int(any(p.is_unsound for p in problems))


def _arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.oracle", description=__doc__)
    parser.add_argument("--worlds", type=int, default=200, help="how many worlds to play (default: 200)")
    parser.add_argument("--seed", type=int, default=0, help="seed of the first world (default: 0)")
    parser.add_argument("--stories", type=int, default=3, help="how many problems to tell in full (default: 3)")
    parser.add_argument("--blunt", action="store_true", help="also tell problems that break no promise")
    parser.add_argument("--kind", help="only problems of this kind")
    parser.add_argument("--keep", help="folder to leave the lake in")
    return parser


if __name__ == "__main__":
    sys.exit(main())
