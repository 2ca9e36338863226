"""What the lines of each log group tell as a whole, gathered from what its files and parts say of themselves."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

Row = Mapping[str, Any]


class GroupLines(NamedTuple):
    """What the lines of one log group tell. ``blind_starts``: when invocations began that print no record, sorted.

    ``has_starts``: some invocation shows its START; ``has_guard_line``: some line is of an idempotency library.
    """

    log_group: str
    first_at: int
    last_at: int
    has_starts: bool
    blind_starts: Sequence[int] = ()
    has_guard_line: bool = False


def group_lines(
    files: Iterable[Row], parts: Iterable[Row], blind: Iterable[tuple[str, Iterable[int]]]
) -> list[GroupLines]:
    """Return every log group that has lines, by name.

    ``files`` and ``parts`` are rows of one log group each: with ``first_at`` and ``last_at``, and with ``has_starts`` and
    ``has_guard_line``. ``blind`` has the starts of invocations that print no record, by log group.
    """
    spans: dict[str, tuple[int, int]] = {}
    for told in files:
        first, last = spans.get(told["log_group"], (told["first_at"], told["last_at"]))
        spans[told["log_group"]] = min(first, told["first_at"]), max(last, told["last_at"])
    has_starts: dict[str, bool] = defaultdict(bool)
    has_guard: dict[str, bool] = defaultdict(bool)
    for told in parts:
        has_starts[told["log_group"]] |= bool(told["has_starts"])
        has_guard[told["log_group"]] |= bool(told["has_guard_line"])
    starts: dict[str, list[int]] = defaultdict(list)
    for name, at in blind:
        starts[name] += at
    return [
        GroupLines(name, *spans[name], has_starts[name], sorted(starts[name]), has_guard[name])
        for name in sorted(spans)
    ]
