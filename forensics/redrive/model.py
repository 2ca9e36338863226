"""A redrive plan: what redriving each dead-lettered message does, and what has changed since it was moved."""

from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any

from forensics.identity import is_fifo_name
from forensics.sentence import joined, said
from forensics.words import time_text

DECISIONS = ("repeats", "cannot_tell", "safe", "gone")
"""What redriving a message does, worst first; ``gone``: it is there no longer."""
DECISION_WORDS = {
    "repeats": "does the work again",
    "cannot_tell": "may do it again",
    "safe": "safe",
    "gone": "no longer there",
}
"""As incidents say it of the same message."""
NOT_SHOWN = "cannot tell"
"""Said of a message that would be safe, and of which nothing shows that it is there."""
NOT_SHOWN_WHY = said("nothing shows that it is there")


@dataclass(frozen=True)
class Step:
    """One dead-lettered message. ``place`` counts within ``line``, in the order of sends; times are UTC.

    ``mended`` is what is known of the cause of its last failure since then: changed, not_seen, at_times, still_failing (more
    than half of the runs) or unknown. ``expires_at``: not before.
    ``overtaken_by`` counts later messages of its group that were done since; None where nothing has an order.
    ``left_out`` says why it is not in the script; empty where it is.
    """

    queue: str
    item_id: str
    message_id: str | None
    business_keys: tuple[str, ...]
    group_id: str | None
    place: int
    sent_at: datetime | None
    moved_at: datetime | None
    expires_at: datetime | None
    decision: str
    why: str
    mended: str
    mended_sentence: str
    guard_sentence: str
    overtaken_by: int | None
    order_sentence: str
    left_out: str
    evidence_ids: tuple[str, ...]

    @property
    def line(self) -> str:
        """Return what has an order: its group in a FIFO queue, else the queue."""
        return (self.group_id if is_fifo_name(self.queue) else None) or self.queue

    @property
    def words(self) -> str:
        """Say the decision."""
        return NOT_SHOWN if self.left_out == NOT_SHOWN_WHY else DECISION_WORDS[self.decision]

    @property
    def by_now(self) -> str:
        """Say in one text what has become of cause, guard and order."""
        return joined(s for s in (self.mended_sentence, self.guard_sentence, self.order_sentence) if s)


@dataclass(frozen=True)
class Plan:
    """All messages of one dead-letter queue as the lake knows them, by queue, line and place; last what is no longer there."""

    dead_letter_queue: str
    dead_letter_queue_arn: str
    steps: tuple[Step, ...]
    notes: tuple[str, ...]
    data_version: str
    data_until_at: datetime | None

    @property
    def scripted(self) -> tuple[Step, ...]:
        """Steps that the script redrives, in order."""
        return tuple(step for step in self.steps if not step.left_out)


def step_record(step: Step) -> dict[str, Any]:
    """Return a step as programs read it."""
    plain = {f.name: getattr(step, f.name) for f in fields(Step)}
    return {
        name: time_text(value) if isinstance(value, datetime) else list(value) if isinstance(value, tuple) else value
        for name, value in plain.items()
    }
