"""What the lines of log groups tell besides single messages, by who writes them: functions may share a log group."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from forensics.judging.order import Order, OrderCounts

Writer = tuple[str, str | None]
"""Who writes lines: a log group and the function; None: a worker, or a function that nothing names."""


def may_be_of(writer: Writer, lines_of: Writer) -> bool:
    """Tell whether lines may have been written by one: its own, and those of which nothing tells whose they are."""
    log_group, function = writer
    return lines_of[0] == log_group and (function is None or lines_of[1] in (function, None))


class GroupLines(NamedTuple):
    """What the lines of one log group tell, or of one function in it. ``blind_starts``: when invocations began that print no
    record, sorted.

    ``has_starts``: some invocation shows its START; ``has_guard_line``: some line is of an idempotency library; ``orders``: what
    runs tell of the order in which they take their batches.
    """  # noqa: D205

    log_group: str
    first_at: int
    last_at: int
    has_starts: bool
    blind_starts: Sequence[int] = ()
    has_guard_line: bool = False
    function_name: str | None = None
    orders: OrderCounts = OrderCounts()


class Written:
    """What the lines of log groups tell together, by group and by who writes them."""

    def __init__(self, lines: Iterable[GroupLines]) -> None:
        self.spans: dict[str, tuple[int, int]] = {}
        self.guarding: set[Writer] = set()
        self.orders: dict[Writer, Order] = {}
        self._of_group: dict[str, list[GroupLines]] = {}
        for told in lines:
            first, last = self.spans.get(told.log_group, (told.first_at, told.last_at))
            self.spans[told.log_group] = min(first, told.first_at), max(last, told.last_at)
            self._of_group.setdefault(told.log_group, []).append(told)
            if told.has_guard_line:
                self.guarding.add((told.log_group, told.function_name))
            if (order := told.orders.order).taken is not None:
                self.orders[told.log_group, told.function_name] = order

    def _maybe_of(self, writer: Writer) -> list[GroupLines]:
        of_group = self._of_group.get(writer[0], [])
        return [told for told in of_group if may_be_of(writer, (told.log_group, told.function_name))]

    def shows_starts(self, writer: Writer) -> bool:
        """Tell whether invocations of a function show their STARTs; where several share a group, its own do."""
        log_group, function = writer
        maybe, of_group = self._maybe_of(writer), self._of_group.get(log_group, [])
        own = [told for told in maybe if told.function_name == function or len(of_group) == 1]
        return any(told.has_starts for told in own)

    def blind_starts(self, writer: Writer) -> Sequence[int]:
        """Return when invocations began that print no record and may be of a function, sorted."""
        starts = [told.blind_starts for told in self._maybe_of(writer)]
        return starts[0] if len(starts) == 1 else sorted(start for some in starts for start in some)
