"""Messages, deliveries and redeliveries by hand: times in seconds after noon, everything else as ordinary as can be."""

from typing import Any

from forensics.judging.model import Message, Redelivery, Ruled
from forensics.streams.model import Delivery

NOON = 1_795_348_800_000_000
"""2026-11-22T12:00:00Z in microseconds."""

ARN = "arn:aws:sqs:eu-west-1:123456789012:payments"


def at(seconds: float | None) -> int | None:
    return None if seconds is None else NOON + round(seconds * 1_000_000)


def message(item_id: str, first: float | None = 0, last: float | None = None, **values: Any) -> Message:
    """A message received first and last at these seconds; affected (1 to 2 times done) unless told otherwise."""
    last = first if last is None else last
    ordinary: dict[str, Any] = {
        "queue_arn": ARN,
        "queue": "payments",
        "message_id": item_id,
        "work_id": item_id,
        "verdict": "probable",
        "certainty": "inferred",
        "effects_at_least": 1,
        "effects_at_most": 2,
        "deliveries": 2,
        "receive_count": 2,
        "causes": [],
        "origin": None,
        "trigger_sentence": "",
        "guard_sentence": "",
        "effect_sentence": "",
        "last_active_at": at(last),
        "sent_at": None,
        "group_id": None,
        "deduplication_id": None,
        "is_dead_lettered": False,
        "business_keys": [],
        "related_message_ids": [],
        "maybe_related_message_ids": [],
        "visibility_timeout_s": 30,
        "evidence_ids": [f"log:{item_id}"],
    }
    return Message(item_id=item_id, first_received_at=at(first), last_received_at=at(last), **(ordinary | values))


def harmless(item_id: str, first: float | None = 0, last: float | None = None, **values: Any) -> Message:
    return message(item_id, first, last, **({"verdict": "harmless", "effects_at_most": 1} | values))


def delivery(item_id: str, index: int = 1, received: float | None = 0, **values: Any) -> Delivery:
    ordinary: dict[str, Any] = {
        "message_id": item_id,
        "queue_arn": ARN,
        "queue": "payments",
        "consumer": f"run-{item_id}-{index}",
        "consumer_kind": "lambda",
        "log_group": "/aws/lambda/charge",
        "log_stream": "stream",
        "request_id": "request",
        "function_name": "charge",
        "work_id": item_id,
        "receive_count": index,
        "visibility_timeout_s": 30,
        "evidence_ids": [f"log:{item_id}-{index}"],
    }
    return Delivery(item_id=item_id, delivery_index=index, received_at=at(received), **(ordinary | values))


def redelivery(item_id: str, index: int = 2, later: float | None = 60, **values: Any) -> Redelivery:
    ordinary: dict[str, Any] = {
        "queue_arn": ARN,
        "queue": "payments",
        "message_id": item_id,
        "receive_count": index,
        "is_fifo": False,
        "earlier_received_at": at(0),
        "gap_ms": None if later is None else round(later * 1000),
        "run_ms": 10_000,
        "overlap_ms": 0,
        "visibility_timeout_s": 30,
        "earlier_kind": "lambda",
        "earlier_status": "timeout",
        "earlier_batch_count": 1,
        "earlier_is_printed": True,
        "earlier_is_named_failure": False,
        "earlier_has_finish_mark": False,
        "earlier_batch_size": 10,
        "earlier_function_timeout_s": 10,
        "cause": "function_timeout",
        "causes": ["function_timeout"],
        "sentence": "",
        "excluded": [],
        "would_decide": None,
        "rulings": [],
        "evidence_ids": [f"log:{item_id}-{index}", f"log:{item_id}-{index - 1}"],
    }
    out = [f"{r.code}: {r.sentence}" for r in values.get("rulings", ()) if r.stance == "excluded"]
    return Redelivery(
        item_id=item_id, delivery_index=index, later_received_at=at(later), **(ordinary | {"excluded": out} | values)
    )


def ruled(code: str, stance: str, sentence: str = "") -> Ruled:
    return Ruled(code, stance, sentence)
