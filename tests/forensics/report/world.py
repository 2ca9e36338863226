"""A small lake for tests of reports and commands: one queue, one batch of three that timed out and came back.

Message one was charged twice (confirmed), two was being charged when the run was cut off (probable), three was never
reached (harmless). Every time is UTC; the first receive is at 2026-11-20 05:12:00.200.
"""

import atexit
import shutil
import tempfile
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from forensics.identity import evidence_id
from forensics.lake import Lake, to_arrow
from forensics.queue_rules import QueueFacts
from forensics.queue_rules.fifo_group_blocked import fifo_group_blocked
from forensics.sentence import said
from forensics.tables import FINDINGS, GENERATIONS, Table
from forensics.tables.evidence import COVERAGE, EVENT_SOURCE_MAPPINGS, FUNCTION_SETTINGS, LOG_EVENTS, QUEUE_SETTINGS
from forensics.tables.findings import (
    DELIVERIES,
    INCIDENTS,
    INVOCATIONS,
    MESSAGES,
    QUEUE_FINDINGS,
    REDELIVERIES,
    RULINGS,
    TIMELINE,
)
from forensics.verdict import Why, why_sentence
from forensics.verdict.sentences import headline
from lab.loglines import report_line, start_line
from tests.lakes import written_once
from tests.tables import put_tables

Row = dict[str, Any]
START = datetime(2026, 11, 20, 5, 12, 0, 200_000, tzinfo=UTC)
INCIDENT = "payments.fifo-20261120T0512Z"
QUEUE, QUEUE_ARN = "payments.fifo", "arn:aws:sqs:eu-west-1:111122223333:payments.fifo"
FUNCTION, GROUP, STREAM = "charge-card", "/aws/lambda/charge-card", "2026/11/20/[$LATEST]0f1e"
IDS = tuple(f"00000000-0000-4000-8000-00000000000{n}" for n in (1, 2, 3))
KEYS = ("pay-1001", "pay-1002", "pay-1003")
RUNS = (("aaaaaaaa-0000-4000-8000-000000000001", 0.0), ("bbbbbbbb-0000-4000-8000-000000000002", 600.3))
VERDICTS = (("confirmed", 2, 2), ("probable", 1, 2), ("harmless", 1, 1))

MAPPING = "6f1c0d2a-0000-4000-8000-000000000001"
WHY = Why(QUEUE, [FUNCTION], "function_timeout", 3, 1, 3, 1, 30_000, 600_100, 0, 30, 600)


def after(seconds: float) -> datetime:
    """Return the moment so many seconds after the first receive."""
    return START + timedelta(seconds=seconds)


def log_id(number: int) -> str:
    """Return the evidence id of the numbered log line."""
    return evidence_id("log", "111122223333", "eu-west-1", GROUP, f"{number:056d}")


BODY = "4111-2222-3333"
"""What only a printed message body holds."""


def lines() -> list[Row]:
    """Return the function's log lines."""
    told: list[tuple[float, str]] = []
    for (request, at), reached in zip(RUNS, (1, 3), strict=True):
        told.append((at + 0.05, start_line(request)))
        told.append(
            (at + 0.06, f'{{"Records": [{{"messageId": "{IDS[0]}", "body": "{{\\"card\\": \\"4111-2222-3333\\"}}"}}]}}')
        )
        told += [(at + 1 + n, f"charged payment_id={KEYS[n]}") for n in range(reached)]
        status = "Status: timeout" if reached == 1 else ""
        told.append((at + 30.05, report_line(request, 30_000, status=status)))
    return [
        {
            "evidence_id": log_id(n),
            "account_id": "111122223333",
            "region": "eu-west-1",
            "log_group": GROUP,
            "log_stream": STREAM,
            "event_id": f"{n:056d}",
            "logged_at": after(at),
            "ingested_at": after(at + 2),
            "order_in_ms": 0,
            "line": line,
            "collected_at": after(3600),
        }
        for n, (at, line) in enumerate(told)
    ]


def settings() -> dict[Table, list[Row]]:
    """Return one snapshot each of queue, function and mapping, taken after the incident."""
    common = {"account_id": "111122223333", "region": "eu-west-1", "observed_at": after(3600)}
    return {
        QUEUE_SETTINGS: [
            common
            | {
                "evidence_id": "queue:1",
                "queue_arn": QUEUE_ARN,
                "queue_name": QUEUE,
                "is_fifo": True,
                "visibility_timeout_s": 600,
                "message_retention_s": 345_600,
            }
        ],
        FUNCTION_SETTINGS: [
            common | {"evidence_id": "function:1", "function_name": FUNCTION, "timeout_s": 30, "log_group": GROUP}
        ],
        EVENT_SOURCE_MAPPINGS: [
            common
            | {
                "evidence_id": "mapping:1",
                "mapping_uuid": MAPPING,
                "queue_arn": QUEUE_ARN,
                "function_name": FUNCTION,
                "batch_size": 10,
                "batching_window_s": 0,
                "reports_batch_item_failures": False,
            }
        ],
        COVERAGE: [
            common_coverage(1, LOG_EVENTS.name, GROUP, -3600, 0),
            common_coverage(2, LOG_EVENTS.name, GROUP, 60, 3600),
            common_coverage(3, "metric_points", QUEUE, -3600, 3600) | {"status": "denied", "detail": "AccessDenied"},
        ],
    }


def common_coverage(number: int, source: str, resource: str, start_s: float, end_s: float) -> Row:
    """Return a complete reading of one window, given in seconds from the first receive."""
    return {
        "evidence_id": f"coverage:{number}",
        "source": source,
        "resource": resource,
        "queue_arn": QUEUE_ARN,
        "window_start_at": after(start_s),
        "window_end_at": after(end_s),
        "status": "ok",
        "seen_count": 10,
        "stored_count": 9,
        "already_count": 1,
        "quarantined_count": 0,
        "is_provisional": False,
        "collected_at": after(3600),
    }


def deliveries() -> list[Row]:
    """Return both deliveries of all three messages."""
    effects = ((("yes", "marker"), ("unknown", "in_progress"), ("no", "not_reached")), (("yes", "marker"),) * 3)
    rows = []
    for r, (request, at) in enumerate(RUNS):
        for n, message_id in enumerate(IDS):
            effect, basis = effects[r][n]
            rows.append(
                {
                    "queue_arn": QUEUE_ARN,
                    "queue": QUEUE,
                    "item_id": message_id,
                    "delivery_index": r + 1,
                    "message_id": message_id,
                    "receive_count": r + 1,
                    "is_seen": True,
                    "consumer": f"{GROUP}|{STREAM}|{request}|1",
                    "consumer_kind": "lambda",
                    "function_name": FUNCTION,
                    "request_id": request,
                    "log_group": GROUP,
                    "log_stream": STREAM,
                    "batch_position": n + 1,
                    "batch_count": 3,
                    "received_at": after(at),
                    "received_basis": "first_receive" if r == 0 else "run_start",
                    "visibility_timeout_s": 600,
                    "hidden_until_at": after(at + 600),
                    "started_at": after(at + n),
                    "finished_at": after(at + n + 1) if effect == "yes" else None,
                    "run_ended_at": after(at + 30.05),
                    "run_status": ("timeout", "success")[r],
                    "ended_by": ("visibility_expired", "deleted")[r],
                    "effect": effect,
                    "basis": basis,
                    "effect_at": after(at + n + 1) if effect == "yes" else None,
                    "group_id": "acct-1",
                    "deduplication_id": f"dedup-{n}",
                    "sent_at": after(-1 + n / 10),
                    "business_keys": [KEYS[n]],
                    "evidence_ids": sorted([log_id(0 if r == 0 else 4), log_id(2 if r == 0 else 6 + n)]),
                }
            )
    return rows


def redeliveries() -> list[Row]:
    """Return the one redelivery of each message."""
    causes = ("batch_collateral", "function_timeout", "batch_collateral")
    return [
        {
            "queue_arn": QUEUE_ARN,
            "queue": QUEUE,
            "item_id": message_id,
            "delivery_index": 2,
            "message_id": message_id,
            "receive_count": 2,
            "earlier_received_at": after(0),
            "later_received_at": after(600.3),
            "gap_ms": 600_300,
            "visibility_timeout_s": 600,
            "overlap_ms": 0,
            "cause": cause,
            "causes": [cause],
            "sentence": "The run that held it was stopped at its timeout.",
            "excluded": ["visibility_expired: the first run had ended before the second receive"],
            "evidence_ids": sorted([log_id(0), log_id(3)]),
        }
        for message_id, cause in zip(IDS, causes, strict=True)
    ]


def messages() -> list[Row]:
    """Return the verdict of each message."""
    return [
        {
            "queue_arn": QUEUE_ARN,
            "queue": QUEUE,
            "item_id": IDS[n],
            "message_id": IDS[n],
            "incident_id": INCIDENT,
            "work_id": f"{QUEUE}|{KEYS[n]}",
            "verdict": verdict,
            "certainty": "proved",
            "effects_at_least": at_least,
            "effects_at_most": at_most,
            "deliveries": 2,
            "receive_count": 2,
            "causes": ["function_timeout" if n == 1 else "batch_collateral"],
            "trigger_sentence": "Its batch timed out.",
            "guard_sentence": "Nothing stopped the repeat.",
            "effect_sentence": "The charge was logged in both deliveries.",
            "first_received_at": after(0),
            "last_received_at": after(600.3),
            "sent_at": after(-1),
            "group_id": "acct-1",
            "deduplication_id": f"dedup-{n}",
            "is_dead_lettered": False,
            "business_keys": [KEYS[n]],
            "related_message_ids": [],
            "maybe_related_message_ids": [],
            "evidence_ids": sorted([log_id(0), log_id(2), log_id(3), log_id(6 + n)]),
        }
        for n, (verdict, at_least, at_most) in enumerate(VERDICTS)
    ]


def incident() -> Row:
    """Return the incident."""
    return {
        "incident_id": INCIDENT,
        "queue_arn": QUEUE_ARN,
        "queue": QUEUE,
        "started_at": after(0),
        "ended_at": after(630.35),
        "first_repeat_at": after(600.3),
        "messages": 2,
        "messages_at_most": 2,
        "confirmed": 1,
        "probable": 1,
        "possible": 0,
        "absorbed": 0,
        "harmless": 1,
        "causes": ["batch_collateral=1", "function_timeout=1"],
        "primary_cause": "batch_collateral",
        "headline": headline(1, 1, 0, 3),
        "trigger": WHY.trigger,
        "why": WHY.values,
        "cause_sentence": why_sentence(WHY),
        "excluded": ["producer_retry: one message id each"],
        "certainty": "proved",
        "functions": [FUNCTION],
        "is_fifo": True,
        "visibility_timeout_s": 600,
        "function_timeout_s": 30,
        "batch_size": 10,
        "group_count": 1,
        "blocked_ms": 570_150,
        "extra_effects_at_least": 1,
        "extra_effects_at_most": 2,
        "unread_sources": ["metric_points of payments.fifo could not be read: AccessDenied"],
        "evidence_ids": sorted([log_id(0), log_id(1), log_id(3), "queue:1", "function:1", "mapping:1"]),
    }


def timeline() -> list[Row]:
    """Return bars and marks of the incident, with the labels that judging gives them."""
    rows = []
    done = {
        "effect": said("work done ({basis})", basis="marker"),
        "repeat": said("work done again ({basis})", basis="marker"),
    }
    for d in deliveries():
        common = {
            "incident_id": INCIDENT,
            "item_id": d["item_id"],
            "delivery_index": d["delivery_index"],
            "message_id": d["message_id"],
            "receive_count": d["receive_count"],
            "lane": IDS.index(d["item_id"]) + 1,
            "function_name": FUNCTION,
            "consumer": d["consumer"],
            "source": f"{STREAM} {d['request_id']}",
            "evidence_ids": d["evidence_ids"],
        }
        end = d["run_ended_at"] if d["ended_by"] == "deleted" else d["hidden_until_at"]
        received = said("receive #{n}", n=d["receive_count"])
        in_flight = {
            "until_at": end,
            "ended_by": d["ended_by"],
            "label": said("in flight, {received}", received=received),
        }
        rows.append(common | {"kind": "in_flight", "at": d["received_at"]} | in_flight)
        handling = said("handling, {received}", received=received)
        rows.append(
            common | {"kind": "handling", "at": d["started_at"], "until_at": d["run_ended_at"], "label": handling}
        )
        if d["effect"] == "yes":
            kind = "repeat" if (d["item_id"], d["delivery_index"]) == (IDS[0], 2) else "effect"
            rows.append(common | {"kind": kind, "at": d["effect_at"], "label": done[kind]})
        if d["run_status"] == "timeout":
            rows.append(common | {"kind": "timeout", "at": d["run_ended_at"], "label": "the run timed out"})
    return rows


def blocked_group(waiting: int | None = 3) -> Row:
    """Return the finding that the message group stood still from the end of the first run to the second receive."""
    ruling = fifo_group_blocked(QueueFacts(span_ms=570_250, waiting_count=waiting))
    return {
        "queue_arn": QUEUE_ARN,
        "queue": QUEUE,
        "code": "fifo_group_blocked",
        "item_id": IDS[0],
        "message_id": IDS[0],
        "incident_id": INCIDENT,
        "group_id": "acct-1",
        "stance": ruling.stance,
        "from_at": after(30.05),
        "until_at": after(600.3),
        "span_ms": 570_250,
        "message_count": waiting,
        "message_ids": [] if waiting is None else [*IDS],
        "business_keys": [],
        "sentence": ruling.sentence,
        "evidence_ids": [log_id(0), log_id(3)],
    }


def findings() -> dict[str, list[Row]]:
    """Return the findings rows by table name."""
    rulings = [
        {
            "queue_arn": QUEUE_ARN,
            "item_id": IDS[0],
            "delivery_index": 2,
            "code": code,
            "stance": stance,
            "sentence": f"{code} is {stance}",
            "evidence_ids": [log_id(3)],
        }
        for code, stance in (("batch_collateral", "supported"), ("visibility_expired", "excluded"))
    ]
    runs = [
        {
            "invocation_id": f"{GROUP}|{STREAM}|{request}|1",
            "log_group": GROUP,
            "log_stream": STREAM,
            "request_id": request,
            "start_index": 1,
            "function_name": FUNCTION,
            "queue_arn": QUEUE_ARN,
            "started_at": after(at + 0.05),
            "ended_at": after(at + 30.05),
            "duration_ms": 30_000,
            "end_status": ("timeout", "success")[r],
            "has_start": True,
            "message_count": 3,
            "evidence_ids": [log_id(4 * r)],
        }
        for r, (request, at) in enumerate(RUNS)
    ]
    return {
        QUEUE_FINDINGS.name: [blocked_group()],
        INVOCATIONS.name: runs,
        DELIVERIES.name: deliveries(),
        REDELIVERIES.name: redeliveries(),
        RULINGS.name: rulings,
        MESSAGES.name: messages(),
        INCIDENTS.name: [incident()],
        TIMELINE.name: timeline(),
    }


def by_name_alone() -> dict[str, list[Row]]:
    """Return the findings as they are where files were imported before anything told the queue's ARN."""
    return {
        name: [row | {"queue_arn": QUEUE} if "queue_arn" in row else row for row in rows]
        for name, rows in findings().items()
    }


def save(folder: Path, found: dict[str, list[Row]] | None = None, log_lines: list[Row] | None = None) -> Lake:
    """Write the world (or other findings and log lines over the same evidence) as a lake and return it."""
    if found is None and log_lines is None:
        shutil.copytree(_ready(), folder)
        return Lake(folder)
    return _written(folder, findings() if found is None else found, log_lines or lines())


@cache
def _ready() -> Path:
    """The world as it is most often asked for, written once: writing a lake takes a second, copying it nothing."""
    with written_once():
        return _written(_kept() / "lake", findings(), lines()).root


@cache
def _unwritten() -> Path:
    """The world's lake before the first line and the first finding: settings, and tables without rows."""
    lake = Lake(_kept() / "lake")
    with written_once():
        for table, rows in settings().items():
            lake.append(table, rows, "test|world")
        put_tables(lake, (*FINDINGS, GENERATIONS))
    return lake.root


def _kept() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="doubletake-world-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def _written(folder: Path, found: dict[str, list[Row]], log_lines: list[Row]) -> Lake:
    shutil.copytree(_unwritten(), folder)
    lake = Lake(folder)
    lake.append(LOG_EVENTS, log_lines, "test|world")
    publish(lake, found)
    return lake


def publish(
    lake: Lake, found: dict[str, list[Row]], run_id: str = "run-1", settings: str | None = None, **about: object
) -> None:
    """Publish findings as a correlation run would; ``about`` says more of the run."""
    for table in FINDINGS:
        staged = lake.staging_folder(table, run_id)
        staged.mkdir(parents=True)
        if rows := found.get(table.name):
            pq.write_table(to_arrow(table, rows), staged / "part-0.parquet")
    lake.publish(
        run_id,
        {
            "generation_id": f"{run_id}-0123456789abcdef",
            "inputs": lake.versions(),
            "rules_version": "1",
            "data_until_at": after(7200),
            "settings_text": settings,
            **about,
        },
    )
