"""Log events and settings as people have them in files: exports, deliveries, saved replies, worker logs."""

import csv
import gzip
import json
from collections import defaultdict
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from forensics.clock import EPOCH

Row = dict[str, Any]
TASK = "be4072a7-ff20-4e98-a61a-40d63d5a414f"


def ms(moment: datetime) -> int:
    return round((moment - EPOCH).total_seconds() * 1000)


def iso(moment: datetime) -> str:
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.") + f"{moment.microsecond // 1000:03d}Z"


def by_stream(rows: Iterable[Row]) -> dict[str, list[Row]]:
    found = defaultdict(list)
    for row in sorted(rows, key=lambda r: (r["logged_at"], r["order_in_ms"])):
        found[row["log_stream"]].append(row)
    return found


def export(rows: Iterable[Row], folder: Path) -> Path:
    """Write an export task's objects: a folder per stream, a time before each event, none before its further lines."""
    (folder / "aws-logs-write-test").parent.mkdir(parents=True, exist_ok=True)
    (folder / "aws-logs-write-test").write_text("Permission Check Successful")
    for stream, events in by_stream(rows).items():
        text = "".join(f"{iso(e['logged_at'])} {e['line']}\n" for e in events)
        target = folder / TASK / stream.replace("/", "-") / "000000.gz"
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(gzip.compress(text.encode()))
    return folder


def delivery(rows: Iterable[Row], target: Path, batch: int = 7) -> Path:
    """Write a Firehose object: gzip members one after another, each a batch of one stream, and a control message."""
    documents = [
        {
            "messageType": "CONTROL_MESSAGE",
            "owner": "CloudwatchLogs",
            "logGroup": "",
            "logStream": "",
            "subscriptionFilters": [],
            "logEvents": [{"id": "", "timestamp": 1, "message": "CWL CONTROL MESSAGE: Checking health of Firehose."}],
        }
    ]
    for stream, events in by_stream(rows).items():
        for first in range(0, len(events), batch):
            documents.append(
                {
                    "messageType": "DATA_MESSAGE",
                    "owner": events[0]["account_id"],
                    "logGroup": events[0]["log_group"],
                    "logStream": stream,
                    "subscriptionFilters": ["all"],
                    "logEvents": [
                        {"id": e["event_id"], "timestamp": ms(e["logged_at"]), "message": e["line"]}
                        for e in events[first : first + batch]
                    ],
                }
            )
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(b"".join(gzip.compress(json.dumps(d).encode(), 6) for d in documents))
    return target


def filtered(rows: Iterable[Row], target: Path) -> Path:
    """Save what ``aws logs filter-log-events`` prints."""
    events = [
        {
            "logStreamName": e["log_stream"],
            "timestamp": ms(e["logged_at"]),
            "message": e["line"],
            "ingestionTime": ms(e["ingested_at"]),
            "eventId": e["event_id"],
        }
        for e in sorted(rows, key=lambda r: (r["logged_at"], r["log_stream"], r["order_in_ms"]))
    ]
    target.write_text(json.dumps({"events": events, "searchedLogStreams": []}, indent=4))
    return target


def got(rows: Iterable[Row], folder: Path) -> Path:
    """Save what ``aws logs get-log-events`` prints, one file per stream; the stream is not named in it."""
    folder.mkdir(parents=True, exist_ok=True)
    for number, events in enumerate(by_stream(rows).values()):
        reply = {
            "events": [
                {"timestamp": ms(e["logged_at"]), "message": e["line"], "ingestionTime": ms(e["ingested_at"])}
                for e in events
            ],
            "nextForwardToken": "f/1",
            "nextBackwardToken": "b/1",
        }
        (folder / f"stream-{number}.json").write_text(json.dumps(reply))
    return folder


def _in_order(rows: Iterable[Row]) -> list[Row]:
    return sorted(rows, key=lambda r: (r["logged_at"], r["log_stream"], r["order_in_ms"]))


def queried(rows: Iterable[Row], target: Path) -> Path:
    """Download a table of query results from the console, the newest first."""
    with target.open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow(["@timestamp", "@message", "@logStream", "@log"])
        for e in reversed(_in_order(rows)):
            place = f"{e['account_id']}:{e['log_group']}"
            table.writerow([iso(e["logged_at"])[:-1].replace("T", " "), e["line"], e["log_stream"], place])
    return target


def query_reply(rows: Iterable[Row], target: Path) -> Path:
    """Save what ``aws logs get-query-results`` prints."""

    def fields(e: Row) -> list[dict[str, str]]:
        told = {
            "@timestamp": iso(e["logged_at"])[:-1].replace("T", " "),
            "@message": e["line"],
            "@logStream": e["log_stream"],
            "@log": f"{e['account_id']}:{e['log_group']}",
            "@ptr": "pointer",
        }
        return [{"field": name, "value": value} for name, value in told.items()]

    reply = {"queryLanguage": "CWLI", "results": [fields(e) for e in _in_order(rows)], "status": "Complete"}
    target.write_text(json.dumps(reply, indent=4))
    return target


def queried_as_json(rows: Iterable[Row], target: Path) -> Path:
    """Download a table of query results from the console as JSON, the newest first."""
    table = [
        {
            "@timestamp": iso(e["logged_at"])[:-1].replace("T", " "),
            "@message": e["line"],
            "@logStream": e["log_stream"],
            "@log": f"{e['account_id']}:{e['log_group']}",
        }
        for e in reversed(_in_order(rows))
    ]
    target.write_text(json.dumps(table))
    return target


def tailed(rows: Iterable[Row], target: Path) -> Path:
    """Save what ``aws logs tail`` prints."""
    lines = (
        f"{e['logged_at'].isoformat(timespec='microseconds')} {e['log_stream']} {e['line']}\n" for e in _in_order(rows)
    )
    target.write_text("".join(lines), encoding="utf-8")
    return target


def queue_attributes(row: Row, target: Path) -> Path:
    """Save what ``aws sqs get-queue-attributes --attribute-names All`` prints."""
    attributes = {
        "QueueArn": row["queue_arn"],
        "VisibilityTimeout": str(row["visibility_timeout_s"]),
        "MessageRetentionPeriod": str(row["message_retention_s"]),
        "DelaySeconds": str(row["delay_s"]),
        "ReceiveMessageWaitTimeSeconds": str(row["receive_wait_s"]),
        "CreatedTimestamp": str(ms(row["created_at"]) // 1000),
        "LastModifiedTimestamp": str(ms(row["last_modified_at"]) // 1000),
        "Policy": json.dumps({"Statement": ["canary-policy"]}),
    }
    if row["is_fifo"]:
        attributes |= {
            "FifoQueue": "true",
            "ContentBasedDeduplication": str(row["content_based_deduplication"]).lower(),
            "DeduplicationScope": row["deduplication_scope"],
            "FifoThroughputLimit": row["fifo_throughput_limit"],
        }
    if row["dead_letter_queue_arn"]:
        attributes["RedrivePolicy"] = json.dumps(
            {"deadLetterTargetArn": row["dead_letter_queue_arn"], "maxReceiveCount": row["max_receive_count"]}
        )
    target.write_text(json.dumps({"Attributes": attributes}))
    return target


def function_configuration(row: Row, target: Path) -> Path:
    """Save what ``aws lambda get-function-configuration`` prints, environment variables included."""
    logging = {"LogFormat": row["log_format"], "LogGroup": row["log_group"]}
    if row["system_log_level"]:
        logging |= {"ApplicationLogLevel": row["application_log_level"], "SystemLogLevel": row["system_log_level"]}
    configuration = {
        "FunctionName": row["function_name"],
        "FunctionArn": row["function_arn"],
        "Runtime": row["runtime"],
        "Timeout": row["timeout_s"],
        "MemorySize": row["memory_mb"],
        "LastModified": row["last_modified_at"].strftime("%Y-%m-%dT%H:%M:%S.000+0000"),
        "Environment": {"Variables": {"API_KEY": "canary-environment"}},
        "LoggingConfig": logging,
    }
    target.write_text(json.dumps(configuration))
    return target


def mappings(rows: Iterable[Row], target: Path) -> Path:
    """Save what ``aws lambda list-event-source-mappings`` prints."""
    found = [
        {
            "UUID": row["mapping_uuid"],
            "EventSourceArn": row["queue_arn"],
            "FunctionArn": row["function_arn"],
            "BatchSize": row["batch_size"],
            "MaximumBatchingWindowInSeconds": row["batching_window_s"],
            "FunctionResponseTypes": ["ReportBatchItemFailures"] if row["reports_batch_item_failures"] else [],
            "State": row["state"],
            "LastModified": ms(row["last_modified_at"]) / 1000,
        }
        for row in rows
    ]
    target.write_text(json.dumps({"EventSourceMappings": found}))
    return target
