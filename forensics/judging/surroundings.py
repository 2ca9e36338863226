"""What judging asks besides the lines of a work itself: what was read, throttled, moved, set aside, and in force then.

Times are whole microseconds since 1970, UTC.
"""

import json
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence, Set
from copy import copy
from typing import Any

from forensics.coverage import left_by_retention, read_spans, settled_until
from forensics.identity import queue_name
from forensics.judging.calls import Calls
from forensics.judging.dead_letters import has_fifo_dead_letters, sources_of
from forensics.judging.event_counts import EVENT_COUNTS, Run, Stretch, stretches
from forensics.judging.finality import Finality
from forensics.judging.guard_records import GuardRecords
from forensics.judging.moves import moves_asked, moves_of
from forensics.judging.order import Order
from forensics.judging.polls import Polls
from forensics.judging.readings import NONE, borders, functions_of, measured, read_workers, unread, watched, writers_of
from forensics.judging.recorded import Recorded
from forensics.judging.sends import Sends
from forensics.judging.task_stops import TaskStops
from forensics.judging.throttles import Throttle, period_of, throttles_of
from forensics.judging.watch import Watch
from forensics.judging.written import GroupLines, Written
from forensics.limits import LONGEST_FUNCTION_TIMEOUT_S, LONGEST_VISIBILITY_S
from forensics.settings import Producer, Settings
from forensics.settings_in_force import SettingsInForce
from forensics.spans import Span, Spans, common_to
from forensics.streams.model import Delivery

Row = Mapping[str, Any]

_SETTLE_US = 15 * 60 * 1_000_000
"""SQS moves a message only when somebody polls, and CloudWatch shows queue depths with some delay."""
_SECOND = 1_000_000
_MILLISECOND = 1000


class Surroundings:
    """Answers about everything that is not a line of the work itself. Nothing here changes once it is made."""

    def __init__(
        self,
        *,
        consumers: Sequence[Row] = (),
        coverage: Sequence[Row] = (),
        log_group_settings: Sequence[Row] = (),
        queue_settings: Sequence[dict[str, Any]] = (),
        function_settings: Sequence[dict[str, Any]] = (),
        event_source_mappings: Sequence[dict[str, Any]] = (),
        setting_changes: Sequence[Row] = (),
        move_tasks: Sequence[Row] = (),
        task_stops: Iterable[Row] = (),
        send_records: Sequence[Row] = (),
        guard_table_settings: Iterable[Row] = (),
        guard_records: Iterable[Row] = (),
        recorded: Recorded | None = None,
        producers: Sequence[Producer] = (),
        metric_points: Iterable[Row] = (),
        lines: Iterable[GroupLines] = (),
        runs: Mapping[str, Sequence[Run]] | None = None,
        settings: Settings | None = None,
    ) -> None:
        """Take the rows of the evidence tables, and what lines tell per log group and function.

        Of ``metric_points`` only Throttles, ApproximateNumberOfMessagesVisible, POLLS and EVENT_COUNTS above zero are looked at.
        ``runs`` are those of functions whose mappings count events, by mapping. ``recorded`` tells of calls that are not
        among ``send_records``: those that works ask for are added by ``with_calls``; ``settings`` tell which table
        guards whom.
        """
        self.in_force = SettingsInForce.of(queue_settings, function_settings, event_source_mappings, setting_changes)
        written = Written(lines)
        self._guarding, self._orders = written.guarding, written.orders
        self._without_effects, self._telling_once = written.without_effects, written.telling_once
        self.dead_letter_sources: Mapping[str, Sequence[str]] = (sources := sources_of(queue_settings))
        self.consumed = frozenset((row["queue_arn"], row["function_name"] or row["log_group"]) for row in consumers)
        self._queues: dict[str, set[str]] = {}
        for row in consumers:
            self._queues.setdefault(row["function_name"] or row["log_group"], set()).add(row["queue_arn"])
        self.has_fifo_dead_letters = has_fifo_dead_letters(consumers, queue_settings)
        coverage = list(left_by_retention(coverage, log_group_settings))
        read = read_spans(coverage)
        self.finality = Finality(coverage, consumers)
        self.task_stops = TaskStops(task_stops)
        self._recorded = recorded or Recorded.of(send_records)
        self._read_calls = read.get("send_records", {})
        self._producers = tuple(producers)
        self._take_calls(send_records)
        self.guard_records = GuardRecords(settings, guard_records, guard_table_settings, coverage)
        logs, points = read.get("log_events", {}), list(metric_points)
        self.read_of_logs = {group: tuple(spans) for group, spans in logs.items()}
        self._borders = {group: borders(span, logs.get(group)) for group, span in written.spans.items()}
        writers = writers_of(consumers)
        every = {writer for of in writers.values() for writer in of}
        settled = read_spans(coverage, settled_until).get("log_events", {})
        spans = watched(consumers, function_settings, settled, written.shows_starts)
        self._watch = Watch(spans, writers, {writer: written.blind_starts(writer) for writer in every})
        spans = watched(consumers, function_settings, settled, written.shows_starts, ("lambda", "worker"))
        self._named = Watch(spans, writers, {writer: written.blind_starts(writer) for writer in every})
        self._work = Watch(spans, writers, {writer: written.workable_starts(writer) for writer in every})
        self._read_workers = read_workers(consumers, settled)
        self._unread = unread(consumers, logs)
        self._measured = measured(consumers, read.get("metric_points", {}))
        self._stretches = self._counted(event_source_mappings, points, runs or {}, read.get("metric_points", {}))
        self._throttles = throttles_of(consumers, points)
        self._longest_throttle = max((t.until - t.at for found in self._throttles.values() for t in found), default=0)
        self._dead_letter_signs = _dead_letter_signs(sources, points)
        self.polls = Polls(points)
        self._moves = moves_of(move_tasks, sources)
        self._moves_known = moves_asked(sources, read.get("move_tasks", {})) | set(self._moves)
        self.has_move_tasks = bool(self._moves)
        self.moves: Mapping[str, Spans] = self._moves
        self._functions = functions_of(consumers)

    def _take_calls(self, rows: Sequence[Row]) -> None:
        self.calls = Calls(rows, self._read_calls, self._recorded)
        self.sends = Sends(rows, self._read_calls, self._producers)

    def with_calls(self, rows: Sequence[Row]) -> "Surroundings":
        """Return the same with the recorded calls that some works ask for (rows of ``send_records``)."""
        with_calls = copy(self)
        with_calls._take_calls(rows)
        return with_calls

    def is_queue_known(self, delivery: Delivery) -> bool:
        """Tell whether anything says from which queue a delivery came; else its log group stands for the queue."""
        return delivery.queue_arn != delivery.log_group or self.queues_of(delivery) == {delivery.queue_arn}

    def is_of_one_queue(self, delivery: Delivery) -> bool:
        """Tell whether a key stands for one work there: the queue is known, or is one of a queue and its dead-letter queue."""
        if self.is_queue_known(delivery):
            return True
        told = self.queues_of(delivery)
        return len({arn for arn in told if told.isdisjoint(self.dead_letter_sources.get(arn, ()))}) == 1

    def queues_of(self, delivery: Delivery) -> Set[str]:
        """Return the queues that a delivery's function or worker consumes, as far as anything tells; another may write to its log group."""
        names = (delivery.function_name, delivery.log_group)
        return frozenset().union(*(self._queues.get(name or "", ()) for name in names))

    def read_span(self, log_group: str) -> tuple[int, int] | None:
        """Return from when until when a log group was read, its lines included; None where it has no lines."""
        return self._borders.get(log_group)

    def shows_guard_lines(self, log_group: str | None, function_name: str | None) -> bool:
        """Tell whether some line of a function or worker is of an idempotency library."""
        mine = self._guarding
        return bool(mine) and ((log_group, function_name) in mine or (log_group, None) in mine)

    def shows_no_effect(self, log_group: str, function_name: str | None) -> bool:
        """Tell whether no line at all of a function or worker is an effect's, as the settings have it."""
        return (log_group, function_name) in self._without_effects

    def tells_effect_once(self, log_group: str | None) -> bool:
        """Tell whether nearly every handling of a worker's log group that tells its effect does so once."""
        return log_group in self._telling_once

    def order_of(self, log_group: str, function_name: str | None) -> Order:
        """Return in which order a function takes its batches, as far as its runs let infer."""
        return self._orders.get((log_group, function_name), Order())

    def _counted(
        self,
        mappings: Sequence[Row],
        points: Sequence[Row],
        runs: Mapping[str, Sequence[Run]],
        read: Mapping[str, Spans],
    ) -> dict[tuple[str, str], list[Stretch]]:
        """Return by queue and function the stretches in which a mapping's counts and its logs were read in full."""
        of_mapping: dict[str, list[Row]] = {}
        for point in points:
            if point["metric"] in EVENT_COUNTS:
                of_mapping.setdefault(point["resource"], []).append(point)
        names = {row["mapping_uuid"]: (row["queue_arn"], row["function_name"]) for row in mappings}
        found: dict[tuple[str, str], list[Stretch]] = {}
        for uuid, mine in sorted(of_mapping.items()):
            if uuid in names and uuid in runs:
                watched = self._watch.spans.get(names[uuid][0], NONE)
                told = stretches(runs[uuid], mine, common_to([read.get(uuid, NONE), watched]))
                found.setdefault(names[uuid], []).extend(told)
        return {name: sorted(told, key=lambda one: one.span) for name, told in found.items()}

    def was_given_back(self, delivery: Delivery) -> tuple[bool | None, Sequence[str]]:
        """Tell whether a message whose run succeeded had been given back if it came again, and by which points."""
        told = self._stretches.get((delivery.polled_arn, delivery.function_name or ""), [])
        ended_at = delivery.run_ended_at
        if not told or ended_at is None:
            return None, ()
        place = bisect_right(told, ended_at, key=_start_of) - 1
        if place < 0 or told[place].end < ended_at:
            return None, ()
        was_given_back = told[place].was_given_back(bool(delivery.is_fifo))
        return was_given_back, () if was_given_back is None else told[place].evidence_ids

    def throttled(self, queue_arn: str, start: int | None, end: int | None) -> tuple[bool | None, list[str]]:
        """Tell whether a function of the queue was throttled in a span, and by which points; None where nobody looked."""
        if start is None or end is None:
            return None, []
        found = [t.evidence_id for t in self._throttles_between(queue_arn, start, end)]
        if found:
            return True, sorted(set(found))
        return (False if self._measured.get(queue_arn, NONE).hold(start, end) else None), []

    def _throttles_between(self, queue_arn: str, start: int, end: int) -> list[Throttle]:
        points = self._throttles.get(queue_arn, [])
        first = bisect_left(points, start - self._longest_throttle, key=_begin)
        return [t for t in points[first : bisect_right(points, end, key=_begin)] if t.until >= start]

    def is_watched(self, queue_arn: str, after: int | None, before: int | None) -> bool:
        """Tell whether the logs would have shown an invocation between two moments, had there been one.

        Only where every consumer of the queue is a Lambda function whose log shows STARTs and was read in full from
        the one to the other, when no event could still come late, no invocation in between hides its batch, and they are at
        most 24 hours apart.
        """
        return self._watch.holds(queue_arn, after, before)

    def shows_all_work(
        self, queue_arn: str, after: int | None, before: int | None, own_starts: Sequence[int] = ()
    ) -> bool:
        """Tell whether the logs would have shown a message's work between two moments, if not who had it: as ``is_watched``.

        An invocation in between may hide its batch if it surely did no work of which it prints nothing, or is one that is
        known to have had the message (``own_starts``). Workers may take messages too, where each handling shows how it was opened.
        """
        return self._work.holds(queue_arn, after, before, own_starts)

    def names_messages(
        self, queue_arn: str, after: int | None, before: int | None, own_starts: Sequence[int] = ()
    ) -> bool:
        """Tell whether the logs would have named a message that was received between two moments: as ``shows_all_work``."""
        return self._named.holds(queue_arn, after, before, own_starts)

    def hides_no_work(self, queue_arn: str) -> bool:
        """Tell whether every run of a queue's consumers that was read, at any time, names each message it had, or shows all it did."""
        return self._work.hides_nothing(queue_arn)

    def are_workers_read(self, queue_arn: str, after: int | None, before: int | None) -> bool:
        """Tell whether no function consumes the queue, and the log groups of all its workers were read between two moments.

        Like ``is_watched`` it counts what was read when no event could still come late.
        """
        return self._read_workers.get(queue_arn, NONE).hold(after, before)

    def may_have_been_missed(self, queue_arn: str, after: int, before: int | None, log_group: str) -> bool:
        """Tell whether some consumer of a queue may have received between two moments (None: ever since) without a line that was read.

        Looked for as far as one of their log groups was read: all beyond that is later than what was looked at.
        """
        if (span := self._borders.get(log_group)) is None:
            return False
        return bool(self._unread_between(queue_arn, after, span[1] if before is None else min(before, span[1])))

    def _unread_between(self, queue_arn: str, after: int, before: int) -> list[Span]:
        return [(low, high) for low, high in self._unread.get(queue_arn, NONE).between(after, before) if low < high]

    def has_dead_letter_sign(self, dead_letter_queue_arn: str | None, hidden_until: int | None) -> bool:
        """Tell whether a dead-letter queue held a message soon after a timeout: a sign, for metrics carry no message ids."""
        return self._dead_letter_signs.get(dead_letter_queue_arn or "", NONE).hold(hidden_until, hidden_until)

    def was_polled(self, queue_arn: str, at: int, until: int) -> bool:
        """Tell whether somebody polled a queue at a moment or later, as far as it was looked at (``until``).

        Its metrics count polls, in vain or not; and an event source mapping that is enabled goes on polling: soon after it did so, too.
        """
        if self.polls.after(queue_arn, at):
            return True
        states = (self.in_force.mapping(queue_arn, function, at) for function in self.in_force.fed_by(queue_arn))
        return until - at >= _SETTLE_US and any(
            state is not None and state.get("state") == "Enabled" for state in states
        )

    def was_moved(self, queue_arn: str, sent_at: int | None) -> bool | None:
        """Tell whether a move task into the queue was on at a moment; None where nobody asked for its move tasks."""
        if queue_arn not in self._moves_known:
            return None
        return self._moves.get(queue_arn, NONE).hold(sent_at, sent_at)

    def bearing(
        self, queues: Iterable[str], log_groups: Iterable[str], low: int, high: int, functions: Iterable[str] = ()
    ) -> str:
        """Return as text all that can bear on a work of these queues and log groups, all of whose times lie in a span.

        The times of a work are every one that judging looks at: sent, received, hidden until, the end of a run, before and
        after an unlogged receive; ``low`` is the first of them, ``high`` the last. The same text, the same answers: what was
        read of other times does not show in it, but for whether a consumer ever hid what it had. Throttling is asked for one visibility timeout before a receive. Where a
        log group's reading begins and ends is compared with moments up to two visibility timeouts after a receive, and
        of queues with a dead-letter queue a quarter of an hour: what lies farther out counts as just out of reach, and so do polls after the last moment. Whether
        every run was named is asked for two visibility timeouts before the first receive and after the last, and a consumer whose
        log was not read for as long after the last, or as long as a run may last, as far as each of the groups was read; beyond the last, whether any was not, ever since.
        ``functions`` are those that lines name and no consumer of these queues and groups is known to be.
        """
        queue_arns, groups = sorted(set(queues)), sorted(set(log_groups))
        states = [row for arn in queue_arns for row in self.in_force.queues_between(arn, low, high)]
        hidden_s, holds_s = _visibility(queue_arns, states)
        reach = 2 * hidden_s * _SECOND + _MILLISECOND
        since = low - holds_s * _SECOND
        calls = {
            arn: [
                *self._recorded.bearing(arn, since, high + reach),
                self._read_calls.get(arn, NONE).between(since, high + reach),
                self.sends.bearing(arn, since, high + reach),
            ]
            for arn in queue_arns
        }
        if any(told[0] for told in calls.values()):  # a call may have hidden a message for longer
            reach = max(reach, LONGEST_VISIBILITY_S * _SECOND)
        names = {*functions, *(f for name in (*queue_arns, *groups) for f in self._functions.get(name, ()))}
        names.update(f for arn in queue_arns for f in self.in_force.fed_by(arn))
        far = high + max(2 * holds_s, LONGEST_FUNCTION_TIMEOUT_S) * _SECOND
        read_until = [self._borders[group][1] for group in groups if group in self._borders]
        dead = sorted({row["dead_letter_queue_arn"] for row in states if row["dead_letter_queue_arn"]})
        read_for = max(reach, _SETTLE_US + _MILLISECOND if dead else 0)
        told = {
            "settings": self.in_force.bearing(low, high, queue_arns, names),
            "calls": calls,
            "stops": self.task_stops.bearing(low, high),
            "guards": self.guard_records.bearing({*names, *groups}, queue_arns, low, high),
            "queues": {arn: self._of_queue(arn, since, low, high, reach, far, read_until) for arn in queue_arns},
            "dead letters": {arn: self._dead_letter_signs.get(arn, NONE).between(low, high) for arn in dead},
            "final": self.finality.bearing(queue_arns, groups, low - reach, high + reach),
            "reads": {name: sorted(self._queues.get(name, ())) for name in sorted({*names, *groups})},
            "log groups": {group: self._of_group(group, low - reach, high + read_for) for group in groups},
        }
        return json.dumps(told, sort_keys=True)

    def _of_queue(
        self, queue_arn: str, since: int, low: int, high: int, reach: int, far: int, read_until: Sequence[int]
    ) -> list[Any]:
        is_known = queue_arn in self._moves_known
        return [
            self.dead_letter_sources.get(queue_arn),
            sorted(name for arn, name in self.consumed if arn == queue_arn),
            self._throttles_between(queue_arn, since, high),
            self._measured.get(queue_arn, NONE).between(since, high),
            self._watch.bearing(queue_arn, low - reach, high + reach),
            self._named.bearing(queue_arn, low - reach, high + reach),
            self._work.bearing(queue_arn, low - reach, high + reach),
            self._work.hides_nothing(queue_arn),
            self._read_workers.get(queue_arn, NONE).between(low, high),
            [self._unread_between(queue_arn, low, min(until, far)) for until in read_until],
            [bool(self._unread_between(queue_arn, high, until)) for until in read_until],
            self._moves.get(queue_arn, NONE).between(low, high) if is_known else None,
            self.polls.bearing(queue_arn, low, high),
            [
                (function, stretch)
                for (arn, function), told in sorted(self._stretches.items())
                if arn == queue_arn
                for stretch in told
                if stretch.start <= high and stretch.end >= low
            ],
        ]

    def _of_group(self, log_group: str, low: int, high: int) -> list[Any]:
        borders = self._borders.get(log_group)
        return [
            borders and [min(max(border, low), high) for border in borders],
            sorted(str(function) for group, function in self._guarding if group == log_group),
            sorted(str(function) for group, function in self._without_effects if group == log_group),
            log_group in self._telling_once,
            sorted((str(function), *order) for (group, function), order in self._orders.items() if group == log_group),
        ]


def _begin(throttle: Throttle) -> int:
    return throttle.at


def _start_of(stretch: Stretch) -> int:
    return stretch.start


def _visibility(queue_arns: Sequence[str], states: Sequence[Row]) -> tuple[int, int]:
    """Return the longest visibility timeout known of some queues, and how long a poller may have held their messages."""
    known = [row["visibility_timeout_s"] for row in states if row["visibility_timeout_s"] is not None]
    longest = max(known, default=0)
    has_all = len(known) == len(states) and {row["queue_arn"] for row in states} >= set(queue_arns)
    return longest, longest if has_all else max(longest, LONGEST_VISIBILITY_S)


def _dead_letter_signs(dead_letter_queue_arns: Iterable[str], points: Iterable[Row]) -> dict[str, Spans]:
    """Return the times after which a message is known to have been in a dead-letter queue within the settling time."""
    arns = {queue_name(arn): arn for arn in sorted(dead_letter_queue_arns)}
    found: dict[str, list[tuple[int, int]]] = {}
    for point in points:
        is_depth = point["metric"] == "ApproximateNumberOfMessagesVisible" and point["value"] > 0
        if is_depth and (arn := arns.get(point["resource"])):
            begin, end = period_of(point)
            found.setdefault(arn, []).append((begin - _SETTLE_US, end))
    return {arn: Spans(spans) for arn, spans in found.items()}
