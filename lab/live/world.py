"""A live play: real time, a real queue, and what its metrics and its work really were."""

import io
import json
import threading
import time
import uuid
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from forensics.errors import ForensicsError
from lab.aws import EmbeddedAws
from lab.function_logs import RUNTIME_LOG
from lab.functions import LogLine
from lab.played import DeliveryTruth, MessageTruth, Played
from lab.simulation import QueueSpec
from lab.world import World

SAMPLE_S = 0.5
MINUTE = timedelta(minutes=1)
_DEPTHS = ("ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible")
_AS_METRIC = ("ApproximateNumberOfMessagesVisible", "ApproximateNumberOfMessagesNotVisible")

LEDGER = '''\
"""Keeps what a run really did, where no log can lie about it."""

import json
import os
import time


def note(record, done):
    """Write down that a message was handled, and whether its work was done."""
    attributes = record["attributes"]
    entry = [record["messageId"], int(attributes["ApproximateReceiveCount"]), time.time(), done]
    with open(os.environ["TRUTH_FILE"], "a") as file:
        file.write(json.dumps(entry) + "\\n")
'''
"""A module that goes with a live function's code. It writes to TRUTH_FILE."""


class LivePlayError(ForensicsError):
    """The play went otherwise than its story: the machine stood still for longer than a timeout of it."""

    def __init__(self, how: str) -> None:
        super().__init__(
            f"the play in real time went otherwise than its story: {how}",
            "This machine was too busy for it. Play it again, or without --live.",
        )


@dataclass
class LiveWorld:
    """One embedded AWS in which something really runs. ``started_at`` is aware UTC."""

    aws: EmbeddedAws
    started_at: datetime = field(default_factory=lambda: datetime.now(UTC))
    sent: list[tuple[str, str, str | None]] = field(default_factory=list)
    """Queue, message id and business key of every message."""
    entries: list[tuple[str, int, float, bool]] = field(default_factory=list)
    """Message id, receive count, time, and whether the work was done."""
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def truth_file(self) -> Path:
        """Where functions write what they did."""
        return Path(self.aws.home) / "truth.jsonl"

    def create_queue(self, spec: QueueSpec) -> str:
        """Create a queue and its dead-letter queue; return its URL."""
        World(self.aws, self.started_at - timedelta(days=30)).create_queue(spec)
        return str(self.aws.client("sqs").get_queue_url(QueueName=spec.name)["QueueUrl"])

    def create_function(
        self, name: str, code: str, queue: str, *, timeout_s: int, batch_size: int, **variables: str
    ) -> str:
        """Create a function, its log group and a mapping that is not enabled yet; return the mapping's UUID."""
        client = self.aws.client("lambda")
        with self.aws.clock_at(self.started_at - timedelta(days=30)):
            self.aws.client("logs").create_log_group(logGroupName=f"/aws/lambda/{name}")
            client.create_function(
                FunctionName=name,
                Runtime="python3.12",
                Handler="index.handler",
                Role=f"arn:aws:iam::{self.aws.account_id}:role/{name}",
                Code={"ZipFile": _zipped({"index.py": code, "runtime_log.py": RUNTIME_LOG, "ledger.py": LEDGER})},
                Timeout=timeout_s,
                MemorySize=256,
                Environment={"Variables": {"TRUTH_FILE": str(self.truth_file), **variables}},
            )
            mapping = client.create_event_source_mapping(
                EventSourceArn=f"arn:aws:sqs:{self.aws.region}:{self.aws.account_id}:{queue}",
                FunctionName=name,
                BatchSize=batch_size,
                Enabled=False,
            )
        return str(mapping["UUID"])

    def enable(self, mapping: str, enabled: bool = True) -> None:
        """Let the emulator's poller feed the function, or stop it."""
        self.aws.client("lambda").update_event_source_mapping(UUID=mapping, Enabled=enabled)

    def send(self, queue: str, bodies: Sequence[tuple[str, str | None]], group: str | None = None) -> None:
        """Send up to ten messages, body and business key each, in one call."""
        client = self.aws.client("sqs")
        entries: list[dict[str, str]] = []
        for number, (body, _) in enumerate(bodies):
            fifo = {"MessageGroupId": group, "MessageDeduplicationId": uuid.uuid4().hex} if group else {}
            entries.append({"Id": str(number), "MessageBody": body, **fifo})
        url = client.get_queue_url(QueueName=queue)["QueueUrl"]
        for sent in client.send_message_batch(QueueUrl=url, Entries=entries)["Successful"]:
            self.sent.append((queue, sent["MessageId"], bodies[int(sent["Id"])][1]))

    def note(self, message_id: str, receive_count: int, done: bool, at: datetime | None = None) -> None:
        """Write down that a worker handled a message, now if not told when, and whether its work was done."""
        with self._lock:
            self.entries.append((message_id, receive_count, at.timestamp() if at else time.time(), done))

    def put_log_lines(self, log_group: str, lines: Iterable[LogLine]) -> None:
        """Put a worker's lines as its log driver does."""
        World(self.aws, self.started_at).put_log_lines(log_group, lines)

    @contextmanager
    def measured(self, *queues: str) -> Iterator[None]:
        """Sample the queues' depths while the block runs, and put them as CloudWatch's metrics by the minute."""
        ended = threading.Event()
        most: dict[tuple[str, str, datetime], float] = {}

        def sample() -> None:
            client = self.aws.client("sqs")
            urls = {queue: client.get_queue_url(QueueName=queue)["QueueUrl"] for queue in queues}
            while not ended.wait(SAMPLE_S):
                for queue, url in urls.items():
                    found = client.get_queue_attributes(QueueUrl=url, AttributeNames=list(_DEPTHS))["Attributes"]
                    minute = datetime.now(UTC).replace(second=0, microsecond=0)
                    for attribute, metric in zip(_DEPTHS, _AS_METRIC, strict=True):
                        key = (queue, metric, minute)
                        most[key] = max(most.get(key, 0.0), float(found[attribute]))

        sampler = threading.Thread(target=sample, daemon=True)
        sampler.start()
        try:
            yield
        finally:
            ended.set()
            sampler.join()
        data = [
            {
                "MetricName": metric,
                "Dimensions": [{"Name": "QueueName", "Value": queue}],
                "Timestamp": minute,
                "Value": value,
                "Unit": "Count",
            }
            for (queue, metric, minute), value in sorted(most.items())
        ]
        World(self.aws, self.started_at).put_metrics("AWS/SQS", data)

    def wait_until_empty(self, queue: str, limit_s: float) -> None:
        """Return when the queue holds nothing any more, in flight included; raises LivePlayError after ``limit_s``."""
        deadline = time.monotonic() + limit_s
        while self._depth(queue):
            if time.monotonic() > deadline:
                raise LivePlayError(f"{queue} was not empty after {limit_s:g} s")
            time.sleep(0.2)  # SQS does not tell when a queue is empty; limit_s bounds it

    def dead_lettered(self, spec: QueueSpec, count: int) -> None:
        """See that so many messages were moved; raises LivePlayError. A run killed at its first line notes nothing."""
        if (found := self._depth(str(spec.dead_letter_queue))) != count:
            raise LivePlayError(f"{found} messages were moved to {spec.dead_letter_queue} instead of {count}")

    def _depth(self, queue: str) -> int:
        client = self.aws.client("sqs")
        url = client.get_queue_url(QueueName=queue)["QueueUrl"]
        found = client.get_queue_attributes(QueueUrl=url, AttributeNames=list(_DEPTHS))["Attributes"]
        return sum(int(found[name]) for name in _DEPTHS)

    def played(self, scenario: str, story: str, queues: Sequence[str], settings: str, *groups: str) -> Played:
        """Take down what was played; the window ends now."""
        if self.truth_file.exists():
            self.entries += [tuple(json.loads(line)) for line in self.truth_file.read_text().splitlines()]
        return Played(
            scenario=scenario,
            story=story,
            queues=tuple(queues),
            log_groups=groups,
            settings_text=settings,
            window_start=self.started_at.replace(second=0, microsecond=0) - MINUTE,
            window_end=datetime.now(UTC) + timedelta(seconds=1),
            truths=tuple(self._truth(*message) for message in self.sent),
        )

    def _truth(self, queue: str, message_id: str, business_key: str | None) -> MessageTruth:
        mine: dict[int, datetime | None] = {}
        first: dict[int, datetime] = {}
        for entry_id, count, at_s, done in self.entries:
            if entry_id == message_id:
                at = datetime.fromtimestamp(at_s, UTC)
                first.setdefault(count, at)
                mine[count] = at if done else mine.get(count)
        deliveries = tuple(DeliveryTruth(count, first[count], mine[count]) for count in sorted(mine))
        return MessageTruth(queue, message_id, business_key, deliveries, None)


def as_told(played: Played, again: Mapping[int, int]) -> Played:
    """Return the play if its messages came as often as its story says; raises LivePlayError.

    ``again`` names, by their place in the order of sending, the messages that come more than once, and how often.
    """
    for place, truth in enumerate(played.truths):
        came = [delivery.receive_count for delivery in truth.deliveries]
        if came != list(range(1, again.get(place, 1) + 1)):
            raise LivePlayError(f"message {place} of {truth.queue} was seen at its receives {came}")
    return played


def body_of(**fields: Any) -> str:
    """Return a message body."""
    return json.dumps(fields)


def _zipped(files: dict[str, str]) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return packed.getvalue()
