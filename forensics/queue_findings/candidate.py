"""What may be a finding about a queue or a message group, with the facts that its rule asks for."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from forensics.queue_rules import QueueFacts
from forensics.settings_in_force import is_unknown


class KnowsQueueSettings(Protocol):
    """What is asked of the settings in force; ``SettingsInForce`` has it."""

    def queue(self, queue_arn: str | None, at: int | None) -> Mapping[str, Any] | None:
        """Return the queue's settings in force at a time, None where there are none."""


def is_redrive_policy_known(settings: Mapping[str, Any]) -> bool:
    """Tell whether it is known which dead-letter queue a queue had in a state, or that it had none; empty: nothing is known of it."""
    return bool(settings) and not is_unknown(settings, "dead_letter_queue_arn")


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """One thing that may have gone wrong, at one message, from ``from_at`` to ``until_at`` (None: nothing tells).

    ``facts`` lack the span: it follows from the two times. ``evidence_ids`` and ``business_keys`` stand in any order, some
    twice; ``message_ids`` are sorted.
    """

    code: str
    queue_arn: str
    queue: str
    item_id: str
    message_id: str | None
    group_id: str | None
    from_at: int
    until_at: int | None
    message_count: int | None
    message_ids: list[str]
    business_keys: list[str]
    evidence_ids: list[str]
    facts: QueueFacts
    incident_id: str | None = None
    effects_at_least: int | None = None
    effects_at_most: int | None = None

    @property
    def span_ms(self) -> int | None:
        """From start to end in whole milliseconds, None where no end is known."""
        return None if self.until_at is None else self.until_at // 1000 - self.from_at // 1000
