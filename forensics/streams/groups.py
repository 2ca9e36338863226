"""Who writes each log group: a function's runs or a worker's handlings, for which queue, and how long a silence parts them."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from forensics.settings import Consumer, Settings
from forensics.streams.model import LogGroup

LAMBDA, WORKER = "lambda", "worker"
UNKNOWN_RUN_MS, UNKNOWN_VISIBILITY_S = 30_000, 30
"""How long a run is taken to be at most, and a message to be hidden, where no settings tell."""
_OF_VISIBILITY = 900
"""Milliseconds of silence per second of visibility timeout: a little less, for lines are stamped with some delay."""
_LAMBDA_PREFIX = "/aws/lambda/"

Row = Mapping[str, Any]


def log_groups_of(
    settings: Settings,
    consumers: Sequence[Row],
    function_settings: Sequence[Row],
    queue_settings: Sequence[Row],
    present: Mapping[str, bool],
) -> dict[str, LogGroup]:
    """Return what is known of each log group that has lines; ``present`` tells of each whether platform lines are among them.

    The other arguments are the settings file and the rows of the evidence tables. A group is a function's or a worker's
    as its consumers say; where they say nothing, or both, by its name, else by the START, END and REPORT that only
    functions' groups hold. Function and queue are those that all consumers of the group agree on.
    """
    declared = _declared_consumers(settings, consumers, function_settings)
    arn_by_name = _arn_by_name(queue_settings, consumers)
    kinds, functions, queues = _told_of_groups(settings, consumers, declared, arn_by_name)
    timeouts_s = {row["log_group"]: row["timeout_s"] for row in _in_time(function_settings) if row["timeout_s"]}
    snapshots = [row for row in _in_time(queue_settings) if row["visibility_timeout_s"]]
    hidden_s = {row["queue_arn"]: row["visibility_timeout_s"] for row in snapshots}
    hidden_by_name_s = {row["queue_name"]: row["visibility_timeout_s"] for row in snapshots}
    found = {}
    for name in sorted(present):
        kind = _only(kinds.get(name)) or (LAMBDA if present[name] or name.startswith(_LAMBDA_PREFIX) else WORKER)
        function, queue = _only(functions.get(name)), _only(queues.get(name))
        if kind == LAMBDA:
            function = function or _function_in(name)
            silence_ms = _longest_run_ms(timeouts_s.get(name), hidden_s.get(queue))
        else:
            queue_name = (queue or "").rpartition(":")[2]
            silence_ms = hidden_by_name_s.get(queue_name, UNKNOWN_VISIBILITY_S) * _OF_VISIBILITY
        found[name] = LogGroup(name, kind, function, queue, declared.get(name, Consumer()), silence_ms)
    return found


def _declared_consumers(
    settings: Settings, consumers: Sequence[Row], function_settings: Sequence[Row]
) -> dict[str, Consumer]:
    """Return per log group what the settings file says of who writes it."""
    groups_of: dict[str, set[str]] = {}
    for row in (*function_settings, *consumers):
        if row["function_name"]:
            groups_of.setdefault(row["function_name"], set()).add(row["log_group"])
    found = {}
    for consumer in settings.functions:
        name = consumer.name or ""
        for group in groups_of.get(name, {f"/aws/lambda/{name}"}):
            found[group] = consumer
    for consumer in settings.workers:
        found[consumer.log_group or ""] = consumer
    return found


def _arn_by_name(queue_settings: Sequence[Row], consumers: Sequence[Row]) -> dict[str, str]:
    found = {row["queue_name"]: row["queue_arn"] for row in _in_time(queue_settings)}
    for row in consumers:
        found.setdefault(row["queue_name"], row["queue_arn"])
    return found


def _told_of_groups(
    settings: Settings, consumers: Sequence[Row], declared: Mapping[str, Consumer], arn_by_name: Mapping[str, str]
) -> tuple[dict[str, set[str]], dict[str, set[str]], dict[str, set[str]]]:
    """Return per log group every kind, function and queue that anything names."""
    kinds: dict[str, set[str]] = {}
    functions: dict[str, set[str]] = {}
    queues: dict[str, set[str]] = {}
    for row in consumers:
        group = row["log_group"]
        kinds.setdefault(group, set()).add(row["kind"])
        # An import that was told only a queue's name has no ARN for it; settings may have come since.
        arn = row["queue_arn"]
        queues.setdefault(group, set()).add(arn if ":" in arn else arn_by_name.get(row["queue_name"], arn))
        if row["function_name"]:
            functions.setdefault(group, set()).add(row["function_name"])
    for consumer in settings.functions:
        for group, theirs in declared.items():
            if theirs is consumer:
                kinds.setdefault(group, set()).add(LAMBDA)
                functions.setdefault(group, set()).add(consumer.name or "")
    for consumer in settings.workers:
        group = consumer.log_group or ""
        kinds.setdefault(group, set()).add(WORKER)
        if consumer.queue:
            queues.setdefault(group, set()).add(arn_by_name.get(consumer.queue, consumer.queue))
    return kinds, functions, queues


def _function_in(log_group: str) -> str | None:
    """Return the function that a group of Lambda's own naming belongs to."""
    return (log_group.removeprefix(_LAMBDA_PREFIX) or None) if log_group.startswith(_LAMBDA_PREFIX) else None


def _longest_run_ms(timeout_s: int | None, visibility_s: int | None) -> int:
    """Return how long one run can be silent: its function's timeout, else about one visibility timeout."""
    if timeout_s:
        return timeout_s * 1000
    return visibility_s * _OF_VISIBILITY if visibility_s else UNKNOWN_RUN_MS


def _in_time(snapshots: Iterable[Row]) -> list[Row]:
    """Return snapshots in the order they were taken: the newest says how it is."""
    return sorted(snapshots, key=lambda row: (row["observed_at"], row["evidence_id"]))


def _only(values: set[str] | None) -> str | None:
    return next(iter(values)) if values and len(values) == 1 else None
