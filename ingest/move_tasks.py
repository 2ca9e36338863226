"""Redrives: the message move tasks out of a dead-letter queue. SQS remembers the last ten of a queue."""

from typing import Any

from ingest.queues import QueueName, QueueRef
from ingest.values import MOST_LONG, epoch_ms_or_none, integer


def fetch(queue: QueueRef) -> list[dict[str, Any]]:
    """Return the queue's last move tasks as SQS gives them; none for a queue that is no dead-letter queue."""
    reply = queue.aws.call("sqs", "list_message_move_tasks", SourceArn=queue.arn, MaxResults=10)
    return reply.get("Results") or []


def to_row(queue: QueueName, task: dict[str, Any]) -> dict[str, Any]:
    """Turn a task into a row of ``move_tasks``, without id and time. Its handle could stop it, and is not kept."""
    started_ms = integer(task.get("StartedTimestamp"), MOST_LONG)
    return {
        "account_id": queue.account_id,
        "region": queue.region,
        "task": f"{task.get('SourceArn') or queue.arn}|{started_ms}",
        "source_arn": task.get("SourceArn") or queue.arn,
        "destination_arn": task.get("DestinationArn"),
        "started_at": epoch_ms_or_none(started_ms),
        "status": task.get("Status"),
        "moved_count": integer(task.get("ApproximateNumberOfMessagesMoved"), MOST_LONG),
        "to_move_count": integer(task.get("ApproximateNumberOfMessagesToMove"), MOST_LONG),
        "max_per_second": integer(task.get("MaxNumberOfMessagesPerSecond")),
        "failure_reason": task.get("FailureReason"),
    }
