"""A lake written by hand: a few queues, their consumers' lines, and what was known of their settings."""

import json
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import NAMESPACE_URL, uuid5

from forensics.identity import evidence_id
from forensics.lake import Lake
from forensics.tables import BY_NAME
from lab.loglines import end_line, report_line, start_line

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)
PLACE = {"account_id": "123456789012", "region": "eu-west-1"}


def at(seconds: float) -> datetime:
    return NOON + timedelta(milliseconds=round(seconds * 1000))


def arn(queue: str) -> str:
    return f"arn:aws:sqs:eu-west-1:123456789012:{queue}"


def some_id(name: str) -> str:
    """Make a message id or request id out of a name."""
    return str(uuid5(NAMESPACE_URL, name))


class SmallLake:
    """Rows by table; ``write`` puts them into a lake."""

    def __init__(self) -> None:
        self.rows: dict[str, list[dict[str, Any]]] = {}
        self._order: Counter[tuple[str, datetime]] = Counter()

    def queue(self, name: str, visibility_s: int = 30, most: int | None = None, changed: float | None = -3600) -> None:
        """Add a queue's snapshot, taken an hour after noon; it last changed ``changed`` seconds from noon, None: nobody says."""
        self._add(
            "queue_settings",
            queue_arn=arn(name),
            queue_name=name,
            is_fifo=name.endswith(".fifo"),
            visibility_timeout_s=visibility_s,
            message_retention_s=345_600,
            max_receive_count=most,
            dead_letter_queue_arn=arn("dlq-" + name) if most else None,
            last_modified_at=None if changed is None else at(changed),
            observed_at=at(3600),
        )

    def worker(
        self,
        queue: str,
        *lines: tuple[float, str],
        stream: str = "app/1",
        kind: str | None = "worker",
        group: str | None = None,
    ) -> None:
        """Add a worker's log group for a queue, ``/ecs/<queue>`` unless given, with lines at seconds after noon; an import knows no ``kind``."""
        group = group or f"/ecs/{queue}"
        self._consumer(queue, group, kind, None)
        self._lines(group, stream, lines)

    def function(
        self,
        queue: str,
        name: str,
        *lines: tuple[float, str],
        timeout_s: int = 10,
        batch: int = 10,
        group: str | None = None,
        stream: str = "2026/11/20/[$LATEST]" + "a" * 32,
        is_durable: bool | None = False,
        qualifier: str | None = "",
    ) -> None:
        """Add a function with its mapping and its lines; its log group is the one that Lambda names, unless one is chosen."""
        group = group or f"/aws/lambda/{name}"
        self._consumer(queue, group, "lambda", name)
        self._add(
            "function_settings",
            function_arn=f"arn:aws:lambda:eu-west-1:123456789012:function:{name}",
            function_name=name,
            timeout_s=timeout_s,
            is_durable=is_durable,
            log_group=group,
            log_format="Text",
            last_modified_at=at(-3600),
            observed_at=at(3600),
        )
        self._add(
            "event_source_mappings",
            mapping_uuid=some_id(name),
            queue_arn=arn(queue),
            function_arn=f"arn:aws:lambda:eu-west-1:123456789012:function:{name}",
            function_name=name,
            qualifier=qualifier,
            batch_size=batch,
            reports_batch_item_failures=False,
            state="Enabled",
            last_modified_at=at(-3600),
            observed_at=at(3600),
        )
        self._lines(group, stream, lines)

    def redrive(self, queue: str, began_s: float, over_s: float) -> None:
        """Add a move task out of a queue's dead-letter queue, between two moments in seconds after noon, seen when it was over."""
        dead_letters = arn("dlq-" + queue)
        self._add(
            "move_tasks",
            task=f"{dead_letters} {began_s}",
            source_arn=dead_letters,
            started_at=at(began_s),
            status="COMPLETED",
            observed_at=at(over_s),
        )
        self._add(
            "coverage",
            source="move_tasks",
            resource=dead_letters,
            window_start_at=at(-3600),
            window_end_at=at(7200),
            status="ok",
            collected_at=at(7200),
        )

    def _consumer(self, queue: str, group: str, kind: str | None, function: str | None) -> None:
        self._add(
            "consumers",
            queue_arn=arn(queue),
            queue_name=queue,
            log_group=group,
            kind=kind,
            function_name=function,
            found_by="option",
        )
        self._add(
            "coverage",
            source="log_events",
            resource=group,
            queue_arn=arn(queue),
            window_start_at=at(-3600),
            window_end_at=at(7200),
            status="ok",
            seen_count=1,
            stored_count=1,
            already_count=0,
            quarantined_count=0,
            is_provisional=False,
            collected_at=at(7200),
        )

    def _lines(self, group: str, stream: str, lines: tuple[tuple[float, str], ...]) -> None:
        for seconds, line in lines:
            moment = at(seconds)
            self._order[stream, moment] += 1
            self._add(
                "log_events",
                log_group=group,
                log_stream=stream,
                event_id=None,
                logged_at=moment,
                ingested_at=moment,
                order_in_ms=self._order[stream, moment] - 1,
                line=line,
                collected_at=at(7200),
            )

    def _add(self, table: str, **values: Any) -> None:
        names = BY_NAME[table].column_names
        row = dict.fromkeys(names) | {k: v for k, v in (PLACE | values).items() if k in names}
        count = len(self.rows.setdefault(table, []))
        kind = {"log_events": "log"}.get(table, table.rstrip("s"))
        self.rows[table].append(row | {"evidence_id": evidence_id(kind, table, count)})

    def write(self, root: Path) -> Lake:
        lake = Lake(root)
        for table, rows in self.rows.items():
            lake.append(BY_NAME[table], rows, f"{table}|small")
        return lake


def record(message_id: str, count: int, queue: str, body: str, sent_s: float, **attributes: str) -> dict[str, Any]:
    """Build one record of a printed batch; the body's MD5 is a name for the body."""
    return {
        "messageId": message_id,
        "body": body,
        "md5OfBody": some_id(body).replace("-", ""),
        "attributes": {
            "ApproximateReceiveCount": str(count),
            "SentTimestamp": str(int(at(sent_s).timestamp() * 1000)),
            **attributes,
        },
        "eventSourceARN": arn(queue),
    }


def run(
    name: str, start_s: float, took_s: float, *records: dict[str, Any], says: tuple[str, ...] = (), **end: str
) -> list:
    """Return the lines of one run: START, the printed batch, what it says at its middle, REPORT."""
    request = some_id(name)
    status = f"Status: {end['status']}" if "status" in end else ""
    batch = [(start_s, json.dumps({"Records": records}))] if records else []
    middle = [(start_s + took_s / 2, text) for text in says]
    return [
        (start_s, start_line(request)),
        *batch,
        *middle,
        (start_s + took_s, end_line(request)),
        (start_s + took_s, report_line(request, took_s * 1000, status=status)),
    ]
