"""Readings that gave less than everything, and were not made good by another."""

from collections.abc import Iterable
from typing import Any

Row = dict[str, Any]
_SAME = ("account_id", "region", "source", "resource")


def unread(coverage: Iterable[Row]) -> list[Row]:
    """Return the rows of coverage that say what is missing still.

    A reading that failed is made good by later ones that cover its whole window; one in part (files that nobody vouches
    for) by any that does. What was damaged after it was read must be read again, so earlier readings never count.
    """
    rows = list(coverage)
    good: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        if row["status"] == "ok":
            good.setdefault(tuple(row[c] for c in _SAME), []).append(row)
    return [
        row
        for row in rows
        if row["status"] != "ok" and not _is_covered(row, good.get(tuple(row[c] for c in _SAME), []))
    ]


def _is_covered(row: Row, good: list[Row]) -> bool:
    reached = row["window_start_at"]
    for one in sorted(good, key=lambda r: r["window_start_at"]):
        counts = row["status"] == "partial" or one["collected_at"] > row["collected_at"]
        if counts and one["window_start_at"] <= reached:
            reached = max(reached, one["window_end_at"])
    return bool(reached >= row["window_end_at"])
