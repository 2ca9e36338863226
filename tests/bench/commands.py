"""How long people wait for two commands: the demo, and a run of watch with new lines; each as they would call it."""

import os
import re
import subprocess
import sys
import tempfile
import threading
from collections import defaultdict
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import median

import pyarrow as pa

from tests.bench.generate import QUEUE, SETTINGS, arn_of, log_events
from tests.bench.measure import Measured, measured
from tests.ingest.world import CREDENTIALS, REGION, World, ministack

HISTORY_LINES, NEW_LINES, TIMES = 50_000, 2_000, 3
_LIMIT_S = 900
_RUN = re.compile(r"  ([\d,]+) new log events?(?:,.*)?; ([\d.]+) s\.")


def demo() -> Measured:
    """Play, collect, correlate and print the verdict; the second of two times, when the disk's pages are in memory."""
    with tempfile.TemporaryDirectory(prefix="doubletake-demo-") as folder:
        for _ in range(2):
            with measured() as took:
                command = [*_doubletake(), "demo", "--no-serve", "--lake", str(Path(folder) / "lake")]
                subprocess.run(command, cwd=folder, check=True, capture_output=True)
    return took


def _doubletake() -> list[str]:
    """The command as it is installed beside this interpreter, else its module."""
    installed = Path(sys.executable).parent / "doubletake"
    return [str(installed)] if installed.exists() else [sys.executable, "-m", "doubletake"]


def watch() -> float:
    """Return the seconds of a run that has NEW_LINES to read and judge, behind an emulator's API; the median of TIMES."""
    with ministack() as url, tempfile.TemporaryDirectory(prefix="doubletake-watch-") as folder:
        account = _Account(url)
        lines = HISTORY_LINES + NEW_LINES * TIMES
        rows = pa.concat_tables(log_events(lines, 2))
        account.write(rows.slice(0, HISTORY_LINES), datetime.now(UTC) - timedelta(minutes=10))
        command = [*_doubletake(), "watch", account.queue, "--interval", "30s", "--since", "2h", "--region", REGION]
        command += ["--lake", "lake", "--endpoint-url", url, "--config", "doubletake.toml"]
        (Path(folder) / "doubletake.toml").write_text(
            SETTINGS.replace(QUEUE, account.queue).replace("charge-card", account.function)
        )
        environment = {k: v for k, v in os.environ.items() if not k.startswith("AWS_")} | CREDENTIALS
        watching = subprocess.Popen(
            command, cwd=folder, env=environment, stdout=subprocess.PIPE, text=True, stderr=subprocess.DEVNULL
        )
        too_long = threading.Timer(_LIMIT_S, watching.kill)
        too_long.start()
        try:
            assert watching.stdout is not None
            took: list[float] = []
            for line in watching.stdout:
                found = _RUN.search(line)
                if found and int(found[1].replace(",", "")) == NEW_LINES:
                    took.append(float(found[2]))
                if len(took) == TIMES:
                    return median(took)
                first = HISTORY_LINES + len(took) * NEW_LINES
                account.write(rows.slice(first, NEW_LINES), datetime.now(UTC))
            raise RuntimeError(f"watch ended after runs of {took} s")
        finally:
            watching.terminate()
            watching.wait(60)
            too_long.cancel()


class _Account:
    """A queue and its function in an emulator."""

    def __init__(self, url: str) -> None:
        self.world = World(url)
        self.queue = self.world.queue(QUEUE, VisibilityTimeout="115")
        self.function = self.world.function("charge-card", [self.queue], timeout_s=3)
        self.group = f"/aws/lambda/{self.function}"
        self.arn = self.world.queue_arn(self.queue)
        self._streams: set[str] = set()
        self.world.client("logs").create_log_group(logGroupName=self.group)

    def write(self, rows: pa.Table, since: datetime) -> None:
        """Write generated log events, the first of which is of that moment."""
        logs = self.world.client("logs")
        events = rows.select(["log_stream", "logged_at", "line"]).to_pylist()
        later = since - events[0]["logged_at"]
        by_stream: dict[str, list[dict]] = defaultdict(list)
        for event in events:
            at_ms = round((event["logged_at"] + later).timestamp() * 1000)
            line = event["line"].replace(arn_of(QUEUE), self.arn)
            by_stream[event["log_stream"]].append({"timestamp": at_ms, "message": line})
        for stream, told in by_stream.items():
            if stream not in self._streams:
                logs.create_log_stream(logGroupName=self.group, logStreamName=stream)
                self._streams.add(stream)
            logs.put_log_events(logGroupName=self.group, logStreamName=stream, logEvents=told)
