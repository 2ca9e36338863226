"""What a queue rule is asked about: what was gathered of one message or one message group, as plain values."""

from typing import NamedTuple


class QueueFacts(NamedTuple):
    """None always means "nothing tells", never zero or no. Which fields are filled depends on the code asked about.

    Durations are in milliseconds (``_ms``) or seconds (``_s``).
    """

    span_ms: int | None = None
    """From the start to the end of what is asked about; None where its end is not seen."""
    is_going_on: bool = False
    """The evidence ends before it does."""
    waiting_count: int | None = None
    """Messages of the group that were sent before the end and received only then."""
    receive_count: int | None = None
    max_receive_count: int | None = None
    has_settings: bool = False
    """It is known whether the queue had a dead-letter queue then, and which."""
    dead_letter_queue: str | None = None
    is_in_dead_letter_queue: bool = False
    """The dead-letter queue showed a message just after this one could have been moved."""
    is_unfinished: bool = True
    """Its last delivery is known not to have deleted it."""
    retention_s: int | None = None
    age_s: int | None = None
    """Age of the oldest message of the queue in the last two minutes of this one's retention, where it fits this one."""
    fitting_count: int | None = None
    """Unfinished messages that this age fits."""
    is_watched: bool = False
    """Every known consumer's log was read without a gap from the last receive to the end of the retention."""
    late_ms: int | None = None
    """How long after the later message the earlier one was finished."""
    is_later_settled: bool = True
    """Nothing of the later message can have been done after the earlier one was finished."""
