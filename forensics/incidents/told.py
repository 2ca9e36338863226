"""What judged works tell incidents: of a delivery a quarter of what is known, for it is packed and read again for every work."""

from operator import attrgetter
from typing import NamedTuple

from forensics.judging.model import Judged, Message, Redelivery
from forensics.streams.model import Delivery


class Had(NamedTuple):
    """A judged delivery as far as incidents ask for it, each value as it stands in ``Delivery``."""

    queue_arn: str
    item_id: str
    work_id: str
    delivery_index: int
    effect: str
    received_at: int | None
    order_at: int | None
    consumer: str | None
    function_name: str | None
    log_group: str | None
    batch_position: int | None
    batch_count: int | None
    is_batch_printed: bool
    consumer_kind: str | None
    run_status: str | None
    run_started_at: int | None
    run_ended_at: int | None
    is_fifo: bool | None
    visibility_timeout_s: int | None
    function_timeout_s: int | None
    batch_size: int | None
    queue_settings_id: str | None
    mapping_id: str | None
    function_settings_id: str | None
    done_more_count: int
    maybe_more_count: int
    evidence_ids: list[str]


class Told(NamedTuple):
    """A judged work, or several; ``ledger`` holds each item's deliveries in order, ``redeliveries`` those of affected messages."""

    ledger: list[Had]
    redeliveries: list[Redelivery]
    messages: list[Message]


AnyDelivery = Delivery | Had
_OF_DELIVERY = attrgetter(*Had._fields)


def told(work: Judged) -> tuple[object, ...]:
    """Return what a judged work tells, as plain values that are read back as ``Told``; of redeliveries those that incidents look at."""
    affected = {message.item_id for message in work.messages if message.is_affected}
    redeliveries = [redelivery for redelivery in work.redeliveries if redelivery.item_id in affected]
    return list(map(_OF_DELIVERY, work.ledger)), redeliveries, work.messages
