"""What is known of queues and their consumers beside the log lines: few rows, whatever the traffic."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from forensics.settings import Consumer

Row = Mapping[str, Any]


@dataclass(frozen=True)
class Known:
    """Rows of small evidence tables as dicts with times in UTC, and whose a name or a log group is.

    ``consumers_by_group`` holds what the settings file declares, per log group, and of functions by name: they may share one.
    """

    queue_arn_by_name: Mapping[str, str] = field(default_factory=dict)
    queue_arn_by_group: Mapping[str, str] = field(default_factory=dict)
    consumers_by_group: Mapping[str, Consumer] = field(default_factory=dict)
    consumers: Sequence[Row] = ()
    coverage: Sequence[Row] = ()
    queue_settings: Sequence[Row] = ()
    function_settings: Sequence[Row] = ()
    event_source_mappings: Sequence[Row] = ()
    setting_changes: Sequence[Row] = ()

    @property
    def dead_letter_queue_arns(self) -> frozenset[str]:
        """Queues that some queue's redrive policy names, or named."""
        return frozenset(r["dead_letter_queue_arn"] for r in self.queue_settings if r["dead_letter_queue_arn"])
