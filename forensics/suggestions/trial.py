"""What other settings would decide: the runs of what was redelivered read once more, and judged by the same rules."""

from collections import Counter, defaultdict
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from forensics.clock import EPOCH, micros
from forensics.identity import names_of
from forensics.judging.judge import judge
from forensics.judging.placing import place
from forensics.judging.progress import mark_progress
from forensics.judging.surroundings import Surroundings
from forensics.judging.written import GroupLines, Writer, may_be_of
from forensics.lake import Findings
from forensics.lake.filters import at_least, between, equals, is_missing, one_of
from forensics.lake.rows import first_and_last, plain_rows
from forensics.settings import Settings
from forensics.settings_in_force import SettingsInForce
from forensics.streams.business_keys import BusinessKeys
from forensics.streams.deliveries import deliveries_of
from forensics.streams.groups import LAMBDA, LogGroups, log_groups_of
from forensics.streams.invocations import invocations_of
from forensics.streams.model import Delivery, LogLine
from forensics.tables import evidence as E
from forensics.tables.findings import DELIVERIES, INVOCATIONS, LOGGING_READINESS, MESSAGES
from forensics.verdict.interval import VERDICTS

MOST_MESSAGES = 5_000
"""Of more redelivered messages the verdicts are not worked out here: that is what a correlation is for."""
_METRICS = (
    "Throttles",
    "ApproximateNumberOfMessagesVisible",
    "ApproximateAgeOfOldestMessage",
    "NumberOfMessagesReceived",
    "NumberOfMessagesDeleted",
)
_OF_SURROUNDINGS = (
    E.CONSUMERS,
    E.COVERAGE,
    E.QUEUE_SETTINGS,
    E.FUNCTION_SETTINGS,
    E.EVENT_SOURCE_MAPPINGS,
    E.SETTING_CHANGES,
    E.MOVE_TASKS,
    E.GUARD_TABLE_SETTINGS,
    E.GUARD_RECORDS,
)
_AROUND = timedelta(seconds=1)


def verdicts_now(findings: Findings, queue_arn: str) -> dict[str, int]:
    """Return how many redelivered messages of a queue have each verdict."""
    told = findings.read(MESSAGES, ["verdict"], equals("queue_arn", queue_arn)).column("verdict").to_pylist()
    return {verdict: told.count(verdict) for verdict in VERDICTS if verdict in told}


def verdicts_under(findings: Findings, queue_arn: str, settings: Settings) -> dict[str, int] | None:
    """Return the same as other settings would have it; None where it cannot be worked out here.

    Workers' lines hang on the whole of their log group, and are left to a correlation.
    """
    items = set(findings.read(MESSAGES, ["item_id"], equals("queue_arn", queue_arn)).column("item_id").to_pylist())
    if len(items) > MOST_MESSAGES:
        return None
    runs = _runs(findings, queue_arn, items)
    if runs is None:
        return None
    small: dict[str, Any] = {table.name: plain_rows(findings.read(table)) for table in _OF_SURROUNDINGS}
    calls = plain_rows(findings.read(E.SEND_RECORDS, where=one_of("queue_arn", names_of(queue_arn))))
    told = _group_lines(findings)
    groups = log_groups_of(
        settings,
        small["consumers"],
        small["function_settings"],
        small["queue_settings"],
        {t.log_group: True for t in told},
    )
    if any(group not in groups or groups[group].kind != LAMBDA for group, _, _ in runs):
        return None
    where = one_of("metric", _METRICS)
    points = [row for batch in findings.scan(E.METRIC_POINTS, where=where) for row in plain_rows(batch)]
    around = Surroundings(
        **small,
        send_records=calls,
        producers=settings.producers,
        metric_points=[row for row in points if row["value"] > 0],
        lines=told,
        settings=settings,
    )
    deliveries = _deliveries(findings, runs, groups, around.in_force, BusinessKeys(settings.queues))
    judged = judge([d for d in deliveries if d.queue_arn == queue_arn and d.item_id in items], around)
    count = Counter(message.verdict for message in judged.messages)
    return {verdict: count[verdict] for verdict in VERDICTS if count[verdict]}


Runs = Mapping[tuple[str, str, str], tuple[datetime, datetime]]
"""From when until when (UTC) the lines of a run were written, by log group, log stream and request id."""


def _runs(findings: Findings, queue_arn: str, items: set[str]) -> Runs | None:
    """Return the runs that had any of some items; None where one of them is not a function's."""
    where = equals("queue_arn", queue_arn) & one_of("item_id", items)
    columns = ["consumer", "consumer_kind", "is_seen"]
    seen = [r for r in plain_rows(findings.read(DELIVERIES, columns, where)) if r["is_seen"]]
    if any(row["consumer_kind"] != LAMBDA for row in seen):
        return None
    where = one_of("invocation_id", {row["consumer"] for row in seen})
    return {
        (row["log_group"], row["log_stream"], row["request_id"]): (
            row["started_at"] - _AROUND,
            (row["ended_at"] or row["started_at"]) + _AROUND,
        )
        for row in plain_rows(findings.read(INVOCATIONS, where=where))
    }


def _deliveries(
    findings: Findings,
    runs: Runs,
    groups: LogGroups,
    in_force: SettingsInForce,
    keys: BusinessKeys,
) -> list[Delivery]:
    """Read the streams of some runs while these were on, and return what their lines tell of deliveries."""
    found: list[Delivery] = []
    for (group_name, stream), lines in _lines(findings, runs).items():
        group = groups.of(group_name, stream)
        for invocation in invocations_of(lines, stream, group, in_force, keys):
            if (group_name, stream, invocation.request_id) not in runs:
                continue
            batch = deliveries_of(invocation)
            for delivery in batch:
                place(delivery, group, in_force)
            mark_progress(batch)
            found += batch
    return found


def _lines(findings: Findings, runs: Runs) -> dict[tuple[str, str], list[LogLine]]:
    spans: dict[tuple[str, str], list[tuple[datetime, datetime]]] = defaultdict(list)
    for (group_name, stream_name, _), span in runs.items():
        spans[group_name, stream_name].append(span)
    found: dict[tuple[str, str], list[LogLine]] = defaultdict(list)
    if not spans:
        return found
    where = one_of("log_group", {g for g, _ in spans}) & one_of("log_stream", {s for _, s in spans})
    where &= between("logged_at", min(s[0] for s in runs.values()), max(s[1] for s in runs.values()))
    columns = ["log_group", "log_stream", "logged_at", "order_in_ms", "evidence_id", "line"]
    for batch in findings.scan(E.LOG_EVENTS, columns, where):
        for row in plain_rows(batch):
            stream, at = (row["log_group"], row["log_stream"]), row["logged_at"]
            if any(start <= at <= end for start, end in spans.get(stream, ())):
                found[stream].append(LogLine(micros(at), row["order_in_ms"], row["evidence_id"], row["line"]))
    return found


def _group_lines(findings: Findings) -> list[GroupLines]:
    """Return from when until when each log group has lines, and what its runs show."""
    spans: dict[str, tuple[Any, Any]] = {}
    for batch in findings.scan(E.LOG_EVENTS, ["log_group", "logged_at"]):
        for name, first, last in first_and_last(batch, "log_group", "logged_at"):
            before = spans.get(name, (first, last))
            spans[name] = min(before[0], first), max(before[1], last)
    starts: dict[Writer, bool] = {(name, None): False for name in spans}
    blind: dict[Writer, list[int]] = defaultdict(list)
    columns = ["log_group", "function_name", "has_start", "message_count", "started_at"]
    for batch in findings.scan(INVOCATIONS, columns, at_least("started_at", EPOCH)):
        for row in plain_rows(batch):
            writer = row["log_group"], row["function_name"]
            starts.pop((row["log_group"], None), None)
            starts[writer] = starts.get(writer, False) or bool(row["has_start"])
            if not row["message_count"]:
                blind[writer].append(micros(row["started_at"]))
    borders = {name: (micros(first), micros(last)) for name, (first, last) in spans.items()}
    columns = ["log_group", "function_name"]
    unlike = plain_rows(findings.read(LOGGING_READINESS, columns, ~is_missing("unlike_effect")))
    without = [(row["log_group"], row["function_name"]) for row in unlike]
    return [
        GroupLines(
            name,
            *borders[name],
            has_starts,
            sorted(blind[name, function]),
            function_name=function,
            workable_starts=sorted(blind[name, function]),
            has_effect_line=not any(may_be_of((name, function), of) for of in without),
        )
        for (name, function), has_starts in sorted(starts.items(), key=str)
    ]
