"""Replies of a small account as AWS gives them, and the same with parts replaced: drawn from the services' own models."""

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any

from botocore.awsrequest import AWSResponse
from hypothesis import strategies as st

from ingest.clients import Aws
from tests.ingest.proxy import operation_of

REGION, ACCOUNT = "eu-west-1", "123456789012"
T = datetime(2026, 11, 20, 5, tzinfo=UTC)
T_MS = int(T.timestamp() * 1000)
NAMES = ("orders", "orders-dlq", "refunds")
GROUPS = ("/aws/lambda/charge", "/ecs/refunds")
SERVICES = ("cloudtrail", "cloudwatch", "lambda", "logs", "sqs")
Path = tuple[str | int, ...]


def url(name: str) -> str:
    return f"https://sqs.{REGION}.amazonaws.com/{ACCOUNT}/{name}"


def arn(name: str) -> str:
    return f"arn:aws:sqs:{REGION}:{ACCOUNT}:{name}"


FUNCTION = f"arn:aws:lambda:{REGION}:{ACCOUNT}:function:charge"


def _attributes(asked: dict) -> dict[str, Any]:
    name = asked["QueueUrl"].rpartition("/")[2]
    redrive = {"deadLetterTargetArn": arn("orders-dlq"), "maxReceiveCount": 3}
    return {
        "QueueArn": arn(name),
        "VisibilityTimeout": "30",
        "MessageRetentionPeriod": "345600",
        "CreatedTimestamp": "1790000000",
        **({"RedrivePolicy": json.dumps(redrive)} if name == "orders" else {}),
    }


def _events(asked: dict) -> list[dict[str, Any]]:
    return [
        {
            "logStreamName": "s",
            "timestamp": T_MS + n * 1000,
            "message": f"line {n}",
            "eventId": f"{n:056}",
            "ingestionTime": T_MS,
        }
        for n in range(5)
        if asked["startTime"] <= T_MS + n * 1000 <= asked["endTime"]
    ]


def _changes(asked: dict) -> list[dict[str, Any]]:
    name = asked["LookupAttributes"][0]["AttributeValue"]
    record = {
        "eventID": f"c-{name}",
        "eventTime": T.isoformat(),
        "eventName": name,
        "eventSource": "sqs.amazonaws.com",
        "recipientAccountId": ACCOUNT,
        "userIdentity": {"arn": "arn:aws:iam::123456789012:user/ann"},
        "requestParameters": {"queueUrl": url("orders"), "attributes": {"VisibilityTimeout": "30"}},
    }
    return [{"EventId": record["eventID"], "EventTime": T.timestamp(), "CloudTrailEvent": json.dumps(record)}]


def _task() -> dict[str, Any]:
    return {
        "SourceArn": arn("orders-dlq"),
        "Status": "COMPLETED",
        "StartedTimestamp": T_MS,
        "ApproximateNumberOfMessagesMoved": 4,
        "MaxNumberOfMessagesPerSecond": 10,
    }


def _mapping() -> dict[str, Any]:
    return {
        "UUID": "0a0a",
        "FunctionArn": FUNCTION,
        "EventSourceArn": arn("orders"),
        "BatchSize": 10,
        "ScalingConfig": {"MaximumConcurrency": 5},
        "FunctionResponseTypes": ["ReportBatchItemFailures"],
        "State": "Enabled",
        "LastModified": T.timestamp(),
    }


def _points(asked: dict) -> list[dict[str, Any]]:
    return [
        {"Id": q["Id"], "Timestamps": [T.timestamp()], "Values": [1.0], "StatusCode": "Complete"}
        for q in asked["MetricDataQueries"]
    ]


REPLIES: dict[str, Callable[[dict], dict[str, Any]]] = {
    "sqs:ListQueues": lambda asked: {"QueueUrls": [url(name) for name in NAMES]},
    "sqs:GetQueueUrl": lambda asked: {"QueueUrl": url(asked["QueueName"])},
    "sqs:GetQueueAttributes": lambda asked: {"Attributes": _attributes(asked)},
    "sqs:ListDeadLetterSourceQueues": lambda asked: {
        "queueUrls": [url("orders")] if asked["QueueUrl"].endswith("-dlq") else []
    },
    "sqs:ListMessageMoveTasks": lambda asked: {"Results": [_task()] if asked["SourceArn"].endswith("-dlq") else []},
    "lambda:ListEventSourceMappings": lambda asked: {"EventSourceMappings": [_mapping()]},
    "lambda:GetFunctionConfiguration": lambda asked: {
        "FunctionArn": FUNCTION,
        "FunctionName": "charge",
        "Timeout": 30,
        "MemorySize": 128,
        "Environment": {"Variables": {"API_KEY": "canary-environment"}},
        "LastModified": "2026-11-01T05:00:00.000+0000",
    },
    "lambda:GetFunctionConcurrency": lambda asked: {"ReservedConcurrentExecutions": 5},
    "logs:DescribeLogGroups": lambda asked: {
        "logGroups": [
            {
                "logGroupName": asked["logGroupNamePrefix"],
                "logGroupClass": "STANDARD",
                "retentionInDays": 30,
                "creationTime": T_MS,
            }
        ]
    },
    "logs:FilterLogEvents": lambda asked: {"events": _events(asked)},
    "cloudwatch:GetMetricData": lambda asked: {"MetricDataResults": _points(asked)},
    "cloudtrail:LookupEvents": lambda asked: {"Events": _changes(asked)},
}

DEEP = "deep"
MISSING = "missing"
ODD: tuple[Any, ...] = (
    MISSING, None, True, -1, 0, 2**31, 2**63, 1e300, float("nan"), float("inf"), 0.5,
    "", "x", "1e300", "9" * 300, "\ud800", "\0", "\x1b[31m", "a" * 100_000, "arn:aws:sqs:::", "https://host", "{\"a\": ", "[7]",
    '{"deadLetterTargetArn": 7, "maxReceiveCount": {}}', [], [None], [[]], [{}], {}, {"x": None}, {"": {"": []}}, DEEP,
)  # fmt: skip
"""What replaces a part of a reply: everything that JSON can say and nobody meant."""


@dataclass(frozen=True)
class Swap:
    """One part of the replies of an operation, by its path in the service's model, and what stands there instead."""

    operation: str
    path: tuple[str, ...]
    value: Any
    whole: bool = False
    """In every item of a list on the way, not in the first alone."""


@cache
def paths(operation: str) -> list[tuple[str, ...]]:
    """Return every place of an operation's output that its model names; ``*`` is an item of a list or map."""
    service, name = operation.split(":")
    model = Aws(region=REGION, endpoint_url="http://127.0.0.1:9").client(service).meta.service_model
    found: list[tuple[str, ...]] = [()]

    def walk(shape: Any, path: tuple[str, ...]) -> None:
        for key, member in shape.members.items() if shape.type_name == "structure" else ():
            found.append((*path, key))
            walk(member, (*path, key))
        if shape.type_name in ("list", "map"):
            found.append((*path, "*"))
            walk(shape.member if shape.type_name == "list" else shape.value, (*path, "*"))

    walk(model.operation_model(name).output_shape, ())
    return found


def swaps() -> st.SearchStrategy[Swap]:
    return st.sampled_from(sorted(REPLIES)).flatmap(
        lambda operation: st.builds(
            Swap, st.just(operation), st.sampled_from(paths(operation)), st.sampled_from(ODD), st.booleans()
        )
    )


def swapped(reply: Any, path: tuple[str, ...], swap: Swap) -> Any:
    """Return a reply with the part replaced wherever it is, also where there was none."""
    if not path:
        return swap.value
    key, rest = path[0], path[1:]
    if key == "*":
        if isinstance(reply, list):
            items: list[Any] = reply or [{}]
            return [swapped(v, rest, swap) if n == 0 or swap.whole else v for n, v in enumerate(items)]
        items_of = (reply or {"k": None}) if isinstance(reply, dict) else {"k": None}
        return {k: swapped(v, rest, swap) for k, v in items_of.items()}
    return {**(reply if isinstance(reply, dict) else {}), key: swapped((reply or {}).get(key), rest, swap)}


def _without_missing(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: _without_missing(v) for k, v in value.items() if v is not MISSING}
    return [_without_missing(v) for v in value if v is not MISSING] if isinstance(value, list) else value


def body_of(reply: Any) -> bytes:
    if reply is MISSING:
        return b""
    text = json.dumps(_without_missing(reply))
    return text.replace(json.dumps(DEEP), "[" * 30_000 + "]" * 30_000).encode()


class Body(list):
    """A reply's body as urllib3 streams it."""

    def stream(self, **_: Any) -> Iterator[bytes]:
        return iter(self)


class OddAccount:
    """Access to the account through real clients, each request answered here; ``swaps`` change what comes back."""

    def __init__(self) -> None:
        self.swaps: tuple[Swap, ...] = ()
        self.most_pages = 20
        self._pages: dict[str, int] = {}
        self.aws = Aws(region=REGION, endpoint_url="http://127.0.0.1:9", patience_s=0, max_attempts=1)
        for service in SERVICES:
            client = self.aws.client(service)
            name = client.meta.service_model.service_id.hyphenize()
            client.meta.events.register(f"before-send.{name}", self._answer)

    def begin(self, swaps: tuple[Swap, ...]) -> None:
        self.swaps = swaps
        self.aws.misfits()

    def _answer(self, request: Any, **_: Any) -> AWSResponse:
        path = re.sub(r"^https?://[^/]+", "", request.url)
        headers = {k: v.decode() if isinstance(v, bytes) else v for k, v in request.headers.items()}
        operation = operation_of(request.method, path, headers)
        asked = json.loads(request.body) if request.body else {}
        reply = REPLIES[operation](asked)
        for swap in self.swaps:
            if swap.operation == operation:
                reply = swapped(reply, swap.path, swap)
        return AWSResponse(request.url, 200, {"content-type": "application/x-amz-json-1.1"}, Body([body_of(reply)]))


HOUR = (T, T + timedelta(hours=1))
NOW = T + timedelta(days=2)
