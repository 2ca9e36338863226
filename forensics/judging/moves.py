"""When tasks that move messages out of dead-letter queues may have brought some back."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any

from forensics.clock import micros
from forensics.identity import queue_name
from forensics.spans import Spans

Row = Mapping[str, Any]

_LONGEST_MOVE_US = 36 * 3_600 * 1_000_000
"""SQS ends a move task after that."""


def moves_of(move_tasks: Sequence[Row], sources: Mapping[str, Sequence[str]]) -> dict[str, Spans]:
    """Return, per source queue, when messages may have been moved back into it.

    A task that was only seen running may have gone on for as long as SQS lets it.
    """
    ends: dict[tuple[str, str | None, datetime], int] = {}
    for row in sorted(move_tasks, key=lambda row: (row["observed_at"], row["evidence_id"])):
        task = (row["source_arn"], row["destination_arn"], row["started_at"])
        if row["status"] == "RUNNING":
            ends.setdefault(task, micros(row["started_at"]) + _LONGEST_MOVE_US)
        else:
            ended = micros(row["observed_at"])
            ends[task] = min(ends.get(task, ended), ended)
    found: dict[str, list[tuple[int, int]]] = {}
    for (dead_letter_queue, destination, started_at), ended in ends.items():
        began = micros(started_at)
        for queue in [destination] if destination else sources.get(dead_letter_queue, ()):
            found.setdefault(queue, []).append((began, max(ended, began)))
    return {queue: Spans(spans) for queue, spans in found.items()}


def moves_asked(sources: Mapping[str, Sequence[str]], read: Collection[str]) -> set[str]:
    """Return the queues for whose dead-letter queue somebody asked for move tasks."""
    asked = [queues for arn, queues in sources.items() if arn in read or queue_name(arn) in read]
    return {queue for queues in asked for queue in queues}
