"""How much a consumer's log tells, and the exact lines to add so that it tells the rest."""

from collections.abc import Iterable, Mapping, Sequence
from functools import reduce
from typing import Any, NamedTuple

from forensics.known import Known
from forensics.sentence import counted, joined, said
from forensics.unlike_effects import is_unlike, of_consumer

COUNTS = ("handlings", "with_message", "with_count", "with_item_start", "with_effect", "with_response", "with_start")
Counts = dict[str, Any]
"""What is counted of one function in a log group, or of its workers: ``log_group``, ``function_name``, COUNTS, ``samples`` (the lowest and the highest line that stands for a
handling, none where no line does), ``first_at`` and ``last_at`` of its lines (microseconds since 1970, UTC)."""


class LogFacts(NamedTuple):
    """What was found in one log group: ``handlings`` are runs of a function, or a worker's handlings of messages.

    Counts are of handlings; ``unmarked`` is of messages that were received once and deleted without the line that each effect is
    to print, ``unmarked_id`` one of them. ``effect`` is the expression that the settings file has. ``failed_alone`` counts what only the line of its failure names. ``asks_response``: its mapping uses partial batch responses; None where not known.
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
    effect: str | None = None
    is_exhaustive: bool = False
    unmarked: int = 0
    unmarked_id: str | None = None
    failed_alone: int = 0

    @property
    def is_unlike_effect(self) -> bool:
        """Tell whether an effect is declared and no line is like it."""
        return is_unlike(self.effect, self.with_effect > 0)


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
    """``level`` is ready, partial or blind (nothing but lines of failures names a message); ``missing`` comes most useful first."""

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
    "where a run times out, nothing tells which message was in progress",
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
    "the mapping takes partial batch responses, and nothing tells which messages were returned",
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
    is_blind = log.with_message <= log.failed_alone
    if is_blind:
        missing.append(first)
    elif log.with_count == 0:
        missing.append(
            first._replace(what=COUNT, why="deliveries that no line shows can hide: nothing bounds how many there were")
        )
    if not log.effect or log.is_unlike_effect:
        missing.append(EFFECT)
    if log.with_item_start == 0:
        missing.append(ITEM_START)
    if log.asks_response and log.with_response == 0:
        missing.append(RESPONSE)
    unlike = "No line is like the effect of the settings file, so that a missing one tells nothing."
    lacking = joined((m.what for m in missing), ", ") if missing else ""
    if is_blind:
        phrase = "Only lines of failures name a message; missing: {missing}."
        nothing = "No line names a message; missing: {missing}."
        return Readiness("blind", said(phrase if log.with_message else nothing, missing=lacking), tuple(missing))
    named = {"count": log.with_message, "total": log.handlings}
    doubt = _unmarked(log)
    if missing:
        phrase = "{count} of {total} handlings name their messages; missing: {missing}."
        told = said(phrase, missing=lacking, **named)
        return Readiness("partial", joined([told, *([unlike] if log.is_unlike_effect else doubt)]), tuple(missing))
    told = said("{count} of {total} handlings name their messages, starts and effects.", **named)
    return Readiness("ready", joined([told, *doubt]), ())


def _unmarked(log: LogFacts) -> list[str]:
    """Say what contradicts the setting that every effect prints its line, unless the handler left it out on purpose."""
    if not (log.effect and log.is_exhaustive and log.with_effect and log.unmarked):
        return []
    phrase = (
        "Received once and deleted after a run that succeeded, without an effect line: {count}, such as {example}. That counts as work not "
        "done; if it was done, effect_is_exhaustive does not hold."
    )
    return [said(phrase, count=counted(log.unmarked, "message"), example=log.unmarked_id)]


def logging_readiness(
    of_invocations: Iterable[Counts], of_handlings: Iterable[Counts], known: Known, written: Mapping[str, str]
) -> list[dict[str, Any]]:
    """Return the rows of logging_readiness: one per queue, log group and function of a known consumer, sorted.

    What is counted comes per log group and function, of all parts together: of functions, and of workers. Of a log group that
    several functions write a row counts its own function's runs, of any other all that stands in it. ``written`` tells of each log
    group of which a line is in evidence whether a function or a worker writes it: a worker of whose lines none names a
    message has no handlings, and is blind.
    """
    counted = _by_group([*of_invocations, *of_handlings])
    asks = {r["function_name"]: bool(r["reports_batch_item_failures"]) for r in known.event_source_mappings}
    rows = []
    for queue_arn, queue, group, kind, function in _consumers(known, written):
        declared = known.consumers_by_group.get(function or group) or known.consumers_by_group.get(group)
        found = _of_consumer(counted.get(group, []), function)
        counts = {name: found[name] if found else 0 for name in COUNTS}
        log = LogFacts(
            kind,
            **counts,
            asks_response=asks.get(function) if function else False,
            effect=declared.effect if declared else None,
            is_exhaustive=bool(declared and declared.effect_is_exhaustive),
            unmarked=found.get("unmarked", 0) if found else 0,
            unmarked_id=found.get("unmarked_id") if found else None,
            failed_alone=found.get("failed_alone", 0) if found else 0,
        )
        ready = readiness(log)
        if found is None and (group not in written or counted.get(group)):
            of_group = "No line of this log group is in evidence."
            of_function = said("No line of {name} of this log group is in evidence.", name=function)
            ready = Readiness("unread", of_function if counted.get(group) else of_group, ())
        samples = found["samples"] if found else []
        rows.append(
            {
                "queue_arn": queue_arn,
                "queue": queue,
                "log_group": group,
                "consumer_kind": kind,
                "function_name": function,
                **_in_words(ready),
                **_in_numbers(counts),
                "unlike_effect": log.effect if found and log.is_unlike_effect else None,
                "evidence_ids": sorted(samples),
            }
        )
    return rows


def added(one: Counts, other: Counts) -> Counts:
    """Return what two counts come to together, under the name of the first."""
    samples = [*one["samples"], *other["samples"]]
    return {
        "log_group": one["log_group"],
        "function_name": one["function_name"],
        **{name: one[name] + other[name] for name in COUNTS},
        **_unmarked_of(one, other),
        **{name: one[name] + other[name] for name in ("failed_alone",) if name in one and name in other},
        "samples": [min(samples), max(samples)] if samples else [],
        "first_at": min(one["first_at"], other["first_at"]),
        "last_at": max(one["last_at"], other["last_at"]),
    }


def _unmarked_of(*counts: Counts) -> Counts:
    """Return how many messages of some counts lack their effect line, and the first of them by name; workers are not asked."""
    asked = [c for c in counts if "unmarked" in c]
    ids = [c["unmarked_id"] for c in asked if c["unmarked_id"] is not None]
    return {"unmarked": sum(c["unmarked"] for c in asked), "unmarked_id": min(ids, default=None)} if asked else {}


def _by_group(counted: Iterable[Counts]) -> dict[str, list[Counts]]:
    found: dict[str, list[Counts]] = {}
    for counts in counted:
        found.setdefault(counts["log_group"], []).append(counts)
    return found


def _of_consumer(counted: Sequence[Counts], function: str | None) -> Counts | None:
    """Return what is counted of a consumer in its log group; None where no line of it is there."""
    mine = of_consumer(counted, function, lambda counts: counts["function_name"])
    return reduce(added, mine) if mine else None


def _consumers(known: Known, written: Mapping[str, str]) -> list[tuple[str, str, str, str, str | None]]:
    """Return each queue's log groups; where nobody said what writes a group, what its lines turned out to be."""
    found = {
        (
            r["queue_arn"],
            r["queue_name"],
            r["log_group"],
            r["kind"] or written.get(r["log_group"], "lambda"),
            r["function_name"],
        )
        for r in known.consumers
    }
    return sorted(found, key=lambda c: tuple(str(part) for part in c))


def _in_words(ready: Readiness) -> dict[str, Any]:
    return {
        "level": ready.level,
        "sentence": ready.sentence,
        "missing": [m.what for m in ready.missing],
        "reasons": [m.why for m in ready.missing],
        "python_lines": [m.python for m in ready.missing],
        "node_lines": [m.node for m in ready.missing],
        "setting_lines": [m.setting or "" for m in ready.missing],
    }


def _in_numbers(counts: Mapping[str, int]) -> dict[str, int]:
    return {
        "handling_count": counts["handlings"],
        "named_count": counts["with_message"],
        "counted_count": counts["with_count"],
        "item_start_count": counts["with_item_start"],
        "effect_count": counts["with_effect"],
        "response_count": counts["with_response"],
        "start_line_count": counts["with_start"],
    }
