"""Which sources were read in full, and when: coverage rows as spans of time, UTC, half-open."""

from datetime import datetime

from forensics.coverage import standing
from spark_jobs.inputs import Inputs

Span = tuple[datetime, datetime]


def read_spans(inputs: Inputs, source: str) -> dict[str, list[Span]]:
    """Return, per resource of a source, the spans that were read in full."""
    spans: dict[str, list[Span]] = {}
    for row in standing(inputs.small["coverage"]):
        if row["source"] == source:
            spans.setdefault(row["resource"], []).append((row["window_start_at"], row["window_end_at"]))
    return {resource: _merge(found) for resource, found in spans.items()}


def _merge(spans: list[Span]) -> list[Span]:
    merged: list[Span] = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def intersect(lists: list[list[Span]]) -> list[Span]:
    """Return the spans that all lists have in common.

    >>> a, b, c, d = (datetime(2026, 1, day) for day in (1, 2, 3, 4))
    >>> intersect([[(a, c)], [(b, d)]]) == [(b, c)]
    True
    """
    if not lists:
        return []
    common = lists[0]
    for spans in lists[1:]:
        common = [(max(a, c), min(b, d)) for a, b in common for c, d in spans if max(a, c) < min(b, d)]
    return common
