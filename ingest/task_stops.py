"""ECS tasks that stopped, out of EventBridge's events "ECS Task State Change", as rows of ``task_stops``."""

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from forensics.identity import evidence_id
from forensics.privacy import redact
from ingest.values import moment

Row = dict[str, Any]
DETAIL_TYPE = "ECS Task State Change"
STOPPED = "STOPPED"
_WORDS_CHARS = 300


def is_event(document: Row) -> bool:
    """Tell whether a document is an event of EventBridge about ECS."""
    return document.get("source") == "aws.ecs" and isinstance(document.get("detail"), dict)


def is_stop(document: Row) -> bool:
    """Tell whether such an event is of a task that stopped."""
    return document.get("detail-type") == DETAIL_TYPE and document["detail"].get("lastStatus") == STOPPED


def to_row(document: Row, collected_at: datetime) -> Row | str:
    """Turn an event into a row, or say what is wrong with it."""
    detail = document["detail"]
    arn = detail.get("taskArn")
    parts = arn.split(":", 5) if isinstance(arn, str) else []
    if len(parts) != 6 or not parts[5].startswith("task/"):
        return "the event does not name its task (detail.taskArn)"
    stopped_at = moment(detail.get("executionStoppedAt")) or moment(detail.get("stoppedAt"))
    if stopped_at is None:
        return "the event does not say when its task stopped (detail.stoppedAt)"
    _, _, _, region, account_id, name = parts
    cluster = detail.get("clusterArn")
    return {
        "evidence_id": evidence_id("stop", account_id, region, arn),
        "account_id": account_id,
        "region": region,
        "task_id": name.rpartition("/")[2],
        "cluster": cluster.rpartition("/")[2] if isinstance(cluster, str) else None,
        "task_group": _text(detail.get("group")),
        "stopped_at": stopped_at,
        "stop_code": _text(detail.get("stopCode")),
        "stopped_reason": _text(detail.get("stoppedReason")),
        "container_reasons": list(_reasons(detail.get("containers"))),
        "collected_at": collected_at,
    }


def _reasons(containers: Any) -> Iterator[str]:
    for container in containers if isinstance(containers, list) else ():
        if not isinstance(container, dict):
            continue
        code, reason = container.get("exitCode"), _text(container.get("reason"))
        said = [f"exit code {code}"] if isinstance(code, int) else []
        said += [reason] if reason else []
        if said:
            yield f"{_text(container.get('name')) or 'container'}: {', '.join(said)}"


def _text(value: Any) -> str | None:
    return redact(value)[:_WORDS_CHARS] if isinstance(value, str) and value else None
