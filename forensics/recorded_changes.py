"""CloudTrail's record of what was set, as changes of the settings tables' columns."""

import json
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import Any, NamedTuple

Key = tuple[Any, ...]
"""What names a resource in its settings table."""


class Change(NamedTuple):
    """A recorded call that set something, from then on (UTC); ``values`` holds only the columns it set."""

    changed_at: datetime
    values: Mapping[str, Any]
    evidence_id: str


Changes = dict[Key, list[Change]]


_TABLES = {"queue": "queue_settings", "function": "function_settings", "mapping": "event_source_mappings"}


def recorded_changes(rows: Iterable[Mapping[str, Any]], mappings: Iterable[Mapping[str, Any]]) -> dict[str, Changes]:
    """Return per settings table the changes per key, from rows of ``setting_changes``; refused calls changed nothing.

    ``mappings`` are snapshots of event source mappings: a change names one by its UUID only.
    """
    of_mapping = {m["mapping_uuid"]: (m["queue_arn"], m["function_name"]) for m in mappings}
    found: dict[str, Changes] = {table: {} for table in _TABLES.values()}
    for row in rows:
        kind = row["resource_kind"]
        if row["error_code"] is not None or kind not in _READ:
            continue
        values: dict[str, Any] = {}
        for text in row["settings"] or ():
            name, _, value = text.partition("=")
            if read := _READ[kind].get(name.lower()):
                values |= read(value)
        keys: dict[str, Key] = {
            "queue": (row["queue_arn"],),
            "function": (row["function_name"],),
            "mapping": of_mapping.get(row["resource"], (row["queue_arn"], row["function_name"])),
        }
        if values and None not in keys[kind]:
            change = Change(row["changed_at"], values, row["evidence_id"])
            found[_TABLES[kind]].setdefault(keys[kind], []).append(change)
    return found


def _whole(column: str) -> Callable[[str], dict[str, Any]]:
    def read(text: str) -> dict[str, Any]:
        return {column: int(text)} if text.isdecimal() else {}

    return read


def _switch(column: str) -> Callable[[str], dict[str, Any]]:
    def read(text: str) -> dict[str, Any]:
        return {column: text.lower() == "true"} if text.lower() in ("true", "false") else {}

    return read


def _redrive(text: str) -> dict[str, Any]:
    """Read a redrive policy; an empty one takes the dead-letter queue away."""
    policy = _parsed(text) if text.strip() else {}
    if not isinstance(policy, dict):
        return {}
    count = str(policy.get("maxReceiveCount", ""))
    return {
        "dead_letter_queue_arn": policy.get("deadLetterTargetArn"),
        "max_receive_count": int(count) if count.isdecimal() else None,
    }


def _response_types(text: str) -> dict[str, Any]:
    listed = _parsed(text)
    return {"reports_batch_item_failures": "ReportBatchItemFailures" in listed} if isinstance(listed, list) else {}


def _scaling(text: str) -> dict[str, Any]:
    config = _parsed(text)
    if not isinstance(config, dict):
        return {}
    return {"maximum_concurrency": config.get("maximumConcurrency", config.get("MaximumConcurrency"))}


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None


_READ: dict[str, dict[str, Callable[[str], dict[str, Any]]]] = {
    "queue": {
        "visibilitytimeout": _whole("visibility_timeout_s"),
        "messageretentionperiod": _whole("message_retention_s"),
        "delayseconds": _whole("delay_s"),
        "redrivepolicy": _redrive,
        "contentbaseddeduplication": _switch("content_based_deduplication"),
    },
    "function": {
        "timeout": _whole("timeout_s"),
        "memorysize": _whole("memory_mb"),
        "reservedconcurrentexecutions": _whole("reserved_concurrency"),
    },
    "mapping": {
        "batchsize": _whole("batch_size"),
        "maximumbatchingwindowinseconds": _whole("batching_window_s"),
        "functionresponsetypes": _response_types,
        "scalingconfig": _scaling,
    },
}
"""Kind of resource and AWS's name of a setting, in lower case, to what it says of our columns."""
