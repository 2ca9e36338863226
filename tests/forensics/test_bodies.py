"""keep_bodies = false: bodies go whatever form they are printed in, the business key stays, the rest of a line stays."""

import html
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forensics.bodies import MOST_KEY_CHARS, REMOVED, without_bodies
from tests.waiting import grows_with_its_input

SECRET = "4111-canary"
BODY = json.dumps({"payment_id": "p-17", "card": SECRET, "note": 'a "quoted" \\ word, o\'clock'})
RECORD = {
    "messageId": "m-1",
    "receiptHandle": "RH~x",
    "body": BODY,
    "attributes": {"ApproximateReceiveCount": "2"},
    "messageAttributes": {"tenant": {"stringValue": SECRET, "dataType": "String"}},
    "md5OfBody": "0123",
    "eventSourceARN": "arn:aws:sqs:eu-west-1:123456789012:payments.fifo",
}
EVENT = {"Records": [RECORD]}
AS_JSON = json.dumps(EVENT)


def system_text_json(text: str) -> str:
    return json.dumps(text)[1:-1].replace('\\"', "\\u0022").replace("'", "\\u0027")


FORMS = {
    "JSON": AS_JSON,
    "JSON without blanks": json.dumps(EVENT, separators=(",", ":")),
    "indented JSON": json.dumps(EVENT, indent=2),
    "JSON in JSON": json.dumps({"level": "INFO", "message": AS_JSON}),
    "JSON in JSON in JSON": json.dumps({"message": json.dumps({"event": AS_JSON})}),
    "Python repr": repr(EVENT),
    "Python repr in JSON": json.dumps({"message": repr(EVENT)}),
    "HTML": html.escape(AS_JSON),
    "System.Text.Json": f'{{"message": "{system_text_json(AS_JSON)}"}}',
    "Node inspect": f"{{ messageId: 'm-1',\n  body: '{BODY.replace(chr(92), chr(92) * 2).replace(chr(39), chr(92) + chr(39))}',\n  md5OfBody: '0123' }}",
    "Node inspect of a long text": f"{{ messageId: 'm-1', body:\n   '{{\"card\": \"' +\n   '{SECRET}\"}}', md5OfBody: '0123' }}",
    "an object": json.dumps({"messageId": "m-1", "body": json.loads(BODY), "md5OfBody": "0123"}),
    "PHP": f"'messageId' => 'm-1', 'Body' => '{json.dumps({'card': SECRET})}', 'MD5OfBody' => '0123'",
    "PHP var_dump": f'["messageId"]=> "m-1" ["Body"]=>\n  string(20) "{SECRET}" ["MD5OfBody"]=> "0123"',
    "Java": f"{{MessageId: m-1,MD5OfBody: 0123,Body: {BODY},Attributes: {{}}}}",
    "Java, no JSON": f"Message(MessageId=m-1, MD5OfBody=0123, Body=card {SECRET}, Attributes={{}})",
    "an attribute": f"{{'StringValue': '{SECRET}', 'messageId': 'm-1', 'md5': '0123'}}",
    "a Python object": repr({"messageId": "m-1", "body": json.loads(BODY), "md5OfBody": "0123"}),
    "a Node object": f"{{ messageId: 'm-1', body: {{ card: '{SECRET}' }}, md5OfBody: '0123' }}",
    "two records": f'[{{"body": "{SECRET}", "a": "m-1"}}, {{"body": "{SECRET}", "b": "0123"}}]',
    "a parameter": f'{{"MessageBody": "{SECRET}", "messageId": "m-1", "md5": "0123"}}',
    "a field of a record": f'm-1 record.body="{SECRET}" 0123',
    "a field with a name of its own": f"m-1 raw_body={SECRET}, rawBody={SECRET}, md5=0123",
    "PHP, shown twice": f'm-1 [body] => none "body" => "{SECRET}", 0123',
    "bare, one behind the other": f"m-1 body={SECRET} record.body={SECRET} body='{SECRET}' 0123",
    "a line that was cut": AS_JSON[: AS_JSON.index("canary") + 6],
}


@pytest.mark.parametrize("line", FORMS.values(), ids=FORMS)
def test_no_form_lets_a_body_through(line):
    cleaned = without_bodies(line)

    assert SECRET in line
    assert "canary" not in cleaned
    assert "m-1" in cleaned
    assert "0123" in cleaned or "0123" not in line
    assert without_bodies(cleaned) == cleaned


def unwrapped(name: str, line: str) -> str:
    """Return the record's body as whoever reads the line would read it."""
    if name == "Python repr":
        return eval(line)["Records"][0]["body"]  # noqa: S307
    if name == "Python repr in JSON":
        return eval(json.loads(line)["message"])["Records"][0]["body"]  # noqa: S307
    if name == "HTML":
        line = html.unescape(line)
    found = json.loads(line)
    while "Records" not in found:
        found = found.get("message", found.get("event"))
        found = json.loads(found) if isinstance(found, str) else found
    return found["Records"][0]["body"]


READABLE = [name for name in FORMS if name.startswith(("JSON", "indented", "Python", "HTML", "System"))]


@pytest.mark.parametrize("name", READABLE)
def test_the_business_key_stays_and_the_line_can_still_be_read(name):
    cleaned = without_bodies(FORMS[name], ["$.order.id", "$.payment_id"])

    assert json.loads(unwrapped(name, cleaned)) == {"payment_id": "p-17"}
    assert unwrapped(name, without_bodies(FORMS[name])) == REMOVED


def test_keys_deep_inside_keep_their_place():
    body = json.dumps({"order": {"id": 7, "name": SECRET}, "items": [{"sku": SECRET}, {"sku": "s-2"}]})
    cleaned = without_bodies(json.dumps({"body": body}), ["$.order.id", "$.items[1].sku"])

    assert json.loads(json.loads(cleaned)["body"]) == {"order": {"id": 7}, "items": [None, {"sku": "s-2"}]}


def test_an_object_or_a_long_text_is_no_business_key():
    body = json.dumps({"card": {"number": SECRET}, "note": SECRET * MOST_KEY_CHARS})

    assert SECRET not in without_bodies(json.dumps({"body": body}), ["$.card", "$.note", "$"])


def test_of_an_envelope_the_id_of_its_event_stays_beside_the_business_key():
    body = json.dumps({"Type": "Notification", "MessageId": "22b8", "TopicArn": "arn:t", "Message": SECRET, "order": 7})
    cleaned = [json.loads(without_bodies(json.dumps({"body": body}), keys))["body"] for keys in ((), ("$.order",))]

    envelope = {"Type": "Notification", "MessageId": "22b8", "TopicArn": "arn:t"}
    assert [json.loads(one) for one in cleaned] == [envelope, envelope | {"order": 7}]


UNTOUCHED = [
    "START RequestId: 4dc1 Version: 7",
    "charged payment_id=p-17 message_id=m-1",
    "md5OfBody: '0123', nobody: 'x', antibody=7",
    "body: null",
    "{'body': None}",
    "the body of the request was empty",
]


@pytest.mark.parametrize("line", UNTOUCHED)
def test_other_lines_stay_as_they_are(line):
    assert without_bodies(line) == line


@given(
    secret=st.text(min_size=1),
    depth=st.integers(0, 3),
    others=st.lists(st.sampled_from(["messageId", "md5OfBody"]), unique=True),
)
def test_whatever_a_body_holds_it_goes_and_the_line_stays_json(secret, depth, others):
    whole = {"body": f"<{secret}canary{secret}>", **dict.fromkeys(others, "kept")}
    line = json.dumps(whole)
    for _ in range(depth):
        line = json.dumps({"message": line})
    cleaned = without_bodies(line)
    read = json.loads(cleaned)
    for _ in range(depth):
        read = json.loads(read["message"])

    assert read == whole | {"body": REMOVED}


HOSTILE = {
    "many keys": 'body: "' * 150_000,
    "backslashes": 'body: "' + "\\" * 1_000_000,
    "backslashes and quotes": '"body": "' + '\\"' * 500_000,
    "open objects": "body: {" * 150_000,
    "one long body": '"body": "' + "x" * 1_000_000 + '"',
    "bare, one behind the other": "body: a " * 150_000,
    "bare ends": "body: a> " * 150_000,
    "keys within a value": '{"body": "' + '\\"body: \\' * 150_000,
    "continued": "body: " + "'a' + " * 160_000,
}


@pytest.mark.slow
@pytest.mark.parametrize("line", HOSTILE.values(), ids=HOSTILE)
def test_a_megabyte_meant_to_hurt_takes_ten_times_as_long_as_a_tenth_of_it(line):
    assert grows_with_its_input(without_bodies, line)
