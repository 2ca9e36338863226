"""Cited evidence as text: one line per row, message bodies left out."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from forensics.bodies import without_bodies
from forensics.report.records import plain_value

Row = Mapping[str, Any]


@dataclass(frozen=True)
class EvidenceLine:
    """One cited row: its short name in this report, its id in the lake, its table, when (UTC), where, and its text."""

    label: str
    evidence_id: str
    table: str
    at: datetime | None
    source: str
    text: str


def evidence_lines(rows_by_table: Mapping[str, Sequence[Row]]) -> tuple[EvidenceLine, ...]:
    """Return cited rows in time order, labelled E1, E2, ...; rows without a time come last."""
    described = [_describe(table, row) for table, rows in rows_by_table.items() for row in rows]
    described.sort(key=lambda d: (d[0] is None, d[0], d[1], d[2], d[4]))
    return tuple(
        EvidenceLine(f"E{n}", evidence_id, table, at, source, text)
        for n, (at, table, source, text, evidence_id) in enumerate(described, start=1)
    )


def _describe(table: str, row: Row) -> tuple[datetime | None, str, str, str, str]:
    evidence_id = row["evidence_id"]
    if table == "log_events":
        source = " ".join(filter(None, (row["log_group"], row["log_stream"])))
        return row["logged_at"], table, source, without_bodies(row["line"] or "").rstrip(), evidence_id
    if table == "metric_points":
        source = f"{row['namespace']} {row['resource']}"
        text = f"{row['metric']} {row['statistic']} over {row['period_s']} s = {row['value']:g}"
        return row["point_at"], table, source, text, evidence_id
    if table == "send_records" and row["line"] is not None:
        source = " ".join(filter(None, (row["log_group"], row["log_stream"])))
        return row["called_at"], table, source, without_bodies(row["line"]).rstrip(), evidence_id
    at = (
        row.get("called_at")
        or row.get("stopped_at")
        or row.get("observed_at")
        or row.get("window_start_at")
        or row.get("collected_at")
    )
    name = (
        row.get("queue_name")
        or row.get("function_name")
        or row.get("resource")
        or row.get("mapping_uuid")
        or row.get("guard_table")
    )
    skipped = {"evidence_id", "collected_at", "head"}
    told = {k: plain_value(v) for k, v in row.items() if v is not None and k not in skipped}
    return at, table, str(name or ""), json.dumps(told, ensure_ascii=False), evidence_id
