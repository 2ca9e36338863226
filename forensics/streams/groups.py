"""Who writes each log group: a function's runs or a worker's handlings, for which queue, and how long a silence parts them.

Functions may share a log group (LoggingConfig). Then each stream is one function's, and what is declared of a function holds
for its streams alone.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

from forensics.identity import queue_name
from forensics.parsers.grammar import Pattern
from forensics.queue_names import arns_of_names, consumers_with_arns
from forensics.settings import Consumer, Settings
from forensics.streams.model import LogGroup

LAMBDA, WORKER = "lambda", "worker"
UNKNOWN_RUN_MS, UNKNOWN_VISIBILITY_S = 30_000, 30
"""How long a run is taken to be at most, and a message to be hidden, where no settings tell."""
_OF_VISIBILITY = 900
"""Milliseconds of silence per second of visibility timeout: a little less, for lines are stamped with some delay."""
_LAMBDA_PREFIX = "/aws/lambda/"
LAMBDA_STREAM = Pattern(
    "lambda_stream",
    r"^[0-9]{4}/[0-9]{2}/[0-9]{2}/"
    r"(?P<function_name>[A-Za-z0-9_-]{0,140}+)"  # in the JSON format, and in a group of the team's choice
    r"\[(?P<version>[^\[\]]{1,140}+)\]"
    r"[0-9a-f]{32}(?![\s\S])",
)
"""How Lambda names the stream of an execution environment.

>>> LAMBDA_STREAM.find("2025/01/07/worker10[$LATEST]002cf7829acf404ea7f6995e1910b96b", "function_name")
'worker10'
"""
LATEST_CODE = "$LATEST"
"""The version of a run that was asked for by no version and no alias, or by this name."""

Row = Mapping[str, Any]


class LogGroups(Mapping[str, LogGroup]):
    """What is known of each log group by its name, and of each stream (``of``)."""

    def __init__(
        self,
        groups: Mapping[str, LogGroup],
        writers: Mapping[tuple[str, str | None], LogGroup] | None = None,
        functions: Mapping[tuple[str, str], str] | None = None,
        declared: Mapping[str, Consumer] | None = None,
    ) -> None:
        """``writers`` are by log group and function, None standing for one that nothing else speaks of; ``functions`` by log
        group and stream, as platform events name them; ``declared`` is what the settings file says of functions.
        """  # noqa: D205
        self._groups, self._writers = dict(groups), dict(writers or {})
        self._functions, self._declared = dict(functions or {}), dict(declared or {})

    def __getitem__(self, log_group: str) -> LogGroup:
        return self._groups[log_group]

    def __iter__(self) -> Iterator[str]:
        return iter(self._groups)

    def __len__(self) -> int:
        return len(self._groups)

    def of(self, log_group: str, log_stream: str) -> LogGroup:
        """Return what is known of who writes a stream.

        A function's stream is that of the function it is named after; a stream that Lambda named after none, in a group that
        Lambda named, is of that group's; any other is of the function its platform events name, else of the only one known.
        """
        group = self._groups[log_group]
        if group.kind != LAMBDA:
            return group
        named = LAMBDA_STREAM.compiled.search(log_stream)
        function = named and (named["function_name"] or _function_in(log_group))
        return self.written_by(log_group, function or self._functions.get((log_group, log_stream)))

    def written_by(self, log_group: str, function_name: str | None) -> LogGroup:
        """Return what is known of a group where a function writes it."""
        group = self._groups[log_group]
        if function_name is None or function_name == group.function_name:
            return group
        if known := self._writers.get((log_group, function_name)):
            return known
        declared = self._declared.get(function_name, Consumer())
        stranger = self._writers.get((log_group, None)) or LogGroup(log_group, LAMBDA)
        return replace(stranger, function_name=function_name, consumer=declared)


def log_groups_of(
    settings: Settings,
    consumers: Sequence[Row],
    function_settings: Sequence[Row],
    queue_settings: Sequence[Row],
    present: Mapping[str, bool],
    functions: Mapping[tuple[str, str], str] | None = None,
    versions: Mapping[str, Collection[str]] | None = None,
) -> LogGroups:
    """Return what is known of each log group that has lines; ``present`` tells of each whether platform lines are among them.

    The other arguments are the settings file, the rows of the evidence tables, by log group and stream the one function that
    platform events name, and by log group the versions that START lines say in streams that Lambda did not name. A group is a function's or a worker's as its consumers say; where they say nothing, or both,
    by its name, else by the START, END and REPORT that only functions' groups hold. Function and queue are those that all
    consumers of the group agree on.
    """
    told = _Told(settings, consumers, function_settings, queue_settings)
    latest = {name: set(found) == {LATEST_CODE} for name, found in (versions or {}).items() if found}
    groups = {
        name: replace(told.group(name, has_platform), runs_latest=latest.get(name))
        for name, has_platform in sorted(present.items())
    }
    names = [(group, function) for group in groups for function in (None, *sorted(told.functions.get(group, ())))]
    writers = {name: replace(told.function(*name), runs_latest=latest.get(name[0])) for name in names}
    return LogGroups(groups, writers, functions, told.declared)


def runs_latest(group: LogGroup, log_stream: str | None) -> bool | None:
    """Tell whether the runs of a stream are of the last code, which no version or alias names; None where nothing says so."""
    version = _version_in(log_stream or "")
    return group.runs_latest if version is None else version == LATEST_CODE


@lru_cache(maxsize=10_000)
def _version_in(log_stream: str) -> str | None:
    return LAMBDA_STREAM.find(log_stream, "version")


def with_kinds(consumers: Iterable[Row], settings: Settings) -> list[Row]:
    """Return rows of ``consumers``, each of a log group that the settings file says is a worker's with that kind.

    An import that was told only a log group's queue does not know who writes there.
    """
    workers = {worker.log_group for worker in settings.workers}
    return [
        {**row, "kind": WORKER} if row["kind"] is None and row["log_group"] in workers else dict(row)
        for row in consumers
    ]


class _Told:
    """What settings file, consumers and snapshots say of log groups, functions and queues."""

    def __init__(
        self,
        settings: Settings,
        consumers: Sequence[Row],
        function_settings: Sequence[Row],
        queue_settings: Sequence[Row],
    ) -> None:
        self.declared = {consumer.name or "": consumer for consumer in settings.functions}
        self.workers = {consumer.log_group or "": consumer for consumer in settings.workers}
        arn_by_name: dict[str, str] = {row["queue_name"]: row["queue_arn"] for row in _in_time(queue_settings)}
        for row in consumers:
            arn_by_name.setdefault(row["queue_name"], row["queue_arn"])
        self.kinds: dict[str, set[str]] = {}
        self.functions: dict[str, set[str]] = {}
        self.queues: dict[tuple[str, str | None], set[str]] = {}
        for row in consumers_with_arns(consumers, arns_of_names(consumers, queue_settings)):
            group, function = row["log_group"], row["function_name"]
            self.kinds.setdefault(group, set()).add(row["kind"])
            self.queues.setdefault((group, function or None), set()).add(str(row["queue_arn"]))
            if function:
                self.functions.setdefault(group, set()).add(function)
        for name, groups in self._homes(consumers, function_settings).items():
            for group in groups:
                self.kinds.setdefault(group, set()).add(LAMBDA)
                self.functions.setdefault(group, set()).add(name)
        for group, consumer in self.workers.items():
            self.kinds.setdefault(group, set()).add(WORKER)
            if consumer.queue:
                queue = arn_by_name.get(consumer.queue, consumer.queue)
                self.queues.setdefault((group, None), set()).add(queue)
        self._timeouts_s: dict[tuple[str, str], int] = {}
        for row in _in_time(function_settings):
            self.functions.setdefault(row["log_group"], set()).add(row["function_name"])
            if row["timeout_s"]:
                self._timeouts_s[row["log_group"], row["function_name"]] = row["timeout_s"]
        snapshots = [row for row in _in_time(queue_settings) if row["visibility_timeout_s"]]
        self._hidden_s = {row["queue_arn"]: row["visibility_timeout_s"] for row in snapshots}
        self._hidden_by_name_s = {row["queue_name"]: row["visibility_timeout_s"] for row in snapshots}

    def _homes(self, consumers: Sequence[Row], function_settings: Sequence[Row]) -> dict[str, set[str]]:
        """Return where each declared function logs: where anything says so, else in the group that Lambda names for it."""
        found: dict[str, set[str]] = {}
        for row in (*function_settings, *consumers):
            if row["function_name"] in self.declared:
                found.setdefault(row["function_name"], set()).add(row["log_group"])
        return {name: found.get(name, {f"{_LAMBDA_PREFIX}{name}"}) for name in self.declared}

    def group(self, name: str, has_platform: bool) -> LogGroup:
        """Return what holds for the whole of a log group."""
        kind = _only(self.kinds.get(name)) or (LAMBDA if has_platform or name.startswith(_LAMBDA_PREFIX) else WORKER)
        queue = _only({arn for (group, _), arns in self.queues.items() if group == name for arn in arns})
        if kind == WORKER:
            named = queue_name(queue) or ""
            silence_ms = self._hidden_by_name_s.get(named, UNKNOWN_VISIBILITY_S) * _OF_VISIBILITY
            is_known = named in self._hidden_by_name_s
            return LogGroup(
                name, kind, _only(self.functions.get(name)), queue, self._worker(name), silence_ms, is_known
            )
        function = _only(self.functions.get(name)) or (_function_in(name) if name not in self.functions else None)
        silence_ms = self._silence_ms(self._timeouts_of(name, function), queue)
        consumer = self.declared.get(function or "", Consumer())
        return LogGroup(name, kind, function, queue, consumer, silence_ms)

    def function(self, name: str, function: str | None) -> LogGroup:
        """Return what holds for one function's streams in a log group; None: for a function that nothing else speaks of."""
        queue = _only(self.queues.get((name, function)) or self.queues.get((name, None)))
        timeout_s = self._timeouts_of(name, function) if function else None
        consumer = self.declared.get(function or "", Consumer())
        return LogGroup(name, LAMBDA, function, queue, consumer, self._silence_ms(timeout_s, queue))

    def _worker(self, name: str) -> Consumer:
        functions = self.functions.get(name, set())
        return self.workers.get(name) or self.declared.get(_only(functions) or "", Consumer())

    def _timeouts_of(self, name: str, function: str | None) -> int | None:
        mine = [s for (group, f), s in self._timeouts_s.items() if group == name and f == (function or f)]
        return max(mine, default=None)

    def _silence_ms(self, timeout_s: int | None, queue_arn: str | None) -> int:
        """Return how long one run can be silent: its function's timeout, else about one visibility timeout."""
        if timeout_s:
            return timeout_s * 1000
        visibility_s = self._hidden_s.get(queue_arn or "")
        return visibility_s * _OF_VISIBILITY if visibility_s else UNKNOWN_RUN_MS


def functions_of_streams(told: Iterable[tuple[str, str, Collection[str]]]) -> dict[tuple[str, str], str]:
    """Return the one function that platform events name in each stream: of log group, stream and names, part by part."""
    names: dict[tuple[str, str], set[str]] = {}
    for log_group, log_stream, functions in told:
        names.setdefault((log_group, log_stream), set()).update(functions)
    return {stream: name for stream, found in names.items() if (name := _only(found)) is not None}


def _function_in(log_group: str) -> str | None:
    """Return the function that a group of Lambda's own naming belongs to."""
    return (log_group.removeprefix(_LAMBDA_PREFIX) or None) if log_group.startswith(_LAMBDA_PREFIX) else None


def _in_time(snapshots: Iterable[Row]) -> list[Row]:
    """Return snapshots in the order they were taken: the newest says how it is."""
    return sorted(snapshots, key=lambda row: (row["observed_at"], row["evidence_id"]))


def _only(values: Collection[str] | None) -> str | None:
    return next(iter(values)) if values and len(values) == 1 else None
