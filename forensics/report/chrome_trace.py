"""The incident as a Chrome trace, for Perfetto and chrome://tracing: a process per view, a thread per lane."""

import json
from typing import Any

from forensics.report.case import Case

_MESSAGES, _CONSUMERS = 1, 2


def to_chrome_trace(case: Case) -> str:
    """Write bars as pairs of async events and marks as instants; microseconds since 1970, ASCII only.

    Async pairs, because bars of one message overlap where two consumers held it at once, and complete events of a thread
    may only nest.
    """
    queue = str(case.incident["queue"])
    events: list[dict[str, Any]] = [
        _named("process_name", _MESSAGES, 0, f"{queue}: messages"),
        _named("process_name", _CONSUMERS, 0, f"{queue}: consumers"),
    ]
    keys = {m["item_id"]: " ".join(m["business_keys"] or ()) for m in case.messages}
    lanes = {
        row["lane"]: " ".join(filter(None, (keys.get(row["item_id"]), row["message_id"] or row["item_id"])))
        for row in case.timeline
        if row["lane"] is not None
    }
    events += [_named("thread_name", _MESSAGES, lane, str(name)) for lane, name in sorted(lanes.items())]
    consumers = {c: n for n, c in enumerate(sorted({r["consumer"] for r in case.timeline if r["consumer"]}), 1)}
    events += [_named("thread_name", _CONSUMERS, n, name) for name, n in consumers.items()]
    for row in case.timeline:
        if row["at"] is None:
            continue
        events += _events(row, _MESSAGES, row["lane"] or 0)
        if row["kind"] == "handling" and row["consumer"]:
            events += _events(row, _CONSUMERS, consumers[row["consumer"]])
    other = {
        "incident_id": case.incident_id,
        "data_version": case.data_version,
        "rules_version": case.rules_version,
    }
    return json.dumps({"traceEvents": events, "displayTimeUnit": "ms", "otherData": other}, indent=1) + "\n"


def _named(what: str, process: int, thread: int, name: str) -> dict[str, Any]:
    return {"name": what, "ph": "M", "pid": process, "tid": thread, "args": {"name": name}}


def _events(row: Any, process: int, thread: int) -> list[dict[str, Any]]:
    start = round(row["at"].timestamp() * 1_000_000)
    count = f" #{row['receive_count']}" if row["receive_count"] is not None else ""
    event = {
        "name": f"{row['kind']}{count}",
        "cat": row["kind"],
        "ts": start,
        "pid": process,
        "tid": thread,
        "args": {
            "message_id": row["message_id"] or row["item_id"],
            "label": row["label"],
            "source": row["source"],
            "evidence_ids": list(row["evidence_ids"] or ()),
        },
    }
    if row["until_at"] is None:
        return [event | {"ph": "i", "s": "t"}]
    end = max(round(row["until_at"].timestamp() * 1_000_000), start)
    pair = f"{process}:{row['item_id']}:{row['delivery_index']}:{row['kind']}"
    closing = {name: event[name] for name in ("name", "cat", "pid", "tid")}
    return [event | {"ph": "b", "id": pair}, closing | {"ph": "e", "id": pair, "ts": end}]
