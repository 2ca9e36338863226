import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forensics.report.evidence_lines import evidence_lines, without_bodies
from tests.waiting import grows_with_its_input

SECRET = "4111 1111"
PRINTED = {
    "JSON": '{"messageId": "1", "body": "card 4111 1111", "md5OfBody": "ab"}',
    "JSON with a quote in the body": r'{"messageId": "1", "body": "{\"card\": \"4111 1111\"}", "md5OfBody": "ab"}',
    "JSON inside JSON": r'{"message": "{\"body\": \"{\\\"card\\\": \\\"4111 1111\\\"}\", \"md5OfBody\": \"ab\"}"}',
    "Python": """{'messageId': '1', 'body': '{"card": "4111 1111"}', 'md5OfBody': 'ab'}""",
    "Python with an apostrophe": """{'body': "it's 4111 1111", 'md5OfBody': 'ab'}""",
    "Node": "{ messageId: '1', body: '{\"card\": \"4111 1111\"}', md5OfBody: 'ab' }",
    "PascalCase": '{"MessageId": "1", "Body": "4111 1111", "MD5OfBody": "ab"}',
    "MessageBody": '{"MessageBody": "4111 1111", "x": "ab"}',
    "cut in the middle of the body": '{"x": "ab", "body": "card 4111 1111',
    "two records": '[{"body": "4111 1111", "a": "ab"}, {"body": "4111 1111", "b": 2}]',
    "an object": '{"messageId": "1", "body": {"card": "4111 1111", "of": {"x": 1}}, "md5OfBody": "ab"}',
    "a Python object": "{'messageId': '1', 'body': {'card': '4111 1111'}, 'md5OfBody': 'ab'}",
    "a Node object": "{ messageId: '1', body: { card: '4111 1111' }, md5OfBody: 'ab' }",
    "Java, no JSON": "Message(MessageId=1, MD5OfBody=ab, Body=card 4111 1111, Attributes={})",
    "a field of a record": 'ab record.body="4111 1111"',
    "PHP": '[body] => none "body" => "4111 1111", ab',
}


@pytest.mark.parametrize("line", PRINTED.values(), ids=PRINTED)
def test_a_body_leaves_the_line_and_the_rest_stays(line):
    shown = without_bodies(line)

    assert SECRET not in shown
    assert "ab" in shown


def test_a_line_without_a_body_is_shown_verbatim():
    line = 'charged payment_id=pay-1 md5OfBody="ab" antibody: "x"'

    assert without_bodies(line) == line


@given(st.text(), st.integers(0, 3))
def test_no_json_body_survives_however_deep_it_is_quoted(secret, depth):
    line = json.dumps({"body": f"<{secret}>", "tail": "kept"})
    for _ in range(depth):
        line = json.dumps({"message": line})
    marked = without_bodies(line)
    for _ in range(depth):
        marked = json.loads(marked)["message"]

    assert json.loads(marked)["tail"] == "kept"
    assert json.loads(marked)["body"].startswith("[body removed]")


def test_a_long_hostile_line_takes_no_long_time():
    assert grows_with_its_input(without_bodies, '{"body": "' + '\\"body: \\' * 60_000)


def test_lines_are_labelled_in_time_order_and_a_row_without_time_comes_last():
    rows = {"consumers": [{"evidence_id": "consumer:1", "queue_name": "q"}]}
    rows["quarantine"] = [{"evidence_id": "quarantine:1", "collected_at": None, "reason": "bad", "head": "<x>"}]

    assert [line.label for line in evidence_lines(rows)] == ["E1", "E2"]
