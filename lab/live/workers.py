"""Worker threads that really receive: they take one message at a time until told to stop."""

import threading
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from botocore.exceptions import ClientError

from lab.live.world import LivePlayError, LiveWorld
from lab.simulation import Delivery, Message

Handle = Callable[[Any, str, Delivery], None]
"""Called with an SQS client, the queue's URL and the delivery."""


def delivery_of(received: dict[str, Any], visibility_timeout_s: int) -> Delivery:
    """Return a received message in the form that the lab's workers write about.

    A first receive has the time that SQS stamped on it; of a later one only the time it arrived here is known.
    """
    attributes = received["Attributes"]
    message = Message(
        received["MessageId"],
        received["Body"],
        _time(attributes["SentTimestamp"]),
        attributes["SenderId"],
        group=attributes.get("MessageGroupId"),
        deduplication_id=attributes.get("MessageDeduplicationId"),
        sequence_number=attributes.get("SequenceNumber"),
    )
    first = _time(attributes["ApproximateFirstReceiveTimestamp"])
    message.deliveries.append(Delivery(message, 1, first, first, ""))
    count = int(attributes["ApproximateReceiveCount"])
    received_at = first if count == 1 else datetime.now(UTC)
    return Delivery(message, count, received_at, received_at, received["ReceiptHandle"])


def run_workers(world: LiveWorld, queue_url: str, handles: list[Handle], until: Callable[[], None]) -> None:
    """Run one thread per handle until ``until`` returns; each finishes the message it has.

    Raises LivePlayError when AWS refused one of them something.
    """
    stopping = threading.Event()
    refused: list[ClientError] = []

    def work(handle: Handle) -> None:
        client = world.aws.client("sqs")
        while not stopping.is_set():
            found = client.receive_message(
                QueueUrl=queue_url, MaxNumberOfMessages=1, WaitTimeSeconds=1, AttributeNames=["All"]
            )
            for received in found.get("Messages", []):
                try:
                    handle(client, queue_url, delivery_of(received, 0))
                except ClientError as refusal:
                    refused.append(refusal)

    threads = [threading.Thread(target=work, args=(handle,), daemon=True) for handle in handles]
    for thread in threads:
        thread.start()
    try:
        until()
    finally:
        stopping.set()
        for thread in threads:
            thread.join()
    if refused:
        raise LivePlayError(f"a worker got {str(refused[0])!r}") from refused[0]


def _time(ms: str) -> datetime:
    return datetime.fromtimestamp(int(ms) / 1000, UTC)
