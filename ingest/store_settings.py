"""What discovery found, into the lake: a row per state that is new, and a reading per thing that was asked."""

from dataclasses import replace
from datetime import datetime
from typing import Any

from forensics.lake import Lake
from forensics.tables import BY_NAME, Table
from ingest import log_groups
from ingest.consumers import Consumer
from ingest.coverage import SOURCE_ERRORS, Reading, of_whole_reply, status_of
from ingest.discovery import FUNCTION_SETTINGS, MAPPINGS, MOVE_TASKS, QUEUE_SETTINGS, Estate
from ingest.log_events import LogGroup
from ingest.snapshots import append_changed

CONSUMERS = BY_NAME["consumers"]
LOG_GROUP_SETTINGS = BY_NAME["log_group_settings"]


def store_settings(lake: Lake, estate: Estate, consumers: list[Consumer], now: datetime) -> list[Reading]:
    """Store the settings of queues, functions and mappings, redrives and consumers; return what was read of each."""
    fresh_mappings = [row for row in estate.mapping_rows if not row.get("_from_lake")]
    stored_queues = append_changed(lake, QUEUE_SETTINGS, "queue", "queue_arn", estate.queue_rows, now)
    stored_functions = append_changed(lake, FUNCTION_SETTINGS, "function", "function_arn", estate.function_rows, now)
    stored_mappings = append_changed(
        lake, MAPPINGS, "mapping", "mapping_uuid", [_declared(row) for row in fresh_mappings], now
    )
    stored_tasks = append_changed(lake, MOVE_TASKS, "move", "task", estate.move_task_rows, now)
    if consumers:
        lake.append(CONSUMERS, [c.to_row() for c in consumers], "consumers|collect")
    readings = [
        _counted(r, sum(t.startswith(f"{r.queue_arns[0]}|") for t in stored_tasks)) if r.source is MOVE_TASKS else r
        for r in estate.readings
    ]
    unread = {(r.source.name, queue_arn) for r in readings for queue_arn in r.queue_arns}
    for row in estate.queue_rows:
        stored_count = int(row["queue_arn"] in stored_queues)
        readings.append(_reading(QUEUE_SETTINGS, row["queue_name"], row, (row["queue_arn"],), 1, stored_count))
    for ref in estate.queues:
        if (MAPPINGS.name, ref.arn) not in unread:
            mine = [row for row in fresh_mappings if row["queue_arn"] == ref.arn]
            stored_count = sum(row["mapping_uuid"] in stored_mappings for row in mine)
            where = {"account_id": ref.account_id, "region": ref.region}
            readings.append(_reading(MAPPINGS, ref.name, where, (ref.arn,), len(mine), stored_count))
    for row in estate.function_rows:
        arns = tuple(sorted({m["queue_arn"] for m in estate.mapping_rows if m["function_arn"] == row["function_arn"]}))
        stored_count = int(row["function_arn"] in stored_functions)
        readings.append(_reading(FUNCTION_SETTINGS, row["function_name"], row, arns, 1, stored_count))
    return [_in_part(r, estate.misread.get((r.source.name, r.resource))) for r in readings]


def store_log_groups(lake: Lake, groups: list[LogGroup], now: datetime) -> tuple[list[LogGroup], list[Reading]]:
    """Ask for each group's class and retention and store them; return the groups with their class.

    A group that is not there is left for the reading of its events to say.
    """
    known, rows, readings = [], [], []
    for group in groups:
        where = (group.name, group.account_id, group.region, group.queue_arns)
        try:
            found = log_groups.fetch(group.aws, group.name)
        except SOURCE_ERRORS as problem:
            readings.append(Reading(LOG_GROUP_SETTINGS, *where, *status_of(problem)))
            known.append(group)
            continue
        if found is None:
            known.append(group)
            if (read := of_whole_reply(group.aws))[0] != "ok":
                readings.append(Reading(LOG_GROUP_SETTINGS, *where, *read))
            continue
        row = log_groups.to_row(group.account_id, group.region, found)
        rows.append(row)
        known.append(replace(group, log_class=row["log_class"]))
        readings.append(Reading(LOG_GROUP_SETTINGS, *where, *of_whole_reply(group.aws), seen_count=1))
    by_region: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in rows:
        by_region.setdefault((row["account_id"], row["region"]), []).append(row)
    stored = {
        (*place, name)
        for place, mine in by_region.items()
        for name in append_changed(lake, LOG_GROUP_SETTINGS, "loggroup", "log_group", mine, now)
    }
    counted = [_counted(r, int((r.account_id, r.region, r.resource) in stored)) for r in readings]
    return known, counted


def _in_part(reading: Reading, misread: str | None) -> Reading:
    return replace(reading, status="partial", detail=misread) if misread and reading.status == "ok" else reading


def _counted(reading: Reading, stored_count: int) -> Reading:
    return replace(reading, stored_count=stored_count, already_count=reading.seen_count - stored_count)


def _reading(
    table: Table, resource: str, where: dict[str, Any], arns: tuple[str, ...], seen_count: int, stored_count: int
) -> Reading:
    return _counted(
        Reading(table, resource, where["account_id"], where["region"], arns, seen_count=seen_count), stored_count
    )


def _declared(row: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in row.items() if not name.startswith("_")}
