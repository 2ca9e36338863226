"""Puts a simulated world into the embedded AWS: queues, functions, mappings, log events and metrics, as a customer has them."""

import io
import json
import zipfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import groupby
from typing import Any

from lab.aws import EmbeddedAws
from lab.functions import LogLine, SimulatedFunction
from lab.loglines import epoch_ms
from lab.simulation import QueueSpec

PUT_SPAN = timedelta(minutes=10)
"""Log events put together; all of them get one ingestion time."""
INGESTION_DELAY = timedelta(seconds=2)
EVENTS_PER_PUT = 5_000
METRICS_PER_PUT = 500


@dataclass(frozen=True)
class World:
    """The customer's side of an embedded AWS."""

    aws: EmbeddedAws
    created_at: datetime
    """When queues and functions came to be; long before any incident."""

    def create_queue(self, spec: QueueSpec) -> str:
        """Create a queue and its dead-letter queue; return its ARN."""
        attributes: dict[str, str] = {
            "VisibilityTimeout": str(spec.visibility_timeout_s),
            "MessageRetentionPeriod": str(spec.message_retention_s),
            "ReceiveMessageWaitTimeSeconds": str(spec.receive_wait_s),
        }
        if spec.is_fifo:
            attributes["FifoQueue"] = "true"
        if spec.dead_letter_queue:
            target = self.create_queue(QueueSpec(spec.dead_letter_queue, message_retention_s=1_209_600))
            policy = {"deadLetterTargetArn": target, "maxReceiveCount": spec.max_receive_count}
            attributes["RedrivePolicy"] = json.dumps(policy)
        with self.aws.clock_at(self.created_at):
            self.aws.client("sqs").create_queue(QueueName=spec.name, Attributes=attributes)
        return f"arn:aws:sqs:{self.aws.region}:{self.aws.account_id}:{spec.name}"

    def create_function(self, function: SimulatedFunction, queue_arn: str, code: str, **mapping: Any) -> None:
        """Create a function, its log group and the mapping that feeds it; the emulator's own poller stays out."""
        client = self.aws.client("lambda")
        with self.aws.clock_at(self.created_at):
            client.create_function(
                FunctionName=function.name,
                Runtime="python3.12",
                Handler="index.handler",
                Role=f"arn:aws:iam::{self.aws.account_id}:role/{function.name}",
                Code={"ZipFile": _zipped({"index.py": code})},
                Timeout=function.timeout_s,
                MemorySize=function.memory_mb,
                LoggingConfig={"LogFormat": function.format.name, "LogGroup": function.log_group},
            )
            client.create_event_source_mapping(
                EventSourceArn=queue_arn,
                FunctionName=function.name,
                BatchSize=function.batch_size,
                Enabled=False,
                **mapping,
            )
        self.create_log_group(function.log_group)

    def create_log_group(self, log_group: str) -> None:
        """Create a log group."""
        with self.aws.clock_at(self.created_at):
            self.aws.client("logs").create_log_group(logGroupName=log_group)

    def put_log_lines(self, log_group: str, lines: Iterable[LogLine]) -> int:
        """Put log events as the agents of their time did; return how many."""
        client = self.aws.client("logs")
        count = 0
        for stream, in_stream in groupby(sorted(lines, key=lambda line: line.stream), lambda line: line.stream):
            in_order = sorted(in_stream, key=lambda line: line.at)
            client.create_log_stream(logGroupName=log_group, logStreamName=stream)
            for together in _puts(in_order):
                events = [{"timestamp": epoch_ms(line.at), "message": line.text} for line in together]
                with self.aws.clock_at(together[-1].at + INGESTION_DELAY):
                    client.put_log_events(logGroupName=log_group, logStreamName=stream, logEvents=events)
                count += len(events)
        return count

    def put_metrics(self, namespace: str, data: Iterable[dict[str, Any]]) -> None:
        """Put metric values under AWS's own namespaces, which the real service would refuse."""
        client = self.aws.client("cloudwatch")
        waiting = list(data)
        for first in range(0, len(waiting), METRICS_PER_PUT):
            client.put_metric_data(Namespace=namespace, MetricData=waiting[first : first + METRICS_PER_PUT])


def _puts(lines: list[LogLine]) -> Iterator[list[LogLine]]:
    together: list[LogLine] = []
    for line in lines:
        if together and (line.at - together[0].at > PUT_SPAN or len(together) == EVENTS_PER_PUT):
            yield together
            together = []
        together.append(line)
    if together:
        yield together


def _zipped(files: dict[str, str]) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return packed.getvalue()
