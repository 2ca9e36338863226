"""What the lines of log groups tell besides single messages, by who writes them: functions may share a log group."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from forensics.judging.order import Order, OrderCounts
from forensics.settings_in_force import SettingsInForce
from forensics.unlike_effects import of_consumer

MOST_AGAIN = 0.1
"""Such a share of a worker's handlings that tell an effect may do so again, and it tells each once: of fewer than ten none."""

Writer = tuple[str, str | None]
"""Who writes lines: a log group and the function; None: a worker, or a function that nothing names."""


def may_be_of(writer: Writer, lines_of: Writer) -> bool:
    """Tell whether lines may have been written by one: its own, and those of which nothing tells whose they are."""
    log_group, function = writer
    return lines_of[0] == log_group and (function is None or lines_of[1] in (function, None))


class GroupLines(NamedTuple):
    """What the lines of one log group tell, or of one function in it. ``blind_starts``: when invocations began that may have had
    messages which no line names, sorted; ``workable_starts``: those of them that may have done such a message's work, and when
    handlings of workers began of which no line shows how they were opened.

    ``has_starts``: some invocation shows its START, some handling of a worker the line that opens it; ``has_guard_line``: some line is of an idempotency library, ``has_effect_line``: or is the effect's, as the settings have it; ``orders``: what
    runs tell of the order in which they take their batches; ``tells_effect_once``: nearly every handling of a worker that tells its
    effect does so once.
    """  # noqa: D205

    log_group: str
    first_at: int
    last_at: int
    has_starts: bool
    blind_starts: Sequence[int] = ()
    has_guard_line: bool = False
    function_name: str | None = None
    orders: OrderCounts = OrderCounts()
    workable_starts: Sequence[int] = ()
    has_effect_line: bool = True
    tells_effect_once: bool = False


class BlindStarts(NamedTuple):
    """When runs began (µs) that may have had messages which no line names, and those of them that may have done their work.

    ``unless_shown``: those that did not, if every work done prints an effect line.
    """

    all: list[int]
    workable: list[int]
    unless_shown: list[int]


def lines_of_writers(
    files: Iterable[Mapping[str, Any]],
    parts: Iterable[Mapping[str, Any]],
    blind: Iterable[tuple[Writer, BlindStarts]],
    functions: Mapping[str, str | None],
    orders: Mapping[Writer, OrderCounts],
) -> list[GroupLines]:
    """Return every log group that has lines, and every function in it, by name.

    ``files`` are rows of one log group each, with ``first_at`` and ``last_at``; ``parts`` of one writer each, with ``has_starts``,
    ``has_guard_line`` and ``has_effect_line``; ``functions`` says by log group whose it is by name. Where no line is an effect's, none was
    seen to print it: what is said of every work that is done is not taken for true.
    """
    spans: dict[str, tuple[int, int]] = {}
    for told in files:
        first, last = spans.get(told["log_group"], (told["first_at"], told["last_at"]))
        spans[told["log_group"]] = min(first, told["first_at"]), max(last, told["last_at"])
    writers: set[Writer] = {(name, functions[name]) for name in spans}
    has_starts: dict[Writer, bool] = defaultdict(bool)
    has_guard: dict[Writer, bool] = defaultdict(bool)
    has_effect: dict[Writer, bool] = defaultdict(bool)
    effects: Counter[Writer] = Counter()
    again: Counter[Writer] = Counter()
    for told in parts:
        writer = told["log_group"], told["function_name"]
        writers.add(writer)
        has_starts[writer] |= bool(told["has_starts"])
        has_guard[writer] |= bool(told["has_guard_line"])
        has_effect[writer] |= bool(told["has_effect_line"])
        effects[writer] += told.get("effects", 0)
        again[writer] += told.get("again", 0)
    starts: dict[Writer, BlindStarts] = defaultdict(lambda: BlindStarts([], [], []))
    for writer, at in blind:
        starts[writer].all.extend(at.all)
        starts[writer].workable.extend(at.workable)
        if not has_effect[writer]:
            starts[writer].workable.extend(at.unless_shown)
    return [
        GroupLines(
            writer[0],
            *spans[writer[0]],
            has_starts[writer],
            sorted(starts[writer].all),
            has_guard[writer],
            writer[1],
            orders.get(writer, OrderCounts()),
            sorted(starts[writer].workable),
            has_effect[writer],
            again[writer] <= MOST_AGAIN * effects[writer] > 0,
        )
        for writer in sorted(writers, key=str)
    ]


def blind_of(
    runs: Iterable[tuple[str, str | None, str | None, int, str | None, bool, Sequence[int]]],
    in_force: SettingsInForce,
    orders: Mapping[Writer, OrderCounts],
) -> list[tuple[Writer, BlindStarts]]:
    """Return by writer when those runs began that may have had messages which no line names, of runs without a whole printed batch.

    ``runs`` are log group, function, queue, of how many messages their lines say that they were in hand, the order in which the
    batch is taken if every work done is shown, whether lines say which messages they begin, and their starts (µs). As many
    messages as their mapping hands out at most are all they had; where nothing goes on behind a run's end, work that is not
    shown was not done; and none was of what they did not begin.
    """
    found: dict[Writer, BlindStarts] = {}
    for log_group, function, queue_arn, count, order, begins_items, starts in runs:
        writer = log_group, function
        is_sequential = "sequential" in (order, order and orders.get(writer, OrderCounts()).order.taken)
        of_writer = found.setdefault(writer, BlindStarts([], [], []))
        for at in starts:
            most = _most_handed_out(in_force, queue_arn, function, at)
            if most is not None and most <= count:
                continue
            of_writer.all.append(at)
            if not begins_items:
                is_shown = is_sequential or (order is not None and most == 1)
                (of_writer.unless_shown if is_shown else of_writer.workable).append(at)
    return [(writer, blind) for writer, blind in found.items() if blind.all]


def _most_handed_out(in_force: SettingsInForce, queue_arn: str | None, function: str | None, at: int) -> int | None:
    """Return the batch size in force at a moment; None where nothing vouches for it."""
    mapping = in_force.mapping(queue_arn, function, at)
    if mapping is None or mapping["is_later_snapshot"]:
        return None
    size: int | None = mapping["batch_size"]
    return size


def _function_of(told: GroupLines) -> str | None:
    return told.function_name


class Written:
    """What the lines of log groups tell together, by group and by who writes them."""

    def __init__(self, lines: Iterable[GroupLines]) -> None:
        self.spans: dict[str, tuple[int, int]] = {}
        self.guarding: set[Writer] = set()
        self.without_effects: set[Writer] = set()
        self.telling_once: set[str] = set()
        self.orders: dict[Writer, Order] = {}
        self._of_group: dict[str, list[GroupLines]] = {}
        for told in lines:
            first, last = self.spans.get(told.log_group, (told.first_at, told.last_at))
            self.spans[told.log_group] = min(first, told.first_at), max(last, told.last_at)
            self._of_group.setdefault(told.log_group, []).append(told)
            if told.has_guard_line:
                self.guarding.add((told.log_group, told.function_name))
            if told.tells_effect_once:
                self.telling_once.add(told.log_group)
            if (order := told.orders.order).taken is not None:
                self.orders[told.log_group, told.function_name] = order

        for log_group, of_group in self._of_group.items():
            for function in {told.function_name for told in of_group}:
                mine = of_consumer(of_group, function, _function_of)
                if not any(told.has_effect_line for told in mine):
                    self.without_effects.add((log_group, function))

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
        """Return when invocations began that may have had messages unnamed and may be of a function, sorted."""
        return _together([told.blind_starts for told in self._maybe_of(writer)])

    def workable_starts(self, writer: Writer) -> Sequence[int]:
        """Return when those of them began that may have done the work of such a message, sorted."""
        return _together([told.workable_starts for told in self._maybe_of(writer)])


def _together(starts: Sequence[Sequence[int]]) -> Sequence[int]:
    return starts[0] if len(starts) == 1 else sorted(start for some in starts for start in some)
