"""The incident's events as a CSV that Timesketch imports: message, datetime, timestamp_desc, and our own columns."""

from collections.abc import Mapping
from typing import Any

from forensics.report.case import Case
from forensics.report.csv_text import to_csv
from forensics.words import time_text

KINDS = {
    "sent": "Message Sent",
    "in_flight": "Message Received",
    "handling": "Handler Started",
    "effect": "Work Done",
    "repeat": "Work Done Again",
    "timeout": "Function Timeout",
    "error": "Handler Error",
    "crash": "Runtime Crash",
    "deleted": "Message Deleted",
    "delete_refused": "Delete Refused",
    "dead_lettered": "Message Dead-lettered",
    "unseen": "Message Received, Not Logged",
}
COLUMNS = (
    "message",
    "datetime",
    "timestamp_desc",
    "timestamp",
    "incident_id",
    "queue",
    "message_id",
    "receive_count",
    "kind",
    "until",
    "ended_by",
    "function_name",
    "source",
    "evidence_ids",
)


def to_timesketch(case: Case) -> str:
    """Write one row per event of the timeline, in time order; events without a time have no place there."""
    keys = {m["item_id"]: ", ".join(m["business_keys"] or ()) for m in case.messages}
    rows = []
    for row in case.timeline:
        if row["at"] is None:
            continue
        what = str(KINDS.get(row["kind"], row["kind"]))
        rows.append(
            {
                "message": _message(what, row, keys.get(row["item_id"], ""), case.incident["queue"]),
                "datetime": (time_text(row["at"]) or "").replace("Z", "+00:00"),
                "timestamp_desc": what,
                "timestamp": round(row["at"].timestamp() * 1_000_000),
                "incident_id": case.incident_id,
                "queue": case.incident["queue"],
                "until": time_text(row["until_at"]),
            }
            | {c: row[c] for c in ("message_id", "receive_count", "kind", "ended_by", "function_name", "source")}
            | {"evidence_ids": list(row["evidence_ids"] or ())}
        )
    return to_csv(rows, COLUMNS)


def _message(what: str, row: Mapping[str, Any], key: str | None, queue: str | None) -> str:
    """Say what happened to which work, the business key first; a label that only says the kind again is left out."""
    item = str(row["message_id"] or row["item_id"])
    who = f"{key} ({item})" if key else item
    label = row["label"] or ""
    return f"{what}: {who} on {queue}" + (f": {label}" if label.lower() not in ("", row["kind"], what.lower()) else "")
