"""An account in memory: one queue, one worker's log group with events in pages, and nothing else. For many quick runs."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from ingest.aws_errors import AwsRefusedError
from ingest.clients import Aws
from ingest.reply_shape import ReplyShape

ACCOUNT, REGION, QUEUE, GROUP = "123456789012", "eu-west-1", "orders", "/ecs/orders"
PAGE = 40


class ModelAccount(Aws):
    """Answers as AWS does, from a list of (logged at, stream, line). ``asked`` are FilterLogEvents' windows."""

    def __init__(self, events: Sequence[tuple[datetime, str, str]]) -> None:
        self.events = sorted(events)
        self.asked: list[tuple[datetime, datetime]] = []
        self._shape = ReplyShape()

    @property
    def region(self) -> str:
        return REGION

    @property
    def partition(self) -> str:
        return "aws"

    @property
    def label(self) -> str:
        return REGION

    def in_region(self, region: str) -> "Aws":
        return self

    def call(self, service: str, operation: str, demand: str | None = None, **asked: Any) -> dict[str, Any]:
        return getattr(self, operation)(**asked)

    def get_queue_url(self, QueueName: str, **_: Any) -> dict[str, Any]:  # noqa: N803
        if QueueName != QUEUE:
            raise AwsRefusedError("GetQueueUrl", "NonExistentQueue", "not here", "gone")
        return {"QueueUrl": f"https://sqs.{REGION}.amazonaws.com/{ACCOUNT}/{QUEUE}"}

    def list_queues(self, **_: Any) -> dict[str, Any]:
        return {"QueueUrls": [self.get_queue_url(QUEUE)["QueueUrl"]]}

    def get_queue_attributes(self, **_: Any) -> dict[str, Any]:
        return {"Attributes": {"VisibilityTimeout": "30"}}

    def list_dead_letter_source_queues(self, **_: Any) -> dict[str, Any]:
        return {"queueUrls": []}

    def list_event_source_mappings(self, **_: Any) -> dict[str, Any]:
        return {"EventSourceMappings": []}

    def lookup_events(self, **_: Any) -> dict[str, Any]:
        return {"Events": []}

    def describe_log_groups(self, **_: Any) -> dict[str, Any]:
        return {"logGroups": [{"logGroupName": GROUP, "logGroupClass": "STANDARD", "retentionInDays": 30}]}

    def get_metric_data(self, MetricDataQueries: list[dict], StartTime: datetime, **_: Any) -> dict[str, Any]:  # noqa: N803
        results = [
            {"Id": q["Id"], "Timestamps": [StartTime], "Values": [1.0], "StatusCode": "Complete"}
            for q in MetricDataQueries
        ]
        return {"MetricDataResults": results}

    def filter_log_events(
        self,
        startTime: int,  # noqa: N803
        endTime: int,  # noqa: N803
        limit: int,
        nextToken: str = "0",  # noqa: N803, S107
        **_: Any,
    ) -> dict[str, Any]:
        """Both ends count, as with AWS; the first page is empty, and a page begins with the last event of the one before."""
        if nextToken == "0":
            self.asked.append((at_ms(startTime), at_ms(endTime + 1)))
        inside = [
            {
                "logStreamName": stream,
                "timestamp": ms(at),
                "message": line,
                "eventId": f"{n:056}",
                "ingestionTime": ms(at),
            }
            for n, (at, stream, line) in enumerate(self.events)
            if startTime <= ms(at) <= endTime
        ]
        first = int(nextToken)
        if first == 0:
            return {"events": [], "nextToken": "1"}
        page = inside[max(0, (first - 1) * PAGE - 1) : first * PAGE]
        more = {"nextToken": str(first + 1)} if first * PAGE < len(inside) else {}
        return {"events": page, **more}


def at_ms(value: int) -> datetime:
    return datetime.fromisoformat("1970-01-01T00:00:00+00:00") + timedelta(milliseconds=value)


def ms(at: datetime) -> int:
    return (at - datetime.fromisoformat("1970-01-01T00:00:00+00:00")) // timedelta(milliseconds=1)
