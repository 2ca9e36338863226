"""The answers of the settings checks as SARIF 2.1.0, which code hosts and editors show beside other linters' findings."""

import hashlib
import inspect
import json
from collections.abc import Iterable
from typing import Any
from urllib.parse import quote

from forensics.checks import CHECKS, FAILS, UNKNOWN
from forensics.report.records import Record

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_LEVELS = {"critical": "error", "warning": "warning", "note": "note"}


def to_sarif(records: Iterable[Record], data_version: str) -> str:
    """Return a SARIF log: failed checks as results, unknown ones as open, accepted risks as suppressed."""
    codes = list(CHECKS)
    results = [_result(r, codes) for r in records if r["status"] in (FAILS, UNKNOWN)]
    log = {
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "doubletake",
                        "rules": [_rule(code) for code in codes],
                    }
                },
                "automationDetails": {"id": "doubletake/check/"},
                "properties": {"dataVersion": data_version},
                "results": results,
            }
        ],
    }
    return json.dumps(log, indent=1, allow_nan=False)


def _rule(code: str) -> dict[str, Any]:
    told = (inspect.getdoc(CHECKS[code]) or "").partition("\n\n>>>")[0]
    first = told.partition("\n\n")[0].replace("\n", " ")
    return {
        "id": code,
        "shortDescription": {"text": first},
        "fullDescription": {"text": " ".join(told.split())},
    }


def _result(record: Record, codes: list[str]) -> dict[str, Any]:
    named = f"{record['queue_arn']}|{record['consumer']}"
    result: dict[str, Any] = {
        "ruleId": record["code"],
        "ruleIndex": codes.index(record["code"]),
        "kind": "fail" if record["status"] == FAILS else "open",
        "level": _LEVELS.get(record["severity"] or "", "none"),
        "message": {"text": _text(record)},
        "locations": [
            {
                # Code hosts show only results with a file: the queue's name in a path of its own stands for it.
                "physicalLocation": {"artifactLocation": {"uri": _path(record)}, "region": {"startLine": 1}},
                "logicalLocations": [
                    {"name": record["queue"], "fullyQualifiedName": record["queue_arn"], "kind": "resource"}
                ],
            }
        ],
        "partialFingerprints": {"doubletake/v1": hashlib.sha256(f"{record['code']}|{named}".encode()).hexdigest()[:32]},
        "properties": {
            "consumer": record["consumer"],
            "numbers": record["numbers"],
            "evidenceIds": record["evidence_ids"],
        },
    }
    if record["accepted_until"]:
        reason = f"accepted until {record['accepted_until']}: {record['accepted_reason']}"
        result["suppressions"] = [{"kind": "external", "status": "accepted", "justification": reason}]
    return result


def _text(record: Record) -> str:
    who = record["queue"] if record["consumer"] == "-" else f"{record['queue']} and {record['consumer']}"
    more = record["advice"] or (f"What would decide it: {record['would_decide']}." if record["would_decide"] else "")
    return f"{who}: {record['sentence']}. {more}".strip()


def _path(record: Record) -> str:
    parts = record["queue_arn"].split(":")
    where = parts[3:] if len(parts) == 6 else [record["queue"]]
    return "/".join(["sqs", *(quote(part, safe="") for part in where)])
