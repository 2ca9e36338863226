"""Small ledgers of one queue. Times are seconds from ``START`` where they are written, microseconds in what is made of them."""

from collections.abc import Collection, Mapping
from typing import Any

from hypothesis import strategies as st

from forensics.judging.model import Message
from forensics.queue_rules import QUEUE_RULES
from forensics.settings_in_force import Known
from forensics.streams.model import Delivery

START = 1_795_150_800 * 1_000_000
QUEUE_ARN = "arn:aws:sqs:eu-west-1:123456789012:jobs.fifo"
DEAD_LETTER_QUEUE_ARN = "arn:aws:sqs:eu-west-1:123456789012:jobs-dlq.fifo"
DEPTH, AGE = "ApproximateNumberOfMessagesVisible", "ApproximateAgeOfOldestMessage"


def at(seconds: float) -> int:
    return START + round(seconds * 1_000_000)


def delivered(item: str, *, received: float | None, ended_by: str, index: int = 1, **more: Any) -> Delivery:
    """One delivery of group g, hidden for 30 s and failed where it was not deleted; any field of a delivery may be given."""
    if "hidden" not in more and received is not None:
        more["hidden"] = received + 30
    times = {
        field: None if (seconds := more.pop(name, None)) is None else at(seconds)
        for name, field in (("hidden", "hidden_until_at"), ("done", "effect_at"), ("run_ended", "run_ended_at"))
    }
    sent = more.pop("sent", None)
    return Delivery(
        **{
            "item_id": item,
            "message_id": item,
            "queue_arn": QUEUE_ARN,
            "queue": "jobs.fifo",
            "group_id": "g",
            "consumer": f"{item}-{index}",
            "delivery_index": index,
            "receive_count": index,
            "received_at": None if received is None else at(received),
            "sent_ms": None if sent is None else at(sent) // 1000,
            "ended_by": ended_by,
            "run_status": "success" if ended_by == "deleted" else "error",
            "effect": "yes" if times["effect_at"] else "unknown",
            "evidence_ids": [f"log:{item}-{index}"],
        }
        | times
        | more
    )


def verdict(
    item: str,
    *,
    at_least: int = 0,
    at_most: int | None = 2,
    receives: int | None = 2,
    seen: int = 2,
    received: float | None = 0,
    sent: float | None = None,
) -> Message:
    """The verdict on a message that came again."""
    empty: dict[str, Any] = dict.fromkeys(("origin", "last_received_at", "last_active_at", "deduplication_id"))
    return Message(
        queue_arn=QUEUE_ARN,
        queue="jobs.fifo",
        item_id=item,
        message_id=item,
        work_id=item,
        verdict="possible",
        certainty="inferred",
        effects_at_least=at_least,
        effects_at_most=at_most,
        deliveries=seen,
        receive_count=receives,
        causes=[],
        trigger_sentence="",
        guard_sentence="",
        effect_sentence="",
        first_received_at=None if received is None else at(received),
        sent_at=None if sent is None else at(sent),
        group_id="g",
        is_dead_lettered=False,
        business_keys=[],
        related_message_ids=[],
        visibility_timeout_s=30,
        evidence_ids=[],
        **empty,
    )


class InForce:
    """Settings of the one queue, from ever on; those of a moment that nothing tells are unknown, and so are those ``set_later``."""

    def __init__(self, set_later: Collection[str] = (), **settings: Any) -> None:
        row = {"dead_letter_queue_arn": None} | settings
        known = {name: Known(value, "queue:jobs", is_unknown=name in set_later) for name, value in row.items()}
        self.row: Mapping[str, Any] | None = row | {"evidence_id": "queue:jobs", "known": known} if settings else None

    def queue(self, queue_arn: str | None, at: int | None) -> Mapping[str, Any] | None:
        return self.row if queue_arn == QUEUE_ARN and at is not None else None


def point(metric: str, seconds: float, value: float, resource: str = "jobs.fifo", **more: Any) -> dict[str, Any]:
    """One metric point of a minute, as the lake has it."""
    return {
        "evidence_id": f"metric:{resource}-{seconds}",
        "metric": metric,
        "resource": resource,
        "period_s": 60,
        "point_at": at(seconds),
        "value": float(value),
    } | more


def stance_of(candidate: Any) -> str:
    """How the candidate's rule answers."""
    return QUEUE_RULES[candidate.code](candidate.facts._replace(span_ms=candidate.span_ms)).stance


_SECONDS = st.integers(0, 12)
_SENT = st.none() | _SECONDS
_MESSAGES, _DELIVERIES, _RUNS, _PLACES = (
    st.integers(1, 6),
    st.integers(1, 3),
    st.integers(1, 5),
    st.none() | st.integers(1, 3),
)
_AGAIN = ("visibility_expired", "delete_refused")
_CAME_AGAIN = st.sampled_from(_AGAIN)
_LAST = st.sampled_from((*_AGAIN, "deleted", "deleted", "dead_lettered", "in_flight", "unknown"))
_EFFECTS = st.sampled_from(("yes", "no", "unknown"))
_STATUS = st.sampled_from(("success", "error", "unknown"))
_KEYS: st.SearchStrategy[list[str]] = st.sampled_from(([], ["a"], ["b", "c"]))
_EITHER = st.booleans()


@st.composite
def groups(draw: st.DrawFn) -> list[Delivery]:
    """The deliveries of one group, in any order: few moments, so that many things happen at one of them.

    A delivery that came again ended in its timeout or in a refused deletion, as the ledger has it.
    """
    rows = []
    for number in range(draw(_MESSAGES)):
        item, sent = f"m{number}", draw(_SENT)
        last = draw(_DELIVERIES)
        for index in range(1, last + 1):
            is_seen = draw(_EITHER) or index == last
            came_again = index < last
            effect = draw(_EFFECTS) if is_seen else "unknown"
            rows.append(
                delivered(
                    item,
                    index=index,
                    received=draw(_SECONDS) if is_seen else None,
                    ended_by=draw(_CAME_AGAIN if came_again else _LAST) if is_seen else "visibility_expired",
                    run_status=draw(_STATUS) if is_seen else None,
                    run_ended=draw(_SENT) if is_seen else None,
                    hidden=draw(_SECONDS) if is_seen else None,
                    done=draw(_SENT) if effect == "yes" else None,
                    effect=effect,
                    sent=sent,
                    is_seen=is_seen,
                    consumer=f"run-{draw(_RUNS)}" if is_seen else None,
                    batch_position=draw(_PLACES),
                    came_again=came_again,
                    evidence_ids=[f"log:{item}-{index}"] if is_seen else [],
                    business_keys=draw(_KEYS),
                )
            )
    return draw(st.permutations(rows))
