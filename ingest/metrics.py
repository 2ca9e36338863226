"""CloudWatch metrics of queues, functions and mappings. No point means no data, which is not zero."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from forensics.errors import ConservationError
from forensics.identity import evidence_id, is_fifo_name
from forensics.lake import Lake
from forensics.lake.filters import between
from forensics.sentence import said
from forensics.tables import BY_NAME
from forensics.window import TimeWindow
from ingest.clients import Aws
from ingest.coverage import SOURCE_ERRORS, Reading, status_of
from ingest.discovery import Estate
from ingest.paging import pages
from ingest.reply_shape import in_words

METRIC_POINTS = BY_NAME["metric_points"]
QUERIES_A_CALL = 500
"""Most queries in one GetMetricData call, a limit of the service."""
APPEND_ROWS = 100_000
ATTEMPTS = 3
"""How often a query is asked that the service answers with InternalError or, on its last page, PartialData."""

OF_QUEUES = (
    ("NumberOfMessagesSent", "Sum"),
    ("NumberOfMessagesReceived", "Sum"),
    ("NumberOfMessagesDeleted", "Sum"),
    ("NumberOfEmptyReceives", "Sum"),
    ("ApproximateNumberOfMessagesVisible", "Maximum"),
    ("ApproximateNumberOfMessagesNotVisible", "Maximum"),
    ("ApproximateNumberOfMessagesDelayed", "Maximum"),
    ("ApproximateAgeOfOldestMessage", "Maximum"),
)
OF_FIFO_QUEUES = (("NumberOfDeduplicatedSentMessages", "Sum"),)
OF_FUNCTIONS = (
    ("Invocations", "Sum"),
    ("Errors", "Sum"),
    ("Throttles", "Sum"),
    ("RecursiveInvocationsDropped", "Sum"),
)
OF_MAPPINGS = (
    ("PolledEventCount", "Sum"),
    ("FilteredOutEventCount", "Sum"),
    ("InvokedEventCount", "Sum"),
    ("FailedInvokeEventCount", "Sum"),
    ("DeletedEventCount", "Sum"),
)
HOUR = timedelta(hours=1)
# The period to ask for where points are older than this; a finer one gives no points and no error.
_PERIODS = ((timedelta(days=63), 3600), (timedelta(days=15), 300), (None, 60))


@dataclass(frozen=True)
class Measured:
    """One queue, function or mapping whose metrics are wanted. ``resource`` is the value of its one dimension."""

    namespace: str
    dimension: str
    resource: str
    metrics: tuple[tuple[str, str], ...]
    account_id: str
    region: str
    queue_arns: tuple[str, ...]
    aws: Aws


@dataclass
class Answer:
    """What CloudWatch said of one resource: points as (metric, statistic, period_s, time, value)."""

    points: list[tuple[str, str, int, datetime, float]] = field(default_factory=list)
    status: str = "ok"
    detail: str | None = None


def of_queue(name: str, account_id: str, region: str, queue_arn: str, aws: Aws) -> Measured:
    """Want the metrics of a queue."""
    metrics = OF_QUEUES + (OF_FIFO_QUEUES if is_fifo_name(name) else ())
    return Measured("AWS/SQS", "QueueName", name, metrics, account_id, region, (queue_arn,), aws)


def of_function(name: str, account_id: str, region: str, queue_arns: tuple[str, ...], aws: Aws) -> Measured:
    """Want the metrics of a function."""
    return Measured("AWS/Lambda", "FunctionName", name, OF_FUNCTIONS, account_id, region, queue_arns, aws)


def of_mapping(uuid: str, account_id: str, region: str, queue_arn: str, aws: Aws) -> Measured:
    """Want the opt-in metrics of an event source mapping."""
    return Measured("AWS/Lambda", "EventSourceMappingUUID", uuid, OF_MAPPINGS, account_id, region, (queue_arn,), aws)


def of_estate(estate: Estate) -> list[Measured]:
    """Want the metrics of everything that was found: queues, functions, and mappings that count events."""
    by_arn = {ref.arn: ref for ref in estate.queues}
    wanted = [of_queue(r.name, r.account_id, r.region, r.arn, r.aws) for r in estate.queues]
    for function_arn in dict.fromkeys(row["function_arn"] for row in estate.mapping_rows):
        mine = [row for row in estate.mapping_rows if row["function_arn"] == function_arn]
        ref = by_arn[mine[0]["queue_arn"]]
        arns = tuple(sorted({row["queue_arn"] for row in mine}))
        account_id = function_arn.split(":")[4]
        wanted.append(of_function(mine[0]["function_name"], account_id, ref.region, arns, ref.aws))
    for row in estate.mapping_rows:
        if row.get("counts_events"):
            ref = by_arn[row["queue_arn"]]
            wanted.append(of_mapping(row["mapping_uuid"], ref.account_id, ref.region, ref.arn, ref.aws))
    return wanted


def spans(window: TimeWindow, now: datetime) -> list[tuple[datetime, datetime, int]]:
    """Cut a window by age into (start, end, period in seconds), each start on a multiple of its period.

    >>> now = datetime(2026, 11, 20, 12, 30, tzinfo=UTC)
    >>> [(f"{a:%m-%d %H:%M}", f"{b:%m-%d %H:%M}", p) for a, b, p in spans(TimeWindow(now - timedelta(16), now), now)]
    [('11-04 12:30', '11-05 13:00', 300), ('11-05 13:00', '11-20 12:30', 60)]
    """
    found = []
    start_at = window.start_at
    for oldest, period_s in _PERIODS:
        end_at = window.end_at if oldest is None else min(window.end_at, _floor(now - oldest, 3600) + HOUR)
        if start_at < end_at:
            found.append((_floor(start_at, period_s), end_at, period_s))
            start_at = end_at
    return found


def fetch(wanted: list[Measured], window: TimeWindow, now: datetime) -> list[Answer]:
    """Ask for every metric of the resources, all of one region, in full calls; one answer per resource, in order."""
    answers = [Answer() for _ in wanted]
    queries = [(place, metric, statistic) for place, m in enumerate(wanted) for metric, statistic in m.metrics]
    for start_at, end_at, period_s in spans(window, now):
        for first in range(0, len(queries), QUERIES_A_CALL):
            _fetch_batch(wanted, queries[first : first + QUERIES_A_CALL], (start_at, end_at, period_s), answers)
    return answers


def to_rows(measured: Measured, answer: Answer, collected_at: datetime) -> list[dict[str, Any]]:
    """Turn an answer into rows of ``metric_points``; a value that CloudWatch has revised gets a new id."""
    return [
        {
            "evidence_id": evidence_id(
                "metric",
                measured.account_id,
                measured.region,
                measured.namespace,
                metric,
                measured.dimension,
                measured.resource,
                statistic,
                period_s,
                point_at.isoformat(),
                repr(value),
            ),
            "account_id": measured.account_id,
            "region": measured.region,
            "namespace": measured.namespace,
            "metric": metric,
            "resource": measured.resource,
            "statistic": statistic,
            "period_s": period_s,
            "point_at": point_at,
            "value": value,
            "collected_at": collected_at,
        }
        for metric, statistic, period_s, point_at, value in answer.points
    ]


def ingest(lake: Lake, wanted: list[Measured], window: TimeWindow, now: datetime) -> list[Reading]:
    """Read the window's metrics of resources of one region into the lake, in one commit; a reading per resource."""
    answers = fetch(wanted, window, now)
    rows = [to_rows(measured, answer, now) for measured, answer in zip(wanted, answers, strict=True)]
    known = _known_ids(lake, [row["point_at"] for of_one in rows for row in of_one])
    readings = []
    for measured, answer, of_one in zip(wanted, answers, rows, strict=True):
        fresh = {row["evidence_id"] for row in of_one} - known
        readings.append(
            Reading(
                METRIC_POINTS,
                measured.resource,
                measured.account_id,
                measured.region,
                measured.queue_arns,
                answer.status,
                answer.detail,
                seen_count=len(of_one),
                stored_count=len(fresh),
                already_count=len(of_one) - len(fresh),
            )
        )
    new_rows = [row for of_one in rows for row in of_one if row["evidence_id"] not in known]
    done = [
        lake.append(METRIC_POINTS, new_rows[at : at + APPEND_ROWS], f"metric_points|{wanted[0].region}")
        for at in range(0, len(new_rows), APPEND_ROWS)
    ]
    stored_count, taken_count = sum(d.stored_count for d in done), sum(d.already_count for d in done)
    if stored_count + taken_count != len(new_rows):
        raise ConservationError(
            said(
                "metrics: {count} points were new, but {total} were stored and {low} were there",
                count=len(new_rows),
                total=stored_count,
                low=taken_count,
            ),
            "This is a bug in Doubletake; nothing in the lake was damaged.",
        )
    return _less(readings, taken_count)


def _less(readings: list[Reading], taken_count: int) -> list[Reading]:
    """Count points as there already that another collector stored since this one looked."""
    told = []
    for reading in readings:
        count = min(taken_count, reading.stored_count)
        taken_count -= count
        told.append(
            replace(reading, stored_count=reading.stored_count - count, already_count=reading.already_count + count)
        )
    return told


def _known_ids(lake: Lake, times: list[datetime]) -> set[str]:
    if not times:
        return set()
    known = lake.read(METRIC_POINTS, ["evidence_id"], between("point_at", min(times), max(times)))
    return set(known["evidence_id"].to_pylist())


def _fetch_batch(
    wanted: list[Measured],
    queries: list[tuple[int, str, str]],
    span: tuple[datetime, datetime, int],
    answers: list[Answer],
) -> None:
    open_queries = {f"q{n}": query for n, query in enumerate(queries)}
    status: dict[str, str] = {}
    for _ in range(ATTEMPTS):
        status = {}
        try:
            for result in _results(wanted, open_queries, span):
                times, values = result.get("Timestamps") or (), result.get("Values") or ()
                if result["Id"] not in open_queries or len(times) != len(values):
                    wanted[0].aws.leave_out("GetMetricData: a result was not asked for, or has more times than values")
                    continue
                place, metric, statistic = open_queries[result["Id"]]
                status[result["Id"]] = result.get("StatusCode") or "Complete"
                for point_at, value in zip(times, values, strict=True):
                    point = (metric, statistic, span[2], point_at.astimezone(UTC), float(value))
                    answers[place].points.append(point)
        except SOURCE_ERRORS as problem:
            for place, _, _ in open_queries.values():
                answers[place].status, answers[place].detail = status_of(problem)
            return
        open_queries = {i: q for i, q in open_queries.items() if status.get(i) != "Complete"}
        if not open_queries or "Forbidden" in status.values():
            break
    left_out = wanted[0].aws.misfits()
    for query_id, (place, metric, _) in open_queries.items():
        said = status.get(query_id, "no answer")
        answers[place].status = "denied" if said == "Forbidden" else "failed"
        answers[place].detail = f"GetMetricData: {metric}: {said}"
    for answer in (answers[place] for place, _, _ in queries) if left_out else ():
        if answer.status == "ok":
            answer.status, answer.detail = "partial", in_words(left_out)


def _results(
    wanted: list[Measured], queries: dict[str, tuple[int, str, str]], span: tuple[datetime, datetime, int]
) -> Iterator[dict[str, Any]]:
    start_at, end_at, period_s = span
    asked = [
        {
            "Id": query_id,
            "ReturnData": True,
            "MetricStat": {
                "Metric": {
                    "Namespace": wanted[place].namespace,
                    "MetricName": metric,
                    "Dimensions": [{"Name": wanted[place].dimension, "Value": wanted[place].resource}],
                },
                "Period": period_s,
                "Stat": statistic,
            },
        }
        for query_id, (place, metric, statistic) in queries.items()
    ]
    whole = {"MetricDataQueries": asked, "StartTime": start_at, "EndTime": end_at, "ScanBy": "TimestampAscending"}
    for reply in pages(wanted[0].aws, "cloudwatch", "get_metric_data", "MetricDataResults", whole):
        yield from reply["MetricDataResults"]


def _floor(moment: datetime, period_s: int) -> datetime:
    seconds = int(moment.timestamp())
    return datetime.fromtimestamp(seconds - seconds % period_s, UTC)
