"""What would prevent repeats, as something to do: possible under the newest settings, and not done already."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from forensics.limits import LEAST_MAXIMUM_CONCURRENCY, LONGEST_FUNCTION_TIMEOUT_S, LONGEST_VISIBILITY_S
from forensics.report.stop_now import Scene

CHANGE_ACTIONS = {
    "batch_size_1": "set the batch size to 1",
    "longer_visibility": "raise the visibility timeout above the slowest handling",
    "longer_function_timeout": "raise the function timeout above the slowest batch",
    "partial_responses": "report failed items alone (ReportBatchItemFailures)",
    "maximum_concurrency": "set a maximum concurrency on the mapping",
    "idempotency_key": "add an idempotency key",
}
_WHERE_LIMITED = {
    "partial_responses": "return each failed item alone in batchItemFailures, as the mapping asks",
    "maximum_concurrency": "lower the mapping's maximum concurrency to what the function has room for",
}


@dataclass(frozen=True)
class Room:
    """What the newest settings leave no room for, or have already; nothing known is room for everything."""

    takes_one_message: bool = False
    reports_failed_items: bool = False
    has_longest_timeout: bool = False
    hides_longest: bool = False
    limits_concurrency: bool = False
    has_least_concurrency: bool = False
    is_of_workers: bool = False
    is_of_functions: bool = False


ANY_ROOM = Room()


def room_in(scene: Scene) -> Room:
    """Tell what the settings of an incident's queue, functions and mappings leave room for: all of them, where there are several."""
    limits = [mapping.get("maximum_concurrency") for mapping in scene.mappings]
    return Room(
        takes_one_message=_all(scene.mappings, "batch_size", 1),
        reports_failed_items=_all(scene.mappings, "reports_batch_item_failures", True),
        has_longest_timeout=_all(scene.functions, "timeout_s", LONGEST_FUNCTION_TIMEOUT_S),
        hides_longest=_all([scene.queue] if scene.queue else [], "visibility_timeout_s", LONGEST_VISIBILITY_S),
        limits_concurrency=bool(limits) and all(limit is not None for limit in limits),
        has_least_concurrency=bool(limits)
        and all(limit is not None and limit <= LEAST_MAXIMUM_CONCURRENCY for limit in limits),
        is_of_workers=scene.kinds == {"worker"},
        is_of_functions=scene.kinds == {"lambda"},
    )


def action_of(change: str, room: Room) -> str | None:
    """Return what to do for a change; None where it is done already, or AWS takes no such setting.

    >>> action_of("batch_size_1", Room()), action_of("batch_size_1", Room(takes_one_message=True))
    ('set the batch size to 1', None)
    """
    is_in_vain = {
        "batch_size_1": room.takes_one_message,
        "longer_function_timeout": room.has_longest_timeout,
        "longer_visibility": room.hides_longest,
        "maximum_concurrency": room.has_least_concurrency,
    }
    if is_in_vain.get(change):
        return None
    has_it = {"partial_responses": room.reports_failed_items, "maximum_concurrency": room.limits_concurrency}
    return _WHERE_LIMITED[change] if has_it.get(change) else CHANGE_ACTIONS[change]


def _all(rows: Iterable[Mapping[str, Any]], column: str, value: Any) -> bool:
    told = [row.get(column) for row in rows]
    return bool(told) and all(one == value for one in told)
