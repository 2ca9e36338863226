"""Correlate generated logs beside the same answers in DuckDB: make bench, or python -m tests.bench --lines 10000000."""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from forensics.lake import Lake
from forensics.tables import BY_NAME
from tests.bench.generate import fill
from tests.bench.sides import answers_from


def main(argv: list[str] | None = None) -> int:
    """Generate, run both engines, compare their answers, print the figures; 1 only if the answers differ."""
    args = _arguments().parse_args(argv)
    with tempfile.TemporaryDirectory(prefix="doubletake-bench-") as folder:
        root = Path(args.keep or folder).absolute()
        lake = _lake(root, args)
        lines = lake.dataset(BY_NAME["log_events"]).count_rows()
        print(f"\n{lines:,} log events, {args.threads} threads")
        found = {side: _run(side, lake, args) for side in args.sides}
        _print_rounds(found, lines)
    if "spark" in found and "duckdb" in found:
        return _compare(found)
    return 0


def _lake(root: Path, args: argparse.Namespace) -> Lake:
    lake = Lake(root / f"lake-{args.lines}")
    if lake.exists(BY_NAME["coverage"]):
        print(f"taking the lake at {lake.root}")
        return lake
    begin = time.perf_counter()

    def progress(stored: int) -> None:
        if sys.stdout.isatty():
            print(f"\rgenerated {stored:,} of {args.lines:,} lines", end="", flush=True)

    lake = fill(lake.root, args.lines, args.threads, progress)
    print(f"\rgenerated into {lake.root} in {time.perf_counter() - begin:.1f} s")
    return lake


def _run(side: str, lake: Lake, args: argparse.Namespace) -> dict[str, Any]:
    environment = dict(os.environ)
    if args.memory:
        environment["DOUBLETAKE_SPARK_MEMORY"] = args.memory
    out = lake.root.parent / f"{side}.json"
    command = [
        sys.executable,
        "-m",
        "tests.bench.sides",
        side,
        str(lake.root),
        str(out),
        "--threads",
        str(args.threads),
    ]
    subprocess.run(command, check=True, env=environment, stderr=None if args.loud else subprocess.DEVNULL)
    return json.loads(out.read_text())


def _print_rounds(found: dict[str, dict[str, Any]], lines: int) -> None:
    print(f"{'engine':<8} {'round':<5} {'seconds':>8} {'lines/s':>11} {'CPU s':>8} {'peak MB':>8}")
    for side, result in found.items():
        for name, took in result["rounds"].items():
            cpu, peak = (f"{took[key]:,.0f}" if took[key] is not None else "-" for key in ("cpu_s", "peak_mb"))
            print(f"{side:<8} {name:<5} {took['wall_s']:>8.1f} {lines / took['wall_s']:>11,.0f} {cpu:>8} {peak:>8}")
    if "spark" in found and "duckdb" in found:
        by_hand = found["duckdb"]["rounds"]["warm"]
        for name, took in found["spark"]["rounds"].items():
            ratio = f"Spark {name} / DuckDB warm: {took['wall_s'] / by_hand['wall_s']:.2f} × time"
            if took["cpu_s"] and by_hand["cpu_s"]:
                ratio += f", {took['cpu_s'] / by_hand['cpu_s']:.2f} × CPU"
            print(ratio)


def _compare(found: dict[str, dict[str, Any]]) -> int:
    spark, by_hand = answers_from(found["spark"]), answers_from(found["duckdb"])
    differences = spark.differences(by_hand)
    if not differences:
        print(f"both agree: {spark.delivery_count:,} deliveries, {len(spark.intervals):,} messages that came again")
        return 0
    print(f"{len(differences):,} differences (Spark and DuckDB); the first:")
    for difference in differences[:10]:
        print(f"  {difference}")
    return 1


def _arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    parser.add_argument("--lines", type=int, default=2_000_000, help="log events to generate (default: 2000000)")
    parser.add_argument("--threads", type=int, default=2, help="threads of each engine (default: 2)")
    parser.add_argument("--memory", help="Spark's driver memory, such as 3g (default: what the product sets)")
    parser.add_argument("--keep", help="folder to keep the lake in, and to take it from the next time")
    parser.add_argument("--loud", action="store_true", help="show what the engines write to stderr")
    parser.add_argument(
        "--sides", nargs="+", choices=("duckdb", "spark", "parse"), default=["duckdb", "spark"], help="what to run"
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())
