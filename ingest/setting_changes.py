"""Who changed, purged or redrove what, and when: the management events of CloudTrail, which keeps them for 90 days.

All of a region's are kept, not only those of the queues asked for: a later question about another queue must find them.
"""

import json
import re
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

from forensics.coverage import TRAIL
from forensics.errors import ConservationError
from forensics.identity import evidence_id, queue_name
from forensics.lake import Appended, Lake
from forensics.regions import partition_id
from forensics.sentence import said
from forensics.tables import BY_NAME
from forensics.window import TimeWindow
from ingest.clients import Aws
from ingest.coverage import SOURCE_ERRORS, Reading, of_whole_reply, status_of
from ingest.paging import pages
from ingest.quarantine import QUARANTINE, quarantine_row
from ingest.values import moment

SETTING_CHANGES = BY_NAME["setting_changes"]
RESOURCE = TRAIL

QUEUE_CALLS = (
    "SetQueueAttributes",
    "CreateQueue",
    "DeleteQueue",
    "PurgeQueue",
    "StartMessageMoveTask",
    "CancelMessageMoveTask",
)
LAMBDA_CALLS = (
    "UpdateFunctionConfiguration20150331v2",
    "UpdateFunctionCode20150331v2",
    "CreateEventSourceMapping20150331",
    "UpdateEventSourceMapping20150331",
    "DeleteEventSourceMapping20150331",
    "PutFunctionConcurrency20171031",
    "DeleteFunctionConcurrency20171031",
)
CALLS = (*QUEUE_CALLS, *LAMBDA_CALLS)
"""One look-up each."""
KEPT_FOR = timedelta(days=90)

# Settings that bear on deliveries, in lower case. Anything else (policies, environment variables, tags) is not kept.
_QUEUE_SETTINGS = {
    "visibilitytimeout",
    "messageretentionperiod",
    "delayseconds",
    "receivemessagewaittimeseconds",
    "redrivepolicy",
    "contentbaseddeduplication",
    "deduplicationscope",
    "fifothroughputlimit",
}
_LAMBDA_SETTINGS = {
    "timeout",
    "memorysize",
    "runtime",
    "batchsize",
    "maximumbatchingwindowinseconds",
    "functionresponsetypes",
    "scalingconfig",
    "enabled",
    "reservedconcurrentexecutions",
    "destinationarn",
    "maxnumberofmessagespersecond",
}
_LAMBDA_DATE = re.compile(r"20\d{6}(?:v\d)?$")


def fetch(aws: Aws, window: TimeWindow) -> Iterator[dict[str, Any]]:
    """Yield the window's records as LookupEvents gives them; it takes one event name a call. Raises AwsRefusedError."""
    for name in CALLS:
        asked: dict[str, Any] = {
            "LookupAttributes": [{"AttributeKey": "EventName", "AttributeValue": name}],
            "MaxResults": 50,
        }
        when = {"StartTime": window.start_at, "EndTime": window.end_at}
        for reply in pages(aws, "cloudtrail", "lookup_events", "Events", asked | when):
            yield from reply["Events"]


def to_row(region: str, event: dict[str, Any], collected_at: datetime) -> dict[str, Any] | str:
    """Turn a record into a row of ``setting_changes``, or say what is wrong with it."""
    try:
        record = json.loads(event.get("CloudTrailEvent") or "")
    except (ValueError, TypeError, RecursionError):
        return "the CloudTrail record is not JSON"
    if not isinstance(record, dict):
        return "the CloudTrail record is not an object"
    event_id, changed_at = record.get("eventID") or event.get("EventId"), moment(record.get("eventTime"))
    event_id, name = _text(event_id), _text(record.get("eventName"))
    if event_id is None or changed_at is None or name is None:
        return "the CloudTrail record lacks its id, time or name"
    identity = _object(record.get("userIdentity"))
    account_id = _text(record.get("recipientAccountId")) or _text(identity.get("accountId"))
    asked, answered = (_lower_first(record.get(part)) for part in ("requestParameters", "responseElements"))
    return {
        "evidence_id": evidence_id("change", account_id, region, event_id),
        "account_id": account_id,
        "region": region,
        "event_id": event_id,
        "changed_at": changed_at,
        "event_source": _text(record.get("eventSource")),
        "event_name": _LAMBDA_DATE.sub("", name),
        **_about(asked, answered, account_id, region),
        "settings": _settings(asked),
        "actor": _text(identity.get("arn")) or _text(identity.get("invokedBy")) or _text(event.get("Username")),
        "error_code": _text(record.get("errorCode")),
        "collected_at": collected_at,
    }


def ingest(lake: Lake, aws: Aws, account_id: str, region: str, window: TimeWindow, collected_at: datetime) -> Reading:
    """Read the window's changes of one account and region into the lake; what came is kept if a later page fails.

    Raises ConservationError if a change got lost on the way.
    """
    return store(lake, aws, fetch(aws, window), account_id, region, RESOURCE, collected_at)


def store(
    lake: Lake,
    aws: Aws,
    events: Iterator[dict[str, Any]],
    account_id: str,
    region: str,
    resource: str,
    collected_at: datetime,
) -> Reading:
    """Store records as they come, ``resource`` being what coverage calls their source. Raises ConservationError."""
    rows: list[dict[str, Any]] = []
    poison: list[dict[str, Any]] = []
    status, detail, seen_count = "ok", None, 0
    try:
        for event in events:
            row = to_row(region, event, collected_at)
            if isinstance(row, str):
                item = event.get("CloudTrailEvent")
                poison.append(quarantine_row(SETTING_CHANGES, resource, row, seen_count, item, collected_at))
            else:
                rows.append(row)
            seen_count += 1
        status, detail = of_whole_reply(aws)
    except SOURCE_ERRORS as problem:
        status, detail = status_of(problem)
    done = lake.append(SETTING_CHANGES, rows, f"setting_changes|{region}") if rows else Appended(0, 0)
    if poison:
        lake.append(QUARANTINE, poison, f"quarantine|{resource}")
    counts = (seen_count, done.stored_count, done.already_count, len(poison))
    if seen_count != sum(counts[1:]):
        raise ConservationError(
            said(
                "CloudTrail of {region}: {count} changes seen, but {total} stored, {low} already there and {high} quarantined",
                region=region,
                count=seen_count,
                total=done.stored_count,
                low=done.already_count,
                high=len(poison),
            ),
            "This is a bug in Doubletake; nothing in the lake was damaged.",
        )
    return Reading(SETTING_CHANGES, resource, account_id, region, (), status, detail, *counts)


def _about(asked: dict[str, Any], answered: dict[str, Any], account_id: str | None, region: str) -> dict[str, Any]:
    """Say which resource a call was about."""
    queue_arn, name = _text(asked.get("sourceArn")), _text(asked.get("functionName"))
    source = asked.get("eventSourceArn") or answered.get("eventSourceArn")
    uuid = asked.get("uUID") or asked.get("uuid") or answered.get("uUID") or answered.get("uuid")
    function = _function_name(name or _text(answered.get("functionArn")))
    if source or uuid:
        return _resource("mapping", _text(uuid), _text(source), function)
    if function:
        return _resource("function", function, None, function)
    if url := _text(asked.get("queueUrl") or answered.get("queueUrl")):
        owner, url_name = (["", ""] + url.rstrip("/").split("/"))[-2:]
        queue_arn = f"arn:{partition_id(region)}:sqs:{region}:{owner}:{url_name}"
    elif (named := _text(asked.get("queueName"))) and account_id:
        queue_arn = f"arn:{partition_id(region)}:sqs:{region}:{account_id}:{named}"
    return _resource("queue", queue_name(queue_arn or None), queue_arn, None)


def _resource(kind: str, resource: str | None, queue_arn: str | None, function_name: str | None) -> dict[str, Any]:
    return {"resource_kind": kind, "resource": resource, "queue_arn": queue_arn, "function_name": function_name}


def _function_name(text: str | None) -> str | None:
    """Take the name out of a name, a partial ARN (``123456789012:function:pay``) or an ARN, with or without version."""
    if not text:
        return None
    before, found, after = text.rpartition("function:")
    return (after if found else text).split(":")[0] or None


def _settings(asked: dict[str, Any]) -> list[str]:
    """Return what was set as sorted ``name=value`` texts.

    >>> _settings({"queueUrl": "u", "attributes": {"VisibilityTimeout": "30", "Policy": "{}"}})
    ['VisibilityTimeout=30']
    """
    found = [
        f"{_plain(k)}={_plain(v)}" for k, v in asked.items() if str(k).lower() in _LAMBDA_SETTINGS and v is not None
    ]
    attributes = _object(asked.get("attributes") or asked.get("attribute"))
    found += [f"{_plain(k)}={_plain(v)}" for k, v in attributes.items() if str(k).lower() in _QUEUE_SETTINGS]
    return sorted(found)


def _plain(value: Any) -> str:
    return _text(value) or "" if isinstance(value, str) else json.dumps(value, sort_keys=True)


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _lower_first(value: Any) -> dict[str, Any]:
    """Spell names as CloudTrail does (``queueUrl``), also where a service wrote them as its API (``QueueUrl``)."""
    return {f"{name[:1].lower()}{name[1:]}": content for name, content in _object(value).items()}


def _text(value: Any) -> str | None:
    if not isinstance(value, str) or not value:
        return None
    return value.encode("utf-8", "backslashreplace").decode()  # half a surrogate pair has no UTF-8
