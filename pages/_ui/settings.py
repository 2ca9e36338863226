"""The settings that were in force when an incident happened."""

from datetime import datetime
from typing import Any

from forensics.tables.evidence import EVENT_SOURCE_MAPPINGS, FUNCTION_SETTINGS, QUEUE_SETTINGS
from pages._ui.shell import Page

Row = dict[str, Any]


def then(case: dict[str, Any], page: Page) -> list[dict[str, str]]:
    """Return rows of setting, value, what AWS advises, and when the value was seen.

    A snapshot is true from its time back to the one before, so the first at or after the start counts; where only
    earlier ones exist, the newest.
    """
    queue = _in_force(page.board.records(QUEUE_SETTINGS, ("queue_arn", "==", case["queue_arn"])), case["started_at"])
    mapping = _in_force(
        page.board.records(EVENT_SOURCE_MAPPINGS, ("queue_arn", "==", case["queue_arn"])), case["started_at"]
    )
    name = mapping.get("function_name")
    functions = page.board.records(FUNCTION_SETTINGS, ("function_name", "==", name)) if name else []
    function = _in_force(functions, case["started_at"])
    timeout = case["function_timeout_s"] or function.get("timeout_s")
    window = mapping.get("batching_window_s") or 0
    advised = f"at least {6 * timeout + window} s: 6 × function timeout + batching window" if timeout else ""
    dlq = queue.get("dead_letter_queue_arn")
    rows = [
        ("Queue type", _type(case["is_fifo"]), "", queue),
        ("Visibility timeout", _seconds(case["visibility_timeout_s"]), advised, queue),
        ("Message retention", _seconds(queue.get("message_retention_s")), "", queue),
        (
            "Dead-letter queue",
            "unknown" if not queue else dlq.rpartition(":")[2] if dlq else "none",
            "one, so that a message that always fails ends somewhere",
            queue,
        ),
        ("maxReceiveCount", _text(queue.get("max_receive_count")), "at least 5", queue),
    ]
    if timeout or mapping:
        rows += [
            ("Function timeout", _seconds(timeout), "longer than the slowest batch", function),
            ("Batch size", _text(case["batch_size"] or mapping.get("batch_size")), "", mapping),
            ("Batching window", _seconds(mapping.get("batching_window_s")), "", mapping),
            (
                "Partial batch responses",
                {True: "on", False: "off"}.get(mapping.get("reports_batch_item_failures"), "unknown"),
                "on; does not help a timeout or a throw",
                mapping,
            ),
            (
                "Maximum concurrency",
                _text(mapping.get("maximum_concurrency"), "no limit" if mapping else "unknown"),
                "",
                mapping,
            ),
        ]
    return [
        {
            "Setting": setting,
            "Value": value,
            "AWS advises": advice,
            "Seen at": page.clock.minute(source.get("observed_at")),
        }
        for setting, value, advice, source in rows
    ]


def _in_force(rows: list[Row], at: datetime) -> Row:
    if not rows:
        return {}
    later = [r for r in rows if r["observed_at"] >= at]
    return min(later, key=lambda r: r["observed_at"]) if later else max(rows, key=lambda r: r["observed_at"])


def _type(is_fifo: bool | None) -> str:
    return {True: "FIFO", False: "standard"}.get(is_fifo, "unknown")


def _seconds(value: int | None) -> str:
    return "unknown" if value is None else f"{value:,} s"


def _text(value: object, missing: str = "unknown") -> str:
    return missing if value is None else str(value)
