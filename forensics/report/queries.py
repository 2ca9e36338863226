"""How anybody with access fetches each cited row from AWS by himself: commands of the AWS CLI, and one Logs Insights query."""

import shlex
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from forensics.clock import micros
from forensics.report.evidence_lines import EvidenceLine
from forensics.words import clock_text, time_text

Row = Mapping[str, Any]
_AROUND = timedelta(minutes=1)


def queries(evidence: Sequence[EvidenceLine], rows: Mapping[str, Sequence[Row]], title: str) -> str:
    """Write the page of queries; ``rows`` holds the cited rows per table."""
    by_id = {row["evidence_id"]: row for found in rows.values() for row in found}
    parts = [
        f"# The evidence of {title}, from AWS itself\n",
        "Each command only reads. Settings and metrics may have changed or gone since; CloudTrail keeps 90 days, a log group what its "
        "retention says.\n",
        *_insights(rows.get("log_events", ())),
    ]
    for line in evidence:
        row = by_id[line.evidence_id]
        if (command := _command(line.table, row)) is not None:
            at = f" {clock_text(line.at)} UTC" if line.at else ""
            parts.append(f"## {line.label}{at} {line.table}\n\n```sh\n{command}\n```\n")
    return "\n".join(parts)


def _insights(lines: Sequence[Row]) -> Iterator[str]:
    groups: dict[tuple[str, str], list[Row]] = {}
    for row in lines:
        groups.setdefault((row["region"], row["log_group"]), []).append(row)
    for (region, group), mine in sorted(groups.items()):
        first, last = min(r["logged_at"] for r in mine) - _AROUND, max(r["logged_at"] for r in mine) + _AROUND
        streams = sorted({r["log_stream"] for r in mine})
        wanted = ", ".join('"' + s.replace("\\", "\\\\").replace('"', '\\"') + '"' for s in streams)
        yield (
            f"## All cited lines of {group}\n\nLogs Insights, {time_text(first)} to {time_text(last)}, {region}:\n\n```\n"
            f"fields @timestamp, @logStream, @message\n| filter @logStream in [{wanted}]\n| sort @timestamp asc\n| limit 10000\n```\n"
        )


def _command(table: str, row: Row) -> str | None:
    make = _COMMANDS.get(table)
    words = make(row) if make else None
    return None if words is None else shlex.join(["aws", *words, "--region", row["region"] or "REGION"])


def _ms(at: datetime) -> int:
    return micros(at) // 1000


def _log_event(row: Row) -> list[str]:
    at = _ms(row["logged_at"])
    place = ["--log-group-name", row["log_group"], "--log-stream-name", row["log_stream"]]
    return ["logs", "get-log-events", *place, "--start-time", str(at), "--end-time", str(at + 1), "--start-from-head"]


def _metric(row: Row) -> list[str] | None:
    dimension = {"AWS/SQS": "QueueName", "AWS/Lambda": "FunctionName"}.get(row["namespace"])
    if dimension is None:
        return None
    end = row["point_at"] + timedelta(seconds=row["period_s"])
    kind = "--extended-statistics" if row["statistic"].startswith("p") else "--statistics"
    return [
        *("cloudwatch", "get-metric-statistics", "--namespace", row["namespace"], "--metric-name", row["metric"]),
        *("--dimensions", f"Name={dimension},Value={row['resource']}", kind, row["statistic"]),
        *(
            "--period",
            str(row["period_s"]),
            "--start-time",
            str(time_text(row["point_at"])),
            "--end-time",
            str(time_text(end)),
        ),
    ]


def _queue(row: Row) -> list[str]:
    _, _, _, region, account, name = row["queue_arn"].split(":", 5)
    domain = "amazonaws.com.cn" if region.startswith("cn-") else "amazonaws.com"
    url = f"https://sqs.{region}.{domain}/{account}/{name}"
    return ["sqs", "get-queue-attributes", "--queue-url", url, "--attribute-names", "All"]


_COMMANDS = {
    "log_events": _log_event,
    "metric_points": _metric,
    "queue_settings": lambda row: _queue(row) if row["queue_arn"].count(":") == 5 else None,
    "function_settings": lambda row: [
        "lambda",
        "get-function-configuration",
        "--function-name",
        row["function_arn"] or row["function_name"],
    ],
    "event_source_mappings": lambda row: [
        "lambda",
        "get-event-source-mapping",
        "--uuid",
        row["mapping_uuid"] or "UUID",
    ],
    "setting_changes": lambda row: [
        "cloudtrail",
        "lookup-events",
        "--lookup-attributes",
        f"AttributeKey=EventId,AttributeValue={row['event_id']}",
    ],
    "move_tasks": lambda row: [
        "sqs",
        "list-message-move-tasks",
        "--source-arn",
        row["source_arn"],
        "--max-results",
        "10",
    ],
}
