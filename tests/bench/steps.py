"""Where the processor time of a correlation goes, step by step: ``python -m tests.bench.steps --lines 500000 --every 11``.

One process without Spark, polars on one thread, everything made anew; of the rounds the fastest. Prints a table.
"""

import argparse
import os
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any
from unittest import mock

os.environ["POLARS_MAX_THREADS"] = "1"  # before polars is imported: as in one of Spark's tasks

import polars as pl  # noqa: E402

from forensics.settings import Settings  # noqa: E402
from spark_jobs import carried  # noqa: E402
from spark_jobs.carrier import Here  # noqa: E402
from spark_jobs.runner import correlate  # noqa: E402
from tests.bench.generate import EVERY, SETTINGS, fill  # noqa: E402

ROUNDS = 3
worked_s = time.process_time


@contextmanager
def counted(into: Counter[str], name: str) -> Iterator[None]:
    """Count a block's seconds of processor."""
    begin = worked_s()
    try:
        yield
    finally:
        into[name] += worked_s() - begin


def one_round(run: Callable[[], Any]) -> Counter[str]:
    """Return the seconds of processor of each step (its kernel by name), of ``all``, and of ``write_parquet`` in any of them."""
    found: Counter[str] = Counter()
    call, write = carried._called, pl.DataFrame.write_parquet

    def called(shared: Any, work: Any) -> Any:
        with counted(found, work[0].__name__):
            return call(shared, work)

    def written(frame: pl.DataFrame, *args: Any, **how: Any) -> None:
        with counted(found, "write_parquet"):
            write(frame, *args, **how)

    with (
        mock.patch.object(carried, "_called", called),
        mock.patch.object(pl.DataFrame, "write_parquet", written),
        counted(found, "all"),
    ):
        run()
    return found


def main(argv: list[str] | None = None) -> int:
    """Generate, correlate, and print where the time went."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.steps", description=__doc__)
    parser.add_argument("--lines", type=int, default=500_000)
    parser.add_argument(
        "--every", type=int, default=EVERY, help="of so many runs one fails: with 11 every tenth message comes again"
    )
    args = parser.parse_args(argv)
    with tempfile.TemporaryDirectory() as folder:
        lake = fill(Path(folder), args.lines, 2, every=args.every)
        run = partial(correlate, lake, Settings.parse(SETTINGS), carrier=Here(), force=True)
        found = min((one_round(run) for _ in range(ROUNDS)), key=lambda one: one["all"])
    print("| Step | Seconds of processor | Of all |\n| --- | --- | --- |")
    for name, seconds in found.most_common():
        print(f"| {name} | {seconds:.2f} | {seconds / found['all']:.0%} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
