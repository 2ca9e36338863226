"""Which deliveries keep their FIFO group locked after their run: those that did not delete their message."""

from forensics.run_ends import FAILED
from forensics.streams.model import Delivery

GAVE_BACK = ("visibility_expired", "delete_refused")
"""Endings after which the message is in its queue again."""

HOLDING = (*GAVE_BACK, "dead_lettered")
"""Endings that held the group until the visibility timeout was over."""


def is_holding(delivery: Delivery) -> bool:
    """Tell whether a delivery kept its group locked after its run, as far as anything tells."""
    return delivery.ended_by in HOLDING or is_failed_in_flight(delivery)


def is_failed_in_flight(delivery: Delivery) -> bool:
    """Tell whether a delivery's run failed and its message is still hidden where the evidence ends."""
    return delivery.ended_by == "in_flight" and delivery.run_status in FAILED
