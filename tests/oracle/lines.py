"""Log events as their writers write them, before CloudWatch keeps or loses any."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime

from tests.oracle.truth import Delivery


@dataclass(eq=False)
class Line:
    """One log event: what it says, and what it tells about which deliveries."""

    group: str
    stream: str
    at_ms: int
    text: str
    role: str
    run_id: str | None
    names: tuple[Delivery, ...] = ()
    shows_counts: bool = False
    keys: tuple[str, ...] = ()
    number: int = 0


class LogBook:
    """Every line of every stream; within a stream time never goes back."""

    def __init__(self) -> None:
        self.lines: list[Line] = []
        self._latest: dict[tuple[str, str], int] = defaultdict(int)

    def write(
        self,
        group: str,
        stream: str,
        at_ms: int,
        text: str,
        role: str,
        run_id: str | None = None,
        names: Iterable[Delivery] = (),
        shows_counts: bool = False,
        keys: Iterable[str] = (),
    ) -> None:
        """Append one event to a stream."""
        at_ms = max(at_ms, self._latest[group, stream])
        self._latest[group, stream] = at_ms
        self.lines.append(
            Line(group, stream, at_ms, text, role, run_id, tuple(names), shows_counts, tuple(keys), len(self.lines))
        )


def iso(ms: int) -> str:
    """Format as CloudWatch lines do: 2026-01-05T03:04:05.678Z."""
    return datetime.fromtimestamp(ms / 1000, UTC).strftime("%Y-%m-%dT%H:%M:%S.") + f"{ms % 1000:03d}Z"


def at(ms: int) -> datetime:
    """Turn simulated milliseconds into a datetime, UTC."""
    return datetime.fromtimestamp(ms // 1000, UTC).replace(microsecond=ms % 1000 * 1000)
