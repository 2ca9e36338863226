"""What a correlation of new lines costs beside a full one, over a short history and one ten times as long; prints one JSON object.

``python -m tests.bench.incremental function out.json``: the new lines come in the middle of an incident. The long history has more
such incidents, 27 minutes apart. Were the cost that of the new lines alone, it would be the same over both histories.
``worker`` asks the same of workers' logs, ``fifo`` of a function behind a FIFO queue.
"""

import argparse
import json
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path
from types import ModuleType
from typing import Any

from forensics.lake import Lake
from forensics.settings import Settings
from forensics.tables import BY_NAME
from tests.bench import fifo, generate, workers
from tests.bench.measure import Measured, measured

LOG_EVENTS = BY_NAME["log_events"]
CONSUMERS: dict[str, ModuleType] = {"function": generate, "worker": workers, "fifo": fifo}
TIMES = 7
"""The same number of new lines comes so often, one after another; the median counts."""


class History:
    """A lake of so many lines, correlated as they come, in one Java."""

    def __init__(self, consumer: ModuleType, root: Path, lines: int, threads: int, spark: Any) -> None:
        self.consumer, self.lines, self.threads, self.spark = consumer, lines, threads, spark
        self.until = lines
        self.settings = Settings.parse(consumer.SETTINGS)
        self.lake: Lake = consumer.fill(root, lines, threads, burst_at=lines)

    def correlate(self) -> Measured:
        """Correlate what is there, and measure it."""
        from spark_jobs.runner import correlate

        with measured() as took:
            correlate(self.lake, self.settings, spark=self.spark)
        return took

    def correlate_new(self, count: int) -> Measured:
        """Let so many lines come, then correlate."""
        until = self.until + count
        for chunk in self.consumer.log_events(until, self.threads, self.until, burst_at=self.lines):
            self.lake.append(LOG_EVENTS, chunk, f"log_events|{self.consumer.GROUP}")
        self.until = until
        return self.correlate()


def run(consumer: ModuleType, root: Path, lines: int, threads: int) -> dict[str, Any]:
    """Measure a history of so many lines and one of a tenth; what each correlation took, by history and what was new."""
    from spark_jobs.context import spark_context

    spark = spark_context(f"local[{threads}]")
    warm_up = History(consumer, root / "warm-up", 2_000, threads, spark)
    warm_up.correlate()
    warm_up.correlate_new(200)
    short, few, many = lines // 10, lines // 1000, lines // 100
    took: dict[str, Any] = {"short_lines": short, "long_lines": lines, "few_lines": few, "many_lines": many}
    for name, count in (("short", short), ("long", lines)):
        history = History(consumer, root / name, count, threads, spark)
        took[f"{name}_full"] = asdict(history.correlate())
        took[f"{name}_few"] = [asdict(history.correlate_new(few)) for _ in range(TIMES)]
        if name == "long":
            took["long_many"] = [asdict(history.correlate_new(many)) for _ in range(TIMES)]
    spark.stop()
    return took


def main(argv: list[str] | None = None) -> int:
    """Measure one kind of consumer."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.incremental", description=__doc__)
    parser.add_argument("consumer", choices=CONSUMERS, help="who takes the messages")
    parser.add_argument("out", type=Path, help="file for what it took")
    parser.add_argument("--lines", type=int, default=2_000_000, help="lines of the long history (default: 2000000)")
    parser.add_argument("--threads", type=int, default=2, help="threads of Spark (default: 2)")
    args = parser.parse_args(argv)
    with tempfile.TemporaryDirectory(prefix="doubletake-incremental-") as folder:
        args.out.write_text(json.dumps(run(CONSUMERS[args.consumer], Path(folder), args.lines, args.threads)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
