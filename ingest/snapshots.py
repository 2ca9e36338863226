"""Settings as snapshots: a row is added only when something differs from the last row of the same resource."""

from datetime import datetime
from typing import Any

from forensics.identity import evidence_id
from forensics.lake import Lake, to_arrow
from forensics.lake.rows import plain_rows
from forensics.tables import Table

_NOT_CONTENT = ("evidence_id", "observed_at")


def append_changed(
    lake: Lake, table: Table, kind: str, resource: str, rows: list[dict[str, Any]], observed_at: datetime
) -> set[str]:
    """Append the rows whose content is new and return the names of their resources.

    ``resource`` is the column that names the thing, ``kind`` the kind of its evidence id.
    """
    if not rows:
        return set()
    latest: dict[str, dict[str, Any]] = {}
    for known in sorted(plain_rows(lake.read(table)), key=lambda row: row["observed_at"]):
        latest[known[resource]] = known
    content = [c for c in table.column_names if c not in _NOT_CONTENT]
    fresh = {}
    for row in plain_rows(to_arrow(table, rows)):
        if [row[c] for c in content] == [latest.get(row[resource], {}).get(c) for c in content]:
            continue
        parts = [row[c].isoformat() if isinstance(row[c], datetime) else row[c] for c in content]
        row["evidence_id"] = evidence_id(kind, *parts, observed_at.isoformat())
        row["observed_at"] = observed_at
        fresh[row[resource]] = row
    if fresh:
        lake.append(table, list(fresh.values()), f"{table.name}|settings")
    return set(fresh)
