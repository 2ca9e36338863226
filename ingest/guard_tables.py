"""Idempotency tables in DynamoDB: which record a guard holds of what, how far and until when. Results are not even asked for."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal, InvalidOperation
from typing import Any

from forensics.identity import evidence_id
from forensics.lake import Lake
from forensics.privacy import redact
from forensics.sentence import said
from forensics.settings import GuardTable, Settings
from forensics.tables import BY_NAME
from ingest.aws_errors import AwsRefusedError
from ingest.clients import Aws
from ingest.consumers import Consumer
from ingest.coverage import SOURCE_ERRORS, Reading, of_whole_reply, status_of
from ingest.paging import pages
from ingest.snapshots import append_changed
from ingest.values import moment

Row = dict[str, Any]
Attributes = Mapping[str, Any]
"""An item as DynamoDB writes it: name to its value under its type, such as ``{"id": {"S": "…"}}``."""

GUARD_TABLE_SETTINGS, GUARD_RECORDS = BY_NAME["guard_table_settings"], BY_NAME["guard_records"]
MOST_RECORDS = 200_000
"""So many records of a table are kept at most in one reading."""
MOST_PAGES = 60
"""So many pages are read at most: each is a megabyte of the table, and takes 128 units of its read capacity."""
PAGE_BYTES = 1024 * 1024
"""Most bytes of a table that one page goes over, a limit of the service."""
_MOST_KEY_CHARS = 2048
"""DynamoDB's own limit of a partition key, in bytes."""
_POWERTOOLS_KEY = re.compile(r"(?P<guarded>.+)#(?P<digest>[0-9a-f]{32,128}|[A-Za-z0-9+/]{22,86}={0,2})")
_MILLISECONDS_FROM = 10**11
"""A number of seconds this large is past the year 5000: it counts milliseconds."""


@dataclass(frozen=True)
class Place:
    """One table that guards something: where it is, how it records, and the queues whose consumers ask it."""

    aws: Aws
    account_id: str
    region: str
    table: GuardTable
    queue_arns: tuple[str, ...]


def places(consumers: Iterable[Consumer], settings: Settings) -> list[Place]:
    """List each table that the settings name for a consumer once per account and region: the queue's, or those in its ARN."""
    functions = {f.name: f.guard_table for f in settings.functions}
    workers = {w.log_group: w.guard_table for w in settings.workers}
    found: dict[tuple[str, str, str], list[Consumer]] = {}
    for consumer in consumers:
        arn = consumer.function_arn
        name = functions.get(arn.rsplit(":", 1)[-1]) if arn else workers.get(consumer.log_group)
        if name:
            where = place_in(name) or (consumer.queue.account_id, consumer.queue.region)
            found.setdefault((*where, name), []).append(consumer)
    return [
        Place(
            mine[0].queue.aws,
            account_id,
            region,
            settings.guard_table(name),
            tuple(sorted({c.queue.arn for c in mine})),
        )
        for (account_id, region, name), mine in sorted(found.items(), key=lambda told: told[0])
    ]


def place_in(table: str) -> tuple[str, str] | None:
    """Return the account and region of a table that is named by its ARN."""
    parts = table.split(":")
    return (parts[4], parts[3]) if len(parts) == 6 and parts[2] == "dynamodb" else None


def size_of(place: Place) -> tuple[int | None, int | None]:
    """Return how many items a table has, and their bytes, as DynamoDB counted them within the last six hours.

    Raises what ``SOURCE_ERRORS`` holds.
    """
    described = place.aws.call("dynamodb", "describe_table", "Table", TableName=place.table.name)["Table"]
    return _count(described.get("ItemCount")), _count(described.get("TableSizeBytes"))


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and value >= 0 else None


def ingest(lake: Lake, place: Place, now: datetime) -> list[Reading]:
    """Read a table's settings and its records into the lake; what cannot be read becomes a gap.

    A table that is larger than one reading takes is read in part, from its beginning.
    """
    about = (place.table.name, place.account_id, place.region, place.queue_arns)
    if place.region not in {arn.split(":")[3] for arn in place.queue_arns}:
        where = said("it is in {region}, where none of its queues is: import an export of it", region=place.region)
        return [Reading(source, *about, "unsupported", where) for source in (GUARD_TABLE_SETTINGS, GUARD_RECORDS)]
    try:
        described = place.aws.call("dynamodb", "describe_table", "Table", TableName=place.table.name)["Table"]
    except SOURCE_ERRORS as problem:
        return [Reading(source, *about, *status_of(problem)) for source in (GUARD_TABLE_SETTINGS, GUARD_RECORDS)]
    partition = settings_row(None, None, place.table.name, described.get("KeySchema"), None)["partition_key"]
    about_table = _read_settings(lake, place, described, now)
    rows: list[Row] = []
    status, detail, seen, lost = "ok", None, 0, 0
    try:
        for items, is_cut in _items(place, partition):
            seen += len(items)
            found = [row for row in (to_row(item, place.table, *about[1:3], now) for item in items) if row]
            lost += len(items) - len(found)
            rows += found
            if is_cut:
                status, detail = "partial", said("the table is larger: its first {n} records were read", n=seen)
    except SOURCE_ERRORS as problem:
        status, detail = status_of(problem)
        if rows:
            status = "partial"
    if status == "ok":
        status, detail = of_whole_reply(place.aws)
    if lost and status == "ok":
        status, detail = (
            "partial",
            said(
                "{n} items have no attribute {name}: name it as key under [[guard_table]]",
                n=lost,
                name=repr(place.table.key),
            ),
        )
    stored = lake.append(GUARD_RECORDS, rows, f"guard_records|{place.table.name}") if rows else None
    stored_count = stored.stored_count if stored else 0
    counts = (len(rows), stored_count, len(rows) - stored_count)
    return [about_table, Reading(GUARD_RECORDS, *about, status, detail, *counts)]


def _read_settings(lake: Lake, place: Place, described: Row, now: datetime) -> Reading:
    about = (place.table.name, place.account_id, place.region, place.queue_arns)
    problem: tuple[str, str | None] = ("ok", None)
    expiry: Row | None = None
    try:
        name = "TimeToLiveDescription"
        expiry = place.aws.call("dynamodb", "describe_time_to_live", name, TableName=place.table.name)[name]
    except SOURCE_ERRORS as refused:
        problem = status_of(refused)
    row = settings_row(place.account_id, place.region, place.table.name, described.get("KeySchema"), expiry)
    stored = len(append_changed(lake, GUARD_TABLE_SETTINGS, "guardtable", "guard_table", [row], now))
    return Reading(GUARD_TABLE_SETTINGS, *about, *problem, seen_count=1, stored_count=stored, already_count=1 - stored)


def settings_row(account_id: str | None, region: str | None, name: str, keys: Any, expiry: Row | None) -> Row:
    """Turn what is said of a table into a row of ``guard_table_settings``, without id and time.

    ``keys`` is its KeySchema, ``expiry`` its TimeToLiveDescription; None where that was not read.
    """
    named = {key.get("KeyType"): key.get("AttributeName") for key in keys or () if isinstance(key, dict)}
    is_on = None if expiry is None else expiry.get("TimeToLiveStatus") in ("ENABLED", "ENABLING")
    return {
        "account_id": account_id,
        "region": region,
        "guard_table": name,
        "partition_key": named.get("HASH"),
        "sort_key": named.get("RANGE"),
        "deletes_expired": is_on,
        "expiry_attribute": expiry.get("AttributeName") if expiry and is_on else None,
    }


def _items(place: Place, partition: str | None) -> Iterator[tuple[Sequence[Attributes], bool]]:
    """Yield pages of items and whether more are left unread: of one partition where the settings name it, else of the table.

    ``partition`` is the attribute that is its partition key. Raises AwsRefusedError where it is needed and not known.
    """
    table = place.table
    kept = [table.key, table.status, table.expires, table.in_progress_expires]
    names = {f"#k{n}": name for n, name in enumerate(dict.fromkeys(kept))}
    asked: Row = {
        "TableName": table.name,
        "ProjectionExpression": ", ".join(names),
        "ExpressionAttributeNames": names,
        "ConsistentRead": False,
    }
    operation = "scan" if table.partition is None else "query"
    if table.partition is not None:
        if partition is None:
            raise AwsRefusedError("DescribeTable", "NoKeySchema", "the table's keys are not told", "failed")
        asked["KeyConditionExpression"] = "#partition = :partition"
        asked["ExpressionAttributeNames"] = names | {"#partition": partition}
        asked["ExpressionAttributeValues"] = {":partition": {"S": table.partition}}
    following = pages(
        place.aws, "dynamodb", operation, "Items", asked, pointer="LastEvaluatedKey", asked_as="ExclusiveStartKey"
    )
    seen = 0
    for number, page in enumerate(following, start=1):
        seen += len(page["Items"])
        is_cut = bool(page.get("LastEvaluatedKey")) and (number >= MOST_PAGES or seen >= MOST_RECORDS)
        yield page["Items"], is_cut
        if is_cut:
            return


def to_row(
    item: Attributes, table: GuardTable, account_id: str | None, region: str | None, observed_at: datetime
) -> Row | None:
    """Turn an item into a row of ``guard_records``; None where it has no key. Whatever else it holds is left where it is."""
    key = _text(item.get(table.key))
    if not key:
        return None
    found = _POWERTOOLS_KEY.fullmatch(key)
    state = (redact(key)[:_MOST_KEY_CHARS], _text(item.get(table.status)), _time(item.get(table.expires)))
    locked = _time(item.get(table.in_progress_expires))
    times = [None if at is None else at.isoformat() for at in (state[2], locked)]
    return {
        "evidence_id": evidence_id("guard", account_id, region, table.name, *state[:2], *times),
        "account_id": account_id,
        "region": region,
        "guard_table": table.name,
        "record_key": state[0],
        "guarded_function": found["guarded"] if found and table.key_pattern is None else None,
        "record_status": state[1],
        "expires_at": state[2],
        "locked_until_at": locked,
        "observed_at": observed_at,
    }


def _text(value: Any) -> str | None:
    """Return the text or number of an attribute as text."""
    if not isinstance(value, dict):
        return None
    said = value.get("S", value.get("N"))
    return said if isinstance(said, str) and said else None


def _time(value: Any) -> datetime | None:
    """Read a time in seconds, milliseconds (told by its size) or ISO 8601; to the millisecond, UTC."""
    said = _text(value)
    if said is None:
        return None
    try:
        number = Decimal(said)
        milliseconds = int(number if abs(number) >= _MILLISECONDS_FROM else number * 1000)
        return datetime.fromtimestamp(milliseconds // 1000, UTC).replace(microsecond=milliseconds % 1000 * 1000)
    except InvalidOperation:
        return moment(said)
    except (ValueError, OverflowError, OSError):
        return None
