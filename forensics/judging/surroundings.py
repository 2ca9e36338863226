"""What judging asks besides the lines of a work itself: what was read, throttled, moved, set aside, and in force then.

Times are whole microseconds since 1970, UTC.
"""

import hashlib
import json
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from forensics.clock import micros
from forensics.coverage import read_spans, settled_until
from forensics.judging.finality import Finality
from forensics.judging.group_lines import GroupLines
from forensics.settings_in_force import EARLIEST, LATEST, SettingsInForce
from forensics.spans import Spans, common_to

Row = Mapping[str, Any]

LONG_POLL_S = 20
"""The longest a receive waits for messages: a queue that is polled at all is polled again within it."""
LONGEST_VISIBILITY_S = 43_200
"""SQS hides a message for twelve hours at most: so long a poller may hold one where nothing tells the timeout."""
_LONGEST_WATCH_MS = 24 * 3_600_000
_SETTLE_US = 15 * 60 * 1_000_000
"""SQS may move a message only when somebody polls, and CloudWatch shows queue depths with some delay."""
_LONGEST_MOVE_US = 36 * 3_600 * 1_000_000
"""SQS ends a move task after that."""
_SECOND = 1_000_000
_MILLISECOND = 1000


class Throttle(NamedTuple):
    """A period in which a function of a queue was throttled, and the metric point that says so."""

    at: int
    until: int
    evidence_id: str


class Surroundings:
    """Answers about everything that is not a line of the work itself. Nothing here changes once it is made."""

    def __init__(
        self,
        *,
        consumers: Sequence[Row] = (),
        coverage: Sequence[Row] = (),
        queue_settings: Sequence[dict[str, Any]] = (),
        function_settings: Sequence[dict[str, Any]] = (),
        event_source_mappings: Sequence[dict[str, Any]] = (),
        setting_changes: Sequence[Row] = (),
        move_tasks: Sequence[Row] = (),
        metric_points: Iterable[Row] = (),
        lines: Iterable[GroupLines] = (),
        guarded_groups: Collection[str] = (),
    ) -> None:
        """Take the rows of the evidence tables, what lines tell per log group, and the groups whose guard is configured.

        Of ``metric_points`` only Throttles and ApproximateNumberOfMessagesVisible above zero are looked at.
        """
        self.in_force = SettingsInForce.of(queue_settings, function_settings, event_source_mappings, setting_changes)
        self.guarded_groups = frozenset(guarded_groups)
        of_group = {told.log_group: told for told in lines}
        self.groups_with_guard_lines = frozenset(group for group, told in of_group.items() if told.has_guard_line)
        sources = _sources(queue_settings)
        self.dead_letter_queue_arns = frozenset(sources)
        self.has_fifo_dead_letters = _has_fifo_dead_letters(consumers, queue_settings)
        read = read_spans(coverage)
        self.finality = Finality(coverage, consumers)
        logs, points = read.get("log_events", {}), list(metric_points)
        self.read_of_logs = {group: tuple(spans) for group, spans in logs.items()}
        self._borders = {group: _borders(told, logs.get(group)) for group, told in of_group.items()}
        self._lambda_groups = _groups_of(row for row in consumers if row["kind"] == "lambda")
        self._blind_starts = {group: told.blind_starts for group, told in of_group.items()}
        showing = {group for group, told in of_group.items() if told.has_starts}
        settled = read_spans(coverage, settled_until).get("log_events", {})
        self._watched = _watched(consumers, function_settings, settled, showing)
        self._read_workers = _read_workers(consumers, settled)
        self._measured = _measured(consumers, read.get("metric_points", {}))
        self._throttles = _throttles(consumers, points)
        self._longest_throttle = max((t.until - t.at for found in self._throttles.values() for t in found), default=0)
        self._dead_letter_signs = _dead_letter_signs(sources, points)
        self._moves = _moves(move_tasks, sources)
        self._moves_known = _moves_asked(sources, read.get("move_tasks", {})) | set(self._moves)
        self.has_move_tasks = bool(self._moves)
        self.moves: Mapping[str, Spans] = self._moves
        self._functions = _functions(consumers)

    def read_span(self, log_group: str) -> tuple[int, int] | None:
        """Return from when until when a log group was read, its lines included; None where it has no lines."""
        return self._borders.get(log_group)

    def throttled(self, queue_arn: str, start: int | None, end: int | None) -> tuple[bool | None, list[str]]:
        """Tell whether a function of the queue was throttled in a span, and by which points; None where nobody looked."""
        if start is None or end is None:
            return None, []
        found = [t.evidence_id for t in self._throttles_between(queue_arn, start, end)]
        if found:
            return True, sorted(set(found))
        return (False if self._measured.get(queue_arn, _NONE).hold(start, end) else None), []

    def _throttles_between(self, queue_arn: str, start: int, end: int) -> list[Throttle]:
        points = self._throttles.get(queue_arn, [])
        first = bisect_left(points, start - self._longest_throttle, key=_begin)
        return [t for t in points[first : bisect_right(points, end, key=_begin)] if t.until >= start]

    def is_watched(self, queue_arn: str, after: int | None, before: int | None) -> bool:
        """Tell whether the logs would have shown an invocation between two moments, had there been one.

        Only where every consumer of the queue is a Lambda function whose log group shows STARTs and was read in full from
        the one to the other, when no event could still come late, no invocation in between hides its batch, and they are at
        most 24 hours apart.
        """
        if after is None or before is None or not self._watched.get(queue_arn, _NONE).hold(after, before):
            return False
        if before // _MILLISECOND - after // _MILLISECOND > _LONGEST_WATCH_MS:
            return False
        return not any(self._has_blind(group, after, before) for group in self._lambda_groups[queue_arn])

    def _has_blind(self, log_group: str, low: int, high: int) -> bool:
        starts = self._blind_starts.get(log_group, ())
        place = bisect_left(starts, low)
        return place < len(starts) and starts[place] <= high

    def _blind_between(self, log_group: str, low: int, high: int) -> Sequence[int]:
        starts = self._blind_starts.get(log_group, ())
        return starts[bisect_left(starts, low) : bisect_right(starts, high)]

    def are_workers_read(self, queue_arn: str, after: int | None, before: int | None) -> bool:
        """Tell whether no function consumes the queue, and the log groups of all its workers were read between two moments.

        Like ``is_watched`` it counts what was read when no event could still come late.
        """
        return self._read_workers.get(queue_arn, _NONE).hold(after, before)

    def has_dead_letter_sign(self, dead_letter_queue_arn: str | None, hidden_until: int | None) -> bool:
        """Tell whether a dead-letter queue held a message soon after a timeout: a sign, for metrics carry no message ids."""
        return self._dead_letter_signs.get(dead_letter_queue_arn or "", _NONE).hold(hidden_until, hidden_until)

    def was_moved(self, queue_arn: str, sent_at: int | None) -> bool | None:
        """Tell whether a move task into the queue was on at a moment; None where nobody asked for its move tasks."""
        if queue_arn not in self._moves_known:
            return None
        return self._moves.get(queue_arn, _NONE).hold(sent_at, sent_at)

    def bearing(
        self, queues: Iterable[str], log_groups: Iterable[str], low: int, high: int, functions: Iterable[str] = ()
    ) -> str:
        """Return as text all that can bear on a work of these queues and log groups, all of whose times lie in a span.

        The times of a work are every one that judging looks at: sent, received, hidden until, the end of a run, before and
        after an unlogged receive; ``low`` is the first of them, ``high`` the last. The same text, the same answers: what was
        read of other times does not show in it. Throttling is asked for one visibility timeout before a receive. Where a
        log group's reading begins and ends is compared with moments up to two visibility timeouts after a receive, or one
        long poll after a message was visible again: what lies farther out than that counts as just out of reach. Whether
        every run was named is asked for two visibility timeouts before the first receive and after the last.
        ``functions`` are those that lines name and no consumer of these queues and groups is known to be.
        """
        queue_arns, groups = sorted(set(queues)), sorted(set(log_groups))
        states = [row for arn in queue_arns for row in self.in_force.queues_between(arn, low, high)]
        hidden_s, holds_s = _visibility(queue_arns, states)
        reach = max(LONG_POLL_S, 2 * hidden_s) * _SECOND + _MILLISECOND
        since = low - holds_s * _SECOND
        names = {*functions, *(f for name in (*queue_arns, *groups) for f in self._functions.get(name, ()))}
        names.update(f for arn in queue_arns for f in self.in_force.fed_by(arn))
        dead = sorted({row["dead_letter_queue_arn"] for row in states if row["dead_letter_queue_arn"]})
        told = {
            "settings": self.in_force.bearing(low, high, queue_arns, names),
            "queues": {arn: self._of_queue(arn, since, low, high, reach) for arn in queue_arns},
            "dead letters": {arn: self._dead_letter_signs.get(arn, _NONE).between(low, high) for arn in dead},
            "final": self.finality.bearing(queue_arns, groups, low - reach, high + reach),
            "log groups": {group: self._of_group(group, low - reach, high + reach) for group in groups},
        }
        return json.dumps(told, sort_keys=True)

    def _of_queue(self, queue_arn: str, since: int, low: int, high: int, reach: int) -> list[Any]:
        groups = sorted(self._lambda_groups.get(queue_arn, ()))
        watched = [
            (start, end, [_digest(self._blind_between(group, start, end)) for group in groups])
            for start, end in self._watched.get(queue_arn, _NONE).between(low - reach, high + reach)
        ]
        is_known = queue_arn in self._moves_known
        return [
            queue_arn in self.dead_letter_queue_arns,
            self._throttles_between(queue_arn, since, high),
            self._measured.get(queue_arn, _NONE).between(since, high),
            watched,
            self._read_workers.get(queue_arn, _NONE).between(low, high),
            self._moves.get(queue_arn, _NONE).between(low, high) if is_known else None,
        ]

    def _of_group(self, log_group: str, low: int, high: int) -> list[Any]:
        borders = self._borders.get(log_group)
        return [
            borders and [min(max(border, low), high) for border in borders],
            log_group in self.guarded_groups,
            log_group in self.groups_with_guard_lines,
        ]


_NONE = Spans()


def _begin(throttle: Throttle) -> int:
    return throttle.at


def _visibility(queue_arns: Sequence[str], states: Sequence[Row]) -> tuple[int, int]:
    """Return the longest visibility timeout known of some queues, and how long a poller may have held their messages."""
    known = [row["visibility_timeout_s"] for row in states if row["visibility_timeout_s"] is not None]
    longest = max(known, default=0)
    has_all = len(known) == len(states) and {row["queue_arn"] for row in states} >= set(queue_arns)
    return longest, longest if has_all else max(longest, LONGEST_VISIBILITY_S)


def _digest(starts: Sequence[int]) -> str:
    if not len(starts):
        return ""
    return hashlib.sha256(array("q", starts).tobytes()).hexdigest()[:32]


def _borders(told: GroupLines, read: Spans | None) -> tuple[int, int]:
    spans = [(told.first_at, told.last_at), *(read or ())]
    return min(start for start, _ in spans), max(end for _, end in spans)


def _groups_of(consumers: Iterable[Row]) -> dict[str, set[str]]:
    """Return the log groups of each queue's consumers."""
    found: dict[str, set[str]] = {}
    for row in consumers:
        found.setdefault(row["queue_arn"], set()).add(row["log_group"])
    return found


def _functions(consumers: Iterable[Row]) -> dict[str, set[str]]:
    """Return the functions known to consume each queue and to write each log group."""
    found: dict[str, set[str]] = {}
    for row in consumers:
        if row["function_name"]:
            found.setdefault(row["queue_arn"], set()).add(row["function_name"])
            found.setdefault(row["log_group"], set()).add(row["function_name"])
    return found


def _watched(
    consumers: Sequence[Row], function_settings: Sequence[Row], read: Mapping[str, Spans], showing: Collection[str]
) -> dict[str, Spans]:
    """Return when every consumer of a queue is a function whose log group shows STARTs and was read without a gap."""
    hiding = {row["function_name"] for row in function_settings if row["system_log_level"] == "WARN"}
    unwatchable = {row["queue_arn"] for row in consumers if row["kind"] != "lambda" or row["function_name"] in hiding}
    return {
        queue: common_to([read.get(group, _NONE) for group in sorted(groups)])
        for queue, groups in _groups_of(consumers).items()
        if queue not in unwatchable and groups <= set(showing)
    }


def _read_workers(consumers: Sequence[Row], read: Mapping[str, Spans]) -> dict[str, Spans]:
    """Return when the log groups of a queue's workers were all read; only of queues that no function consumes."""
    of_functions = {row["queue_arn"] for row in consumers if row["kind"] == "lambda"}
    return {
        queue: common_to([read.get(group, _NONE) for group in sorted(groups)])
        for queue, groups in _groups_of(consumers).items()
        if queue not in of_functions
    }


def _measured(consumers: Sequence[Row], read: Mapping[str, Spans]) -> dict[str, Spans]:
    """Return when the metric tells of every consumer of a queue; workers are never throttled."""
    kinds: dict[str, set[str]] = {}
    functions: dict[str, set[str]] = {}
    for row in consumers:
        kinds.setdefault(row["queue_arn"], set()).add(row["kind"])
        if row["function_name"]:
            functions.setdefault(row["queue_arn"], set()).add(row["function_name"])
    found = {
        queue: common_to([read.get(function, _NONE) for function in sorted(names)])
        for queue, names in functions.items()
    }
    ever = Spans([(micros(EARLIEST), micros(LATEST))])
    return found | {queue: ever for queue, of in kinds.items() if of == {"worker"}}


def _throttles(consumers: Sequence[Row], points: Iterable[Row]) -> dict[str, list[Throttle]]:
    queues: dict[str, set[str]] = {}
    for row in consumers:
        if row["function_name"]:
            queues.setdefault(row["function_name"], set()).add(row["queue_arn"])
    found: dict[str, list[Throttle]] = {}
    for point in points:
        if point["metric"] == "Throttles" and point["value"] > 0:
            begin, end = _period(point)
            for queue in queues.get(point["resource"], ()):
                found.setdefault(queue, []).append(Throttle(begin, end, point["evidence_id"]))
    return {queue: sorted(throttles) for queue, throttles in found.items()}


def _dead_letter_signs(dead_letter_queue_arns: Iterable[str], points: Iterable[Row]) -> dict[str, Spans]:
    """Return the times after which a message is known to have been in a dead-letter queue within the settling time."""
    arns = {arn.rpartition(":")[2]: arn for arn in sorted(dead_letter_queue_arns)}
    found: dict[str, list[tuple[int, int]]] = {}
    for point in points:
        is_depth = point["metric"] == "ApproximateNumberOfMessagesVisible" and point["value"] > 0
        if is_depth and (arn := arns.get(point["resource"])):
            begin, end = _period(point)
            found.setdefault(arn, []).append((begin - _SETTLE_US, end))
    return {arn: Spans(spans) for arn, spans in found.items()}


def _period(point: Row) -> tuple[int, int]:
    begin = micros(point["point_at"])
    return begin, begin + point["period_s"] * _SECOND


def _moves(move_tasks: Sequence[Row], sources: Mapping[str, Sequence[str]]) -> dict[str, Spans]:
    """Return, per source queue, when messages may have been moved back into it.

    A task that was only seen running may have gone on for as long as SQS lets it.
    """
    ends: dict[tuple[str, str | None, datetime], int] = {}
    for row in sorted(move_tasks, key=lambda row: (row["observed_at"], row["evidence_id"])):
        task = (row["source_arn"], row["destination_arn"], row["started_at"])
        if row["status"] == "RUNNING":
            ends.setdefault(task, micros(row["started_at"]) + _LONGEST_MOVE_US)
        else:
            ended = micros(row["observed_at"])
            ends[task] = min(ends.get(task, ended), ended)
    found: dict[str, list[tuple[int, int]]] = {}
    for (dead_letter_queue, destination, started_at), ended in ends.items():
        began = micros(started_at)
        for queue in [destination] if destination else sources.get(dead_letter_queue, ()):
            found.setdefault(queue, []).append((began, max(ended, began)))
    return {queue: Spans(spans) for queue, spans in found.items()}


def _moves_asked(sources: Mapping[str, Sequence[str]], read: Collection[str]) -> set[str]:
    """Return the queues for whose dead-letter queue somebody asked for move tasks."""
    asked = [queues for arn, queues in sources.items() if arn in read or arn.rpartition(":")[2] in read]
    return {queue for queues in asked for queue in queues}


def _sources(queue_settings: Iterable[Row]) -> dict[str, list[str]]:
    """Return, per dead-letter queue, the queues that set messages aside in it."""
    found: dict[str, set[str]] = {}
    for row in queue_settings:
        if row["dead_letter_queue_arn"]:
            found.setdefault(row["dead_letter_queue_arn"], set()).add(row["queue_arn"])
    return {arn: sorted(queues) for arn, queues in found.items()}


def _has_fifo_dead_letters(consumers: Iterable[Row], queue_settings: Sequence[Row]) -> bool:
    """Tell whether any FIFO queue has a dead-letter queue, or nothing says that it has none."""
    told = {row["queue_arn"] for row in queue_settings}
    is_untold = any(row["queue_arn"].endswith(".fifo") and row["queue_arn"] not in told for row in consumers)
    return is_untold or any(row["is_fifo"] and row["dead_letter_queue_arn"] for row in queue_settings)
