"""What a round of new data costs beside a full run, over a short history and one ten times as long.

``python -m tests.bench.rounds``: the new data is the same in both, 1 % of the short history, and comes in the middle of an
incident. The long history has more such incidents, 27 minutes apart. Were a round's cost that of its new data alone, it would
be the same in both; the printed ratios say how far from that it is, by CPU time too, which others on the machine change less.
``--consumer worker`` asks the same of workers' logs, ``--consumer fifo`` of a function behind a FIFO queue.
The first round after a full run is the one that ``investigate`` makes; those behind it are the rounds of ``watch``, whose Java
has compiled by then what rounds do.
"""

import argparse
import sys
import tempfile
from pathlib import Path
from types import ModuleType

from forensics.lake import Lake
from forensics.settings import Settings
from forensics.tables import BY_NAME
from tests.bench import fifo, generate, workers
from tests.bench.measure import Measured, measured

LOG_EVENTS = BY_NAME["log_events"]
CONSUMERS = {"function": generate, "worker": workers, "fifo": fifo}


def main(argv: list[str] | None = None) -> int:
    """Measure both histories in one warm session and print the figures."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.rounds", description=__doc__)
    parser.add_argument("--lines", type=int, default=200_000, help="log events of the short history (default: 200000)")
    parser.add_argument("--threads", type=int, default=2, help="threads of Spark (default: 2)")
    parser.add_argument("--consumer", choices=CONSUMERS, default="function", help="who takes the messages")
    parser.add_argument("--rounds", type=int, default=3, help="rounds over each history (default: 3)")
    args = parser.parse_args(argv)
    from spark_jobs.session import spark_session

    spark = spark_session(f"local[{args.threads}]")
    new, consumer = args.lines // 100, CONSUMERS[args.consumer]
    took: dict[int, list[Measured]] = {}
    with tempfile.TemporaryDirectory(prefix="doubletake-rounds-") as folder:
        warm_up = consumer.fill(Path(folder) / "warm", 2_000, args.threads, burst_at=2_000)
        _full_and_rounds(consumer, warm_up, spark, 2_000, 200, args.threads, 1)
        for times in (1, 10):
            lines = args.lines * times
            lake = consumer.fill(Path(folder) / f"history-{times}", lines, args.threads, burst_at=lines)
            took[times] = _full_and_rounds(consumer, lake, spark, lines, new, args.threads, args.rounds)
    spark.stop()
    print(f"{'history':>12} {'':>5} {'full run':>10}  rounds of {new:,} new lines, one after another")
    for kind, seconds in (("wall", lambda m: m.wall_s), ("CPU", lambda m: m.cpu_s or float("nan"))):
        spent = {times: [seconds(one) for one in measures] for times, measures in took.items()}
        for times, (full_s, *rounds_s) in spent.items():
            each = "".join(f"{s:>8.1f} s ({s / full_s:.2f} of it)" for s in rounds_s)
            print(f"{args.lines * times:>12,} {kind:>5} {full_s:>8.1f} s{each}")
        grew = [long_s / short_s for short_s, long_s in zip(spent[1], spent[10], strict=True)]
        each = ", ".join(f"× {ratio:.2f}" for ratio in grew[1:])
        print(f"{'':>12} {kind:>5} ten times the history: full run × {grew[0]:.2f}, rounds {each}")
    return 0


def _full_and_rounds(
    consumer: ModuleType, lake: Lake, spark: object, lines: int, new: int, threads: int, rounds: int
) -> list[Measured]:
    """Return what a full run took that keeps what a round may take over, and then the rounds after it."""
    from spark_jobs.runner import correlate

    settings = Settings.parse(consumer.SETTINGS)
    took: list[Measured] = []
    for until in range(lines, lines + (rounds + 1) * new, new):
        if took:
            for chunk in consumer.log_events(until, threads, until - new, burst_at=lines):
                lake.append(LOG_EVENTS, chunk, f"log_events|{consumer.GROUP}")
        with measured() as one:
            correlate(lake, settings, spark=spark, in_rounds=True)  # type: ignore[arg-type]
        took.append(one)
    return took


if __name__ == "__main__":
    sys.exit(main())
