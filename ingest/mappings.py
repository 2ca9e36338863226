"""Event source mappings: which functions a queue feeds, and how."""

import re
from collections.abc import Iterator
from typing import Any

from ingest.paging import pages
from ingest.queues import QueueName, QueueRef
from ingest.values import integer, moment

_FUNCTION_ARN = re.compile(r"arn:[a-z0-9-]+:lambda:[a-z0-9-]*:\d*:function:[^:\s]{1,140}(?::[^:\s]{1,128})?")


def fetch(queue: QueueRef) -> Iterator[dict[str, Any]]:
    """Yield every mapping of the queue as Lambda gives it."""
    asked = {"EventSourceArn": queue.arn}
    question = ("lambda", "list_event_source_mappings", "EventSourceMappings", asked)
    for reply in pages(queue.aws, *question, pointer="NextMarker", asked_as="Marker"):
        for mapping in reply["EventSourceMappings"]:
            if is_function_arn(mapping["FunctionArn"]):
                yield mapping
            else:
                queue.aws.leave_out("ListEventSourceMappings: a FunctionArn is no ARN of a function")


def to_row(queue: QueueName, mapping: dict[str, Any]) -> dict[str, Any]:
    """Turn a mapping into a row of ``event_source_mappings``, without id and time."""
    function_arn, function_name = unqualified(mapping["FunctionArn"])
    qualifier = mapping["FunctionArn"].removeprefix(function_arn).removeprefix(":")
    return {
        "account_id": queue.account_id,
        "region": queue.region,
        "mapping_uuid": mapping["UUID"],
        "queue_arn": queue.arn,
        "function_arn": function_arn,
        "function_name": function_name,
        "qualifier": qualifier,
        "batch_size": integer(mapping.get("BatchSize")),
        "batching_window_s": integer(mapping.get("MaximumBatchingWindowInSeconds")),
        "reports_batch_item_failures": "ReportBatchItemFailures" in (mapping.get("FunctionResponseTypes") or ()),
        "maximum_concurrency": integer((mapping.get("ScalingConfig") or {}).get("MaximumConcurrency")),
        "counts_events": "EventCount" in ((mapping.get("MetricsConfig") or {}).get("Metrics") or ()),
        "state": mapping.get("State"),
        "filter_patterns": filter_patterns(mapping.get("FilterCriteria")),
        "last_modified_at": moment(mapping.get("LastModified")),
    }


def filter_patterns(criteria: Any) -> list[str] | None:
    """Return the patterns of a mapping's filter criteria; messages that match none are deleted unread. None without one.

    >>> filter_patterns({"Filters": [{"Pattern": "{\\"body\\": {\\"kind\\": [\\"paid\\"]}}"}]}), filter_patterns(None)
    (['{"body": {"kind": ["paid"]}}'], None)
    """
    filters = (criteria or {}).get("Filters") if isinstance(criteria, dict) else None
    found = [str(f["Pattern"]) for f in filters or () if isinstance(f, dict) and f.get("Pattern")]
    return sorted(found) or None


def is_function_arn(text: str) -> bool:
    """Tell whether a text is the ARN of a function, with or without version.

    >>> is_function_arn("arn:aws:lambda:eu-west-1:123456789012:function:pay:live"), is_function_arn("pay")
    (True, False)
    """
    return _FUNCTION_ARN.fullmatch(text) is not None


def unqualified(function_arn: str) -> tuple[str, str]:
    """Return a function's ARN without version or alias, and its name.

    >>> unqualified("arn:aws:lambda:eu-west-1:123456789012:function:pay:live")
    ('arn:aws:lambda:eu-west-1:123456789012:function:pay', 'pay')
    """
    parts = function_arn.split(":")[:7]
    return ":".join(parts), parts[-1]
