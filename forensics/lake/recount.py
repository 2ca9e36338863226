"""The recount: what coverage says was stored, beside the rows that are there."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import pyarrow as pa

from forensics.clock import EPOCH
from forensics.lake.lake import Lake
from forensics.lake.rows import plain_rows
from forensics.sentence import said
from forensics.tables import Table
from forensics.tables.evidence import COVERAGE, LOG_EVENTS, METRIC_POINTS, SETTING_CHANGES

RESOURCE_OF = {LOG_EVENTS.name: "log_group", METRIC_POINTS.name: "resource", SETTING_CHANGES.name: None}
"""Tables whose rows can be counted per reading, and the column that names what was read; None: one per region."""
_COUNTED: tuple[Table, ...] = (LOG_EVENTS, METRIC_POINTS, SETTING_CHANGES)

_NEVER = EPOCH

Key = tuple[str, str, str, str | None, datetime]
"""Table, account, region, resource, and when it was read."""


@dataclass(frozen=True)
class Miscount:
    """Readings whose rows are not all there, or are more than was said. ``windows`` are half-open, UTC."""

    source: str
    account_id: str
    region: str
    resource: str
    queue_arns: tuple[str | None, ...]
    read_at: datetime
    windows: tuple[tuple[datetime, datetime], ...]
    stored_count: int
    found_count: int
    already_count: int = 0

    @property
    def sentence(self) -> str:
        """The finding in words."""
        what = (
            said("{count} rows were there before, and some may be gone", count=self.already_count)
            if self.stored_count == self.found_count
            else said("{n} rows were stored, {m} are there", n=self.stored_count, m=self.found_count)
        )
        at = f"{self.read_at:%Y-%m-%d %H:%M:%S}"
        return said(
            "{table} of {name}, read at {at} UTC: {what}", table=self.source, name=self.resource, at=at, what=what
        )


@dataclass(frozen=True)
class Recount:
    """What a recount found: readings and rows compared, and those that do not agree."""

    reading_count: int
    row_count: int
    miscounts: tuple[Miscount, ...]


@dataclass(frozen=True)
class Gone:
    """A data file that is gone, as far as its commit tells what it held: times are UTC, None where it does not say."""

    source: str
    first_at: datetime | None
    last_at: datetime | None
    resource: str | None


def leaning_on(lake: Lake, gone: Gone) -> tuple[Miscount, ...]:
    """Return readings that found rows there already which may have been in that file.

    A run that was killed stored those rows, and no reading of its own says so: counting does not miss them.
    """
    found: dict[Key, list[dict[str, Any]]] = {}
    for row in plain_rows(lake.read(COVERAGE)):
        if row["source"] != gone.source or row["status"] == "lost" or not row["already_count"]:
            continue
        if gone.last_at and row["window_start_at"] > gone.last_at:
            continue
        if gone.first_at and row["window_end_at"] <= gone.first_at:
            continue
        if gone.resource is None or RESOURCE_OF[gone.source] is None or row["resource"] == gone.resource:
            key = (row["source"], row["account_id"], row["region"], row["resource"], row["collected_at"])
            found.setdefault(key, []).append(row)
    return tuple(
        _miscount(key, rows, rows[0]["stored_count"] or 0, rows[0]["stored_count"] or 0) for key, rows in found.items()
    )


def recount(lake: Lake) -> Recount:
    """Compare every reading that coverage records with the rows it stored.

    A run that was killed leaves rows without a reading: they are no miscount, the next reading finds them there.
    """
    said: Counter[Key] = Counter()
    about: dict[Key, list[dict[str, Any]]] = {}
    stored: dict[tuple[Key, datetime, datetime], int] = {}
    coverage = [row for row in plain_rows(lake.read(COVERAGE)) if row["source"] in RESOURCE_OF]
    lost = {_window(row): row["collected_at"] for row in coverage if row["status"] == "lost"}
    for row in coverage:
        if row["status"] == "lost" or row["collected_at"] <= lost.get(_window(row), _NEVER):
            continue  # known to be damaged, and due again
        resource = row["resource"] if RESOURCE_OF[row["source"]] else None
        key = (row["source"], row["account_id"], row["region"], resource, row["collected_at"])
        reading = (key, row["window_start_at"], row["window_end_at"])
        about.setdefault(key, []).append(row)
        # A reading has a row per queue it served, all with its count.
        stored[reading] = max(stored.get(reading, 0), row["stored_count"] or 0)
    for (read, _, _), count in stored.items():
        said[read] += count
    found: Counter[Key] = Counter()
    for table in _COUNTED:
        found.update(dict(_rows_per_reading(lake, table)))
    wrong = tuple(_miscount(key, about[key], said[key], found[key]) for key in said if said[key] != found[key])
    return Recount(
        len(stored), sum(found.values()), tuple(sorted(wrong, key=lambda m: (m.source, m.read_at, m.resource)))
    )


def _window(row: dict[str, Any]) -> tuple[Any, ...]:
    what = ("source", "account_id", "region", "resource", "queue_arn", "window_start_at", "window_end_at")
    return tuple(row[name] for name in what)


def _miscount(key: Key, rows: list[dict[str, Any]], stored_count: int, found_count: int) -> Miscount:
    source, account_id, region, _, read_at = key
    return Miscount(
        source,
        account_id,
        region,
        rows[0]["resource"],
        tuple(dict.fromkeys(row["queue_arn"] for row in rows)),
        read_at,
        tuple(sorted({(row["window_start_at"], row["window_end_at"]) for row in rows})),
        stored_count,
        found_count,
        max(row["already_count"] or 0 for row in rows),
    )


def _rows_per_reading(lake: Lake, table: Table) -> Iterator[tuple[Key, int]]:
    """Count the rows of each reading, batch by batch: a table may be larger than memory."""
    resource = RESOURCE_OF[table.name]
    columns = ["account_id", "region", *([resource] if resource else []), "collected_at"]
    total: Counter[Key] = Counter()
    for batch in lake.scan(table, columns):
        grouped = pa.Table.from_batches([batch]).group_by(columns).aggregate([([], "count_all")])
        for row in plain_rows(grouped):
            name = row[resource] if resource else None
            total[table.name, row["account_id"], row["region"], name, row["collected_at"]] += row["count_all"]
    yield from total.items()
