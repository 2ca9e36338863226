"""What is known of queues and their consumers beside the log lines: few rows, whatever the traffic."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from forensics.settings import Consumer

Row = Mapping[str, Any]
KNOWN_TABLES = (
    "consumers",
    "coverage",
    "queue_settings",
    "function_settings",
    "event_source_mappings",
    "setting_changes",
)


class _Group(Protocol):
    @property
    def queue_arn(self) -> str | None: ...

    @property
    def consumer(self) -> Consumer: ...


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

    def names_guard_of(self, name: str) -> bool:
        """Tell whether the settings name a line that says a repeat was stopped, or the table that a guard asks.

        >>> Known(consumers_by_group={"charge": Consumer(name="charge", guard_table="done")}).names_guard_of("charge")
        True
        """
        declared = [c for c in self.consumers_by_group.values() if name in (c.name, c.log_group)]
        return any(c.guard or c.guard_table for c in declared)

    @classmethod
    def of(
        cls, small: Mapping[str, Sequence[Row]], groups: Mapping[str, _Group], functions: Iterable[Consumer] = ()
    ) -> "Known":
        """Return what small evidence tables, by name, the log groups and the declared ``functions`` tell."""
        by_name = {r["queue_name"]: r["queue_arn"] for r in small["queue_settings"]}
        for row in small["consumers"]:
            by_name.setdefault(row["queue_name"], row["queue_arn"])
        return cls(
            queue_arn_by_name=by_name,
            queue_arn_by_group={name: group.queue_arn for name, group in groups.items() if group.queue_arn},
            consumers_by_group={name: group.consumer for name, group in groups.items()}
            | {consumer.name or "": consumer for consumer in functions},
            **{name: small[name] for name in KNOWN_TABLES},
        )

    @property
    def dead_letter_queue_arns(self) -> frozenset[str]:
        """Queues that some queue's redrive policy names, or named."""
        return frozenset(r["dead_letter_queue_arn"] for r in self.queue_settings if r["dead_letter_queue_arn"])
