"""Incidents of queues whose logs name no message: when runs failed, and how many messages they can have held at most."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from math import fsum
from typing import Any, NamedTuple

from forensics.identity import is_fifo_name
from forensics.incidents.quiet import incident_id, is_after_quiet
from forensics.incidents.ranking import highest, ranked, with_counts
from forensics.judging.finality import Finality
from forensics.judging.written import Writer, may_be_of
from forensics.limits import DEFAULT_VISIBILITY_S, LARGEST_FIFO_BATCH
from forensics.run_ends import CAUSES
from forensics.sentence import joined, said
from forensics.settings_in_force import SettingsInForce
from forensics.verdict.interval import VERDICTS

Row = Mapping[str, Any]

_ENDED = {
    "timeout": "{count} ran into the timeout",
    "error": "{count} raised an error",
    "crash": "{count} crashed",
}

RECEIVED, DELETED = "NumberOfMessagesReceived", "NumberOfMessagesDeleted"


class FailedInvocation(NamedTuple):
    """A run that ended in one of CUT_OFF, of a function that consumes a queue; ``mark_ids`` are the platform's lines of it."""

    queue_arn: str
    queue: str
    log_group: str
    function_name: str | None
    started_at: int
    ended_at: int | None
    end_status: str
    mark_ids: Sequence[str]


class MetricPoint(NamedTuple):
    """A point of one of the metrics RECEIVED and DELETED of a queue, by the queue's name."""

    queue: str
    metric: str
    point_at: int
    period_s: int
    value: float


class _Placed(NamedTuple):
    """A failed run under the settings in force when it started."""

    run: FailedInvocation
    visibility_timeout_s: int | None
    is_fifo: bool
    batch_size: int | None
    function_timeout_s: int | None

    @property
    def at_most(self) -> int | None:
        """How many messages it can have held; None where no settings tell it of a standard queue."""
        return LARGEST_FIFO_BATCH if self.batch_size is None and self.is_fifo else self.batch_size


def blind_queues(consumers: Iterable[tuple[str, Writer]], names_items: Mapping[Writer, bool]) -> set[str]:
    """Return the ARNs of queues none of whose functions' lines name a message.

    ``consumers`` are queue ARN and who writes its lines; ``names_items`` says per log group and function of which there are
    runs whether any line of them names a message or a business key. Of a queue whose functions did not run nothing is said.
    """
    names: dict[str, bool] = {}
    for queue_arn, writer in consumers:
        for told, is_naming in names_items.items():
            if may_be_of(writer, told):
                names[queue_arn] = names.get(queue_arn, False) or is_naming
    return {queue_arn for queue_arn, is_any in names.items() if not is_any}


Owner = tuple[str, str, Writer]
"""ARN and name of a blind queue, and who writes its lines."""


def blind_owners(consumers: Iterable[Row], names_items: Mapping[Writer, bool]) -> dict[str, list[Owner]]:
    """Return by log group whose logs these are, as rows of CONSUMERS say."""
    told = {(r["queue_arn"], r["queue_name"], (r["log_group"], r["function_name"])) for r in consumers}
    in_order = sorted(told, key=str)
    queues = blind_queues([(arn, writer) for arn, _, writer in in_order], names_items)
    owners: dict[str, list[Owner]] = defaultdict(list)
    for owner in in_order:
        if owner[0] in queues:
            owners[owner[2][0]].append(owner)
    return owners


def of_owners(run: Sequence[Any], owners: Iterable[Owner]) -> list[FailedInvocation]:
    """Return a run once for each queue it may be of; ``run`` holds the fields of a FailedInvocation behind the queue's."""
    mine = {(arn, name) for arn, name, writer in owners if may_be_of(writer, (run[0], run[1]))}
    return [FailedInvocation(arn, name, *run) for arn, name in sorted(mine)]


def balance_points(points: Iterable[Row]) -> list[MetricPoint]:
    """Return those of a lake's points that tell what was received and deleted; times in µs."""
    return [
        MetricPoint(p["resource"], p["metric"], p["point_at"], p["period_s"], p["value"])
        for p in points
        if p["metric"] in (RECEIVED, DELETED)
    ]


def blind_windows(
    failed: Iterable[FailedInvocation],
    settings: SettingsInForce,
    points: Iterable[MetricPoint],
    known: Collection[str] = (),
    finality: Finality | None = None,
) -> list[Row]:
    """Return one incident per stretch of failed runs of blind queues, in the columns of INCIDENTS.

    ``messages`` is null, ``messages_at_most`` the failed runs times the batch size in force, and null where no mapping tells
    that size of a standard queue: then each run counts as one message, possible. No verdict is above that.
    The metrics' received minus deleted stands beside it in the sentence: it is approximate, so it bounds nothing. ``known``
    are ids of incidents that messages tell of: a window of such a name is left out. Its bound rests on no further run that
    failed, so it is provisional until ``finality`` says otherwise.
    """
    finality = finality or Finality()
    by_queue: dict[tuple[str, str], list[_Placed]] = defaultdict(list)
    for run in failed:
        by_queue[run.queue_arn, run.queue].append(_placed(run, settings))
    counted: dict[str, list[MetricPoint]] = defaultdict(list)
    for point in points:
        counted[point.queue].append(point)
    rows = [
        _row(window, counted.get(queue, ()), finality)
        for (_, queue), placed in sorted(by_queue.items())
        for window in _stretches(placed)
    ]
    return [row for row in rows if row["incident_id"] not in known]


def _placed(run: FailedInvocation, settings: SettingsInForce) -> _Placed:
    queue = settings.queue(run.queue_arn, run.started_at) or {}
    mapping = settings.mapping(run.queue_arn, run.function_name, run.started_at) or {}
    function = settings.function(run.function_name, run.started_at) or {}
    is_fifo = queue.get("is_fifo")
    return _Placed(
        run,
        queue.get("visibility_timeout_s"),
        is_fifo_name(run.queue) if is_fifo is None else is_fifo,
        mapping.get("batch_size"),
        function.get("timeout_s"),
    )


def _stretches(placed: list[_Placed]) -> Iterator[list[_Placed]]:
    """Part the failed runs of one queue where it was quiet for as long as separates incidents."""
    active_at: int | None = None
    stretch: list[_Placed] = []
    for one in sorted(placed, key=lambda p: (p.run.started_at, p.run.log_group)):
        if is_after_quiet(one.run.started_at, active_at, one.visibility_timeout_s) and stretch:
            yield stretch
            stretch = []
        stretch.append(one)
        active_at = max(active_at or 0, _ended_at(one.run))
    if stretch:
        yield stretch


def _ended_at(run: FailedInvocation) -> int:
    return run.started_at if run.ended_at is None else run.ended_at


def _row(window: Sequence[_Placed], points: Iterable[MetricPoint], finality: Finality) -> Row:
    runs = [one.run for one in window]
    queue, started_at = runs[0].queue, min(run.started_at for run in runs)
    ended_at = max(_ended_at(run) for run in runs)
    ends = Counter(run.end_status for run in runs)
    causes = {CAUSES[status]: count for status, count in ends.items()}
    functions = sorted({run.function_name or run.log_group for run in runs})
    visibility_timeout_s = highest(one.visibility_timeout_s for one in window)
    sizes = [one.at_most for one in window]
    at_most = None if None in sizes else sum(size or 0 for size in sizes)
    until_ms = (
        ended_at // 1000 + (DEFAULT_VISIBILITY_S if visibility_timeout_s is None else visibility_timeout_s) * 2000
    )
    consumers = ", ".join(functions)
    final_at = finality.of_groups({run.log_group for run in runs}, started_at, ended_at)
    balance = _balance(points, started_at, until_ms * 1000)
    return {
        "incident_id": incident_id(queue, started_at),
        "queue_arn": runs[0].queue_arn,
        "queue": queue,
        "started_at": started_at,
        "ended_at": ended_at,
        "first_repeat_at": None,
        "messages": None,
        "messages_at_most": at_most,
        "confirmed": 0,
        "probable": 0,
        "possible": sum(1 if size is None else size for size in sizes),
        "absorbed": 0,
        "harmless": 0,
        "works": None,
        "works_shared": None,
        "received_once": None,
        "repeated_elsewhere": [],
        **{f"works_{verdict}": None for verdict in VERDICTS},
        "causes": with_counts(causes),
        "primary_cause": ranked(causes)[0][0],
        "trigger": ranked(causes)[0][0],
        "why": [],
        "headline": blind_headline(at_most, len(window)),
        "cause_sentence": blind_cause(consumers, queue, ends, balance),
        "excluded": [],
        "still_open": [],
        "certainty": "inferred",
        "is_provisional": final_at is not None,
        "final_at": final_at,
        "functions": functions,
        "is_fifo": any(one.is_fifo for one in window),
        "visibility_timeout_s": visibility_timeout_s,
        "function_timeout_s": highest(one.function_timeout_s for one in window),
        "batch_size": highest(one.batch_size for one in window),
        "group_count": None,
        "blocked_ms": None,
        "extra_effects_at_least": 0,
        "extra_effects_at_most": at_most,
        "unread_sources": [
            said("log_events: no line of {who} names a message", who=consumers),
            *(
                [said("event_source_mappings: none tells how many messages {who} gets at once", who=consumers)]
                if at_most is None
                else ()
            ),
        ],
        "evidence_ids": sorted({line for run in runs for line in run.mark_ids}),
    }


def blind_headline(at_most: int | None, runs: int) -> str:
    """Say how many messages may have been processed more than once; of the failed runs where nothing bounds it.

    >>> blind_headline(None, 1)
    'The messages of 1 failed run may have been processed more than once; no line names one'
    """
    if at_most is None:
        of = said("{count} failed run" if runs == 1 else "{count} failed runs", count=runs)
        return said("The messages of {of} may have been processed more than once; no line names one", of=of)
    up_to = said("{count} message" if at_most == 1 else "{count} messages", count=at_most)
    return said("Up to {up_to} may have been processed more than once; no line names one", up_to=up_to)


def blind_cause(consumers: str, queue: str, ends: Mapping[str, int], balance: tuple[int, int] | None) -> str:
    """Say which runs can have left messages half done: how many by how they ended, and what was received and deleted meanwhile."""
    failures = [said(words, count=ends[status]) for status, words in _ENDED.items() if ends.get(status)]
    runs = said(
        "Of the runs of {who} for {queue}, {failures}; each can have held one batch.",
        who=consumers,
        queue=queue,
        failures=joined(failures, " and "),
    )
    told = [runs, "What to log is told under logging readiness."]
    if balance is not None:
        received, deleted = balance
        counted = "CloudWatch counted {received} received and {deleted} deleted, {left} receives without a delete."
        told.append(said(counted, received=received, deleted=deleted, left=max(received - deleted, 0)))
    return joined(told)


def _balance(points: Iterable[MetricPoint], started_at: int, until_at: int) -> tuple[int, int] | None:
    """Return what CloudWatch counted over a window and two visibility timeouts more; None where it counted no receive."""
    counts: dict[str, list[float]] = {RECEIVED: [], DELETED: []}
    for point in points:
        if (
            point.metric in counts
            and point.point_at < until_at
            and point.point_at + point.period_s * 1_000_000 > started_at
        ):
            counts[point.metric].append(point.value)
    if not counts[RECEIVED]:
        return None
    return int(fsum(counts[RECEIVED])), int(fsum(counts[DELETED]))
