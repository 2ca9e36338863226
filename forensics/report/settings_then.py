"""The settings in force at the time, each against the value that is advised."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from forensics.report.words import clock_text, span_text

Row = Mapping[str, Any]
FUNCTION_TIMEOUTS_HIDDEN = 6
"""AWS advises a visibility timeout of at least this many function timeouts."""
LEAST_RECEIVES = 5
"""AWS advises at least this maxReceiveCount in front of a dead-letter queue."""


@dataclass(frozen=True)
class SettingFact:
    """One setting: its value then, the advice, whether it falls short of it, and where the value is from."""

    name: str
    value: str
    advice: str
    falls_short: bool
    source: str
    evidence_ids: tuple[str, ...]


def settings_then(
    incident: Row, deliveries: Sequence[Row], snapshots: Mapping[str, Sequence[Row]]
) -> tuple[SettingFact, ...]:
    """Return what is known of queue, function and mapping at the incident's start; unknown settings are left out.

    ``snapshots`` holds the rows of queue_settings, function_settings and event_source_mappings.
    """
    at = incident["started_at"]
    functions = sorted({d["function_name"] for d in deliveries if d["function_name"]})
    facts: list[SettingFact] = []
    queue = in_force([s for s in snapshots["queue_settings"] if s["queue_arn"] == incident["queue_arn"]], at)
    function = in_force([s for s in snapshots["function_settings"] if s["function_name"] in functions], at)
    mapping = in_force(
        [
            s
            for s in snapshots["event_source_mappings"]
            if s["queue_arn"] == incident["queue_arn"] and (not functions or s["function_name"] in functions)
        ],
        at,
    )

    def add(row: Row | None, name: str, value: str | None, advice: str = "", falls_short: bool = False) -> None:
        if value is not None:
            ids = (row["evidence_id"],) if row else ()
            facts.append(SettingFact(name, value, advice, falls_short, _source(row, at), ids))

    visibility, timeout = incident["visibility_timeout_s"], incident["function_timeout_s"]
    add(queue, "visibility timeout", _seconds(visibility), *_visibility_advice(visibility, timeout, mapping))
    add(function, "function timeout", _seconds(timeout), "longer than the slowest batch")
    batch = incident["batch_size"]
    add(
        mapping, "batch size", _number(batch), "1 where one item's failure must not repeat the others", (batch or 0) > 1
    )
    if mapping:
        partial = mapping["reports_batch_item_failures"]
        add(
            mapping,
            "partial batch responses",
            None if partial is None else "on" if partial else "off",
            "on, and returned correctly; they do not help a timeout or a crash",
            partial is False,
        )
        add(mapping, "maximum concurrency", _number(mapping["maximum_concurrency"]) or "no limit")
    if queue:
        dead = queue["dead_letter_queue_arn"]
        add(
            queue,
            "dead-letter queue",
            _name(dead) if dead else "none",
            "one, kept longer than the queue itself",
            not dead,
        )
        if queue["max_receive_count"] is not None:
            most = queue["max_receive_count"]
            add(
                queue,
                "receives before the dead-letter queue",
                str(most),
                f"{LEAST_RECEIVES} or more",
                most < LEAST_RECEIVES,
            )
        add(queue, "message retention", _seconds(queue["message_retention_s"]))
    if incident["is_fifo"] is not None:
        add(queue, "queue type", "FIFO" if incident["is_fifo"] else "standard")
    return tuple(facts)


def in_force(states: Sequence[Row], at: datetime | None) -> Row | None:
    """Return the state that holds at a moment: the first one observed from then on, else the last one before.

    A state is true from its observation back to the one before, so the next observation speaks for the moment.
    """
    ordered = sorted((s for s in states if s["observed_at"]), key=lambda s: (s["observed_at"], s["evidence_id"]))
    return next((s for s in ordered if at and s["observed_at"] >= at), ordered[-1] if ordered else None)


def _visibility_advice(visibility: int | None, timeout: int | None, mapping: Row | None) -> tuple[str, bool]:
    if visibility is None or timeout is None:
        return "longer than the slowest item or batch", False
    window = (mapping or {}).get("batching_window_s") or 0
    advised = FUNCTION_TIMEOUTS_HIDDEN * timeout + window
    plus = f" + {window} s batching window" if window else ""
    return f"at least {advised} s (6 × the function timeout{plus})", visibility < advised


def _source(row: Row | None, at: datetime | None) -> str:
    if row is None:
        return "log lines"
    modified = row.get("last_modified_at")
    if modified and at and modified > at:
        return f"read {clock_text(row['observed_at'])}; last changed {clock_text(modified)}, after the incident began"
    return f"read {clock_text(row['observed_at'])}"


def _seconds(value: int | None) -> str | None:
    """Write seconds, long ones beside the units people think in.

    >>> _seconds(30), _seconds(600), _seconds(345_600), _seconds(1_209_600)
    ('30 s', '600 s (10 min)', '345,600 s (4 d)', '1,209,600 s (14 d)')
    """
    if value is None:
        return None
    return f"{value} s" if value < 120 else f"{value:,} s ({span_text(1000 * value).removesuffix(' 0 h')})"


def _number(value: int | None) -> str | None:
    return None if value is None else str(value)


def _name(arn: str) -> str:
    return arn.rpartition(":")[2]
