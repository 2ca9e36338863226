"""One receive that several lines or streams tell of, each as a delivery of its own: put together, or counted for sure once.

A log that reached the lake by two ways (two shippers, a worker's own file beside CloudWatch, a central copy) tells of every
receive twice, at times that differ. Two receives are never told by the same lines: what a worker prints with its own time, to
the millisecond, and letter for letter the same in two streams, it printed once.
"""

from collections import defaultdict
from collections.abc import Sequence
from itertools import pairwise
from operator import attrgetter, itemgetter
from typing import NamedTuple

from forensics.identity import tells_deliveries_apart
from forensics.judging.effect import shows_nothing_done
from forensics.judging.evidence import united
from forensics.judging.known import highest, lowest, unknown_first
from forensics.judging.pairs import are_one_receive
from forensics.parsers.own_times import times_in
from forensics.streams.model import Delivery

_EARLIEST = ("started_at", "marker_at", "guard_at", "record_at", "worker_finished_at", "worker_failed_at", "delete_at")
_NAMES = attrgetter("receive_count", "receipt_handle")
"""By either of which two deliveries may be one receive."""
_MOMENT_US = 1_000_000
"""The shortest visibility timeout but none: what was not let go is not handed out again within it."""
_LONGEST_EXECUTION_US = 16 * 60 * 1_000_000
"""A mapping gives an execution of a durable function a quarter of an hour; its last run may have to wait for an environment."""
_LISTS = ("business_keys", "fact_ids", "end_ids", "evidence_ids", "line_marks")
LEAST_TIMES = 2
"""Of so many times at least lines must stand in both streams: one alone may be in the message, not the line's own."""


class _Told(NamedTuple):
    """A stream that tells of a receive, and the marks of its lines with their own times."""

    stream: tuple[str | None, str | None]
    marks: frozenset[int]


def put_together(item: Sequence[Delivery]) -> list[Delivery]:
    """Return the deliveries of one message in one queue, each receive once; changes what it is given.

    Two deliveries are one receive for sure where both have its receipt handle, or the same receive count and the same request id, or
    stand in one worker's stream with the same receive count; a FIFO queue never gives a count twice; or where two streams of workers hold
    the same lines of them with their own times, ``LEAST_TIMES`` or more. Two runs of functions are two, also of one function that its
    poller invoked again for one receive. Only where that function is durable, a run that shows that it did nothing is one with the rest;
    any other may go on with what an earlier one did, or do it once more (a step that was cut off, or had failed, is tried again, and its
    poller begins executions, too). So it may where nothing tells whether the function is. Else the same count is that of one receive that two streams tell of, or of
    a copy that a standard queue handed out: the later one ``may_be_same_receive``. So may a later one that has one such line of an earlier,
    or where workers of two streams begin a message within a second of one another, or say the same of it, as far apart, before it was
    visible again: nothing is handed out again so soon but what was let go, and what a queue copied.
    """
    if len(item) < 2:
        return list(item)
    item = _without_replays(item)
    names = [*zip(*map(_NAMES, item), strict=True), [mark for d in item for mark in d.line_marks]]
    is_repeated = any(map(_repeats, names))
    found = _named_once(item) if is_repeated else list(item)
    _mark_replays([delivery for delivery in found if delivery.is_durable is not False])
    begun = [(d.received_at, d) for d in found if d.received_at is not None and _is_begun_by_worker(d)]
    begun.sort(key=lambda timed: _by_time(timed[1]))
    for (at, one), (again_at, other) in pairwise(begun):
        if (again_at - at < _MOMENT_US or _is_told_alike(one, other, again_at)) and _may_be_told_twice(one, other):
            other.may_be_same_receive = True
    return found


def _named_once(item: Sequence[Delivery]) -> list[Delivery]:
    found: list[Delivery] = []
    by_count: dict[int | None, list[Delivery]] = defaultdict(list)
    by_handle: dict[str, Delivery] = {}
    told: dict[int, list[_Told]] = defaultdict(list)
    for delivery in sorted(item, key=_by_time):
        handle = delivery.receipt_handle if tells_deliveries_apart(delivery.receipt_handle) else None
        count = delivery.receive_count
        same = by_handle.get(handle or "")
        if same is None:
            same = next((other for other in by_count[count] if _is_one(other, delivery)), None)
        mine = _Told(_stream(delivery), frozenset(delivery.line_marks))
        common = [(_common_times(mine, told[id(d)]), d) for d in found if _are_named_alike(d, delivery)]
        if same is None:
            same = next((other for times, other in common if min(times) >= LEAST_TIMES), None)
        if same is not None and (_are_runs_of_one(same, delivery) or _may_be_runs_of_one(same, delivery)):
            delivery.may_be_same_receive = not _are_runs_of_one(same, delivery)
            told[id(delivery)].append(mine)
            found.append(delivery)
            continue
        told[id(same or delivery)].append(mine)
        if same is not None:
            _add(same, delivery)
            continue
        delivery.may_be_same_receive |= any(max(times) > 0 for times, _ in common)
        found.append(delivery)
        if handle is not None:
            by_handle[handle] = delivery
        if count is not None:
            delivery.may_be_same_receive |= not all(_are_two_runs(other, delivery) for other in by_count[count])
            by_count[count].append(delivery)
    return found


def _are_runs_of_one(one: Delivery, other: Delivery) -> bool:
    """Tell whether two are known to be two runs of one function: by their request ids, or by their beginnings in one stream."""
    if not _are_two_runs(one, other) or one.log_group != other.log_group:
        return False
    return one.request_id != other.request_id or (_are_begun_apart(one, other) and _stream(one) == _stream(other))


def _may_be_runs_of_one(one: Delivery, other: Delivery) -> bool:
    """Tell whether two of one request id, in two streams of a log group, may be two runs of a function, or one that both tell of."""
    is_one_log = one.log_group == other.log_group is not None
    return _are_two_runs(one, other) and is_one_log and _are_begun_apart(one, other)


def _are_begun_apart(one: Delivery, other: Delivery) -> bool:
    return None is not one.run_started_at != other.run_started_at is not None


def _without_replays(item: Sequence[Delivery]) -> list[Delivery]:
    """Put a run of a durable function together with the run before it that had the same receive, if at most one of them did anything.

    Where it may go on with either of two executions, as where the poller began another, it stands alone.
    """
    found: list[Delivery] = []
    for delivery in sorted(item, key=_by_time) if any(d.is_durable for d in item) else item:
        mine = [d for d in found if are_one_receive(d, delivery) and _may_be_replay(d, delivery)]
        is_clear = all(_may_be_replay(other, mine[-1]) for other in mine[:-1])
        if delivery.is_durable and mine and is_clear and _is_one_execution(mine[-1], delivery):
            _add(mine[-1], delivery)
        else:
            found.append(delivery)
    return found


def _is_one_execution(one: Delivery, other: Delivery) -> bool:
    """Tell whether of two runs at most one did the work, and lines say which: it is marked, or both did nothing."""
    idle = [shows_nothing_done(one), shows_nothing_done(other)]
    is_marked = one.marker_at is not None or other.marker_at is not None
    return all(idle) or (any(idle) and is_marked)


def _mark_replays(runs: Sequence[Delivery]) -> None:
    """Mark what may be a replay of another run: nothing says that it was received again. A run that prints the effect stands for its replays."""
    standing: list[Delivery] = []
    for run in sorted(sorted(runs, key=_by_time), key=_how_idle):
        if any(_may_be_replay(other, run) for other in standing):
            run.may_be_same_receive = True
        else:
            standing.append(run)


def _may_be_replay(one: Delivery, other: Delivery) -> bool:
    """Tell whether two runs of a function may be of one execution: neither began while the other was on, nor after the longest there is.

    Whoever else than a mapping invokes a durable function may let it wait for a year.
    """
    if not _are_runs_of_one(one, other) or not _are_named_alike(one, other):
        return False
    one_at, other_at = one.run_started_at, other.run_started_at
    if one_at is None or other_at is None:
        return True
    (first_at, first), (again_at, _) = sorted(((one_at, one), (other_at, other)), key=itemgetter(0))
    is_mapped = not (one.is_durable and one.mapping_id is None)
    if is_mapped and again_at - first_at > _LONGEST_EXECUTION_US:
        return False
    return not first.is_end_known or first.run_ended_at is None or first.run_ended_at <= again_at


def _how_idle(run: Delivery) -> tuple[bool, bool]:
    """Order runs: first those that print the effect, last those that show that they did nothing."""
    return run.marker_at is None, shows_nothing_done(run)


def _is_begun_by_worker(d: Delivery) -> bool:
    """Tell whether lines show when a worker began a message that they name."""
    is_begun = d.record_at is not None or d.started_at is not None
    return is_begun and d.consumer_kind == "worker" and d.message_id is not None


def _is_told_alike(one: Delivery, other: Delivery, again_at: int) -> bool:
    """Tell whether two say the same of a message, as far apart from beginning to end, the other before it was visible again."""
    if one.hidden_until_at is None or again_at >= one.hidden_until_at:
        return False
    times = [(getattr(one, name), getattr(other, name)) for name in _EARLIEST]
    apart = [theirs - mine for mine, theirs in times if mine is not None and theirs is not None]
    is_same = all((mine is None) == (theirs is None) for mine, theirs in times)
    return is_same and len(apart) > 1 and max(apart) - min(apart) < _MOMENT_US


def _may_be_told_twice(one: Delivery, other: Delivery) -> bool:
    """Tell whether two may be one receive that two streams tell of, and neither says that it is another."""
    return _stream(one) != _stream(other) and _are_named_alike(one, other)


def _are_named_alike(one: Delivery, other: Delivery) -> bool:
    told = [(a, b) for a, b in zip(_NAMES(one), _NAMES(other), strict=True) if None not in (a, b)]
    return all(a == b for a, b in told)


def _common_times(mine: _Told, told: Sequence[_Told]) -> list[int]:
    """Return of how many own times each stream that tells of a receive holds lines that another one holds too; 0 where that is one of them."""
    is_apart = all(mine.stream != other.stream for other in told)
    return [times_in(mine.marks & other.marks) if is_apart else 0 for other in told]


def _stream(d: Delivery) -> tuple[str | None, str | None]:
    return d.log_group, d.log_stream


def _repeats(names: Sequence[object]) -> bool:
    """Tell whether any two deliveries have the same name, of those that have one."""
    told = [name for name in names if name is not None]
    return len(told) != len(set(told))


def _is_one(one: Delivery, other: Delivery) -> bool:
    """Tell whether two deliveries with one receive count are one receive for sure."""
    if one.is_fifo or (one.request_id is not None and one.request_id == other.request_id):
        return True
    of_workers = one.consumer_kind == other.consumer_kind == "worker"
    return of_workers and _stream(one) == _stream(other)


def _are_two_runs(one: Delivery, other: Delivery) -> bool:
    """Tell whether two that are not one run are known to be runs at all."""
    return None not in (one.request_id, other.request_id)


def _add(one: Delivery, other: Delivery) -> None:
    """Add to a delivery what another of the same receive says besides."""
    for name in Delivery.__struct_fields__:
        mine, theirs = getattr(one, name), getattr(other, name)
        if name in _EARLIEST:
            setattr(one, name, lowest((mine, theirs)))
        elif name in _LISTS:
            setattr(one, name, united(mine, theirs))
        elif mine is None or mine is False:
            setattr(one, name, theirs)
    if (one.run_status == "unknown" and other.run_status != "unknown") or _are_runs_of_one(one, other):
        one.run_status, one.run_ended_at, one.is_end_known = other.run_status, other.run_ended_at, other.is_end_known
    one.run_last_line_at = highest((one.run_last_line_at, other.run_last_line_at))
    one.last_fact_at = highest((one.last_fact_at, other.last_fact_at))


def _by_time(delivery: Delivery) -> tuple[object, ...]:
    begun = *unknown_first(delivery.run_started_at), *unknown_first(delivery.consumer)
    return *unknown_first(delivery.received_at), *begun
