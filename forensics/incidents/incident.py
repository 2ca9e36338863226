"""One incident in a row: how many messages, why, what is ruled out, and under which settings."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence
from typing import Any, NamedTuple

from forensics.incidents.ranking import highest, most_frequent, with_counts
from forensics.incidents.trigger import why
from forensics.judging.model import Message, Redelivery
from forensics.streams.model import Delivery
from forensics.verdict import VERDICTS, headline, why_sentence

Row = dict[str, Any]

NOT_SENT_TWICE = "producer_retry: the same message ids came again; nothing was sent twice"
NO_QUEUE_SETTINGS = "queue_settings: no snapshot of the queue was read"


def incident_row(
    incident_id: str,
    messages: Collection[Message],
    redeliveries: Collection[Redelivery],
    ledger: Collection[Delivery],
    affected: Collection[str],
    blocked_ms: int | None,
    gaps: Sequence[str],
) -> Row:
    """Return an incident in the columns of INCIDENTS.

    ``messages`` are all that belong to it, ``affected`` the item ids of those that may have been done twice, at least one;
    redeliveries and deliveries of others are not looked at. ``blocked_ms`` says how long failed deliveries held the affected
    groups (None: not at all), ``gaps`` what the evidence lacks inside its time.
    """
    hit = [message for message in messages if message.item_id in affected]
    verdicts = Counter(message.verdict for message in messages)
    origin = max((message.origin for message in messages if message.origin is not None), default=None)
    found = _of_redeliveries(redeliveries, affected)
    settings = _of_ledger(ledger, affected)
    cause = most_frequent(found.causes) if found.causes else origin
    told = why(hit[0].queue, settings.functions, redeliveries, ledger, affected, origin)
    at_risk = len(hit) + verdicts["absorbed"] + verdicts["harmless"]
    noun = "message sent again" if origin and not found.causes else "redelivered message"
    is_proved = [message.certainty == "proved" for message in messages if message.verdict == "confirmed"]
    unread = list(gaps) if settings.visibility_timeout_s is not None else [*gaps, NO_QUEUE_SETTINGS]
    return {
        "incident_id": incident_id,
        "queue_arn": hit[0].queue_arn,
        "queue": hit[0].queue,
        "started_at": _lowest(message.first_received_at for message in hit),
        "ended_at": highest(message.last_active_at for message in hit),
        "first_repeat_at": found.first_at,
        "messages": len(hit),
        "messages_at_most": len(hit),
        **{verdict: verdicts[verdict] for verdict in VERDICTS},
        "causes": with_counts(found.causes),
        "primary_cause": cause,
        "trigger": told.trigger,
        "why": told.values,
        "headline": headline(verdicts["confirmed"], verdicts["probable"], verdicts["possible"], at_risk, noun),
        "cause_sentence": why_sentence(told),
        "excluded": found.excluded if origin is not None else [*found.excluded, NOT_SENT_TWICE],
        "certainty": "proved" if is_proved and all(is_proved) else "inferred",
        "functions": settings.functions,
        "is_fifo": settings.is_fifo,
        "visibility_timeout_s": settings.visibility_timeout_s,
        "function_timeout_s": settings.function_timeout_s,
        "batch_size": settings.batch_size,
        "group_count": len({message.group_id for message in hit if message.group_id is not None}) or None,
        "blocked_ms": (blocked_ms or 0) if settings.is_fifo else None,
        "extra_effects_at_least": sum(max(message.effects_at_least - 1, 0) for message in hit),
        "unread_sources": unread,
        "evidence_ids": sorted({line for message in hit for line in message.evidence_ids} | settings.evidence_ids),
    }


class _Redelivered(NamedTuple):
    """What an incident's redeliveries say together."""

    causes: Counter[str]
    excluded: list[str]
    first_at: int | None


def _of_redeliveries(redeliveries: Iterable[Redelivery], affected: Collection[str]) -> _Redelivered:
    """Sum up the redeliveries of affected messages.

    A cause is excluded where it is for every one of them; it is told with its most frequent reason.
    """
    causes: Counter[str] = Counter()
    reasons: dict[str, Counter[str]] = defaultdict(Counter)
    count = 0
    first_at = None
    for redelivery in redeliveries:
        if redelivery.item_id not in affected:
            continue
        causes[redelivery.cause] += 1
        count += 1
        for text in redelivery.excluded:
            code, _, sentence = text.partition(": ")
            reasons[code][sentence] += 1
        if redelivery.later_received_at is not None:
            first_at = min(first_at or redelivery.later_received_at, redelivery.later_received_at)
    excluded = [f"{code}: {most_frequent(said)}" for code, said in reasons.items() if said.total() == count]
    return _Redelivered(causes, sorted(excluded), first_at)


class _Settings(NamedTuple):
    """What was in force for an incident's affected messages, the highest of each, and who consumed them."""

    functions: list[str]
    is_fifo: bool | None
    visibility_timeout_s: int | None
    function_timeout_s: int | None
    batch_size: int | None
    evidence_ids: set[str]


def _of_ledger(ledger: Iterable[Delivery], affected: Collection[str]) -> _Settings:
    met = {
        (
            d.function_name or d.log_group,
            d.is_fifo,
            d.visibility_timeout_s,
            d.function_timeout_s,
            d.batch_size,
            (d.queue_settings_id, d.mapping_id, d.function_settings_id),
        )
        for d in ledger
        if d.item_id in affected
    }
    return _Settings(
        sorted({row[0] for row in met if row[0] is not None}),
        any(known) if (known := [row[1] for row in met if row[1] is not None]) else None,
        highest(row[2] for row in met),
        highest(row[3] for row in met),
        highest(row[4] for row in met),
        {line for row in met for line in row[5] if line},
    )


def _lowest(values: Iterable[int | None]) -> int | None:
    return min((value for value in values if value is not None), default=None)
