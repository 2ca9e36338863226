"""Lakes for the dashboard's tests: small worlds told delivery by delivery, written through the lake's own calls.

A world is a ``Story``: it collects evidence rows and the findings that follow from them, in the shapes the Spark
jobs write, and ``save`` publishes both. Every time is UTC; the first incident starts at 2026-11-20 05:12:00.
"""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from forensics.identity import evidence_id, handle_token
from forensics.lake import Lake, to_arrow
from forensics.tables import BY_NAME, FINDINGS, GENERATIONS, Table
from forensics.tables.evidence import (
    CONSUMERS,
    COVERAGE,
    EVENT_SOURCE_MAPPINGS,
    FUNCTION_SETTINGS,
    QUEUE_SETTINGS,
)
from lab.loglines import iso_ms, report_line, start_line, timed_out_line
from tests.tables import put_tables

ACCOUNT, REGION = "111122223333", "eu-west-1"
START = datetime(2026, 11, 20, 5, 12, tzinfo=UTC)
DOUBLE_BILLING = "payments.fifo-20261120T0512Z"
EXPIRED_HANDLE = "billing-20261119T0820Z"
DEAD_LETTERED = "mail-20261118T2200Z"
HUGE = "clicks-20261117T0300Z"

Row = dict[str, Any]


def arn(queue: str) -> str:
    """Return the ARN of a queue of the test account."""
    return f"arn:aws:sqs:{REGION}:{ACCOUNT}:{queue}"


def uuid(*parts: object) -> str:
    """Return an id in UUID form that is the same in every run."""
    h = hashlib.sha256("|".join(map(str, parts)).encode()).hexdigest()
    return f"{h[:8]}-{h[8:12]}-4{h[13:16]}-a{h[17:20]}-{h[20:32]}"


def handle(message_id: str, count: int) -> str:
    """Return the receipt handle that this delivery had on AWS; no lake ever holds it."""
    return "AQEB" + hashlib.sha512(f"{message_id}{count}".encode()).hexdigest() * 2 + "=="


@dataclass
class Consumer:
    """Who handles the messages: a function's or a worker's log group, and its settings."""

    queue: str
    log_group: str
    function: str | None
    timeout_s: int | None
    visibility_s: int
    batch_size: int | None
    is_fifo: bool


@dataclass
class Run:
    """One run of a consumer that got a batch."""

    consumer: Consumer
    stream: str
    request_id: str
    received_at: datetime
    started_at: datetime
    ended_at: datetime
    status: str
    first_id: str = ""
    end_ids: list[str] = field(default_factory=list)

    @property
    def invocation_id(self) -> str:
        """Return the key of this run in ``invocations``; of a worker's handling, what deliveries call it."""
        return f"{self.consumer.log_group}|{self.stream}|{self.request_id}|1"


@dataclass
class Story:
    """Evidence and findings of one lake, told in order."""

    evidence: dict[str, list[Row]] = field(default_factory=dict)
    findings: dict[str, list[Row]] = field(default_factory=dict)
    data_until_at: datetime | None = None

    # -- evidence ------------------------------------------------------------------------------------------

    def add(self, table: Table, row: Row) -> Row:
        """Keep one row of any table."""
        (self.evidence if table.layer == "evidence" else self.findings).setdefault(table.name, []).append(row)
        return row

    def log(self, run: Run, at: datetime, line: str) -> str:
        """Keep a log line and return its evidence id."""
        lines = self.evidence.setdefault("log_events", [])
        event_id = f"{len(lines):056d}"
        key = evidence_id("log", ACCOUNT, REGION, run.consumer.log_group, event_id)
        lines.append(
            {
                "evidence_id": key,
                "account_id": ACCOUNT,
                "region": REGION,
                "log_group": run.consumer.log_group,
                "log_stream": run.stream,
                "event_id": event_id,
                "logged_at": at,
                "ingested_at": at + timedelta(seconds=2),
                "order_in_ms": 0,
                "line": line,
                "collected_at": START + timedelta(hours=1),
            }
        )
        return key

    def settings(self, consumer: Consumer, dead_letter: str | None = None, max_receives: int | None = None) -> None:
        """Keep the settings of a queue, its function and the mapping between them, and who consumes it."""
        common = {"account_id": ACCOUNT, "region": REGION, "observed_at": START + timedelta(hours=1)}
        queue_arn = arn(consumer.queue)
        self.add(
            QUEUE_SETTINGS,
            common
            | {
                "evidence_id": evidence_id("queue", queue_arn),
                "queue_arn": queue_arn,
                "queue_name": consumer.queue,
                "is_fifo": consumer.is_fifo,
                "visibility_timeout_s": consumer.visibility_s,
                "message_retention_s": 345_600,
                "delay_s": 0,
                "receive_wait_s": 0,
                "content_based_deduplication": False,
                "dead_letter_queue_arn": arn(dead_letter) if dead_letter else None,
                "max_receive_count": max_receives,
            },
        )
        self.add(
            CONSUMERS,
            {
                "evidence_id": evidence_id("consumer", queue_arn, consumer.log_group),
                "account_id": ACCOUNT,
                "region": REGION,
                "queue_arn": queue_arn,
                "queue_name": consumer.queue,
                "log_group": consumer.log_group,
                "kind": "lambda" if consumer.function else "worker",
                "function_name": consumer.function,
                "found_by": "mapping" if consumer.function else "option",
            },
        )
        if not consumer.function:
            return
        function_arn = f"arn:aws:lambda:{REGION}:{ACCOUNT}:function:{consumer.function}"
        self.add(
            FUNCTION_SETTINGS,
            common
            | {
                "evidence_id": evidence_id("function", function_arn),
                "function_arn": function_arn,
                "function_name": consumer.function,
                "timeout_s": consumer.timeout_s,
                "memory_mb": 256,
                "runtime": "python3.13",
                "log_group": consumer.log_group,
                "log_format": "Text",
            },
        )
        self.add(
            EVENT_SOURCE_MAPPINGS,
            common
            | {
                "evidence_id": evidence_id("mapping", function_arn, queue_arn),
                "mapping_uuid": uuid("mapping", queue_arn),
                "queue_arn": queue_arn,
                "function_arn": function_arn,
                "function_name": consumer.function,
                "batch_size": consumer.batch_size,
                "batching_window_s": 0,
                "reports_batch_item_failures": False,
                "counts_events": False,
                "state": "Enabled",
            },
        )

    def coverage(
        self,
        consumer: Consumer,
        start: datetime,
        end: datetime,
        status: str = "ok",
        detail: str | None = None,
        seen: int = 1000,
    ) -> None:
        """Keep one reading of the consumer's log group."""
        self.add(
            COVERAGE,
            {
                "evidence_id": evidence_id("coverage", consumer.log_group, start, status),
                "account_id": ACCOUNT,
                "region": REGION,
                "source": "log_events",
                "resource": consumer.log_group,
                "queue_arn": arn(consumer.queue),
                "window_start_at": start,
                "window_end_at": end,
                "status": status,
                "detail": detail,
                "seen_count": seen if status == "ok" else 0,
                "stored_count": seen if status == "ok" else 0,
                "already_count": 0,
                "quarantined_count": 0,
                "is_provisional": False,
                "collected_at": end + timedelta(minutes=6),
            },
        )

    # -- findings ------------------------------------------------------------------------------------------

    def run(
        self,
        consumer: Consumer,
        name: str,
        received_at: datetime,
        duration_s: float,
        status: str = "success",
        message_count: int = 1,
    ) -> Run:
        """Keep one run with its first and last lines."""
        started = received_at + timedelta(milliseconds=40)
        ended = started + timedelta(seconds=duration_s)
        stream = f"{started:%Y/%m/%d}/[$LATEST]{hashlib.sha256(name.encode()).hexdigest()[:32]}"
        run = Run(consumer, stream, uuid("run", name), received_at, started, ended, status)
        if not consumer.function:
            run.stream, run.request_id = f"worker/{name}", uuid("handling", name)
            return run
        run.first_id = self.log(run, started, start_line(run.request_id))
        if status == "timeout":
            timed_out = timed_out_line(iso_ms(ended), run.request_id, duration_s * 1000)
            run.end_ids.append(self.log(run, ended, timed_out))
        run.end_ids.append(self.log(run, ended, report_line(run.request_id, duration_s * 1000)))
        self.findings.setdefault("invocations", []).append(
            {
                "invocation_id": run.invocation_id,
                "log_group": consumer.log_group,
                "log_stream": run.stream,
                "request_id": run.request_id,
                "start_index": 1,
                "function_name": consumer.function,
                "queue_arn": arn(consumer.queue),
                "started_at": started,
                "ended_at": ended,
                "duration_ms": int(duration_s * 1000),
                "end_status": status,
                "has_start": True,
                "message_count": message_count,
                "evidence_ids": sorted([run.first_id, *run.end_ids]),
            }
        )
        return run

    def deliver(self, run: Run, message: Row, count: int, index: int | None = None, **more: Any) -> Row:
        """Keep one delivery; ``message`` holds what stays the same between deliveries."""
        consumer = run.consumer
        row = {
            "queue_arn": arn(consumer.queue),
            "queue": consumer.queue,
            "item_id": message["message_id"],
            "delivery_index": index or count,
            "receive_count": count,
            "is_seen": True,
            "consumer": run.invocation_id,
            "consumer_kind": "lambda" if consumer.function else "worker",
            "function_name": consumer.function,
            "request_id": run.request_id if consumer.function else None,
            "log_group": consumer.log_group,
            "log_stream": run.stream,
            "received_at": run.received_at,
            "received_basis": "first_receive",
            "visibility_timeout_s": consumer.visibility_s,
            "hidden_until_at": run.received_at + timedelta(seconds=consumer.visibility_s),
            "run_ended_at": run.ended_at,
            "run_status": run.status,
            "ended_by": "unknown",
            "effect": "unknown",
            "basis": "no_item_lines",
            "receipt_handle": handle_token(handle(message["message_id"], count)),
            "business_keys": [],
            "evidence_ids": sorted({run.first_id, *run.end_ids} - {""}),
            **message,
            **more,
        }
        self.findings.setdefault("deliveries", []).append(row)
        return row

    def mark(self, incident: str, delivery: Row, lane: int, kind: str, at: datetime, **more: Any) -> None:
        """Keep one mark or bar of an incident's timeline."""
        self.findings.setdefault("timeline", []).append(
            {
                "incident_id": incident,
                "item_id": delivery["item_id"],
                "delivery_index": 0 if kind == "sent" else delivery["delivery_index"],
                "message_id": delivery["message_id"],
                "receive_count": None if kind == "sent" else delivery["receive_count"],
                "lane": lane,
                "kind": kind,
                "at": at,
                "function_name": delivery["function_name"],
                "consumer": delivery["consumer"],
                "source": f"{delivery['log_stream']} {delivery['request_id'] or ''}".strip(),
                "label": kind,
                "evidence_ids": delivery["evidence_ids"],
                **more,
            }
        )

    # -- writing -------------------------------------------------------------------------------------------

    def save(self, root: Path, with_findings: bool = True) -> Path:
        """Write the lake: evidence first, then the findings of one generation."""
        lake = Lake(root)
        put_tables(lake, (BY_NAME[name] for name in self.evidence))
        for name, rows in self.evidence.items():
            lake.append(BY_NAME[name], rows, f"{name}|test")
        if with_findings:
            self.publish(lake)
        return root

    def publish(self, lake: Lake, **more: Any) -> None:
        """Write the findings told so far as a new generation of a lake."""
        text = repr(sorted((name, len(rows)) for name, rows in self.findings.items()))
        generation_id = hashlib.sha256(text.encode()).hexdigest()
        put_tables(lake, (*FINDINGS, GENERATIONS))
        for table in FINDINGS:
            folder = lake.staging_folder(table, generation_id[:16])
            folder.mkdir(parents=True)
            if rows := self.findings.get(table.name):
                pq.write_table(to_arrow(table, rows), folder / "part-0.parquet")
        lake.publish(
            generation_id[:16],
            {
                "generation_id": generation_id,
                "inputs": lake.versions(),
                "rules_version": "1",
                "data_until_at": self.data_until_at,
            }
            | more,
        )


Builder = Callable[[Story], None]
