"""What was done to a lake: a line for every run of a command, beside the tables, so that custody can be told."""

import json
import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

FILE = "runs.jsonl"


@dataclass(frozen=True)
class RunLine:
    """One run: when it began (UTC, ISO 8601), what was asked, by which version, what came of it, and how it ended."""

    started_at: str
    command: str
    arguments: dict[str, Any]
    version: str
    exit: int
    seconds: float
    counts: dict[str, int] = field(default_factory=dict)


def append(root: Path, run: RunLine) -> None:
    """Add a run's line in one write, and flush it; raises OSError."""
    line = json.dumps(asdict(run), default=str).encode() + b"\n"
    file = os.open(root / FILE, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o660)
    try:
        os.write(file, line)
        os.fsync(file)
    finally:
        os.close(file)


def read(root: Path) -> Iterator[RunLine]:
    """Yield the runs in the order in which they ended; a line that was cut off, by a full disk say, is passed over."""
    try:
        lines = (root / FILE).read_bytes().split(b"\n")
    except FileNotFoundError:
        return
    for line in lines:
        try:
            yield RunLine(**json.loads(line))
        except (ValueError, TypeError):
            continue
