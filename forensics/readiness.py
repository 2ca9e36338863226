"""How much a consumer's log tells, and the exact lines to add so that it tells the rest."""

from typing import NamedTuple


class LogFacts(NamedTuple):
    """What was found in one log group: ``handlings`` are runs of a function, or a worker's handlings of messages.

    Counts are of handlings. ``asks_response``: its mapping uses partial batch responses; None where not known.
    """

    kind: str
    handlings: int
    with_message: int
    with_count: int
    with_item_start: int
    with_effect: int
    with_response: int
    with_start: int
    asks_response: bool | None = None
    is_effect_declared: bool = False
    is_exhaustive: bool = False


class Missing(NamedTuple):
    """One thing a log does not tell, why it matters, and the line to add in Python and in Node."""

    what: str
    why: str
    python: str
    node: str
    setting: str | None = None


LEVELS = ("blind", "partial", "unread", "ready")
"""Of a consumer's log, the one that needs work most first; ``unread`` where nothing of it was read."""


class Readiness(NamedTuple):
    """``level`` is ready, partial or blind (no line names a message); ``missing`` comes most useful first."""

    level: str
    sentence: str
    missing: tuple[Missing, ...]


BATCH = Missing(
    "the batch",
    "nothing tells which messages a run was given, nor how often each had been received",
    'print(json.dumps({"Records": [{k: r[k] for k in ("messageId", "attributes", "md5OfBody", "eventSourceARN")}'
    ' for r in event["Records"]]}))',
    "console.log(JSON.stringify({ Records: event.Records.map(({ messageId, attributes, md5OfBody, eventSourceARN }) =>"
    " ({ messageId, attributes, md5OfBody, eventSourceARN })) }));",
)
RECEIVED = Missing(
    "the message",
    "nothing tells which message was received, nor how often it had been received before",
    'print(json.dumps({"MessageId": message["MessageId"], "MD5OfBody": message["MD5OfBody"],'
    ' "Attributes": message["Attributes"]}))',
    "console.log(JSON.stringify({ MessageId: message.MessageId, MD5OfBody: message.MD5OfBody,"
    " Attributes: message.Attributes }));",
)
COUNT = "the receive count"
ITEM_START = Missing(
    "an item's start",
    "where a run is cut off, nothing tells which message was being handled",
    "print(f\"processing message_id={record['messageId']}\")",
    "console.log(`processing message_id=${record.messageId}`);",
    r"started = 'processing message_id=(?P<message_id>\S+)'",
)
EFFECT = Missing(
    "the effect",
    "nothing tells whether the work of a message was done before its run failed",
    "print(f\"done message_id={record['messageId']}\")",
    "console.log(`done message_id=${record.messageId}`);",
    r"effect = 'done message_id=(?P<message_id>\S+)'",
)
RESPONSE = Missing(
    "the response",
    "the mapping takes partial batch responses, and nothing tells which messages were given back",
    'print(json.dumps({"batchItemFailures": failures}))',
    "console.log(JSON.stringify({ batchItemFailures: failures }));",
)


def readiness(log: LogFacts) -> Readiness:
    """Say what a log tells and what to add.

    >>> readiness(LogFacts("lambda", 9, 0, 0, 0, 0, 0, 9)).level
    'blind'
    """
    first = BATCH if log.kind == "lambda" else RECEIVED
    missing = []
    if log.with_message == 0:
        missing.append(first)
    elif log.with_count == 0:
        missing.append(
            first._replace(what=COUNT, why="deliveries that no line shows can hide: nothing bounds how many there were")
        )
    if not log.is_effect_declared or log.with_effect == 0:
        missing.append(EFFECT)
    if log.with_item_start == 0:
        missing.append(ITEM_START)
    if log.asks_response and log.with_response == 0:
        missing.append(RESPONSE)
    if log.with_message == 0:
        level, told = "blind", "No line names a message"
    elif missing:
        level, told = "partial", f"{log.with_message:,} of {log.handlings:,} handlings name their messages"
    else:
        level, told = (
            "ready",
            f"{log.with_message:,} of {log.handlings:,} handlings name their messages, starts and effects",
        )
    lacks = f"; missing: {', '.join(m.what for m in missing)}" if missing else ""
    return Readiness(level, f"{told}{lacks}.", tuple(missing))
