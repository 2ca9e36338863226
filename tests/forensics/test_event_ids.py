"""The event id inside the envelopes of SNS, EventBridge and S3: what names an event, and what names none."""

import json

import pytest

from forensics.event_ids import event_id_of, is_event_id, without_event
from forensics.origins import IdPair, origin_of
from forensics.parsers.sqs_records import Record
from forensics.settings import Queue
from forensics.streams.business_keys import BusinessKeys

SNS = {
    "Type": "Notification",
    "MessageId": "22b80b92-fdea-4c2c-8f9d-bdfb0c7bf324",
    "TopicArn": "arn:aws:sns:eu-west-1:123456789012:orders",
    "Message": '{"payment_id": "pay-1"}',
    "Timestamp": "2026-11-20T05:12:00.123Z",
    "SignatureVersion": "1",
}
EVENTBRIDGE = {
    "version": "0",
    "id": "17793124-05d4-b198-2fde-7ededc63b103",
    "detail-type": "Order placed",
    "source": "shop.orders",
    "account": "123456789012",
    "time": "2026-11-20T05:12:00Z",
    "region": "eu-west-1",
    "resources": [],
    "detail": {"payment_id": "pay-1"},
}
S3_RECORD = {
    "eventVersion": "2.1",
    "eventSource": "aws:s3",
    "awsRegion": "eu-west-1",
    "eventTime": "2026-11-20T05:12:00.000Z",
    "eventName": "ObjectCreated:Put",
    "s3": {
        "s3SchemaVersion": "1.0",
        "bucket": {"name": "scans", "arn": "arn:aws:s3:::scans"},
        "object": {"key": "in/a+b.pdf", "size": 1024, "eTag": "d41d8", "sequencer": "0A1B2C3D4E5F678901"},
    },
}
S3 = {"Records": [S3_RECORD]}


def s3_with(**changes):
    return {"Records": [S3_RECORD | changes]}


BODIES = {
    "SNS": (SNS, "sns:22b80b92-fdea-4c2c-8f9d-bdfb0c7bf324"),
    "EventBridge": (EVENTBRIDGE, "eventbridge:17793124-05d4-b198-2fde-7ededc63b103"),
    "S3": (S3, "s3:scans/in/a+b.pdf#0A1B2C3D4E5F678901:ObjectCreated:Put"),
    "S3 through SNS: the outermost": (SNS | {"Message": json.dumps(S3)}, f"sns:{SNS['MessageId']}"),
    "another write of the same object": (
        s3_with(s3=S3_RECORD["s3"] | {"object": S3_RECORD["s3"]["object"] | {"sequencer": "0A1B"}}),
        "s3:scans/in/a+b.pdf#0A1B:ObjectCreated:Put",
    ),
    "two S3 records in one body": ({"Records": [S3_RECORD, S3_RECORD]}, None),
    "an S3 record without a sequencer": (s3_with(s3=S3_RECORD["s3"] | {"object": {"key": "a"}}), None),
    "a record of another service": (s3_with(eventSource="aws:ses"), None),
    "S3's test event": ({"Service": "Amazon S3", "Event": "s3:TestEvent", "Note": "aws:s3"}, None),
    "an SNS subscription that waits": (SNS | {"Type": "SubscriptionConfirmation"}, None),
    "an SNS envelope without an id": (SNS | {"MessageId": None}, None),
    "an EventBridge id that is a number": (EVENTBRIDGE | {"id": 7}, None),
    "an event's detail alone": ({"id": "7", "detail-type": "x"}, None),
    "a body of our own with an id": ({"id": "7", "source": "shop"}, None),
    "a list": (["detail-type"], None),
}


@pytest.mark.parametrize(("body", "expected"), BODIES.values(), ids=BODIES)
def test_an_envelope_names_its_event(body, expected):
    assert event_id_of(json.dumps(body)) == expected


@pytest.mark.parametrize("body", [None, "", "TopicArn", '{"TopicArn"', "[" * 100_000 + "detail-type"], ids=repr)
def test_what_is_no_json_names_none(body):
    assert event_id_of(body) is None


def test_every_id_of_an_event_is_told_from_a_business_key():
    ids = [event_id_of(json.dumps(body)) for body in (SNS, EVENTBRIDGE, S3)]

    assert all(is_event_id(one) for one in ids)
    assert not is_event_id("pay-1")


def test_without_its_event_an_envelope_still_names_it():
    for body in (SNS, EVENTBRIDGE):
        kept = without_event(body | {"Subject": "canary", "resources": ["canary"]})

        assert event_id_of(json.dumps(kept)) == event_id_of(json.dumps(body))
        assert not {"canary", "pay-1", "Message"} & set(json.dumps(kept).replace('"', " ").split())


@pytest.mark.parametrize(
    "body", [S3, SNS | {"MessageId": None}, SNS | {"TopicArn": "t" * 300}, {"id": "7"}, ["detail-type"], None], ids=repr
)
def test_of_what_names_no_event_or_may_name_a_person_nothing_stays(body):
    assert without_event(body) is None


PATHS = {
    "one path": ("$.payment_id", {"payment_id": "pay-1"}, "pay-1"),
    "the second of two shapes": (("$.payment_id", "$.detail.payment_id"), EVENTBRIDGE, "pay-1"),
    "the first that is there": (("$.detail.payment_id", "$.id"), EVENTBRIDGE, "pay-1"),
    "an empty one is none": (("$.order", "$.id"), {"order": "", "id": 7}, "7"),
    "none of them, but an event": ("$.payment_id", SNS, f"sns:{SNS['MessageId']}"),
    "none named, and an event": (None, SNS, f"sns:{SNS['MessageId']}"),
    "none named, and no event": (None, {"payment_id": "pay-1"}, None),
}


@pytest.mark.parametrize(("paths", "body", "expected"), PATHS.values(), ids=PATHS)
def test_of_several_paths_the_first_that_a_body_holds_is_its_key_and_else_the_events_id(paths, body, expected):
    keys = BusinessKeys([Queue("orders", business_key=paths)])

    assert keys.key_of(Record(1, "m-1", body=json.dumps(body)), "orders") == expected


def test_the_same_event_sent_twice_is_told_as_such():
    found = origin_of(IdPair(has_same_business_key=True, has_same_event=True, sent_gap_s=2))

    assert found.code == "producer_retry"
    assert found.sentence == "the same event, by its publisher's id, was sent again 2 s later under another message id"
