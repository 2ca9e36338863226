"""The batch at the moment its run failed: what was finished, in progress, and not started."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from forensics.report.runs import consumer_text, ids_of, is_named_whole
from forensics.run_ends import WORDS
from forensics.sentence import counted, joined, said
from forensics.words import ms_between

Row = Mapping[str, Any]
MOST_BATCHES = 1000
"""Runs that are told; who reads on looks into the deliveries."""
STATES = ("finished", "in progress", "not started", "stopped by a guard", "unknown")


@dataclass(frozen=True)
class BatchItem:
    """One message of a batch: its place (from 1, None where the batch was not printed) and how far it had got.

    ``started_ms`` and ``finished_ms`` count from the run's first receive; None where no line tells.
    """

    item_id: str
    message_id: str | None
    business_keys: tuple[str, ...]
    position: int | None
    state: str
    basis: str
    started_ms: int | None
    finished_ms: int | None
    came_again: bool


@dataclass(frozen=True)
class BatchAtEnd:
    """A run that was cut off, with its batch. ``ended_at`` is UTC and may be unknown."""

    consumer: str
    request_id: str | None
    run_status: str
    received_at: datetime | None
    ended_at: datetime | None
    items: tuple[BatchItem, ...]
    sentence: str
    evidence_ids: tuple[str, ...]


def batches_at_end(deliveries: Sequence[Row], affected: frozenset[str] | set[str]) -> tuple[BatchAtEnd, ...]:
    """Return the failed runs of several messages that held an affected item, in the order of their ends.

    At most MOST_BATCHES. Of a run of one message the ledger says it all.

    ``deliveries`` are those of the incident's messages; siblings that never came again are counted by the batch only.
    """
    runs: dict[str, list[Row]] = {}
    last: dict[str, int] = {}
    for d in deliveries:
        last[d["item_id"]] = max(last.get(d["item_id"], 0), d["delivery_index"])
        if d["consumer"] is not None and d["run_status"] in WORDS:
            runs.setdefault(d["consumer"], []).append(d)
    hit = [run for run in runs.values() if _size(run) > 1 and any(d["item_id"] in affected for d in run)]
    found = [_batch(run, last) for run in sorted(hit, key=_end)[:MOST_BATCHES]]
    return tuple(sorted(found, key=lambda b: (b.ended_at is None, b.ended_at, b.request_id or "", b.consumer)))


def _end(run: Sequence[Row]) -> tuple[Any, ...]:
    ends = [d["run_ended_at"] for d in run if d["run_ended_at"]]
    return (not ends, max(ends) if ends else None, run[0]["request_id"] or "", run[0]["consumer"])


def _size(run: Sequence[Row]) -> int:
    return max(len(run), *(d["batch_count"] or 0 for d in run))


def _batch(run: Sequence[Row], last: Mapping[str, int]) -> BatchAtEnd:
    received = min((d["received_at"] for d in run if d["received_at"]), default=None)
    ended = max((d["run_ended_at"] for d in run if d["run_ended_at"]), default=None)
    ordered = sorted(run, key=lambda d: (d["batch_position"] is None, d["batch_position"] or 0, d["item_id"]))
    items = tuple(
        BatchItem(
            d["item_id"],
            d["message_id"],
            tuple(d["business_keys"] or ()),
            d["batch_position"],
            state_of(d),
            d["basis"] or "",
            ms_between(received, d["started_at"]),
            ms_between(received, d["effect_at"] or d["finished_at"]) if d["effect"] == "yes" else None,
            last[d["item_id"]] > d["delivery_index"],
        )
        for d in ordered
    )
    return BatchAtEnd(
        consumer_text(run[0]),
        run[0]["request_id"],
        run[0]["run_status"],
        received,
        ended,
        items,
        _sentence(run, items),
        ids_of(run),
    )


def state_of(delivery: Row) -> str:
    """Say how far an item had got when its run was cut off; what no line tells is ``unknown``.

    >>> state_of({"effect": "yes", "basis": "marker"}), state_of({"effect": "unknown", "basis": "parallel"})
    ('finished', 'unknown')
    """
    if delivery["effect"] == "yes":
        return "finished"
    if delivery["basis"] == "in_progress":
        return "in progress"
    if delivery["effect"] == "no":
        return "stopped by a guard" if delivery["basis"] == "guard" else "not started"
    return "unknown"


def _sentence(run: Sequence[Row], items: Sequence[BatchItem]) -> str:
    delivery, size = run[0], _size(run)
    states = Counter(item.state for item in items)
    told = joined([said(f"{{count}} {state}", count=states[state]) for state in STATES if states[state]], ", ")
    if size > len(items):
        told = said("{told}; {count} more not redelivered", told=told, count=size - len(items))
    at_least = "" if is_named_whole(run) else "at least "
    return said(
        f"{{who}} {WORDS[delivery['run_status']]} with {at_least}{{messages}}: {{told}}.",
        who=consumer_text(delivery),
        messages=counted(size, "message"),
        told=told,
    )
