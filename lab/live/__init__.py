"""The incidents that the lab can play live: real queues, mappings, functions and threads, scaled down in time."""

from collections.abc import Callable

from lab.live import dlq_timing, double_billing, expired_handle, fifo_order
from lab.played import Played

LIVE: dict[str, Callable[..., Played]] = {
    "double-billing": double_billing.play,
    "fifo-order": fifo_order.play,
    "dlq-timing": dlq_timing.play,
    "expired-handle": expired_handle.play,
}
"""Scenario to what plays it in an EmbeddedAws. The quick ones can be played ``slower``, an integer of times."""
