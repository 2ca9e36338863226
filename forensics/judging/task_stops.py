"""ECS tasks that stopped: the process of a worker is over, and with it whatever it held. Times are µs since 1970, UTC."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from forensics.clock import micros
from forensics.judging.evidence import united
from forensics.streams.model import Delivery

Row = Mapping[str, Any]


REACH_US = 12 * 3_600 * 1_000_000
"""A stop later after a receive tells nothing of it: SQS hides a message for twelve hours at most."""


class Stop(NamedTuple):
    """When a task's containers had stopped, and why, in words."""

    at: int
    words: str
    evidence_id: str


class TaskStops:
    """The known ends of tasks, by the id in which their log streams end (prefix/container/task, as the awslogs driver names them)."""

    def __init__(self, rows: Iterable[Row] = ()) -> None:
        self._by_task = {row["task_id"]: _stop(row) for row in rows}

    def of(self, log_stream: str | None) -> Stop | None:
        """Return the end of the task that wrote a log stream."""
        return self._by_task.get((log_stream or "").rpartition("/")[2]) if self._by_task else None

    def bearing(self, low: int, high: int) -> list[str]:
        """Return as text the ends that can bear on receives in a span."""
        return sorted(stop.evidence_id for stop in self._by_task.values() if low <= stop.at <= high + REACH_US)


def add_stop(delivery: Delivery, stops: TaskStops) -> None:
    """Add when the process of a worker ended that wrote nothing of its message's end.

    Where that was before the message was visible again, its handling was over by then.
    """
    if delivery.consumer_kind != "worker" or delivery.is_end_known:
        return
    stop, received_at = stops.of(delivery.log_stream), delivery.received_at
    if stop is None or received_at is None:
        return
    if not max(received_at, delivery.run_last_line_at or 0) <= stop.at <= received_at + REACH_US:
        return
    delivery.process_ended_at, delivery.process_end_words = stop.at, stop.words
    delivery.evidence_ids = united(delivery.evidence_ids, [stop.evidence_id])
    if delivery.hidden_until_at is not None and stop.at <= delivery.hidden_until_at:
        delivery.run_ended_at, delivery.is_end_known = stop.at, True


def _stop(row: Row) -> Stop:
    said = [row["stopped_reason"] or row["stop_code"], *(row["container_reasons"] or ())]
    return Stop(micros(row["stopped_at"]), "; ".join(filter(None, said)) or "no reason said", row["evidence_id"])
