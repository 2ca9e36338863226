"""The JSON Schema of the incident report, from the tables' declarations: ``python -m forensics.report.json_schema``."""

import dataclasses
import json
import typing
from datetime import datetime
from pathlib import Path
from types import NoneType, UnionType
from typing import Any

from forensics.books import OUTCOMES
from forensics.people import Annotation
from forensics.redrive import Step
from forensics.report.batches import BatchAtEnd
from forensics.report.chain import Fact
from forensics.report.changes import Change
from forensics.report.evidence_lines import EvidenceLine
from forensics.report.follow_ups import FollowUp
from forensics.report.groups import BlockedSpan
from forensics.report.hints import Hint
from forensics.report.json_report import SCHEMA, SCHEMA_VERSION
from forensics.report.moments import Moment
from forensics.report.settings_then import SettingFact
from forensics.tables.findings import (
    COUNTERFACTUALS,
    DELIVERIES,
    INCIDENTS,
    MESSAGES,
    QUEUE_FINDINGS,
    REDELIVERIES,
    RULINGS,
    TIMELINE,
)
from forensics.tables.schema import Table
from forensics.verdict.interval import VERDICTS

FILE = Path(__file__).resolve().parents[2] / "docs" / "incident-report.schema.json"
Schema = dict[str, Any]
_TIME: Schema = {"type": ["string", "null"], "format": "date-time"}
_TEXTS: Schema = {"type": "array", "items": {"type": "string"}}
_COLUMNS: dict[str, Schema] = {
    "string": {"type": ["string", "null"]},
    "int": {"type": ["integer", "null"]},
    "long": {"type": ["integer", "null"]},
    "double": {"type": ["number", "null"]},
    "bool": {"type": ["boolean", "null"]},
    "timestamp": _TIME,
    "strings": {"anyOf": [_TEXTS, {"type": "null"}]},
}
_PLAIN: dict[Any, str] = {str: "string", int: "integer", bool: "boolean", float: "number", NoneType: "null"}
_VERDICT: Schema = {"enum": list(VERDICTS)}

_SUMS: Schema = {"type": "object", "additionalProperties": {"type": "string"}}
_BOOK_LINE: Schema = {
    "type": "object",
    "properties": {
        "key": {"type": "string"},
        "outcome": {"enum": list(OUTCOMES)},
        **{
            name: {"type": ["integer", "null"]}
            for name in ("logs_at_least", "logs_at_most", "books_at_most", "at_most")
        },
        **{name: {"type": "integer"} for name in ("books", "at_least")},
        **dict.fromkeys(("amounts", "extra", "paid_back", "to_refund"), _SUMS),
    },
}


_COUNTED: Schema = {
    "type": "object",
    "description": "The counts of works after what people set aside; those of the incident are the logs' alone.",
    "required": [*VERDICTS, "repeats_at_least", "repeats_at_most", "set_aside", "set_aside_by", "headline"],
    "properties": {
        **{name: {"type": "integer"} for name in (*VERDICTS, "set_aside")},
        **{name: {"type": ["integer", "null"]} for name in ("repeats_at_least", "repeats_at_most")},
        "set_aside_by": {"type": "string"},
        "headline": {"type": ["string", "null"]},
    },
}


def schema() -> Schema:
    """Return the schema. Further properties may be there: within one version fields are only added."""
    message = _rows(MESSAGES, {"verdict": _VERDICT, "dead_lettered": {"type": "boolean"}}, {"is_dead_lettered"})
    counts: Schema = {"type": "object", "additionalProperties": {"type": "integer"}}
    properties: Schema = {
        "schema": {"const": SCHEMA},
        "schema_version": {"const": SCHEMA_VERSION},
        "data_version": {"type": "string"},
        "rules_version": {"type": "string"},
        "data_until_at": _TIME,
        "made_at": _TIME,
        "messages_left_out": {"type": "integer"},
        "incident": _rows(INCIDENTS, {"causes": counts}),
        "counted": _COUNTED,
        "summary": {"type": "string"},
        "key_moments": _list(_class(Moment)),
        "cause_chain": _list(_class(Fact)),
        "excluded": _TEXTS,
        "batches_at_end": _list(_class(BatchAtEnd)),
        "blocked_groups": _list(_class(BlockedSpan)),
        "settings": _list(_class(SettingFact)),
        "changes_before": _list(_class(Change)),
        "changes_not_known": {"type": ["string", "null"]},
        "gaps": _TEXTS,
        "hints": _list(_class(Hint)),
        "counterfactuals": _list(_rows(COUNTERFACTUALS)),
        "queue_findings": _list(_rows(QUEUE_FINDINGS)),
        "follow_ups": _list(_class(FollowUp)),
        "redrive_plan": _list(_class(Step)),
        "books": _list(_BOOK_LINE),
        "annotations": _list(_class(Annotation)),
        "messages": _list(message),
        "deliveries": _list(_rows(DELIVERIES)),
        "redeliveries": _list(_rows(REDELIVERIES)),
        "rulings": _list(_rows(RULINGS)),
        "timeline": _list(_rows(TIMELINE)),
        "evidence": _list(_class(EvidenceLine)),
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Doubletake incident report",
        "description": "One incident with everything it rests on. Times are ISO 8601 UTC; null is unknown, never no.",
        "type": "object",
        "required": list(properties),
        "properties": properties,
    }


def _list(items: Schema) -> Schema:
    return {"type": "array", "items": items}


def _rows(table: Table, instead: Schema | None = None, without: set[str] | None = None) -> Schema:
    columns = [c for c in table.columns if c.name in table.given_names and c.name not in (without or ())]
    properties = {c.name: {**_COLUMNS[c.type], "description": c.meaning} for c in columns} | (instead or {})
    return {
        "type": "object",
        "description": f"One row: {table.grain}.",
        "required": list(properties),
        "properties": properties,
    }


def _class(kind: type) -> Schema:
    hints = typing.get_type_hints(kind)
    properties = {f.name: _type(hints[f.name]) for f in dataclasses.fields(kind)}
    return {"type": "object", "required": list(properties), "properties": properties}


def _type(hint: Any) -> Schema:
    if hint is datetime:
        return {"type": "string", "format": "date-time"}
    if dataclasses.is_dataclass(hint):
        return _class(typing.cast(type, hint))
    if typing.get_origin(hint) is tuple:
        return _list(_type(typing.get_args(hint)[0]))
    if isinstance(hint, UnionType):
        parts = [_type(part) for part in typing.get_args(hint)]
        if any("format" in part for part in parts):
            return _TIME
        return {"type": [part["type"] for part in parts]}
    return {"type": _PLAIN[hint]}


def main() -> None:
    """Write the schema's file."""
    FILE.write_text(json.dumps(schema(), indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
