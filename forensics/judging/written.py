"""What the lines of log groups tell besides single messages, by who writes them: functions may share a log group."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from forensics.judging.order import Order, OrderCounts
from forensics.settings_in_force import SettingsInForce

Writer = tuple[str, str | None]
"""Who writes lines: a log group and the function; None: a worker, or a function that nothing names."""


def may_be_of(writer: Writer, lines_of: Writer) -> bool:
    """Tell whether lines may have been written by one: its own, and those of which nothing tells whose they are."""
    log_group, function = writer
    return lines_of[0] == log_group and (function is None or lines_of[1] in (function, None))


class Blind(NamedTuple):
    """Runs of one writer that may have had messages which no line shows; ``starts`` are when they began, in µs.

    ``is_named``: their lines say which messages they begin, so that of the others nothing was done.
    """

    log_group: str
    function_name: str | None
    is_named: bool
    starts: Sequence[int]


class GroupLines(NamedTuple):
    """What the lines of one log group tell, or of one function in it. ``blind_starts``: when invocations began that print no
    record, sorted; ``unnamed_starts``: those of them that do not name what they begin either, and handlings of workers of
    which no line shows how they were opened.

    ``has_starts``: some invocation shows its START, some handling of a worker the line that it begins with; ``has_guard_line``: some line is of an idempotency library; ``orders``: what
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
    unnamed_starts: Sequence[int] = ()


def lines_of_writers(
    files: Iterable[Mapping[str, Any]],
    parts: Iterable[Mapping[str, Any]],
    blind: Iterable[Blind],
    functions: Mapping[str, str | None],
    orders: Mapping[Writer, OrderCounts],
) -> list[GroupLines]:
    """Return every log group that has lines, and every function in it, by name.

    ``files`` are rows of one log group each, with ``first_at`` and ``last_at``; ``parts`` of one writer each, with ``has_starts``
    and ``has_guard_line``. ``functions`` says by log group whose it is by name.
    """
    spans: dict[str, tuple[int, int]] = {}
    for told in files:
        first, last = spans.get(told["log_group"], (told["first_at"], told["last_at"]))
        spans[told["log_group"]] = min(first, told["first_at"]), max(last, told["last_at"])
    writers: set[Writer] = {(name, functions[name]) for name in spans}
    has_starts: dict[Writer, bool] = defaultdict(bool)
    has_guard: dict[Writer, bool] = defaultdict(bool)
    for told in parts:
        writer = told["log_group"], told["function_name"]
        writers.add(writer)
        has_starts[writer] |= bool(told["has_starts"])
        has_guard[writer] |= bool(told["has_guard_line"])
    starts: dict[Writer, list[int]] = defaultdict(list)
    unnamed: dict[Writer, list[int]] = defaultdict(list)
    for runs in blind:
        starts[runs.log_group, runs.function_name] += runs.starts
        unnamed[runs.log_group, runs.function_name] += () if runs.is_named else runs.starts
    return [
        GroupLines(
            writer[0],
            *spans[writer[0]],
            has_starts[writer],
            sorted(starts[writer]),
            has_guard[writer],
            writer[1],
            orders.get(writer, OrderCounts()),
            sorted(unnamed[writer]),
        )
        for writer in sorted(writers, key=str)
    ]


def blind_of(
    runs: Iterable[tuple[str, str | None, str | None, int, bool, Sequence[int]]], in_force: SettingsInForce
) -> list[Blind]:
    """Return those runs that may have had messages which no line shows, of runs without a whole printed batch.

    ``runs`` are log group, function, queue, how many records their lines print, whether they name what they begin, and their starts
    (µs); as many records as their mapping hands out at most are all they had.
    """
    found = []
    for log_group, function, queue_arn, count, is_named, starts in runs:
        blind = starts if not count else [at for at in starts if not _holds(in_force, queue_arn, function, at, count)]
        if blind:
            found.append(Blind(log_group, function, is_named, blind))
    return found


def _holds(in_force: SettingsInForce, queue_arn: str | None, function: str | None, at: int, count: int) -> bool:
    mapping = in_force.mapping(queue_arn, function, at)
    if mapping is None or mapping["batch_size"] is None or mapping["is_later_snapshot"]:
        return False
    return bool(mapping["batch_size"] <= count)


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
        """Tell whether invocations of a function, or handlings of a worker, show how they begin; where several share a group, its own do."""
        log_group, function = writer
        maybe, of_group = self._maybe_of(writer), self._of_group.get(log_group, [])
        own = [told for told in maybe if told.function_name == function or len(of_group) == 1]
        return any(told.has_starts for told in own)

    def blind_starts(self, writer: Writer) -> Sequence[int]:
        """Return when runs began that do not show all of their messages and may be of a writer, sorted."""
        return _merged([told.blind_starts for told in self._maybe_of(writer)])

    def unnamed_starts(self, writer: Writer) -> Sequence[int]:
        """Return when runs began that neither show all of their messages nor name what they begin, and may be of a writer, sorted."""
        return _merged([told.unnamed_starts for told in self._maybe_of(writer)])


def _merged(starts: Sequence[Sequence[int]]) -> Sequence[int]:
    return starts[0] if len(starts) == 1 else sorted(start for some in starts for start in some)
