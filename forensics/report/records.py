"""Findings rows as other programs read them: field names are a contract, times are ISO 8601 UTC text."""

import json
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any

from forensics.people import aside_text, judged
from forensics.tables import Table
from forensics.tables.findings import DELIVERIES, INCIDENTS, MESSAGES
from forensics.verdict.interval import VERDICTS
from forensics.words import time_text

Record = dict[str, Any]

_MESSAGE_FIELDS = (
    "queue",
    "message_id",
    "incident_id",
    "verdict",
    "certainty",
    "effects_at_least",
    "effects_at_most",
    "deliveries",
    "receive_count",
    "causes",
    "origin",
    "work_id",
    "first_received_at",
    "last_received_at",
    "dead_lettered",
    "business_keys",
    "related_message_ids",
    "evidence_ids",
)
_INCIDENT_FIELDS = (
    "incident_id",
    "queue",
    "started_at",
    "ended_at",
    "messages",
    "messages_at_most",
    *VERDICTS,
    "causes",
    "primary_cause",
)


def message_record(row: Mapping[str, Any]) -> Record:
    """Return a row of ``messages`` with the contract's fields first, then the table's others."""
    plain = _plain(row, MESSAGES) | {"dead_lettered": bool(row.get("is_dead_lettered"))}
    del plain["is_dead_lettered"]
    return {name: plain[name] for name in _MESSAGE_FIELDS} | plain


def incident_record(row: Mapping[str, Any]) -> Record:
    """Return a row of ``incidents`` with the contract's fields first; ``causes`` is an object code -> count."""
    plain = _plain(row, INCIDENTS)
    for verdict in VERDICTS:
        plain[verdict] = plain[verdict] or 0
    plain["causes"] = cause_counts(row)
    return {name: plain[name] for name in _INCIDENT_FIELDS} | plain


def delivery_record(row: Mapping[str, Any]) -> Record:
    """Return a row of ``deliveries`` under the table's own column names."""
    plain = _plain(row, DELIVERIES)
    first = ("queue", "message_id", "receive_count", "received_at", "effect", "basis", "ended_by")
    return {name: plain[name] for name in first} | plain


def cause_counts(incident: Mapping[str, Any]) -> dict[str, int]:
    """Read an incident's ``code=count`` list, highest first as stored."""
    pairs = (item.rpartition("=") for item in incident.get("causes") or [])
    return {code: int(count) for code, _, count in pairs}


def verdict_counts(incident: Mapping[str, Any]) -> dict[str, int]:
    """Return how many works of an incident have each verdict; messages where its logs name none."""
    prefix = "" if incident.get("works") is None else "works_"
    return {verdict: incident.get(f"{prefix}{verdict}") or 0 for verdict in VERDICTS}


def verdicts_told(incident: Mapping[str, Any]) -> tuple[dict[str, int], int]:
    """Return the verdicts of an incident's works as the logs have them, which no mark changes, and how many people set aside."""
    return verdict_counts(judged(incident)), works_aside(incident)


def works_aside(incident: Mapping[str, Any]) -> int:
    """Count the works of an incident that people set aside."""
    return sum(bool(work.item_ids) for work in incident.get("set_aside") or ())


def counted_record(incident: Mapping[str, Any]) -> Record:
    """Return the counts of works after what people set aside; those of the row itself are the logs' alone."""
    return {
        **verdict_counts(incident),
        "repeats_at_least": incident.get("extra_effects_at_least"),
        "repeats_at_most": incident.get("extra_effects_at_most"),
        "set_aside": works_aside(incident),
        "set_aside_by": aside_text(incident.get("set_aside") or ()),
        "headline": incident.get("headline"),
    }


def json_lines(records: Iterable[Record]) -> Iterator[str]:
    """Yield one JSON object a line, without line ends.

    ASCII only: no character inside can end a line for any reader.
    """
    for record in records:
        yield json.dumps(record, allow_nan=False)


def plain_value(value: Any) -> Any:
    """Return a cell as JSON knows it: times as text, everything else as it is."""
    return time_text(value) if isinstance(value, datetime) else value


def _plain(row: Mapping[str, Any], table: Table) -> Record:
    names, times, lists = _COLUMNS[table.name]
    plain = {name: row.get(name) for name in names}
    for name in times:
        plain[name] = time_text(plain[name])
    for name in lists:
        if plain[name] is None:
            plain[name] = []
    return plain


def _of_type(table: Table, kind: str) -> tuple[str, ...]:
    return tuple(c.name for c in table.columns if c.type == kind and c.name in table.given_names)


_COLUMNS = {
    t.name: (t.given_names, _of_type(t, "timestamp"), _of_type(t, "strings")) for t in (MESSAGES, INCIDENTS, DELIVERIES)
}
"""Per table its columns: all of them, those that are times, and those that are lists."""
