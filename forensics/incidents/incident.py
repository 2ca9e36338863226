"""One incident in a row: how many messages, why, what is ruled out, and under which settings."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from forensics.incidents.ranking import highest, most_frequent, ranked, with_counts
from forensics.incidents.repeats import WorkRepeat
from forensics.incidents.trigger import why
from forensics.judging.model import Message, Redelivery
from forensics.origins import still_open
from forensics.rules.ruling import UNDECIDABLE, Ruling
from forensics.streams.model import Delivery
from forensics.verdict import VERDICTS, headline, why_sentence
from forensics.words import count_text

Row = dict[str, Any]

NOT_SENT_TWICE = "producer_retry: the same message ids were redelivered; nothing was sent twice"
NOT_RECEIVED_TWICE = "redelivery: every receive count is 1, so SQS handed no message out a second time"
NO_RECEIVE_COUNTS = (
    "redelivery: no log shows a message received twice, but not every receive count is logged "
    "(would decide: ApproximateReceiveCount of every message)"
)
NO_QUEUE_SETTINGS = "queue_settings: no snapshot of the queue was read"


def incident_row(
    incident_id: str,
    messages: Collection[Message],
    redeliveries: Collection[Redelivery],
    ledger: Collection[Delivery],
    affected: Collection[str],
    blocked_ms: int | None,
    gaps: Sequence[str],
    repeated: Collection[WorkRepeat] = (),
) -> Row:
    """Return an incident in the columns of INCIDENTS.

    ``messages`` are all that belong to it, ``affected`` the item ids of those that may have been done twice, at least one;
    redeliveries and deliveries of others are not looked at. ``blocked_ms`` says how long failed deliveries held the affected
    groups (None: not at all), ``gaps`` what the evidence lacks inside its time, ``repeated`` the repeats of affected work.
    """
    hit = [message for message in messages if message.item_id in affected]
    verdicts = Counter(message.verdict for message in messages)
    works = Counter({message.work_id: message.verdict for message in messages}.values())
    here = {message.message_id for message in messages}
    origin = max((message.origin for message in messages if message.origin is not None), default=None)
    found = _of_redeliveries(redeliveries, affected)
    sent = _of_sends(messages, hit, is_redelivered=bool(found.causes))
    settings = _of_ledger(ledger, affected)
    cause = most_frequent(found.causes) if found.causes else origin
    told = why(hit[0].queue, settings.functions, redeliveries, ledger, affected, origin)
    noun = "message sent again" if origin and not found.causes else "redelivered message"
    is_proved = [message.certainty == "proved" for message in messages if message.verdict == "confirmed"]
    unread = list(gaps) if settings.has_queue_settings else [*gaps, NO_QUEUE_SETTINGS]
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
        "works": len({message.work_id for message in hit}),
        "works_shared": len({m.work_id for m in hit if not here.issuperset(m.related_message_ids)}),
        **{f"works_{verdict}": works[verdict] for verdict in VERDICTS},
        "causes": with_counts(found.causes),
        "primary_cause": cause,
        "trigger": told.trigger,
        "why": told.values,
        "headline": headline(
            works["confirmed"], works["probable"], works["possible"], works.total(), noun, _sent_count(messages)
        ),
        "cause_sentence": why_sentence(told),
        "excluded": [*found.excluded, *sent.excluded],
        "still_open": [*found.still_open, *sent.still_open],
        "certainty": "proved" if is_proved and all(is_proved) else "inferred",
        "is_provisional": any(message.is_provisional for message in messages),
        "final_at": highest(message.final_at for message in messages),
        "functions": settings.functions,
        "is_fifo": settings.is_fifo,
        "visibility_timeout_s": settings.visibility_timeout_s,
        "function_timeout_s": settings.function_timeout_s,
        "batch_size": settings.batch_size,
        "group_count": len({message.group_id for message in hit if message.group_id is not None}) or None,
        "blocked_ms": (blocked_ms or 0) if settings.is_fifo else None,
        "extra_effects_at_least": sum(repeat.is_sure for repeat in repeated),
        "extra_effects_at_most": None if any(m.effects_at_most is None for m in hit) else len(repeated),
        "unread_sources": unread,
        "evidence_ids": sorted({line for message in hit for line in message.evidence_ids} | settings.evidence_ids),
    }


def _sent_count(messages: Iterable[Message]) -> int:
    """Count what was sent: message ids, and one of each work of which only a business key is logged."""
    ids: dict[str, set[str]] = defaultdict(set)
    for message in messages:
        ids[message.work_id].update([message.message_id] if message.message_id is not None else [])
    return sum(max(len(of_work), 1) for of_work in ids.values())


class _Redelivered(NamedTuple):
    """What an incident's redeliveries say together."""

    causes: Counter[str]
    excluded: list[str]
    still_open: list[str]
    first_at: int | None


def _of_redeliveries(redeliveries: Iterable[Redelivery], affected: Collection[str]) -> _Redelivered:
    """Sum up the redeliveries of affected messages.

    A cause is excluded where it is for every one of them; it is told with its most frequent reason. One that is open for
    any of them stays open.
    """
    causes: Counter[str] = Counter()
    excluded: list[str] = []
    rivals: list[str] = []
    first_at = None
    for redelivery in redeliveries:
        if redelivery.item_id not in affected:
            continue
        causes[redelivery.cause] += 1
        excluded += redelivery.excluded
        rivals += [
            still_open(r.code, Ruling(r.stance, r.sentence, r.would_decide))
            for r in redelivery.rulings
            if r.stance == UNDECIDABLE
        ]
        if redelivery.later_received_at is not None:
            first_at = min(first_at or redelivery.later_received_at, redelivery.later_received_at)
    count = causes.total()
    return _Redelivered(
        causes,
        _out_for_all(excluded, count),
        _open_for_any(rivals, count, "redelivery", "redeliveries"),
        first_at,
    )


class _Sent(NamedTuple):
    """What is out, and what is not, of where further message ids of an incident's works come from."""

    excluded: list[str]
    still_open: list[str]


def _of_sends(messages: Collection[Message], hit: Sequence[Message], is_redelivered: bool) -> _Sent:
    """Sum up the origins of message ids; where no id came again by itself, that rules out every cause of redelivery."""
    further = [message for message in messages if message.origin_excluded or message.origin_open or message.origin]
    if not further:
        return _Sent([NOT_SENT_TWICE], [])
    excluded = _out_for_all([text for message in further for text in message.origin_excluded], len(further))
    rivals = _open_for_any([text for m in further for text in m.origin_open], len(further), "message", "messages")
    if is_redelivered:
        return _Sent(excluded, rivals)
    if all(message.receive_count == 1 for message in hit):
        return _Sent([*excluded, NOT_RECEIVED_TWICE], rivals)
    return _Sent(excluded, [*rivals, NO_RECEIVE_COUNTS])


def _reasons(texts: Iterable[str]) -> Mapping[str, Counter[str]]:
    """Count the reasons that ``code: why`` texts give, by code."""
    reasons: dict[str, Counter[str]] = defaultdict(Counter)
    for text, count in Counter(texts).items():
        code, _, sentence = text.partition(": ")
        reasons[code][sentence] += count
    return reasons


def _out_for_all(texts: Iterable[str], count: int) -> list[str]:
    found = _reasons(texts)
    return sorted(f"{code}: {most_frequent(said)}" for code, said in found.items() if said.total() == count)


def _open_for_any(texts: Iterable[str], count: int, one: str, many: str) -> list[str]:
    """Say each open rival with its most frequent reason; the most frequent rival first."""
    found = _reasons(texts)
    total = {code: said.total() for code, said in found.items()}
    told = []
    for code, number in ranked(total):
        of = "" if number == count else f"for {number:,} of {count_text(count, one, many)}: "
        told.append(f"{code}: {of}{most_frequent(found[code])}")
    return told


class _Settings(NamedTuple):
    """What was in force for an incident's affected messages, the highest of each, and who consumed them.

    Where nothing tells the function timeout of that time, it is the length of the runs that it stopped.
    """

    functions: list[str]
    is_fifo: bool | None
    visibility_timeout_s: int | None
    function_timeout_s: int | None
    batch_size: int | None
    evidence_ids: set[str]
    has_queue_settings: bool


def _of_ledger(ledger: Collection[Delivery], affected: Collection[str]) -> _Settings:
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
    in_force = highest(row[3] for row in met)
    return _Settings(
        sorted({row[0] for row in met if row[0] is not None}),
        any(known) if (known := [row[1] for row in met if row[1] is not None]) else None,
        highest(row[2] for row in met),
        _stopped_after_s(ledger, affected) if in_force is None else in_force,
        highest(row[4] for row in met),
        {line for row in met for line in row[5] if line},
        any(row[2] is not None or row[5][0] is not None for row in met),
    )


def _stopped_after_s(ledger: Iterable[Delivery], affected: Collection[str]) -> int | None:
    """Return after how many seconds the function timeout stopped runs; None unless all of them say the same."""
    lengths = {
        round((d.run_ended_at - d.run_started_at) / 1_000_000)
        for d in ledger
        if d.item_id in affected and d.run_status == "timeout" and d.run_started_at and d.run_ended_at
    }
    return lengths.pop() if len(lengths) == 1 else None


def _lowest(values: Iterable[int | None]) -> int | None:
    return min((value for value in values if value is not None), default=None)
