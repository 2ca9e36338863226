"""Event source mappings: which functions a queue feeds, and how."""

from collections.abc import Iterator
from typing import Any

from ingest.clients import AwsRefusedError
from ingest.queues import QueueName, QueueRef
from ingest.values import integer, moment


def fetch(queue: QueueRef) -> Iterator[dict[str, Any]]:
    """Yield every mapping of the queue as Lambda gives it."""
    marker: dict[str, str] = {}
    while True:
        reply = queue.aws.call(
            "lambda", "list_event_source_mappings", "EventSourceMappings", EventSourceArn=queue.arn, **marker
        )
        yield from reply["EventSourceMappings"]
        following = reply.get("NextMarker")
        if not following:
            return
        if marker.get("Marker") == following:
            raise AwsRefusedError("ListEventSourceMappings", "RepeatedMarker", "the same page came twice", "failed")
        marker = {"Marker": following}


def to_row(queue: QueueName, mapping: dict[str, Any]) -> dict[str, Any]:
    """Turn a mapping into a row of ``event_source_mappings``, without id and time."""
    function_arn, function_name = unqualified(mapping["FunctionArn"])
    return {
        "account_id": queue.account_id,
        "region": queue.region,
        "mapping_uuid": mapping["UUID"],
        "queue_arn": queue.arn,
        "function_arn": function_arn,
        "function_name": function_name,
        "batch_size": integer(mapping.get("BatchSize")),
        "batching_window_s": integer(mapping.get("MaximumBatchingWindowInSeconds")),
        "reports_batch_item_failures": "ReportBatchItemFailures" in (mapping.get("FunctionResponseTypes") or ()),
        "maximum_concurrency": integer((mapping.get("ScalingConfig") or {}).get("MaximumConcurrency")),
        "counts_events": "EventCount" in ((mapping.get("MetricsConfig") or {}).get("Metrics") or ()),
        "state": mapping.get("State"),
        "last_modified_at": moment(mapping.get("LastModified")),
    }


def unqualified(function_arn: str) -> tuple[str, str]:
    """Return a function's ARN without version or alias, and its name.

    >>> unqualified("arn:aws:lambda:eu-west-1:123456789012:function:pay:live")
    ('arn:aws:lambda:eu-west-1:123456789012:function:pay', 'pay')
    """
    parts = function_arn.split(":")[:7]
    return ":".join(parts), parts[-1]
