"""The two engines, each in a process of its own so that their memory can be told apart.

Each line of the input asks for one round, and what it took is printed as JSON on a line; after the last one the answers are.
"""

import argparse
import json
import os
import shutil
import sys
from collections.abc import Callable, Generator
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path

import pyarrow.compute as pc

from forensics.lake import Lake
from forensics.settings import Settings
from forensics.tables import BY_NAME
from tests.bench.baseline import Answers, answer
from tests.bench.generate import SETTINGS
from tests.bench.measure import measured

Rounds = Generator[Callable[[], Answers], None, None]
"""Each step answers everything anew, and gives what tells the answers."""


def duckdb_rounds(lake: Lake, threads: int) -> Rounds:
    """Answer by hand-written SQL."""
    out = lake.root / "duckdb"
    while True:
        shutil.rmtree(out, ignore_errors=True)
        answers = answer(lake.files(BY_NAME["log_events"]), out, threads)
        yield partial(replace, answers)


def spark_rounds(lake: Lake, threads: int) -> Rounds:
    """Correlate, everything anew: the first time with Spark's start, then in the same Java."""
    from spark_jobs.context import spark_context
    from spark_jobs.runner import correlate

    settings = Settings.parse(SETTINGS)
    spark = spark_context(f"local[{threads}]")
    try:
        while True:
            correlate(lake, settings, spark=spark, force=True)
            yield partial(answers_of, lake)
    finally:
        spark.stop()


def answers_of(lake: Lake) -> Answers:
    """Return what the findings of a lake answer."""
    found = lake.findings()
    deliveries = found.read(BY_NAME["deliveries"], columns=["is_seen", "message_id"])
    messages = found.read(BY_NAME["messages"], columns=["message_id", "effects_at_least", "effects_at_most"])
    intervals = {m["message_id"]: (m["effects_at_least"], m["effects_at_most"]) for m in messages.to_pylist()}
    message_count = pc.count_distinct(deliveries["message_id"]).as_py()
    return Answers(pc.sum(deliveries["is_seen"]).as_py(), message_count, intervals)


SIDES = {"duckdb": duckdb_rounds, "spark": spark_rounds}


def main(argv: list[str] | None = None) -> int:
    """Run one side over a lake."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.sides", description=__doc__)
    parser.add_argument("side", choices=SIDES)
    parser.add_argument("lake", type=Path)
    parser.add_argument("--threads", type=int, default=2)
    args = parser.parse_args(argv)
    told = os.fdopen(os.dup(sys.stdout.fileno()), "w", buffering=1)
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # whatever else is printed, by Java too, is no answer
    rounds = SIDES[args.side](Lake(args.lake), args.threads)
    answers = None
    for _ in sys.stdin:
        with measured() as took:
            answers = next(rounds)
        print(json.dumps(asdict(took)), file=told)
    rounds.close()
    print(json.dumps(asdict(answers()) if answers else None), file=told)
    return 0


if __name__ == "__main__":
    sys.exit(main())
