"""What is recorded of sends: CloudTrail's records of SendMessage, and the lines of producers that the settings name.

Times are whole microseconds since 1970, UTC: CloudTrail tells whole seconds, a line its producer's clock.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from forensics.clock import micros
from forensics.identity import queue_name
from forensics.judging.evidence import united
from forensics.judging.known import first_known, highest, lowest
from forensics.parsers.sends import pattern_of, read_as
from forensics.sentence import said
from forensics.settings import Producer
from forensics.spans import Spans
from forensics.streams.model import Delivery

Row = Mapping[str, Any]

SEND = "SendMessage"
MOVER = "sqs.amazonaws.com"
"""Who calls in a redrive, in the name of whoever began it."""
_NEAR_US = 5 * 1_000_000
"""A producer's clock may be off by so much, and a line that names no message lies so near to its send."""


class Send(NamedTuple):
    """One message in one recorded send. ``log_group`` is None where CloudTrail recorded it."""

    at: int
    message_id: str | None
    deduplication_id: str | None
    key: str | None
    request_id: str | None
    actor: str | None
    log_group: str | None
    evidence_id: str

    @property
    def shown_by(self) -> str:
        """Say what shows it."""
        return (
            "CloudTrail's record of SendMessage"
            if self.log_group is None
            else said("a line of {group}", group=self.log_group)
        )

    @property
    def is_by_producer(self) -> bool:
        """SQS's own sends in a redrive are of no producer, and of some nothing tells who made them."""
        return self.log_group is not None or self.actor not in (None, MOVER)


class Sends:
    """The recorded sends of every queue; ``read`` holds what coverage says was read, by ``read_as``."""

    def __init__(
        self,
        rows: Iterable[Row] = (),
        read: Mapping[str, Spans] | None = None,
        producers: Sequence[Producer] = (),
    ) -> None:
        """Take rows of ``send_records``. Lines that were read by settings no longer in force do not count."""
        patterns = {pattern_of(producer) for producer in producers}
        self._of_message: dict[tuple[str, str], list[Send]] = {}
        self._of_key: dict[tuple[str, str], list[Send]] = {}
        for row in rows:
            if row["operation"] != SEND or row["error_code"] is not None:
                continue
            if row.get("log_group") is not None and row.get("pattern") not in patterns:
                continue
            send, queue = _send(row), queue_name(row["queue_arn"])
            if send.message_id is not None:
                self._of_message.setdefault((queue, send.message_id), []).append(send)
            elif send.key is not None:
                self._of_key.setdefault((queue, send.key), []).append(send)
        for found in (*self._of_message.values(), *self._of_key.values()):
            found.sort(key=_order)
        self._exhaustive: dict[str, list[Spans]] = {}
        for queue in {p.queue for p in producers if p.sent_is_exhaustive}:
            mine = [p for p in producers if p.queue == queue]
            if all(p.sent_is_exhaustive for p in mine):
                self._exhaustive[queue] = [(read or {}).get(read_as(p), Spans()) for p in mine]

    def of(self, item: Iterable[Delivery]) -> list[Send]:
        """Return the sends of an item's message: those that name it, else the one line about its key when it was sent."""
        if not (self._of_message or self._of_key):
            return []
        deliveries = list(item)
        message_id, queue = highest(d.message_id for d in deliveries), queue_name(deliveries[0].queue_arn)
        if message_id is None:
            return []
        if found := self._of_message.get((queue, message_id)):
            return found
        sent_at = lowest(d.sent_at for d in deliveries)
        keys = {key for d in deliveries for key in d.business_keys}
        near = [
            send
            for key in keys
            for send in self._of_key.get((queue, key), ())
            if sent_at is not None and abs(send.at - sent_at) <= _NEAR_US
        ]
        return near if len(near) == 1 else []

    def would_show(self, queue_arn: str, sent_at: int | None) -> bool:
        """Tell whether lines would have shown a send of then: all producers print each of theirs, and all were read."""
        spans = self._exhaustive.get(queue_name(queue_arn))
        if not spans or sent_at is None:
            return False
        return all(of_one.hold(sent_at - _NEAR_US, sent_at + _NEAR_US) for of_one in spans)

    def bearing(self, queue_arn: str, low: int, high: int) -> list[Any]:
        """Return as text when all sends of a queue would have shown, as far as it bears on a span."""
        return [spans.between(low, high) for spans in self._exhaustive.get(queue_name(queue_arn), ())]


def add_sends(item: Sequence[Delivery], sends: Sends) -> None:
    """Add to an item what its sends tell: the ids that link it to other messages, and the lines that say so."""
    found = sends.of(item)
    if not found:
        return
    keys = {send.key for send in found if send.key is not None}
    for delivery in item:
        delivery.business_keys = sorted({*delivery.business_keys, *keys})
        for send in found:
            delivery.deduplication_id = first_known(delivery.deduplication_id, send.deduplication_id)
    item[0].evidence_ids = united(item[0].evidence_ids, [send.evidence_id for send in found])


def _send(row: Row) -> Send:
    return Send(
        micros(row["called_at"]),
        row["message_id"],
        row["deduplication_id"],
        row.get("business_key"),
        row.get("producer_request_id"),
        row["actor"] if row.get("log_group") is None else None,
        row.get("log_group"),
        row["evidence_id"],
    )


def _order(send: Send) -> tuple[int, str]:
    return send.at, send.evidence_id
