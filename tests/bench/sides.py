"""The two engines, each in a process of its own so that their memory can be told apart: prints one JSON object."""

import argparse
import json
import shutil
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

from forensics.lake import Lake
from forensics.settings import Settings
from forensics.tables import BY_NAME
from tests.bench.baseline import Answers, answer
from tests.bench.generate import SETTINGS
from tests.bench.measure import measured


def run_duckdb(lake: Lake, threads: int) -> dict[str, Any]:
    """Answer by hand-written SQL, twice: the second time with the file cache warm."""
    files, rounds = lake.files(BY_NAME["log_events"]), {}
    for name in ("cold", "warm"):
        out = lake.root / "duckdb"
        shutil.rmtree(out, ignore_errors=True)
        with measured() as took:
            answers = answer(files, out, threads)
        rounds[name] = asdict(took)
    return {"rounds": rounds, **_plain(answers)}


def run_spark(lake: Lake, threads: int) -> dict[str, Any]:
    """Correlate twice: cold with Spark's start, then warm in the same session, forced."""
    settings, rounds = Settings.parse(SETTINGS), {}
    with measured() as took:
        from spark_jobs.runner import correlate
        from spark_jobs.session import spark_session

        spark = spark_session(f"local[{threads}]")
        correlate(lake, settings, spark=spark)
    rounds["cold"] = asdict(took)
    with measured() as took:
        correlate(lake, settings, spark=spark, force=True)
    rounds["warm"] = asdict(took)
    spark.stop()
    return {"rounds": rounds, **_plain(_answers_of(lake))}


def run_parse(lake: Lake, threads: int) -> dict[str, Any]:
    """Only read and parse the lines, twice: what the line grammar costs."""
    rounds = {}
    settings = Settings.parse(SETTINGS)
    with measured() as took:
        from pyspark.sql import functions as F

        from spark_jobs.inputs import read_inputs
        from spark_jobs.parsed_lines import parsed_lines
        from spark_jobs.session import spark_session

        spark = spark_session(f"local[{threads}]")
        inputs = read_inputs(spark, lake, settings, lake.versions(), None)
        parsed = parsed_lines(inputs.log_events, inputs.consumers_by_group)
        whole = parsed.select(F.sum(F.xxhash64(*parsed.columns)))
        whole.collect()
    rounds["cold"] = asdict(took)
    with measured() as took:
        whole.collect()
    rounds["warm"] = asdict(took)
    spark.stop()
    return {"rounds": rounds}


def _answers_of(lake: Lake) -> Answers:
    found = lake.findings()
    deliveries = found.read(BY_NAME["deliveries"], columns=["is_seen"])
    messages = found.read(
        BY_NAME["messages"], columns=["message_id", "effects_at_least", "effects_at_most"]
    ).to_pylist()
    seen = sum(deliveries["is_seen"].to_pylist())
    return Answers(seen, {m["message_id"]: (m["effects_at_least"], m["effects_at_most"]) for m in messages})


def _plain(answers: Answers) -> dict[str, Any]:
    return {"delivery_count": answers.delivery_count, "intervals": answers.intervals}


def answers_from(printed: dict[str, Any]) -> Answers:
    """Read back what a side printed."""
    return Answers(printed["delivery_count"], {m: (low, high) for m, (low, high) in printed["intervals"].items()})


SIDES = {"duckdb": run_duckdb, "spark": run_spark, "parse": run_parse}


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
