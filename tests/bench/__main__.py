"""Measure what the engine has to reach, beside hand-written SQL, as one table: make bench, or python -m tests.bench --lines 10000000."""

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict
from operator import itemgetter
from pathlib import Path
from statistics import median
from typing import Any, Self

from forensics.lake import Lake
from forensics.tables import BY_NAME
from tests.bench import commands
from tests.bench.baseline import Answers
from tests.bench.generate import EVERY, fill
from tests.bench.goals import GOALS, LARGE, Row, Took, beside, spent, table
from tests.bench.size import size_of

ROOT = Path(__file__).resolve().parent.parent.parent
EVERY_TENTH = 11
"""Of eleven runs one fails, so of ten messages one comes again."""
WARM_ROUNDS = 3
"""So often each engine answers once it is warm, in turn with the other."""
MOST_LINES_OF_OTHER_LAKES = 2_000_000
"""Beside the largest lake all others have so many lines."""


class Side:
    """One engine in a process of its own, which answers when it is asked."""

    def __init__(self, name: str, lake: Lake, args: argparse.Namespace) -> None:
        self.name = name
        command = [sys.executable, "-m", "tests.bench.sides", name, str(lake.root), "--threads", str(args.threads)]
        pipe, stderr = subprocess.PIPE, None if args.loud else subprocess.DEVNULL
        self.process = subprocess.Popen(command, cwd=ROOT, stdin=pipe, stdout=pipe, stderr=stderr, text=True)
        self.rounds: list[Took] = []

    def __enter__(self) -> Self:
        """Give itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """End the process, whether it has answered or not."""
        if self.process.poll() is None:
            self.process.kill()
        self.process.__exit__(None, None, None)  # closes the pipes, and waits

    def round(self) -> Took:
        """Let it answer everything anew; returns what that took."""
        assert self.process.stdin is not None
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        self.rounds.append(self._told())
        return self.rounds[-1]

    def answers(self) -> Answers:
        """Return what its last round answered; there is none after it."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        told = self._told()
        self.process.wait()
        return Answers(**told | {"intervals": {item: tuple(of) for item, of in told["intervals"].items()}})

    @property
    def took(self) -> dict[str, Took]:
        """What the first round took, the fastest of the others, and of all of them the most memory."""
        cold, *warm = self.rounds
        peaks = [took["peak_mb"] for took in self.rounds]
        most = None if None in peaks else max(peaks)
        return {"cold": cold | {"peak_mb": most}, "warm": min(warm, key=itemgetter("wall_s")) | {"peak_mb": most}}

    def _told(self) -> Any:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit(f"{self.name} ended with {self.process.wait()} and no answer; --loud shows what it said")
        return json.loads(line)


class Bench:
    """One measurement of everything, in a folder of its own."""

    def __init__(self, root: Path, args: argparse.Namespace) -> None:
        self.root, self.args = root, args
        self.differences: list[str] = []

    def beside_duckdb(self) -> Iterator[Row]:
        """Correlate lakes, cold and warm, beside the same answers by hand."""
        for lines in sorted({min(self.args.lines, MOST_LINES_OF_OTHER_LAKES), self.args.lines}):
            yield from self._beside_duckdb(lines)

    def _beside_duckdb(self, lines: int) -> Iterator[Row]:
        is_large = lines >= LARGE
        mine, by_hand = self._both("steady", lines, EVERY)
        goal = GOALS["warm, large" if is_large else "warm"]
        yield beside(f"{lines:,} lines, warm", mine["warm"], by_hand["warm"], goal)
        goal_cold = GOALS["cold, large"] if is_large else None
        yield beside(f"{lines:,} lines, cold, with Spark's start", mine["cold"], by_hand["cold"], goal_cold)
        peaks = [took["peak_mb"] for took in mine.values()]
        if None not in peaks:
            peak = (("", max(peaks) / 1000),)
            theirs = max(took["peak_mb"] for took in by_hand.values()) / 1000
            words = f"all processes; DuckDB {theirs:.1f} GB"
            yield Row(f"{lines:,} lines, peak memory", words, peak, GOALS["memory, large"])

    def every_tenth(self) -> Iterator[Row]:
        """Correlate a lake in which every tenth message came again, warm."""
        lines = min(self.args.lines, MOST_LINES_OF_OTHER_LAKES)
        mine, by_hand = self._both("again", lines, EVERY_TENTH)
        work = f"{lines:,} lines, every tenth message redelivered, warm"
        yield beside(work, mine["warm"], by_hand["warm"], GOALS["every tenth again"])

    def incremental(self) -> Iterator[Row]:
        """Correlate 1 % of new lines, over one times and ten times the history."""
        for consumer, whose in (("function", "functions"), ("worker", "workers"), ("fifo", "FIFO groups")):
            lines = self.args.lines if consumer == "function" else min(self.args.lines, MOST_LINES_OF_OTHER_LAKES)
            took = self._apart("incremental", consumer, "--lines", str(lines))
            full, many = took["long_full"], _median(took["long_many"])
            work = f"{took['many_lines']:,} new lines over {lines:,}, {whose}"
            shares = tuple((of, 100 * many[key] / full[key]) for of, key in _TIMES if full[key])
            yield Row(work, f"{spent(many)}; a full run {spent(full)}", shares, GOALS["1 % new"])
            short, long = _median(took["short_few"]), _median(took["long_few"])
            work = f"{took['few_lines']:,} new lines over {lines:,} instead of {took['short_lines']:,}, {whose}"
            grew = tuple((of, long[key] / short[key]) for of, key in _TIMES if short[key])
            yield Row(work, f"{spent(long)}; {spent(short)}", grew, GOALS["ten times the history"])

    def demo(self) -> Iterator[Row]:
        """Play the demo."""
        took = asdict(commands.demo())
        yield Row("`doubletake demo --no-serve`", spent(took), (("", took["wall_s"]),), GOALS["demo"])

    def watch(self) -> Iterator[Row]:
        """Watch a queue."""
        new, history = f"{commands.NEW_LINES:,}", f"{commands.HISTORY_LINES:,}"
        work = f"a run of `doubletake watch` with {new} new lines over {history}, warm"
        yield Row(work, "collecting over HTTP included", (("", commands.watch()),), GOALS["watch"])

    def size(self) -> Iterator[Row]:
        """Count the engine's lines, files and floors."""
        for name, count in asdict(size_of(ROOT / "spark_jobs")).items():
            words = {"floors": "longest chain of imports"}.get(name, "")
            yield Row(f"`spark_jobs`, {name}", words, (("", count),), GOALS[name])

    def _both(self, name: str, lines: int, every: int) -> tuple[dict[str, Took], dict[str, Took]]:
        """Measure both engines in turn, so that what else the machine does is shared; warm is each one's fastest round."""
        lake = self._lake(name, lines, every)
        with Side("spark", lake, self.args) as mine, Side("duckdb", lake, self.args) as by_hand:
            for number in range(1 + WARM_ROUNDS):
                for side in (mine, by_hand):
                    self._say(f"round {number + 1} of {1 + WARM_ROUNDS}, {side.name}: {spent(side.round())}")
            answers, expected = mine.answers(), by_hand.answers()
        self.differences += [f"{name}: {difference}" for difference in answers.differences(expected)]
        self._say(
            f"{answers.delivery_count:,} deliveries of {answers.message_count:,} messages, "
            f"{answers.came_again:.1%} of which came again"
        )
        return mine.took, by_hand.took

    def _lake(self, name: str, lines: int, every: int) -> Lake:
        lake = Lake(self.root / f"{name}-{lines}")
        if not lake.exists(BY_NAME["coverage"]):  # stored last
            self._say(f"generating {lines:,} lines")
            fill(lake.root, lines, self.args.threads, every=every)
        return lake

    def _apart(self, module: str, first: str, *more: str) -> dict[str, Any]:
        """Measure in a process of its own, and return what it found."""
        out = self.root / "found.json"
        command = [sys.executable, "-m", f"tests.bench.{module}", first, str(out), *more]
        command += ["--threads", str(self.args.threads)]
        self._say(" ".join(["measuring", module, first]))
        subprocess.run(command, cwd=ROOT, check=True, stderr=None if self.args.loud else subprocess.DEVNULL)
        return json.loads(out.read_text())

    def _say(self, words: str) -> None:
        print(f"{time.strftime('%H:%M:%S')}  {words}", file=sys.stderr, flush=True)


PARTS: dict[str, Callable[[Bench], Iterator[Row]]] = {
    "beside": Bench.beside_duckdb,
    "again": Bench.every_tenth,
    "incremental": Bench.incremental,
    "demo": Bench.demo,
    "watch": Bench.watch,
    "size": Bench.size,
}
_TIMES = (("wall", "wall_s"), ("CPU", "cpu_s"))


def main(argv: list[str] | None = None) -> int:
    """Measure, print one table; 1 where the two engines' answers differ."""
    args = _arguments().parse_args(argv)
    rows: list[Row] = []
    with tempfile.TemporaryDirectory(prefix="doubletake-bench-") as folder:
        root = Path(args.keep or folder).absolute()
        root.mkdir(parents=True, exist_ok=True)
        bench = Bench(root, args)
        for part in args.parts:
            rows += PARTS[part](bench)
    print(f"{_commit()}, {_machine()}, {args.threads} threads, load {os.getloadavg()[0]:.1f} at the end.\n")
    print(table(rows))
    if not bench.differences:
        return 0
    print(f"\n{len(bench.differences):,} answers differ (Doubletake's and DuckDB's); the first:")
    for difference in bench.differences[:10]:
        print(f"  {difference}")
    return 1


def _median(every: list[Took]) -> Took:
    return {key: None if None in (found := [took[key] for took in every]) else median(found) for key in every[0]}


def _commit() -> str:
    asked = subprocess.run(["git", "describe", "--always", "--dirty"], cwd=ROOT, capture_output=True, text=True)
    return f"Commit {asked.stdout.strip()}" if asked.returncode == 0 else "No commit"


def _machine() -> str:
    memory_gib = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return f"{os.cpu_count()} cores, {memory_gib:.0f} GiB, Python {platform.python_version()}"


def _arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    parser.add_argument(
        "--lines", type=int, default=2_000_000, help="log events of the largest lake (default: 2000000)"
    )
    parser.add_argument("--threads", type=int, default=2, help="threads of each engine (default: 2)")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS), help="what to measure (default: all)")
    parser.add_argument("--keep", help="folder to keep the lakes in, and to take them from the next time")
    parser.add_argument("--loud", action="store_true", help="show what the engines write to stderr")
    return parser


if __name__ == "__main__":
    sys.exit(main())
