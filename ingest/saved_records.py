"""Saved metrics, CloudTrail events, calls to SQS, stopped tasks and move tasks, as rows of the tables that a collection fills: an offline case loses nothing."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from forensics.tables import BY_NAME
from ingest import calls, metrics, move_tasks, queues, setting_changes, task_stops
from ingest.file_bytes import FileDamagedError, FileTooLargeError, check_size, pieces, texts
from ingest.file_forms import FoundFile
from ingest.json_stream import BadJsonError, JsonStream, UnreadableValue
from ingest.values import moment

Row = dict[str, Any]
CHANGES, TASKS, POINTS, CALLS, STOPS = (
    BY_NAME[n] for n in ("setting_changes", "move_tasks", "metric_points", "send_records", "task_stops")
)
STREAM_PERIOD_S = 60
"""A metric stream delivers minutes."""
_DIMENSIONS = {"QueueName": "AWS/SQS", "FunctionName": "AWS/Lambda", "EventSourceMappingUUID": "AWS/Lambda"}
_OF_DIMENSION = {
    "QueueName": dict((*metrics.OF_QUEUES, *metrics.OF_FIFO_QUEUES)),
    "FunctionName": dict(metrics.OF_FUNCTIONS),
    "EventSourceMappingUUID": dict(metrics.OF_MAPPINGS),
}
_FROM_STREAM = {"Sum": "sum", "Maximum": "max"}


@dataclass
class SavedRecords:
    """What one file said, per table; and what could not be understood as (reason, what was there).

    ``others`` counts records of other services and metrics of other resources, which are left out.
    """

    changes: list[Row] = field(default_factory=list)
    tasks: list[Row] = field(default_factory=list)
    points: list[Row] = field(default_factory=list)
    calls: list[Row] = field(default_factory=list)
    stops: list[Row] = field(default_factory=list)
    bad: list[tuple[str, Any]] = field(default_factory=list)
    others: int = 0


def read_records(found: FoundFile, collected_at: datetime) -> SavedRecords:
    """Read every document of a file."""
    read = SavedRecords()
    try:
        check_size(found.path)
        for _, document in JsonStream(texts(pieces(found.path))).documents():
            _add(read, document, collected_at)
    except (BadJsonError, FileDamagedError, FileTooLargeError) as problem:
        read.bad.append((problem.sentence, ""))
    return read


def _add(read: SavedRecords, document: Any, now: datetime) -> None:
    if isinstance(document, UnreadableValue):
        read.bad.append((document.reason, ""))
    elif not isinstance(document, dict):
        read.bad.append(("the document is not an object", document))
    elif isinstance(events := document.get("Events"), list):
        for event in events:
            _add_change(read, event if isinstance(event, dict) else {}, now)
    elif isinstance(records := document.get("Records"), list):
        for record in records:
            _add_change(read, {"CloudTrailEvent": json.dumps(record)}, now)
    elif isinstance(found := document.get("QueryResultRows"), list):
        for columns in found:
            _add_queried(read, columns, now)
    elif isinstance(tasks := document.get("Results"), list):
        for task in tasks:
            _add_task(read, task)
    elif task_stops.is_event(document):
        _add_stop(read, document, now)
    elif "metric_name" in document:
        _add_streamed(read, document, now)
    elif isinstance(results := document.get("MetricDataResults"), list):
        for result in results:
            _add_result(read, result, now)
    else:
        read.bad.append(("it is no metric, no CloudTrail event and no move task", sorted(document)[:10]))


def _add_change(read: SavedRecords, event: Row, now: datetime) -> None:
    try:
        record = json.loads(event.get("CloudTrailEvent") or "{}")
    except (ValueError, TypeError, RecursionError):
        record = {}
    record = record if isinstance(record, dict) else {}
    if calls.is_call(record):
        rows = calls.to_rows(record, now)
        if isinstance(rows, str):
            read.bad.append((rows, str(record.get("eventName"))))
        else:
            read.calls += rows
        return
    name = str(record.get("eventName") or event.get("EventName") or "")
    if record and not any(name.startswith(call) for call in setting_changes.CALLS):
        read.others += 1
        return
    row = setting_changes.to_row(str(record.get("awsRegion") or ""), event, now)
    if isinstance(row, str):
        read.bad.append((row, name))
    elif not row["region"]:
        read.bad.append(("the CloudTrail record does not name its region", name))
    else:
        read.changes.append(row)


def _add_queried(read: SavedRecords, columns: Any, now: datetime) -> None:
    """One row of a CloudTrail Lake query: a list of objects of one column each; the event is the one named eventJson."""
    row: Row = {}
    for column in columns if isinstance(columns, list) else ():
        if isinstance(column, dict):
            row |= {str(name).lower(): value for name, value in column.items()}
    if isinstance(event := row.get("eventjson"), str):
        _add_change(read, {"CloudTrailEvent": event}, now)
    else:
        read.bad.append(("the query's row has no column eventJson: select it", sorted(row)[:10]))


def _add_task(read: SavedRecords, task: Any) -> None:
    queue = queues.named(str(task.get("SourceArn") or "")) if isinstance(task, dict) else None
    if queue is None:
        read.bad.append(("the move task does not name the queue it is of (SourceArn)", ""))
    else:
        read.tasks.append(move_tasks.to_row(queue, task))


def _add_stop(read: SavedRecords, document: Row, now: datetime) -> None:
    if not task_stops.is_stop(document):
        read.others += 1
    elif isinstance(row := task_stops.to_row(document, now), str):
        read.bad.append((row, task_stops.DETAIL_TYPE))
    else:
        read.stops.append(row)


def _add_streamed(read: SavedRecords, document: Row, now: datetime) -> None:
    """One point of a metric stream: its dimension, and the sum and maximum of a minute."""
    dimensions, values = document.get("dimensions"), document.get("value")
    if not isinstance(dimensions, dict) or not isinstance(values, dict):
        read.bad.append(("the point of a metric stream lacks its dimensions or value", ""))
        return
    name = str(document["metric_name"])
    dimension = next(iter(dimensions)) if len(dimensions) == 1 else ""
    statistic = _OF_DIMENSION.get(dimension, {}).get(name)
    if statistic is None:
        read.others += 1
        return
    try:
        at = datetime.fromtimestamp(int(document["timestamp"]) / 1000, UTC)
        value = float(values[_FROM_STREAM[statistic]])
        place = (str(document["account_id"]), str(document["region"]))
    except (KeyError, TypeError, ValueError, OverflowError):
        read.bad.append(("the point of a metric stream lacks its time, account, region or value", name))
        return
    _add_points(
        read, dimension, str(dimensions[dimension]), place, [(name, statistic, STREAM_PERIOD_S, at, value)], now
    )


def _add_result(read: SavedRecords, result: Any, now: datetime) -> None:
    """One result of get-metric-data, whose label says what it is: DIMENSION RESOURCE METRIC STATISTIC PERIOD ACCOUNT REGION."""
    label = str(result.get("Label") or "") if isinstance(result, dict) else ""
    words = label.split()
    times, values = (result.get(k) if isinstance(result, dict) else None for k in ("Timestamps", "Values"))
    if len(words) != 7 or words[0] not in _DIMENSIONS or not words[4].isdecimal() or not isinstance(times, list):
        read.bad.append(
            (
                "the label of a metric's result must read DIMENSION RESOURCE METRIC STATISTIC PERIOD ACCOUNT REGION",
                label,
            )
        )
        return
    dimension, resource, name, statistic, period, account, region = words
    if _OF_DIMENSION[dimension].get(name) != statistic:
        read.others += 1
        return
    points = [
        (name, statistic, int(period), at, float(value))
        for at, value in zip(map(moment, times), values or (), strict=False)
        if at is not None and isinstance(value, int | float)
    ]
    if len(points) != len(times):
        read.bad.append(("a metric's result has times or values that are none", label))
    _add_points(read, dimension, resource, (account, region), points, now)


def _add_points(
    read: SavedRecords, dimension: str, resource: str, place: tuple[str, str], points: list[Any], now: datetime
) -> None:
    measured = metrics.Measured(_DIMENSIONS[dimension], dimension, resource, (), *place, (), None)  # type: ignore[arg-type]
    read.points += metrics.to_rows(measured, metrics.Answer(points), now)


def of_tables(read: SavedRecords) -> Iterator[tuple[Any, list[Row]]]:
    """Yield what can be appended as it is: changes, calls, stops and points; move tasks are snapshots, and kept where they changed."""
    yield CHANGES, read.changes
    yield CALLS, read.calls
    yield STOPS, read.stops
    yield POINTS, read.points
