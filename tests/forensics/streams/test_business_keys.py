"""Which queue's path a printed message is read by."""

import pytest

from forensics.parsers.sqs_records import Record
from forensics.settings import Queue
from forensics.streams.business_keys import BusinessKeys

KEYS = BusinessKeys([Queue("orders", business_key="$.order_id"), Queue("raw", business_key="$"), Queue("plain")])
BODY = '{"order_id": 7}'
ARN = "arn:aws:sqs:eu-west-1:123456789012:"

CASES = {
    "its own queue": (ARN + "orders", BODY, None, "7"),
    "its own queue, not its log group's": (ARN + "raw", BODY, "orders", BODY),
    "its own queue, though that has no key": (ARN + "plain", BODY, "orders", None),
    "its own queue, though nobody knows it": (ARN + "unheard-of", BODY, "orders", None),
    "its log group's queue, where it names none": (None, BODY, "orders", "7"),
    "none, where its log group's is not known either": (None, BODY, None, None),
    "a body without the key": (None, '{"id": 7}', "orders", None),
    "a body with an empty key": (None, '{"order_id": ""}', "orders", None),
    "an empty body": (None, "", "raw", None),
    "a body that was not printed": (None, None, "orders", None),
}


@pytest.mark.parametrize(("arn", "body", "of_group", "key"), CASES.values(), ids=CASES)
def test_a_printed_message_is_read_by_the_path_of(arn, body, of_group, key):
    record = Record(1, "m-1", queue_arn=arn, body=body)

    assert KEYS.key_of(record, of_group) == key
    assert KEYS.in_group(of_group)(record) == key
