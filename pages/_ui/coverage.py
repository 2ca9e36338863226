"""What was read: coverage rows to shares and gaps."""

from collections import defaultdict
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any

Span = tuple[datetime, datetime]


def union(spans: Iterable[Span]) -> list[Span]:
    """Merge spans that touch or overlap, in order."""
    merged: list[Span] = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        elif start < end:
            merged.append((start, end))
    return merged


def subtract(spans: list[Span], taken: list[Span]) -> list[Span]:
    """Return what of ``spans`` no span of ``taken`` covers; both merged."""
    left = []
    for start, end in spans:
        for low, high in taken:
            if high <= start or low >= end:
                continue
            if low > start:
                left.append((start, low))
            start = max(start, high)
        if start < end:
            left.append((start, end))
    return left


def gaps(coverage: list[dict[str, Any]]) -> dict[tuple[str, str], list[Span]]:
    """Return per (source, resource) the time that was asked for and never read in full."""
    asked, read = _asked_and_read(coverage)
    return {key: subtract(spans, read.get(key, [])) for key, spans in asked.items()}


def complete_share(coverage: list[dict[str, Any]]) -> float | None:
    """Return the share of the asked time that was read in full, over all sources; None if nothing was asked."""
    asked, _ = _asked_and_read(coverage)
    total = sum((_length(spans) for spans in asked.values()), timedelta())
    missing = sum((_length(spans) for spans in gaps(coverage).values()), timedelta())
    return None if not total else 1 - missing / total


def _asked_and_read(coverage: list[dict[str, Any]]) -> tuple[dict[Any, list[Span]], dict[Any, list[Span]]]:
    asked, read = defaultdict(list), defaultdict(list)
    for row in coverage:
        key, span = (row["source"], row["resource"]), (row["window_start_at"], row["window_end_at"])
        if None in span:
            continue
        asked[key].append(span)
        if row["status"] == "ok":
            read[key].append(span)
    return {k: union(v) for k, v in asked.items()}, {k: union(v) for k, v in read.items()}


def _length(spans: list[Span]) -> timedelta:
    return sum((end - start for start, end in spans), timedelta())
