"""One incident in a row: how many messages, why, what is ruled out, and under which settings."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from forensics.incidents.ranking import highest, most_frequent, ranked, with_counts
from forensics.incidents.shares import Share
from forensics.incidents.trigger import why
from forensics.sentence import labelled, said
from forensics.verdict import VERDICTS, headline, noun_of, why_sentence

Row = dict[str, Any]

NOT_SENT_TWICE = "producer_retry: the same message ids were redelivered; nothing was sent twice"
NOT_RECEIVED_TWICE = "redelivery: every receive count is 1, so SQS handed no message out a second time"
NO_RECEIVE_COUNTS = labelled(
    "redelivery",
    said(
        "{why} (would decide: {what})",
        why="no log shows a message received twice, but not every receive count is logged",
        what="ApproximateReceiveCount of every message",
    ),
)
NO_QUEUE_SETTINGS = "queue_settings: no snapshot of the queue was read"


def incident_row(incident_id: str, queue_arn: str, told: Share, blocked_ms: int | None, gaps: Sequence[str]) -> Row:
    """Return an incident in the columns of INCIDENTS, given what all of its works tell of it.

    ``blocked_ms`` says how long failed deliveries held the affected groups (None: not at all), ``gaps`` what the evidence lacks
    inside its time.
    """
    sent = _of_sends(told)
    settings = _settings(told)
    origin = told.origin
    because = why(told.queue, settings.functions, told.triggers, origin)
    cause = most_frequent(told.causes) if told.causes else origin
    confirmed, redelivered = told.verdicts.get("confirmed", 0), sum(told.causes.values())
    works = Counter(told.works)
    return {
        "incident_id": incident_id,
        "queue_arn": queue_arn,
        "queue": told.queue,
        "started_at": told.started_at,
        "ended_at": told.ended_at,
        "first_repeat_at": told.first_repeat_at,
        "messages": told.affected,
        "messages_at_most": told.affected,
        **{verdict: told.verdicts.get(verdict, 0) for verdict in VERDICTS},
        "works": told.works_affected,
        "works_shared": told.works_shared,
        "received_once": told.received_once,
        "repeated_elsewhere": told.repeated_elsewhere,
        **{f"works_{verdict}": works[verdict] for verdict in VERDICTS},
        "causes": with_counts(told.causes),
        "primary_cause": cause,
        "trigger": because.trigger,
        "why": because.values,
        "headline": headline(
            works["confirmed"],
            works["probable"],
            works["possible"],
            works.total(),
            "work"
            if told.repeated_elsewhere
            else noun_of(cause, are_all_redelivered=origin is None and not told.received_once),
            told.sent,
        ),
        "cause_sentence": why_sentence(because),
        "excluded": [*_out_for_all(told.excluded, redelivered), *sent.excluded],
        "still_open": [*_open_for_any(told.rivals, redelivered, "redelivery", "redeliveries"), *sent.still_open],
        "certainty": "proved" if confirmed and told.proved == confirmed else "inferred",
        "is_provisional": told.final_at is not None,
        "final_at": told.final_at,
        "functions": settings.functions,
        "is_fifo": settings.is_fifo,
        "visibility_timeout_s": settings.visibility_timeout_s,
        "function_timeout_s": settings.function_timeout_s,
        "batch_size": settings.batch_size,
        "group_count": len(told.group_ids) or None,
        "blocked_ms": (blocked_ms or 0) if settings.is_fifo else None,
        "extra_effects_at_least": told.repeated.sure,
        "extra_effects_at_most": None if told.has_open_end else told.repeated.count,
        "unread_sources": list(gaps) if settings.has_queue_settings else [*gaps, NO_QUEUE_SETTINGS],
        "evidence_ids": told.evidence_ids,
    }


class _Sent(NamedTuple):
    """What is out, and what is not, of where further message ids of an incident's works come from."""

    excluded: list[str]
    still_open: list[str]


def _of_sends(told: Share) -> _Sent:
    """Sum up the origins of message ids; where no id came again by itself, that rules out every cause of redelivery."""
    if not told.further:
        return _Sent([NOT_SENT_TWICE] if told.causes else [], [])
    excluded = _out_for_all(told.origins_out, told.further)
    rivals = _open_for_any(told.origins_open, told.further, "message", "messages")
    if told.causes:
        return _Sent(excluded, rivals)
    if not told.has_other_receives:
        return _Sent([*excluded, NOT_RECEIVED_TWICE], rivals)
    return _Sent(excluded, [*rivals, NO_RECEIVE_COUNTS])


def _reasons(texts: Mapping[str, int]) -> Mapping[str, dict[str, int]]:
    """Return how often each reason is given that ``code: why`` texts give, by code."""
    reasons: dict[str, dict[str, int]] = defaultdict(dict)
    for text, count in texts.items():
        code, _, sentence = text.partition(": ")
        reasons[code][sentence] = count
    return reasons


def _out_for_all(texts: Mapping[str, int], count: int) -> list[str]:
    """Return what is out for every one of them, with its most frequent reason."""
    found = _reasons(texts)
    return sorted(f"{code}: {most_frequent(why)}" for code, why in found.items() if sum(why.values()) == count)


def _open_for_any(texts: Mapping[str, int], count: int, one: str, many: str) -> list[str]:
    """Say each open rival with its most frequent reason; the most frequent rival first."""
    found = _reasons(texts)
    total = {code: sum(why.values()) for code, why in found.items()}
    told = []
    for code, number in ranked(total):
        why = most_frequent(found[code])
        if number != count:
            all_of = said(f"{{count}} {one if count == 1 else many}", count=count)
            why = said("for {n} of {all}: {why}", n=number, all=all_of, why=why)
        told.append(labelled(code, why))
    return told


class _Settings(NamedTuple):
    """What was in force for an incident's affected messages, the highest of each, and who consumed them.

    Where all runs that the function timeout stopped lasted as long, and nothing tells it or it was that for them, it is their length:
    what runs beside them may have had since says nothing of them.
    """

    functions: list[str]
    is_fifo: bool | None
    visibility_timeout_s: int | None
    function_timeout_s: int | None
    batch_size: int | None
    has_queue_settings: bool


def _settings(told: Share) -> _Settings:
    met = told.in_force
    timeouts = {one.function_timeout_s for one in met if one.function_timeout_s is not None}
    stopped_s = max(told.stopped_s) if len(told.stopped_s) == 1 else None
    return _Settings(
        sorted({one.name for one in met if one.name is not None}),
        any(known) if (known := [one.is_fifo for one in met if one.is_fifo is not None]) else None,
        highest(one.visibility_timeout_s for one in met),
        stopped_s if not timeouts or stopped_s in timeouts else max(timeouts),
        highest(one.batch_size for one in met),
        any(one.visibility_timeout_s is not None or one.evidence_ids[0] is not None for one in met),
    )
