"""A small account in an emulator: queues, functions, mappings, logs and metrics, made over HTTP like a user's own."""

import io
import json
import os
import socket
import subprocess
import sys
import time
import uuid
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any

import boto3

from tests.waiting import PATIENCE_S

REGION = "eu-west-1"
START = datetime.now(UTC).replace(minute=0, second=0, microsecond=0) - timedelta(hours=3)
"""A full hour in the recent past: moto takes no log events older than 14 days."""
HANDLE = "AQEBWH9ttaf5P9olvqrYyaNik4axKT43ASxVhN+Hty/wT21Ip4cZ2QbaCFy7cKwghHrqxTszz00vtOncnn6NQAYezPNqrFQvnByQB1QhT5MC"
CREDENTIALS = {"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test"}


def _wait_for_port(process: subprocess.Popen, name: str, port: int) -> None:
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        if process.poll() is not None:
            raise RuntimeError(f"{name} ended at once with {process.returncode}")
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise RuntimeError(f"{name} did not listen on port {port} within {PATIENCE_S} s")


@contextmanager
def server(command: list[str], environment: dict[str, str], port: int) -> Iterator[str]:
    """Run an emulator on a free loopback port until the block ends; yields its address."""
    process = subprocess.Popen(
        command, env=os.environ | environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        _wait_for_port(process, command[0], port)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(PATIENCE_S)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def moto() -> Any:
    port = free_port()
    return server([tool("moto_server"), "-H", "127.0.0.1", "-p", str(port)], CREDENTIALS, port)


def ministack() -> Any:
    port = free_port()
    quiet = {"BIND_HOST": "127.0.0.1", "GATEWAY_PORT": str(port), "LOG_LEVEL": "ERROR", "CLOUDTRAIL_RECORDING": "1"}
    return server([tool("ministack")], CREDENTIALS | quiet, port)


def tool(name: str) -> str:
    return str(Path(sys.executable).parent / name)


class World:
    """Makes things with names of its own, so that tests share an emulator without meeting."""

    def __init__(self, url: str, region: str = REGION) -> None:
        self.url, self.region = url, region
        self.suffix = uuid.uuid4().hex[:8]

    def client(self, service: str) -> Any:
        return client(self.url, service, self.region)

    def name(self, base: str) -> str:
        stem, dot, fifo = base.partition(".")
        return f"{stem}-{self.suffix}{dot}{fifo}"

    def queue(self, base: str, dead_letters: str | None = None, **attributes: str) -> str:
        """Make a queue and return its name; ``dead_letters`` is the name of its dead-letter queue."""
        sqs, name = self.client("sqs"), self.name(base)
        if name.endswith(".fifo"):
            attributes["FifoQueue"] = "true"
        if dead_letters:
            policy = {"deadLetterTargetArn": self.queue_arn(dead_letters), "maxReceiveCount": 3}
            attributes["RedrivePolicy"] = json.dumps(policy)
        sqs.create_queue(QueueName=name, Attributes=attributes)
        return name

    def queue_url(self, name: str) -> str:
        return self.client("sqs").get_queue_url(QueueName=name)["QueueUrl"]

    def queue_arn(self, name: str) -> str:
        attributes = self.client("sqs").get_queue_attributes(QueueUrl=self.queue_url(name), AttributeNames=["QueueArn"])
        return attributes["Attributes"]["QueueArn"]

    def function(self, base: str, queues: list[str], log_group: str | None = None, timeout_s: int = 30) -> str:
        """Make a function that the queues feed (mappings are off: nothing is polled) and return its name."""
        functions, name = self.client("lambda"), self.name(base)
        role = self.client("iam").create_role(RoleName=name, AssumeRolePolicyDocument="{}")["Role"]["Arn"]
        code = io.BytesIO()
        with zipfile.ZipFile(code, "w") as archive:
            archive.writestr("handler.py", "def handle(event, context): pass")
        logging = {"LoggingConfig": {"LogGroup": log_group, "LogFormat": "Text"}} if log_group else {}
        functions.create_function(
            FunctionName=name,
            Runtime="python3.11",
            Role=role,
            Handler="handler.handle",
            Code={"ZipFile": code.getvalue()},
            Timeout=timeout_s,
            Environment={"Variables": {"API_KEY": "canary-environment"}},
            **logging,
        )
        for queue in queues:
            functions.create_event_source_mapping(
                EventSourceArn=self.queue_arn(queue), FunctionName=name, BatchSize=10, Enabled=False
            )
        return name

    def log(self, group: str, lines: list[tuple[int, str]], stream: str = "stream-1") -> None:
        """Write lines, each at so many milliseconds after START."""
        logs = self.client("logs")
        for call, asked in ((logs.create_log_group, {}), (logs.create_log_stream, {"logStreamName": stream})):
            with suppress(logs.exceptions.ResourceAlreadyExistsException):
                call(logGroupName=group, **asked)
        events = [{"timestamp": ms(START) + at, "message": line} for at, line in lines]
        for first in range(0, len(events), 5_000):
            logs.put_log_events(logGroupName=group, logStreamName=stream, logEvents=events[first : first + 5_000])

    def metric(self, queue: str, name: str, values: list[float]) -> None:
        """Write one value of a queue's metric per minute from START."""
        self.client("cloudwatch").put_metric_data(
            Namespace="AWS/SQS",
            MetricData=[
                {
                    "MetricName": name,
                    "Dimensions": [{"Name": "QueueName", "Value": queue}],
                    "Timestamp": START + timedelta(minutes=minute),
                    "Value": value,
                }
                for minute, value in enumerate(values)
            ],
        )


@cache
def client(url: str, service: str, region: str = REGION) -> Any:
    return boto3.client(
        service, endpoint_url=url, region_name=region, aws_access_key_id="test", aws_secret_access_key="test"
    )


def ms(moment: datetime) -> int:
    return int(moment.timestamp() * 1000)
