"""Log groups: their class, which decides how they can be read, and how long they keep their events."""

from typing import Any

from ingest.clients import Aws
from ingest.paging import pages
from ingest.values import epoch_ms_or_none, integer

INFREQUENT_ACCESS = "INFREQUENT_ACCESS"
"""The class that FilterLogEvents does not read; Logs Insights does."""


def fetch(aws: Aws, name: str) -> dict[str, Any] | None:
    """Return the group as CloudWatch Logs describes it; None if there is none of that name. Raises AwsRefusedError."""
    asked = {"logGroupNamePrefix": name, "limit": 50}
    for reply in pages(aws, "logs", "describe_log_groups", "logGroups", asked, pointer="nextToken"):
        for group in reply["logGroups"]:
            if group.get("logGroupName") == name:
                return group
        if reply["logGroups"]:  # names come in order, and none sorts before its own prefix: no later page can hold it
            return None
    return None


def to_row(account_id: str, region: str, group: dict[str, Any]) -> dict[str, Any]:
    """Turn a group into a row of ``log_group_settings``, without id and time."""
    return {
        "account_id": account_id,
        "region": region,
        "log_group": group["logGroupName"],
        "log_class": group.get("logGroupClass") or None,
        "retention_days": integer(group.get("retentionInDays")),
        "created_at": epoch_ms_or_none(group.get("creationTime")),
    }
