"""What a soak does to a lake, each in a process of its own that may be killed, or have no room left on the disk."""

import os
import random
import resource
import signal
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

from forensics.errors import ForensicsError
from forensics.lake import Lake, doctor
from forensics.settings import Settings
from forensics.tables import EVIDENCE
from forensics.window import TimeWindow
from ingest.collect import collect
from ingest.file_run import ImportChoices
from ingest.files import import_files
from spark_jobs.carrier import Here
from spark_jobs.runner import correlate
from tests.ingest.model_account import GROUP, QUEUE, ModelAccount
from tests.ingest.test_faults import POISON

T = datetime(2026, 11, 10, tzinfo=UTC)
HOURS, EVENTS = 6, 600
FILE_GROUP = "/ecs/files"


def received(number: int, count: int) -> str:
    """Return a line of a worker that prints a message, received for the so-manieth time."""
    message_id = f"{number:08x}-0000-4000-8000-000000000000"
    return str({"MessageId": message_id, "Body": "{}", "Attributes": {"ApproximateReceiveCount": str(count)}})


def account_events(seed: int) -> list[tuple[datetime, str, str]]:
    """Return the events of the account; some share a millisecond, some are equal, some are poison."""
    draw = random.Random(seed)
    poison = [line for line in POISON.values() if 0 < len(line) < 20_000]
    return sorted(
        (
            T + timedelta(seconds=draw.randrange(HOURS * 3600)),
            f"stream-{draw.randrange(4)}",
            draw.choice(poison) if draw.random() < 0.02 else received(draw.randrange(200), draw.randrange(1, 4)),
        )
        for _ in range(EVENTS)
    )


def file_lines(seed: int) -> list[str]:
    """Return the lines of the file that is imported, each with a time of its own."""
    draw = random.Random(seed + 1)
    return [
        f"{(T + timedelta(seconds=n * 20)).isoformat()} {received(1000 + draw.randrange(200), draw.randrange(1, 4))} {n}"
        for n in range(EVENTS)
    ]


def collect_hours(root: Path, seed: int) -> None:
    """Collect hour after hour; what coverage calls read is passed over."""
    events = account_events(seed)
    for hour in range(HOURS):
        window = TimeWindow(T + timedelta(hours=hour), T + timedelta(hours=hour + 1))
        now = T + timedelta(days=3, microseconds=time.monotonic_ns() // 1000 % 10**10)
        collect(Lake(root), ModelAccount(events), [QUEUE], window, [f"{GROUP}={QUEUE}"], now=now)


def import_file(root: Path, seed: int) -> None:
    """Import the file."""
    path = root.with_name("worker.log")
    if not path.exists():
        draft = path.with_suffix(f".{os.getpid()}")
        draft.write_text("".join(f"{line}\n" for line in file_lines(seed)))
        draft.replace(path)
    import_files(Lake(root), [path], ImportChoices(log_groups=(f"{FILE_GROUP}={QUEUE}",)), now=T + timedelta(days=4))


def judge(root: Path, seed: int, anew: bool = False) -> None:
    """Correlate and publish."""
    correlate(Lake(root), Settings(), carrier=Here(), force=anew)


def compact(root: Path, seed: int) -> None:
    """Merge small files of every table."""
    lake = Lake(root)
    with lake.writing("collect"):
        for table in EVIDENCE:
            lake.compact(table, at_files=3)


def heal(root: Path, seed: int) -> None:
    """Look for what a power cut tore, and set it aside."""
    doctor.heal(Lake(root))


WORK: dict[str, Callable[[Path, int], None]] = {
    "collect": collect_hours,
    "import": import_file,
    "correlate": judge,
    "compact": compact,
    "doctor": heal,
}


def run(root: str, seed: int, name: str, die_after_s: float | None, most_bytes: int | None) -> None:
    """Do one piece of work; after so many seconds be killed, or find no room in files beyond a size."""
    if most_bytes:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (most_bytes, most_bytes))
    if die_after_s is not None:
        threading.Thread(target=_die, args=(die_after_s,), daemon=True).start()
    if die_after_s is not None or most_bytes:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # what it says on the way down was asked for
    try:
        WORK[name](Path(root), seed)
    except ForensicsError as problem:
        raise SystemExit(problem.exit_code) from problem


def _die(after_s: float) -> None:
    time.sleep(after_s)  # when is what is drawn
    os.kill(os.getpid(), signal.SIGKILL)
