"""The line that is kept of a run: what was asked, without secrets, and what came of it."""

import re
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from forensics import ledger
from forensics.errors import ForensicsError
from forensics.extras import DISTRIBUTION
from forensics.redaction import redact_handles

EXIT_OTHER, EXIT_INTERRUPTED = 1, 130
_CREDENTIALS = re.compile(r"(?<=//)[^/@\s]+(?=@)|\b(?:AKIA|ASIA)[A-Z0-9]{16}\b")
_COUNTS: ContextVar[dict[str, int] | None] = ContextVar("counts", default=None)


def count(**counts: int) -> None:
    """Add to what the run that is under way counts; nothing where none is kept."""
    if (kept := _COUNTS.get()) is not None:
        for name, number in counts.items():
            kept[name] = kept.get(name, 0) + number


@contextmanager
def kept_run(root: Path, command: str, arguments: Mapping[str, Any]) -> Iterator[list[int]]:
    """Keep a line of the run in the block, if there is a lake by its end; the block puts its exit code into the list."""
    exit_codes: list[int] = []
    counts: dict[str, int] = {}
    began_at, started_at = time.monotonic(), datetime.now(UTC)
    token = _COUNTS.set(counts)
    try:
        yield exit_codes
    except ForensicsError as problem:
        exit_codes.append(problem.exit_code)
        raise
    except KeyboardInterrupt:
        exit_codes.append(EXIT_INTERRUPTED)
        raise
    except BaseException as problem:
        exit_codes.append(getattr(problem, "exit_code", EXIT_OTHER))
        raise
    finally:
        _COUNTS.reset(token)
        if root.is_dir():
            asked = {name: _plain(value) for name, value in arguments.items() if value not in (None, False, [], ())}
            seconds = round(time.monotonic() - began_at, 3)
            line = ledger.RunLine(
                started_at.isoformat(timespec="milliseconds"),
                command,
                asked,
                _version(),
                exit_codes[-1] if exit_codes else 0,
                seconds,
                counts,
            )
            with suppress(OSError):  # a full or read-only disk has said so itself
                ledger.append(root, line)


def _plain(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, bool | int | float):
        return value
    return _CREDENTIALS.sub("…", redact_handles(str(value)))


def _version() -> str:
    try:
        return version(DISTRIBUTION)
    except PackageNotFoundError:
        return "not installed"
