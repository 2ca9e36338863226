"""Reads runs with their lines out of a lake: those that failed, those that repeat work, and a fixed sample of the others."""

import heapq
import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace
from itertools import accumulate, islice
from zlib import crc32

from forensics.clock import micros, moment
from forensics.lake import Findings
from forensics.lake.filters import between, equals, is_missing, one_of
from forensics.lake.rows import distinct_values, plain_rows, rows_where
from forensics.parsers import parse_line
from forensics.parsers.grammar import UUID
from forensics.parsers.mentions import is_taking
from forensics.parsers.sqs_records import Record
from forensics.parsers.threads import thread_of
from forensics.run_ends import CUT_OFF
from forensics.suggestions.keys import body_values, with_telling_values
from forensics.suggestions.model import MESSAGE_ID, Item, Line, RunLines
from forensics.tables.evidence import LOG_EVENTS
from forensics.tables.findings import DELIVERIES, INVOCATIONS

MOST_SAMPLED, MOST_FAILED, MOST_REPEATED = 1_500, 500, 1_000
"""Runs that are read: of those that ended well, that did not, and of messages that came again."""
_NOT_PRINTED = 1 << 30
"""Stands for the place of a message whose batch no line shows: it comes where a line first names it."""
OWN_KINDS = ("app", "other")
"""Kinds of lines that a handler prints itself."""
_LEAST_IN_HAND = 0.95
_ID = re.compile(UUID)
_COLUMNS = [
    "consumer",
    "consumer_kind",
    "log_group",
    "log_stream",
    "message_id",
    "batch_position",
    "receive_count",
    "deduplication_id",
    "delivery_index",
    "run_ended_at",
    "run_status",
]


def runs_of(findings: Findings, queue_arn: str) -> list[RunLines]:
    """Return the runs of a queue's consumers that were chosen, with their lines.

    Deliveries and log events are gone through in batches; only what was chosen is held. Which runs are chosen hangs on their
    ids alone.
    """
    runs, places = _without_lines(findings, queue_arn, _chosen(findings, queue_arn))
    fill(findings, runs, places)
    return with_telling_values([run for run in runs if run.items])


def _chosen(findings: Findings, queue_arn: str) -> set[str]:
    """Choose runs by the ids of their consumers."""
    of_queue = equals("queue_arn", queue_arn)
    failed, others = Smallest(MOST_FAILED), Smallest(MOST_SAMPLED)
    for batch in findings.scan(DELIVERIES, ["consumer", "run_status"], of_queue & ~is_missing("consumer")):
        for consumer, status in distinct_values(batch):
            (failed if status in CUT_OFF else others).add(consumer)
    came_again = findings.scan(DELIVERIES, ["item_id"], of_queue & ~equals("delivery_index", 1))
    again = {*islice((item for batch in came_again for item in batch.column("item_id").to_pylist()), MOST_REPEATED)}
    chosen = {*failed.names(), *others.names()}
    for batch in findings.scan(DELIVERIES, ["consumer"], of_queue & one_of("item_id", again)):
        chosen |= {consumer for consumer in batch.column("consumer").to_pylist() if consumer}
    return chosen


def are_in_hand(runs: Iterable[RunLines]) -> bool:
    """Tell whether (nearly) every run has been handed its messages for sure: it printed them, or says of one that it takes it.

    Who merely names a message may have sent it.
    """
    told = [_has_in_hand(run) for run in runs]
    return sum(told) >= _LEAST_IN_HAND * len(told)


def _has_in_hand(run: RunLines) -> bool:
    is_printed = any(item.receive_count is not None or len(item.values) > 1 for item in run.items)
    return is_printed or any(is_taking(line.text) for line in run.lines)


class Smallest:
    """Of names that are added one by one those with the smallest checksums, so many and no more: a sample that hangs on the names alone."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._found: dict[str, int] = {}

    def add(self, name: str) -> None:
        """Count a name in, however often it comes."""
        self._found[name] = crc32(name.encode())
        if len(self._found) > 4 * self._most:
            self._found = {kept: self._found[kept] for kept in self.names()}

    def names(self) -> list[str]:
        """Return them by their checksums."""
        return heapq.nsmallest(self._most, self._found, lambda name: (self._found[name], name))


def unended_of(findings: Findings, queue_arn: str, log_group: str) -> int:
    """Return how many runs of a log group had messages of a queue, and have no line that tells how they ended."""
    where = equals("queue_arn", queue_arn) & equals("log_group", log_group) & equals("run_status", "unknown")
    found: set[str] = set()
    for batch in findings.scan(DELIVERIES, ["consumer"], where & ~is_missing("consumer")):
        found |= {*batch.column("consumer").to_pylist()}
    return len(found)


def share_naming(findings: Findings, queue_arn: str, log_group: str, function: str) -> float:
    """Return in which share of a function's runs that ended well lines name any message of a queue, from 0 to 1."""
    ended_well = equals("queue_arn", queue_arn) & equals("log_group", log_group)
    naming: set[str] = set()
    where = ended_well & equals("run_status", "success") & ~is_missing("consumer")
    for batch in findings.scan(DELIVERIES, ["consumer"], where):
        naming |= {*batch.column("consumer").to_pylist()}
    where = ended_well & equals("end_status", "success") & equals("function_name", function)
    runs = sum(batch.num_rows for batch in findings.scan(INVOCATIONS, ["invocation_id"], where))
    return len(naming) / max(runs, len(naming), 1)


def _without_lines(
    findings: Findings, queue_arn: str, chosen: Iterable[str]
) -> tuple[list[RunLines], dict[tuple[str, str], list[int]]]:
    """Return the chosen runs, and per log group and stream the places of its runs by time."""
    found: dict[str, RunLines] = {}
    streams: dict[str, tuple[str, str]] = {}
    where = equals("queue_arn", queue_arn) & one_of("consumer", chosen)
    for batch in findings.scan(DELIVERIES, _COLUMNS, where):
        for row in plain_rows(batch):
            if row["run_ended_at"] is None or row["message_id"] is None:
                continue
            name = row["consumer"]
            run = found.setdefault(
                name,
                RunLines(
                    name,
                    row["log_group"],
                    row["run_status"],
                    _start_of(name),
                    micros(row["run_ended_at"]),
                    log_stream=row["log_stream"],
                ),
            )
            streams[name] = row["log_group"], row["log_stream"]
            place = row["batch_position"] or _NOT_PRINTED
            message_id = row["message_id"]
            values = {message_id: MESSAGE_ID}
            told = row["receive_count"], row["deduplication_id"], row["delivery_index"]
            run.items.append(Item(message_id, place, values, *told))
    runs = sorted(found.values(), key=lambda run: (run.started_at, run.run_id))
    places: dict[tuple[str, str], list[int]] = defaultdict(list)
    for place, run in enumerate(runs):
        run.items.sort(key=lambda item: item.position)
        places[streams[run.run_id]].append(place)
    return runs, places


def fill(findings: Findings, runs: list[RunLines], places: dict[tuple[str, str], list[int]]) -> None:
    """Give each run the lines of its stream between its start and its end, and its items what their bodies hold."""
    if not runs:
        return
    of_stream = {stream: _Stream(mine, runs) for stream, mine in places.items()}

    def is_in_run(log_group: str, log_stream: str, at: int) -> bool:
        stream = of_stream.get((log_group, log_stream))
        return stream is not None and stream.is_in_run(at)

    first, last = min(run.started_at for run in runs), max(run.ended_at for run in runs)
    where = one_of("log_group", {group for group, _ in places}) & one_of("log_stream", {name for _, name in places})
    where &= between("logged_at", moment(first), moment(last))
    columns = ["log_group", "log_stream", "logged_at", "order_in_ms", "line"]
    for batch in findings.scan(LOG_EVENTS, columns, where):
        for row in rows_where(batch, ["log_group", "log_stream", "logged_at"], is_in_run):
            stream = of_stream[row["log_group"], row["log_stream"]]
            stream.lines.append((micros(row["logged_at"]), row["order_in_ms"], row["line"]))
    for stream in of_stream.values():
        for place, lines in stream.lines_of_runs().items():
            _read(runs[place], lines)


class _Stream:
    """Runs of one log stream, by their start, and the lines in any of them; runs of a worker with threads lie over one another."""

    def __init__(self, places: list[int], runs: list[RunLines]) -> None:
        self._places, self._runs = places, runs
        self._starts = [runs[place].started_at for place in places]
        self._ends = [*accumulate((runs[place].ended_at for place in places), max)]
        self._is_shared = any(end >= start for end, start in zip(self._ends, self._starts[1:], strict=False))
        self.lines: list[tuple[int, int, str]] = []
        """Those in any run: when (microseconds since the epoch) and at which place in its millisecond, and the text."""

    def is_in_run(self, at: int) -> bool:
        """Tell whether any run was on at a time, in microseconds since the epoch."""
        begun = bisect_right(self._starts, at)
        return bool(begun) and self._ends[begun - 1] >= at

    def lines_of_runs(self) -> dict[int, list[tuple[int, int, str]]]:
        """Return the lines of each run. Where several were on, a line is of that whose message it names, else of its thread's."""
        found: dict[int, list[tuple[int, int, str]]] = defaultdict(list)
        at_hand: dict[str | None, int] = {}
        begun, on = 0, list[int]()
        for line in sorted(self.lines, key=lambda line: line[:2]):
            at, _, text = line
            now = bisect_right(self._starts, at)
            on = [n for n in (*self._places[begun:now][::-1], *on) if self._runs[n].ended_at >= at]
            begun, mine = now, on
            if self._is_shared:
                thread = thread_of(text)
                values = {value.lower() for value in _ID.findall(text)}
                named = [n for n in on if any(item.message_id in values for item in self._runs[n].items)]
                of_thread = [n for n in named or on if at_hand.get(thread) == n]
                first = [n for n in named if self._runs[n].started_at == at]
                # what a job sends has a line, too, and no end
                ended = [n for n in on if self._runs[n].status != "unknown"]
                mine = first or of_thread or named or ended or on
                if named and thread is not None:
                    at_hand[thread] = mine[0]
            found[mine[0]].append(line)
        return found


def told_once(lines: Iterable[tuple[int, int, str]]) -> list[Line]:
    """Return lines of one stream, given with their places in their milliseconds, in order: what is there twice was delivered twice."""
    return [*dict.fromkeys(Line(at, text) for at, _, text in sorted(lines, key=lambda line: line[:2]))]


def _read(run: RunLines, lines: list[tuple[int, int, str]]) -> None:
    bodies: dict[str, str | None] = {}
    for at, text in told_once(lines):
        said = parse_line(text)
        if said.records is not None:
            bodies |= {record.message_id.lower(): record.body for record in said.records if record.message_id}
        failures = [*(said.batch_item_failures or ()), said.given_back or ""]
        run.named_failures |= {failed.lower() for failed in failures if failed}
        if said.kind in OWN_KINDS and not any(map(_is_handed_out, said.records or ())):
            run.lines.append(Line(at, text))
    named = {item.message_id: _NOT_PRINTED for item in run.items}
    for place, line in enumerate(run.lines):
        for value in _ID.findall(line.text):
            if named.get(value.lower()) == _NOT_PRINTED:
                named[value.lower()] = place
    in_order = sorted(run.items, key=lambda item: (item.position, named[item.message_id]))
    run.items = [
        replace(
            item,
            position=number if item.position == _NOT_PRINTED else item.position,
            values={**body_values(bodies.get(item.message_id)), **item.values},
        )
        for number, item in enumerate(in_order, 1)
    ]


def _is_handed_out(record: Record) -> bool:
    """Tell whether a printed record tells more than a line would that merely names a message and its receipt handle."""
    return record.position is not None or record.body is not None or record.body_md5 is not None


def _start_of(consumer: str) -> int:
    return int(consumer.rpartition("|")[2].partition(".")[0]) * 1000
