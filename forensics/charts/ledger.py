"""Deliveries as timeline rows: the small timeline of a message that no incident drew."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

import pandas as pd

from forensics.sentence import marked, said

COLUMNS = (
    "item_id",
    "delivery_index",
    "message_id",
    "receive_count",
    "lane",
    "kind",
    "at",
    "until_at",
    "ended_by",
    "function_name",
    "consumer",
    "source",
    "label",
    "evidence_ids",
)
_RUN_ENDS = {"timeout": "timeout", "error": "error", "crash": "crash", "init_failed": "crash"}


def timeline_of(deliveries: Iterable[Mapping[str, Any]]) -> pd.DataFrame:
    """Turn ``deliveries`` rows into rows that ``timeline_figure`` draws, one lane per item in order of first receive.

    Work counts as done again when another delivery of the same item did it before.
    """
    ordered = sorted(deliveries, key=lambda d: (d["item_id"], d["delivery_index"]))
    first: dict[str, Any] = {}
    for d in ordered:
        at = d["received_at"] or d["started_at"] or d["sent_at"]
        if at and (d["item_id"] not in first or at < first[d["item_id"]]):
            first[d["item_id"]] = at
    lanes = {item: n for n, item in enumerate(sorted(first, key=lambda i: (first[i], i)), 1)}
    done = _first_done(ordered)
    rows: list[dict[str, Any]] = []
    receives: dict[str, list[Any]] = defaultdict(list)
    for d in ordered:
        receives[d["item_id"]] += [d["received_at"]] if d["received_at"] else []
    for d in ordered:
        if d["item_id"] in lanes:
            again_at = min(
                (at for at in receives[d["item_id"]] if d["received_at"] and at > d["received_at"]), default=None
            )
            rows += _marks(d, lanes[d["item_id"]], done.get(d["item_id"]) is not d, again_at)
    frame = pd.DataFrame(rows, columns=list(COLUMNS))
    for column in ("at", "until_at"):
        frame[column] = pd.to_datetime(frame[column], utc=True)
    return frame


def _first_done(ordered: Iterable[Mapping[str, Any]]) -> dict[str, Mapping[str, Any]]:
    """Return by item the delivery in which its work was done first: one received later may have been quicker than a slow one."""
    first: dict[str, Mapping[str, Any]] = {}
    for d in ordered:
        if d["effect"] == "yes":
            before = first.setdefault(d["item_id"], d)
            if before["effect_at"] and d["effect_at"] and d["effect_at"] < before["effect_at"]:
                first[d["item_id"]] = d
    return first


def _marks(d: Mapping[str, Any], lane: int, again: bool, again_at: Any) -> list[dict[str, Any]]:
    source = " ".join(filter(None, (d["log_stream"], d["request_id"]))) or "derived"
    shared = {k: d[k] for k in ("item_id", "message_id", "receive_count", "function_name", "consumer", "evidence_ids")}
    shared |= {"delivery_index": d["delivery_index"], "lane": lane, "source": source}
    rows = []

    def mark(kind: str, at: Any, label: str, until: Any = None, **more: Any) -> None:
        if at is not None:
            rows.append({**shared, "kind": kind, "at": at, "until_at": until, "label": label, **more})

    if d["delivery_index"] == 1:
        mark("sent", d["sent_at"], "sent", delivery_index=0, receive_count=None)
    if not d["is_seen"]:
        mark("unseen", d["received_at"], "the receive count says so; no log shows it", source="derived")
        return rows
    deleted = d["ended_by"] == "deleted"
    gone_at = (d["delete_at"] or d["run_ended_at"] or d["finished_at"]) if deleted else None
    until = gone_at or d["hidden_until_at"] or min(filter(None, (d["run_ended_at"], again_at)), default=None)
    mark("in_flight", d["received_at"], "in flight", until, ended_by=d["ended_by"])
    mark("handling", d["started_at"], "handling", d["finished_at"] or d["run_ended_at"])
    if d["effect"] == "yes":
        mark("repeat" if again else "effect", d["effect_at"], marked(said("work done ({basis})", basis=d["basis"])))
    if d["run_status"] in _RUN_ENDS:
        mark(_RUN_ENDS[d["run_status"]], d["run_ended_at"], marked(said("the run ended: {what}", what=d["run_status"])))
    mark("deleted", gone_at, "deleted")
    if d["delete_status"] == "expired":
        mark("delete_refused", d["delete_at"], "the receipt handle had expired")
    if d["ended_by"] == "dead_lettered":
        mark("dead_lettered", d["hidden_until_at"], "moved to the dead-letter queue (not before)")
    return rows
