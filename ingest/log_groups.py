"""Log groups: their class, which decides how they can be read, and how long they keep their events."""

from typing import Any

from ingest.clients import Aws
from ingest.values import epoch_ms, integer

INFREQUENT_ACCESS = "INFREQUENT_ACCESS"
"""The class that FilterLogEvents does not read; Logs Insights does."""


def fetch(aws: Aws, name: str) -> dict[str, Any] | None:
    """Return the group as CloudWatch Logs describes it; None if there is none of that name. Raises AwsRefusedError."""
    token: dict[str, str] = {}
    while True:
        reply = aws.call("logs", "describe_log_groups", "logGroups", logGroupNamePrefix=name, limit=50, **token)
        for group in reply["logGroups"]:
            if group.get("logGroupName") == name:
                return group
        # Names come in order, and none sorts before its own prefix: a later page cannot hold it.
        if reply["logGroups"] or not reply.get("nextToken"):
            return None
        token = {"nextToken": reply["nextToken"]}


def to_row(account_id: str, region: str, group: dict[str, Any]) -> dict[str, Any]:
    """Turn a group into a row of ``log_group_settings``, without id and time."""
    created_ms = integer(group.get("creationTime"))
    return {
        "account_id": account_id,
        "region": region,
        "log_group": group["logGroupName"],
        "log_class": group.get("logGroupClass") or None,
        "retention_days": integer(group.get("retentionInDays")),
        "created_at": epoch_ms(created_ms) if created_ms else None,
    }
