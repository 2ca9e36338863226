"""Refused calls of listeners whose lines do not name the operation as the API spells it."""

import pytest

from forensics.parsers.handle_errors import HandleError, handle_error
from forensics.streams.model import Fact

REQUEST = "3f2504e0-4f89-41d3-9a0c-0305e82c3301"
TOKEN = "RH~AQEBxxxxxxxxxxxxxxxxxxxx~0af82b4d97d119ca6fbeea862c518395"
OF_OTHER_QUEUE = f'The receipt handle "{TOKEN}" is not valid for this queue.'

SAID = {
    "a Java listener's single delete, by its stack": (
        f"software.amazon.awssdk.services.sqs.model.SqsException: {OF_OTHER_QUEUE} (Service: Sqs, Status Code: 400, "
        f"Request ID: {REQUEST})\n\tat software.amazon.awssdk.services.sqs.DefaultSqsClient.deleteMessage(Default.java:1)",
        HandleError("DeleteMessage", None, "wrong_queue", TOKEN, REQUEST),
    ),
    "a Java listener's batch delete, by its stack": (
        "ReceiptHandleIsInvalidException: The receipt handle has expired\n\tat "
        "com.amazonaws.services.sqs.AmazonSQSClient.deleteMessageBatch(AmazonSQSClient.java:1)",
        HandleError("DeleteMessageBatch", "ReceiptHandleIsInvalid", "expired", None, None),
    ),
    "a Java listener's change of visibility, by its stack": (
        "ReceiptHandleIsInvalidException: The receipt handle has expired\n\tat "
        "com.amazonaws.services.sqs.AmazonSQSClient.changeMessageVisibility(AmazonSQSClient.java:1)",
        HandleError("ChangeMessageVisibility", "ReceiptHandleIsInvalid", "expired", None, None),
    ),
    "an entry of a batch delete, handle of another queue": (
        f"BatchResultErrorEntry(Id=0, SenderFault=true, Code=ReceiptHandleIsInvalid, Message={OF_OTHER_QUEUE})",
        HandleError("DeleteMessageBatch", "ReceiptHandleIsInvalid", "wrong_queue", TOKEN, None),
    ),
    "a method of another name": (
        "ReceiptHandleIsInvalidException: The receipt handle has expired\n\tat com.acme.Reader.deleteMessages(Reader.java:1)",
        HandleError(None, "ReceiptHandleIsInvalid", "expired", None, None),
    ),
}


@pytest.mark.parametrize(("line", "expected"), SAID.values(), ids=SAID)
def test_a_listener_says_which_call_was_refused_and_why(line, expected):
    assert handle_error(line) == expected


@pytest.mark.parametrize(("detail", "expected"), [("wrong_queue:DeleteMessage", True), ("wrong_queue:", False)])
def test_a_handle_of_another_queue_is_a_failed_delete_where_the_call_was_one(detail, expected):
    assert Fact("handle_error", 1, "e-1", "m-1", detail=detail).is_failed_delete is expected
