"""When the logs and metrics of a queue's consumers were read in full, and would have shown what happened."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

from forensics.clock import micros
from forensics.judging.event_counts import EVENT_COUNTS
from forensics.judging.polls import POLLS
from forensics.judging.written import Writer
from forensics.settings_in_force import EARLIEST, LATEST
from forensics.spans import Spans, common_to, without

Row = Mapping[str, Any]

NONE = Spans()
RULE_METRICS = (
    "Throttles",
    "ApproximateNumberOfMessagesVisible",
    "ApproximateAgeOfOldestMessage",
    "NumberOfMessagesDeleted",
    *POLLS,
    *EVENT_COUNTS,
)
"""Metrics whose single points decide something, here or in what is said of an incident."""


def borders(span: tuple[int, int], read: Spans | None) -> tuple[int, int]:
    """Return from when until when a log group was read, given the span of its lines, which count as read."""
    spans = [span, *(read or ())]
    return min(start for start, _ in spans), max(end for _, end in spans)


def groups_of(consumers: Iterable[Row]) -> dict[str, set[str]]:
    """Return the log groups of each queue's consumers."""
    found: dict[str, set[str]] = {}
    for row in consumers:
        found.setdefault(row["queue_arn"], set()).add(row["log_group"])
    return found


def writers_of(consumers: Iterable[Row]) -> dict[str, set[Writer]]:
    """Return who writes lines for each queue."""
    found: dict[str, set[Writer]] = {}
    for row in consumers:
        found.setdefault(row["queue_arn"], set()).add((row["log_group"], row["function_name"]))
    return found


def functions_of(consumers: Iterable[Row]) -> dict[str, set[str]]:
    """Return the functions known to consume each queue and to write each log group."""
    found: dict[str, set[str]] = {}
    for row in consumers:
        if row["function_name"]:
            found.setdefault(row["queue_arn"], set()).add(row["function_name"])
            found.setdefault(row["log_group"], set()).add(row["function_name"])
    return found


def watched(
    consumers: Sequence[Row],
    function_settings: Sequence[Row],
    read: Mapping[str, Spans],
    shows_starts: Callable[[Writer], bool],
    kinds: Collection[str] = ("lambda",),
) -> dict[str, Spans]:
    """Return when every consumer of a queue, all of these kinds, shows how its runs begin, and its log group was read without a gap."""
    hiding = {row["function_name"] for row in function_settings if row["system_log_level"] == "WARN"}
    unwatchable = {
        row["queue_arn"]
        for row in consumers
        if row["kind"] not in kinds
        or row["function_name"] in hiding
        or not shows_starts((row["log_group"], row["function_name"]))
    }
    return {
        queue: common_to([read.get(group, NONE) for group in sorted(groups)])
        for queue, groups in groups_of(consumers).items()
        if queue not in unwatchable
    }


def read_workers(consumers: Sequence[Row], read: Mapping[str, Spans]) -> dict[str, Spans]:
    """Return when the log groups of a queue's workers were all read; only of queues that no function consumes."""
    of_functions = {row["queue_arn"] for row in consumers if row["kind"] == "lambda"}
    return {
        queue: common_to([read.get(group, NONE) for group in sorted(groups)])
        for queue, groups in groups_of(consumers).items()
        if queue not in of_functions
    }


def unread(consumers: Sequence[Row], read: Mapping[str, Spans]) -> dict[str, Spans]:
    """Return when the log group of some consumer of a queue was not read: who received then may have left no line."""
    ever = [(micros(EARLIEST), micros(LATEST))]
    return {
        queue: Spans(span for group in groups for span in without(ever, read.get(group, NONE)))
        for queue, groups in groups_of(consumers).items()
    }


def measured(consumers: Sequence[Row], read: Mapping[str, Spans]) -> dict[str, Spans]:
    """Return when the metric tells of every consumer of a queue; workers are never throttled."""
    kinds: dict[str, set[str]] = {}
    functions: dict[str, set[str]] = {}
    for row in consumers:
        kinds.setdefault(row["queue_arn"], set()).add(row["kind"])
        if row["function_name"]:
            functions.setdefault(row["queue_arn"], set()).add(row["function_name"])
    found = {
        queue: common_to([read.get(function, NONE) for function in sorted(names)]) for queue, names in functions.items()
    }
    ever = Spans([(micros(EARLIEST), micros(LATEST))])
    return found | {queue: ever for queue, of in kinds.items() if of == {"worker"}}
