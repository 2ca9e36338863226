"""The two engines, each in a process of its own so that their memory can be told apart: prints one JSON object."""

import argparse
import json
import shutil
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pyarrow.compute as pc

from forensics.lake import Lake
from forensics.settings import Settings
from forensics.tables import BY_NAME
from tests.bench.baseline import Answers, answer
from tests.bench.generate import SETTINGS
from tests.bench.measure import measured


def run_duckdb(lake: Lake, threads: int) -> dict[str, Any]:
    """Answer by hand-written SQL, twice: the second time with the file cache warm."""
    files, took = lake.files(BY_NAME["log_events"]), {}
    for name in ("cold", "warm"):
        out = lake.root / "duckdb"
        shutil.rmtree(out, ignore_errors=True)
        with measured() as one:
            answers = answer(files, out, threads)
        took[name] = asdict(one)
    return {"took": took, "answers": asdict(answers)}


def run_spark(lake: Lake, threads: int) -> dict[str, Any]:
    """Correlate twice: cold with Spark's start, then warm in the same Java, everything anew."""
    settings, took = Settings.parse(SETTINGS), {}
    with measured() as one:
        from spark_jobs.context import spark_context
        from spark_jobs.runner import correlate

        spark = spark_context(f"local[{threads}]")
        correlate(lake, settings, spark=spark, force=True)
    took["cold"] = asdict(one)
    with measured() as one:
        correlate(lake, settings, spark=spark, force=True)
    took["warm"] = asdict(one)
    spark.stop()
    return {"took": took, "answers": asdict(answers_of(lake))}


def answers_of(lake: Lake) -> Answers:
    """Return what the findings of a lake answer."""
    found = lake.findings()
    deliveries = found.read(BY_NAME["deliveries"], columns=["is_seen", "message_id"])
    messages = found.read(BY_NAME["messages"], columns=["message_id", "effects_at_least", "effects_at_most"])
    intervals = {m["message_id"]: (m["effects_at_least"], m["effects_at_most"]) for m in messages.to_pylist()}
    message_count = pc.count_distinct(deliveries["message_id"]).as_py()
    return Answers(pc.sum(deliveries["is_seen"]).as_py(), message_count, intervals)


SIDES = {"duckdb": run_duckdb, "spark": run_spark}


def main(argv: list[str] | None = None) -> int:
    """Run one side over a lake."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.sides", description=__doc__)
    parser.add_argument("side", choices=SIDES)
    parser.add_argument("lake", type=Path)
    parser.add_argument("out", type=Path, help="file for the answer")
    parser.add_argument("--threads", type=int, default=2)
    args = parser.parse_args(argv)
    args.out.write_text(json.dumps(SIDES[args.side](Lake(args.lake), args.threads)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
