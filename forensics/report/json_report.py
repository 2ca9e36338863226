"""Everything a case holds as JSON; its schema is docs/incident-report.schema.json."""

import io
import json
from typing import Any

from forensics.books import line_record
from forensics.redrive import step_record
from forensics.report.case import Case
from forensics.report.records import counted_record, delivery_record, incident_record, message_record, plain_value
from forensics.report.summary import summary

SCHEMA = "doubletake.incident-report"
SCHEMA_VERSION = 1
"""Version of the JSON report; fields are only added within one."""


def to_json(case: Case) -> str:
    """Write the whole case, ASCII only."""
    out = io.StringIO()
    for piece in json.JSONEncoder(indent=1, allow_nan=False).iterencode(as_json(case)):
        out.write(piece)  # a large incident has millions of pieces, which dumps would hold at once
    out.write("\n")
    return out.getvalue()


def as_json(case: Case) -> dict[str, Any]:
    """Return everything the case holds as plain values; times are ISO 8601 UTC text."""

    def rows(items: tuple[Any, ...]) -> list[dict[str, Any]]:
        return [{k: plain_value(v) for k, v in row.items()} for row in items]

    def told(items: tuple[Any, ...]) -> list[dict[str, Any]]:
        return rows(tuple({**vars(item), "evidence_ids": list(item.evidence_ids)} for item in items))

    return {
        "schema": SCHEMA,
        "schema_version": SCHEMA_VERSION,
        "data_version": case.data_version,
        "rules_version": case.rules_version,
        "data_until_at": plain_value(case.data_until_at),
        "made_at": plain_value(case.made_at),
        "messages_left_out": case.left_out,
        "incident": incident_record(case.judged),
        "counted": counted_record(case.incident),
        "summary": summary(case),
        "key_moments": told(case.moments),
        "cause_chain": told(case.chain),
        "excluded": list(case.excluded),
        "batches_at_end": rows(
            tuple(
                {**vars(b), "items": [vars(i) | {"business_keys": list(i.business_keys)} for i in b.items]}
                | {"evidence_ids": list(b.evidence_ids)}
                for b in case.batches
            )
        ),
        "blocked_groups": told(case.blocked),
        "settings": told(case.settings),
        "changes_before": told(case.changes),
        "changes_not_known": case.changes_not_known,
        "gaps": list(case.gaps),
        "hints": [
            vars(h) | {"message_ids": list(h.message_ids), "evidence_ids": list(h.evidence_ids)} for h in case.hints
        ],
        "counterfactuals": rows(case.counterfactuals),
        "queue_findings": rows(case.queue_findings),
        "follow_ups": rows(tuple(vars(f) for f in case.follow_ups)),
        "annotations": rows(tuple(vars(a) | {"item_ids": list(a.item_ids or ())} for a in case.annotations)),
        "redrive_plan": [step_record(step) for step in case.redrive.values()],
        "books": [line_record(line) for line in case.books],
        "messages": [message_record(m) for m in case.messages],
        "deliveries": [delivery_record(d) for d in case.deliveries],
        "redeliveries": rows(case.redeliveries),
        "rulings": rows(case.rulings),
        "timeline": rows(case.timeline),
        "evidence": rows(tuple(vars(line) for line in case.evidence)),
    }
