"""Receipt handles over HTTP, as AWS answers: recorded replies are in tests/data/lab/recorded_handle_errors.json."""

import json
import time
from pathlib import Path

import pytest
from botocore.exceptions import ClientError

pytestmark = pytest.mark.emulator

RECORDED = json.loads((Path(__file__).parent.parent / "data" / "lab" / "recorded_handle_errors.json").read_text())
VISIBILITY_S = 1
LONG_S = 600
"""For what must still be visible to one consumer alone when a busy machine gets to the next line."""


@pytest.fixture
def sqs(aws):
    return aws.client("sqs")


def received(sqs, name: str, visibility_s: int = VISIBILITY_S) -> tuple[str, str]:
    """Send one message to a new queue and receive it; return the queue's URL and the receipt handle."""
    attributes = {"VisibilityTimeout": str(visibility_s)}
    options = {}
    if name.endswith(".fifo"):
        attributes["FifoQueue"] = "true"
        options = {"MessageGroupId": "g", "MessageDeduplicationId": "1"}
    url = sqs.create_queue(QueueName=name, Attributes=attributes)["QueueUrl"]
    sqs.send_message(QueueUrl=url, MessageBody="work", **options)
    return url, sqs.receive_message(QueueUrl=url)["Messages"][0]["ReceiptHandle"]


def messages_left(sqs, url: str) -> int:
    names = ["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"]
    attributes = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=names)["Attributes"]
    return sum(int(value) for value in attributes.values())


def test_fifo_refuses_a_delete_after_the_visibility_timeout_in_aws_own_words(sqs):
    url, handle = received(sqs, "late-delete.fifo")
    time.sleep(VISIBILITY_S + 0.1)

    with pytest.raises(ClientError) as refused:
        sqs.delete_message(QueueUrl=url, ReceiptHandle=handle)

    expected = RECORDED["fifo_delete_after_visibility_timeout"]
    expected["Error"]["Message"] = expected["Error"]["Message"].replace("<receipt-handle:1>", handle)
    response = refused.value.response
    assert response["Error"] == expected["Error"]
    assert response["ResponseMetadata"]["HTTPStatusCode"] == 400
    assert messages_left(sqs, url) == 1


def test_fifo_refuses_the_old_handle_of_a_message_someone_else_holds(sqs):
    url, old_handle = received(sqs, "second-consumer.fifo")
    time.sleep(VISIBILITY_S + 0.1)
    new_handle = sqs.receive_message(QueueUrl=url, VisibilityTimeout=LONG_S)["Messages"][0]["ReceiptHandle"]

    with pytest.raises(ClientError, match="The receipt handle has expired"):
        sqs.delete_message(QueueUrl=url, ReceiptHandle=old_handle)
    sqs.delete_message(QueueUrl=url, ReceiptHandle=new_handle)

    assert messages_left(sqs, url) == 0


def test_a_standard_queue_does_not_refuse_a_late_delete(sqs):
    url, handle = received(sqs, "late-delete")
    time.sleep(VISIBILITY_S + 0.1)

    sqs.delete_message(QueueUrl=url, ReceiptHandle=handle)

    assert messages_left(sqs, url) == 0


def test_a_standard_queue_agrees_to_delete_with_an_old_handle_and_keeps_the_message(sqs):
    url, old_handle = received(sqs, "second-consumer")
    time.sleep(VISIBILITY_S + 0.1)
    sqs.receive_message(QueueUrl=url, VisibilityTimeout=LONG_S)

    sqs.delete_message(QueueUrl=url, ReceiptHandle=old_handle)

    assert messages_left(sqs, url) == 1


def test_deleting_twice_succeeds_twice(sqs):
    url, handle = received(sqs, "twice")

    sqs.delete_message(QueueUrl=url, ReceiptHandle=handle)
    sqs.delete_message(QueueUrl=url, ReceiptHandle=handle)


def test_a_longer_visibility_timeout_keeps_the_handle_good(sqs):
    at_first_s = 4  # on a busy machine the extension took more than one
    url, handle = received(sqs, "extended.fifo", at_first_s)
    sqs.change_message_visibility(QueueUrl=url, ReceiptHandle=handle, VisibilityTimeout=LONG_S)
    time.sleep(at_first_s + 0.1)

    sqs.delete_message(QueueUrl=url, ReceiptHandle=handle)

    assert messages_left(sqs, url) == 0


def test_in_a_batch_the_late_entry_fails_with_a_code_of_its_own(sqs):
    url, late = received(sqs, "batch.fifo")
    time.sleep(VISIBILITY_S + 0.1)
    sqs.send_message(QueueUrl=url, MessageBody="other", MessageGroupId="h", MessageDeduplicationId="2")
    # The first message again: its old handle is late for good.
    sqs.receive_message(QueueUrl=url, VisibilityTimeout=LONG_S)
    good = sqs.receive_message(QueueUrl=url, VisibilityTimeout=LONG_S)["Messages"][0]["ReceiptHandle"]

    entries = [{"Id": "late", "ReceiptHandle": late}, {"Id": "good", "ReceiptHandle": good}]
    reply = sqs.delete_message_batch(QueueUrl=url, Entries=entries)

    assert [entry["Id"] for entry in reply["Successful"]] == ["good"]
    assert reply["Failed"] == [{"Id": "late", **RECORDED["fifo_batch_entry_expired"]}]
