"""Calls that SQS took: CloudTrail's data events, out of a trail's files or of CloudTrail Lake, as rows of ``send_records``.

Nobody has promised what a record shows of a receive, a delete or a change of visibility: bodies are hidden, and handles or message
ids may be. What is there is taken; what is hidden is null, and the call still counts as one of its queue.
"""

import json
from collections.abc import Iterable
from datetime import datetime
from typing import Any

from forensics.identity import evidence_id
from forensics.privacy import redact
from forensics.regions import partition_id
from ingest.values import moment

Row = dict[str, Any]

OPERATIONS = ("SendMessage", "ReceiveMessage", "DeleteMessage", "ChangeMessageVisibility")
SOURCE = "sqs.amazonaws.com"
_HIDDEN = "HIDDEN"
_ERROR_CHARS = 300


def is_call(record: Row) -> bool:
    """Tell whether a CloudTrail record is of such a call."""
    return record.get("eventSource") == SOURCE and _operation(record) in OPERATIONS


def to_rows(record: Row, collected_at: datetime) -> list[Row] | str:
    """Turn a record into a row per message that the call is about, or say what is wrong with it."""
    event_id, called_at = _text(record.get("eventID")), moment(record.get("eventTime"))
    if event_id is None or called_at is None:
        return "the CloudTrail record lacks its id or time"
    region = _text(record.get("awsRegion"))
    if region is None:
        return "the CloudTrail record does not name its region"
    asked, answered = (_plain(record.get(part)) for part in ("requestParameters", "responseElements"))
    queue_arn = _queue(record, asked, region)
    if queue_arn is None:
        return "the CloudTrail record does not name its queue"
    identity = _plain(record.get("userIdentity"))
    account_id = _text(record.get("recipientAccountId")) or _text(identity.get("accountid"))
    shared = {
        "account_id": account_id,
        "region": region,
        "event_id": event_id,
        "called_at": called_at,
        "operation": _operation(record),
        "queue_arn": queue_arn,
        "visibility_timeout_s": _number(asked.get("visibilitytimeout")),
        "request_id": _text(record.get("requestID")),
        "actor": _actor(identity),
        "error_code": _text(record.get("errorCode")),
        "error_text": _error(record.get("errorMessage")),
        "collected_at": collected_at,
    }
    rows = []
    for place, said in enumerate(_messages(record, asked, answered)):
        name = evidence_id("send", account_id, region, event_id, place)
        rows.append({"evidence_id": name, "place": place, **shared, **said})
    return rows


def _actor(identity: Row) -> str | None:
    """Name who called: the AWS service that called in somebody's name, as SQS does in a redrive, else the identity."""
    return _text(identity.get("invokedby")) or _text(identity.get("arn"))


def _operation(record: Row) -> str:
    return str(record.get("eventName") or "").removesuffix("Batch")


def _messages(record: Row, asked: Row, answered: Row) -> Iterable[Row]:
    """Return what a record says of each message: of a batch by entry, of a receive by what it got, else of the one."""
    if _operation(record) == "ReceiveMessage":
        return [_said(told, {}) for told in _list(answered, "messages")] or [_said({}, {})]
    if not str(record.get("eventName")).endswith("Batch"):
        return [_said(asked, answered)]
    good = {told.get("id"): told for told in _list(answered, "successful")}
    bad = {told.get("id"): told for told in _list(answered, "failed")}
    entries = _list(asked, "entries") or [*good.values(), *bad.values()]
    found = []
    for entry in entries:
        row = _said(entry, good.get(entry.get("id"), {}))
        if entry.get("id") in bad:
            refused = bad[entry.get("id")]
            row |= {"error_code": _text(refused.get("code")) or "failed", "error_text": _error(refused.get("message"))}
        found.append(row)
    return found or [_said({}, {})]


def _said(asked: Row, answered: Row) -> Row:
    """Return what one message's part of the request and of the answer say; a refusal of the whole call stands elsewhere."""
    message_id = _text(answered.get("messageid")) or _text(asked.get("messageid"))
    md5 = answered.get("md5ofmessagebody") or asked.get("md5ofbody") or asked.get("md5ofmessagebody")
    row = {
        "message_id": message_id.lower() if message_id else None,
        "receipt_handle": _handle(asked.get("receipthandle")),
        "group_id": _text(asked.get("messagegroupid")),
        "deduplication_id": _text(asked.get("messagededuplicationid")),
        "body_md5": _text(md5),
    }
    own = _number(asked.get("visibilitytimeout"))
    return row if own is None else row | {"visibility_timeout_s": own}


def _handle(value: Any) -> str | None:
    """Return the token of a receipt handle, which is a credential and never kept."""
    text = _text(value)
    if text is None:
        return None
    told: str = json.loads(redact(json.dumps({"receiptHandle": text})))["receiptHandle"]
    return told if told.startswith("RH~") else None


def _queue(record: Row, asked: Row, region: str) -> str | None:
    resources = record.get("resources")
    for resource in resources if isinstance(resources, list) else ():
        arn = _text(_plain(resource).get("arn"))
        if arn is not None and ":sqs:" in arn:
            return arn
    url = _text(asked.get("queueurl"))
    owner, name = (["", ""] + url.rstrip("/").split("/"))[-2:] if url else ("", "")
    return f"arn:{partition_id(region)}:sqs:{region}:{owner}:{name}" if owner.isdecimal() and name else None


def _list(of: Row, name: str) -> list[Row]:
    value = of.get(name)
    return [_plain(item) for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _plain(value: Any) -> Row:
    """Spell names in lower case: some records spell them as the API does, others as CloudTrail."""
    return {str(name).lower(): content for name, content in value.items()} if isinstance(value, dict) else {}


def _text(value: Any) -> str | None:
    if not isinstance(value, str) or not value or value.startswith(_HIDDEN):
        return None
    return value.encode("utf-8", "backslashreplace").decode()  # half a surrogate pair has no UTF-8


def _number(value: Any) -> int | None:
    if isinstance(value, bool) or not isinstance(value, int | str):
        return None
    text = str(value)
    return int(text) if text.isdecimal() and len(text) < 6 else None


def _error(value: Any) -> str | None:
    text = _text(value)
    return None if text is None else redact(text)[:_ERROR_CHARS]
