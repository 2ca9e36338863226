"""Queues: which one is meant, and its settings. ReceiveMessage is never called."""

import difflib
import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from forensics.errors import EndpointUnreachableError, QueueUnknownError
from forensics.identity import is_fifo_name
from forensics.nearest import meant
from forensics.regions import dns_suffix, region_of_host
from forensics.sentence import said
from ingest.aws_errors import AwsRefusedError
from ingest.clients import CUT_REPLY, UNREADABLE_REPLY, Aws
from ingest.paging import pages
from ingest.reply_shape import in_words
from ingest.values import epoch_s, integer

_ARN = re.compile(r"arn:(aws[a-z-]*):sqs:([a-z0-9-]+):(\d{12}):([A-Za-z0-9_-]{1,80}(?:\.fifo)?)")
_URL = re.compile(r"https?://\S+/(\d{12})/([A-Za-z0-9_-]{1,80}(?:\.fifo)?)/?")
_NAME = re.compile(r"[A-Za-z0-9_-]{1,80}(?:\.fifo)?")
_FORMS = "Give a queue's name, URL or ARN; `--all-queues` takes every queue."


@dataclass(frozen=True)
class QueueName:
    """One queue, by every name it has."""

    name: str
    url: str
    arn: str
    account_id: str
    region: str


@dataclass(frozen=True)
class QueueRef(QueueName):
    """One queue, found. ``aws`` reaches its region.

    ``is_presumed`` says that it could not be looked up, and its address was put together from its ARN.
    """

    aws: Aws
    is_presumed: bool = False


class QueueRefusedError(QueueUnknownError):
    """AWS refuses to look the queue up: it may well be there."""


def find(aws: Aws, text: str) -> QueueRef:
    """Find a queue by name, URL or ARN.

    Raises QueueUnknownError with the region and names that look alike, QueueRefusedError, CredentialsError or
    EndpointUnreachableError.
    """
    region, account_id, name = _asked(text)
    if region:
        aws = aws.in_region(region)
    owner = {"QueueOwnerAWSAccountId": account_id} if account_id else {}
    is_presumed = False
    try:
        url = aws.call("sqs", "get_queue_url", "QueueUrl", QueueName=name, **owner)["QueueUrl"]
    except AwsRefusedError as problem:
        if problem.status == "denied" and account_id:
            url = text if text.startswith("http") else _url(aws.region, account_id, name)
            is_presumed = True
        elif problem.status in ("gone", "denied") or problem.code.startswith("Invalid"):
            raise _unknown(aws, name, problem) from problem
        elif problem.code in (CUT_REPLY, UNREADABLE_REPLY) or problem.code.isdecimal():
            where = aws.client("sqs").meta.endpoint_url
            raise EndpointUnreachableError(
                said("the endpoint {where} does not answer as AWS does: {problem}", where=where, problem=problem),
                "Check --endpoint-url.",
            ) from problem
        else:
            raise
    if not _names_queue(url):
        raise AwsRefusedError("GetQueueUrl", UNREADABLE_REPLY, "the QueueUrl names no queue", "failed")
    return _ref(aws, url, is_presumed)


def name_of(text: str) -> str:
    """Return the name in a queue's name, URL or ARN; raises QueueUnknownError for what is none."""
    return _asked(text)[2]


def find_all(aws: Aws) -> list[QueueRef]:
    """Find every queue of the region, in order of name; raises QueueUnknownError if there is none."""
    found = _refs(aws, "ListQueues", sorted(_urls(aws)))
    if not found and (left_out := aws.misfits()):
        raise AwsRefusedError("ListQueues", UNREADABLE_REPLY, in_words(left_out), "failed")
    if not found:
        raise QueueUnknownError(said("there is no queue in {where}", where=aws.region), "Check --region and --profile.")
    return found


def fetch_sources(queue: QueueRef) -> list[QueueRef]:
    """Return the queues whose dead letters come here; none for an ordinary queue. Raises AwsRefusedError."""
    found: list[QueueRef] = []
    asked = {"QueueUrl": queue.url, "MaxResults": 1000}
    for reply in pages(queue.aws, "sqs", "list_dead_letter_source_queues", "queueUrls", asked):
        found += _refs(queue.aws, "ListDeadLetterSourceQueues", reply["queueUrls"])
    return found


def fetch(queue: QueueRef) -> dict[str, str]:
    """Return the queue's attributes as SQS gives them, all values strings."""
    reply = queue.aws.call("sqs", "get_queue_attributes", "Attributes", QueueUrl=queue.url, AttributeNames=["All"])
    return reply["Attributes"]


def named(arn: str) -> QueueName | None:
    """Return a queue by its ARN, without asking AWS; None if that is no queue's ARN."""
    if not (parts := _ARN.fullmatch(arn)):
        return None
    _, region, account_id, name = parts.groups()
    return QueueName(name, _url(region, account_id, name), arn, account_id, region)


def presumed(queue: QueueName, aws: Aws) -> QueueRef:
    """Return a queue that AWS does not find, or not for these credentials, as if it were where it was."""
    return QueueRef(queue.name, queue.url, queue.arn, queue.account_id, queue.region, aws, is_presumed=True)


def to_row(queue: QueueName, attributes: dict[str, str]) -> dict[str, Any]:
    """Turn attributes into a row of ``queue_settings``, without id and time. Policies are not kept."""
    redrive = _redrive(attributes.get("RedrivePolicy")) or {}
    return {
        "account_id": queue.account_id,
        "region": queue.region,
        "queue_arn": queue.arn,
        "queue_name": queue.name,
        "is_fifo": is_fifo_name(queue.name),
        "visibility_timeout_s": integer(attributes.get("VisibilityTimeout")),
        "message_retention_s": integer(attributes.get("MessageRetentionPeriod")),
        "delay_s": integer(attributes.get("DelaySeconds")),
        "receive_wait_s": integer(attributes.get("ReceiveMessageWaitTimeSeconds")),
        "content_based_deduplication": _boolean(attributes.get("ContentBasedDeduplication")),
        "deduplication_scope": attributes.get("DeduplicationScope"),
        "fifo_throughput_limit": attributes.get("FifoThroughputLimit"),
        "dead_letter_queue_arn": _arn(redrive.get("deadLetterTargetArn")),
        "max_receive_count": integer(redrive.get("maxReceiveCount")),
        "created_at": epoch_s(attributes.get("CreatedTimestamp")),
        "last_modified_at": epoch_s(attributes.get("LastModifiedTimestamp")),
    }


def _refs(aws: Aws, operation: str, urls: Iterable[str]) -> list[QueueRef]:
    found = []
    for url in urls:
        if _names_queue(url):
            found.append(_ref(aws, url))
        else:
            aws.leave_out(f"{operation}: a URL names no queue")
    return found


def _names_queue(url: str) -> bool:
    return _URL.fullmatch(url) is not None


def _ref(aws: Aws, url: str, is_presumed: bool = False) -> QueueRef:
    account_id, name = urlsplit(url).path.rstrip("/").split("/")[-2:]
    arn = f"arn:{aws.partition}:sqs:{aws.region}:{account_id}:{name}"
    return QueueRef(name, url, arn, account_id, aws.region, aws, is_presumed)


def _asked(text: str) -> tuple[str | None, str | None, str]:
    if arn := _ARN.fullmatch(text):
        return arn[2], arn[3], arn[4]
    if url := _URL.fullmatch(text):
        return region_of_host(urlsplit(text).hostname or ""), url[1], url[2]
    if _NAME.fullmatch(text):
        return None, None, text
    raise QueueUnknownError(said("{text} is not a queue's name, URL or ARN", text=repr(text)), _FORMS)


def _url(region: str, account_id: str, name: str) -> str:
    return f"https://sqs.{region}.{dns_suffix(region)}/{account_id}/{name}"


def _urls(aws: Aws) -> Iterator[str]:
    for reply in pages(aws, "sqs", "list_queues", "QueueUrls", {"MaxResults": 1000}, may_lack=True):
        yield from reply.get("QueueUrls") or ()


def _unknown(aws: Aws, name: str, problem: AwsRefusedError) -> QueueUnknownError:
    try:
        names = sorted({url.rstrip("/").rsplit("/", 1)[-1] for url in _urls(aws)})
    except AwsRefusedError:
        names = []
    near = difflib.get_close_matches(name, names, n=3, cutoff=0.5) or [n for n in names if name.lower() in n.lower()]
    if near:
        hint = meant(near[:3])
    elif problem.status == "denied":
        hint = "These credentials need sqs:GetQueueUrl; giving the queue's ARN avoids the call."
    else:
        hint = "Check --region and --profile; `--all-queues` takes every queue."
    kind = QueueRefusedError if problem.status == "denied" else QueueUnknownError
    about = {"queue": repr(name), "region": aws.region}
    return kind(
        said("queue {queue} is not there in {region}", **about)
        if problem.status == "gone"
        else said("queue {queue} is not readable ({why}) in {region}", why=problem.sentence, **about),
        hint,
    )


def misfits(attributes: dict[str, str]) -> list[str]:
    """Name the attributes that ``to_row`` cannot read."""
    wrong = [
        said("{where} is no number or time", where=f"GetQueueAttributes.{name}")
        for name, reader in _NUMBERS.items()
        if attributes.get(name) is not None and reader(attributes[name]) is None
    ]
    redrive = _redrive(attributes.get("RedrivePolicy"))
    if redrive is None:
        wrong.append("GetQueueAttributes.RedrivePolicy is no JSON object")
    elif redrive and (
        _arn(redrive.get("deadLetterTargetArn")) is None or integer(redrive.get("maxReceiveCount")) is None
    ):
        wrong.append("GetQueueAttributes.RedrivePolicy names no queue, or no number of receives")
    return wrong


_NUMBERS: dict[str, Callable[[Any], Any]] = {
    "VisibilityTimeout": integer,
    "MessageRetentionPeriod": integer,
    "DelaySeconds": integer,
    "ReceiveMessageWaitTimeSeconds": integer,
    "CreatedTimestamp": epoch_s,
    "LastModifiedTimestamp": epoch_s,
}


def _redrive(policy: str | None) -> dict[str, Any] | None:
    """Return the redrive policy, empty where there is none; None for what is none."""
    try:
        found = json.loads(policy or "{}")
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _arn(value: Any) -> str | None:
    return value if isinstance(value, str) and _ARN.fullmatch(value) else None


def _boolean(text: str | None) -> bool | None:
    return None if text is None else text.lower() == "true"
