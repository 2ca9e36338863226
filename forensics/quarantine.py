"""Which pieces of input still stand in quarantine: those that no later import of their file took back."""

from collections.abc import Iterable, Mapping
from typing import Any

from forensics.sentence import counted, said

MOST_SHOWN = 5
"""So many files are named, those with the most pieces first."""
COLUMNS = ["evidence_id", "resource", "reason", "offset", "file", "line_number", "replaces", "is_cleared"]
"""What of the table is asked for."""
Row = Mapping[str, Any]


def standing_pieces(rows: Iterable[Row]) -> list[Row]:
    """Return the quarantine rows that hold input which still could not be kept; older lakes say nothing of files.

    >>> bad, cleared = {"evidence_id": "a"}, {"evidence_id": "b", "replaces": "a", "is_cleared": True}
    >>> len(standing_pieces([bad])), len(standing_pieces([bad, cleared]))
    (1, 0)
    """
    told = list(rows)
    replaced = {row["replaces"] for row in told if row.get("replaces")}
    return [row for row in told if not row.get("is_cleared") and row["evidence_id"] not in replaced]


def quarantine_records(rows: Iterable[Row]) -> list[dict[str, Any]]:
    """Return a record per file (or log group) and reason of what stands: how many pieces, and where the first one is."""
    found: dict[tuple[str, str, str], list[Row]] = {}
    for row in standing_pieces(rows):
        found.setdefault((row.get("file") or "", row["resource"], row["reason"]), []).append(row)
    told = []
    for (file, resource, reason), of in found.items():
        first = min(of, key=lambda row: (row.get("line_number") or 0, row["offset"], row["evidence_id"]))
        told.append(
            {
                "file": file or None,
                "resource": resource,
                "reason": reason,
                "count": len(of),
                "first_line": first.get("line_number"),
                "first_place": first["offset"] + 1,
            }
        )
    return sorted(told, key=lambda r: (-r["count"], r["file"] or "", r["resource"], r["reason"]))


def quarantine_sentences(records: Iterable[Mapping[str, Any]]) -> list[str]:
    """Say of each record where the input is and what is wrong with it; of many, the first ones and how many more."""
    every = list(records)
    told = [
        said(
            "In quarantine: {pieces} of {name}, first {place}: {reason}.",
            pieces=counted(record["count"], "piece"),
            name=record["file"] or record["resource"],
            place=_place(record),
            reason=record["reason"],
        )
        for record in every[:MOST_SHOWN]
    ]
    if more := sum(record["count"] for record in every[MOST_SHOWN:]):
        told.append(said("In quarantine besides: {pieces}.", pieces=counted(more, "piece")))
    return told


def _place(record: Mapping[str, Any]) -> str:
    if record["first_line"] is not None:
        return said("in line {n}", n=record["first_line"])
    return said("at place {n}", n=record["first_place"])
