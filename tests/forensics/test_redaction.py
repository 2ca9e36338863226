"""Receipt handles: found in every place they are printed, and nothing else is touched."""

import html
import json
from collections.abc import Callable
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forensics.identity import handle_token
from forensics.redaction import canonical_handle, redact_handles
from tests.waiting import grows_with_its_input

SQS = (
    "AQEBWH9ttaf5P9olvqrYyaNik4axKT43ASxVhN+Hty/wT21Ip4cZ2QbaCFy7cKwghHrqxTszz00vtOncnn6NQAYezPNqrFQvnByQB1QhT5MCF7Y6rl"
    "krLgVEVY19Jz0r5sfI8DPNvYo6EuBR2qJzEwUwWfVv9fCH552Ud67tjNmm89Hzm43zo/mZ+QY84XZMHLGfe7NrCVbdbWvSRoiCeSH7Mi1pOCiBCPiA=="
)
HANDLES = {
    "SQS": SQS,
    "MiniStack": "7c0f5f62-028b-43e3-a035-6fb58659e516",
    "moto": "qhzrvbmwkxjtyplgndscfeaoiu" * 7,
    "ElasticMQ": "f4c1e6b0-90a1-4d71-8a1b-3f2f4f6b7a10#0b9d3a52-1f8e-4a53-9d0c-6f4f3d2c1b0a",
}

PRINTED = {
    "Python repr": "{'messageId': 'm', 'receiptHandle': '%s', 'body': '{}'}",
    "JSON": '{"messageId":"m","receiptHandle":"%s","body":"{}"}',
    "indented JSON": '{\n  "ReceiptHandle": "%s",\n  "Body": "x"\n}',
    "Node inspect": "{ messageId: 'm',\n  receiptHandle:\n   '%s',\n  body: 'x' }",
    ".NET or Go, unquoted": "{MessageId:m ReceiptHandle:%s Body:x}",
    "Java toString": "SQSMessage(messageId=m, receiptHandle=%s, body=x)",
    "Ruby struct": '#<struct Aws::SQS::Types::Message message_id="m", receipt_handle="%s", body="x">',
    "Ruby hash": '{"receiptHandle"=>"%s"}',
    "PHP print_r": "[ReceiptHandle] => %s\n",
    "PHP var_dump": '["ReceiptHandle"]=>\n  string(412) "%s"',
    "PHP var_export": "'ReceiptHandle' => '%s',",
    "XML": "<ReceiptHandle>%s</ReceiptHandle>",
    "environment": "RECEIPT_HANDLE=%s",
    "Python bytes": "'ReceiptHandle': b'%s'",
    "a list": "receiptHandles: ['%s']",
    "an arrow": "receiptHandle -> %s",
    "prose": "deleting receipt handle %s now",
    "SQS: expired": "Value %s for parameter ReceiptHandle is invalid. Reason: The receipt handle has expired.",
    "SQS: garbage": 'The input receipt handle "%s" is not a valid receipt handle.',
    "SQS: garbage, older": "The input receipt handle '%s' is not a valid receipt handle.",
    "SQS: other queue": 'The receipt handle "%s" is not valid for this queue.',
}
ESCAPED: dict[str, Callable[[str], str]] = {
    "as it is": lambda line: line,
    "JSON in JSON": json.dumps,
    "JSON in JSON in JSON": lambda line: json.dumps(json.dumps(line)),
    "HTML": html.escape,
    "slashes escaped": lambda line: line.replace("/", "\\/"),
    "System.Text.Json": lambda line: line.replace("+", "\\u002B").replace('"', "\\u0022").replace("'", "\\u0027"),
}


@pytest.mark.parametrize("escape", ESCAPED.values(), ids=ESCAPED)
@pytest.mark.parametrize("form", PRINTED.values(), ids=PRINTED)
@pytest.mark.parametrize("handle", HANDLES.values(), ids=HANDLES)
def test_a_handle_becomes_its_token_wherever_it_is_printed(form, escape, handle):
    redacted = redact_handles(escape(form % handle))

    assert handle_token(handle) in redacted
    assert handle[24:40] not in redacted.replace(handle_token(handle), "")
    assert redact_handles(redacted) == redacted


@pytest.mark.parametrize("form", PRINTED.values(), ids=PRINTED)
def test_the_text_around_a_handle_stays(form):
    assert redact_handles(form % SQS) == form % handle_token(SQS)


BARE = {
    "between blanks": "delete failed: %s (gone)",
    "after a line end that was escaped": "first\\n%s",
    "in a query string": "&ReceiptHandle=%s&Version=2012-11-05",
    "at the end": "handle=%s",
    "in brackets": "[%s]",
    "two of them": "%s %s",
}


@pytest.mark.parametrize("form", BARE.values(), ids=BARE)
def test_a_bare_handle_of_sqs_is_known_by_its_prefix(form):
    line = form.replace("%s", SQS)

    assert redact_handles(line) == form.replace("%s", handle_token(SQS))


def test_a_handle_in_a_query_string_is_the_same_handle():
    assert handle_token(SQS) in redact_handles(f"ReceiptHandle={quote(SQS, safe='')}&Action=DeleteMessage")


WRAPS = {"line ends": "\n", "Windows line ends": "\r\n", "escaped ones": "\\n", "twice escaped ones": "\\\\r\\\\n"}


@pytest.mark.parametrize("wrap", WRAPS.values(), ids=WRAPS)
def test_a_wrapped_handle_is_the_same_handle(wrap):
    wrapped = wrap.join((SQS[:76], SQS[76:152], SQS[152:]))
    frame = "Value %s for parameter ReceiptHandle is invalid."

    assert redact_handles(frame % wrapped) == frame % handle_token(SQS)
    assert canonical_handle(wrapped) == SQS


KEPT = {
    "an ordinary line": "charged payment_id=pay-1 amount=100",
    "shortened": "Value AQEBdzu6... for parameter ReceiptHandle is invalid.",
    "shortened in an event": "'receiptHandle': 'AQEBdzu6...'",
    "crossed out": "Value XXXXX for parameter ReceiptHandle is invalid.",
    "a long cross": "receiptHandle: '********************'",
    "a placeholder": "Value {VALUE} for parameter ReceiptHandle is invalid.",
    "another placeholder": "The input receipt handle <YOUR RECEIPT HANDLE> is not a valid receipt handle.",
    "dots": "Value ... for parameter ReceiptHandle is invalid.",
    "words": "Value <message value> for parameter ReceiptHandle is invalid.",
    "undefined": "receiptHandle: undefined",
    "null": '"receiptHandle": null',
    "no handle at all": "ReceiptHandle is invalid. Reason: The receipt handle has expired.",
    "the sentence alone": "The receipt handle has expired",
    "another parameter": "Value 423b81f5-7f49-4d29-8911-bac1a1e139e2 for parameter ReceiveRequestAttemptId is invalid.",
    "a batch entry": '{\n  Code: "ReceiptHandleIsInvalid",\n  Message: "The receipt handle has expired",\n}',
    "a message id beside a handle": '{"messageId": "7c0f5f62-028b-43e3-a035-6fb58659e516", "receiptHandle": null}',
    "a base64 body": '{"receiptHandle": null, "body": "' + "QUJDREVG" * 30 + '"}',
    "cut in the middle of a short handle": "{'receiptHandle': 'AQEBmZ5l7v",
}


@pytest.mark.parametrize("line", KEPT.values(), ids=KEPT)
def test_what_is_no_handle_stays_as_it_is(line):
    assert redact_handles(line) == line


def test_a_handle_cut_at_the_end_of_a_line_keeps_its_prefix():
    redacted = redact_handles("{'Records': [{'receiptHandle': '" + SQS[:120])

    assert redacted.startswith("{'Records': [{'receiptHandle': 'RH~" + SQS[:24] + "~")
    assert SQS[24:60] not in redacted


def test_every_handle_of_a_batch_is_replaced():
    other = "AQEB" + SQS[::-1].strip("=")
    line = json.dumps({"Records": [{"receiptHandle": SQS}, {"receiptHandle": other}, {"receiptHandle": SQS}]})
    redacted = json.loads(redact_handles(line))

    assert [r["receiptHandle"] for r in redacted["Records"]] == [handle_token(h) for h in (SQS, other, SQS)]


def test_a_short_handle_does_not_stand_whole_in_its_token():
    redacted = redact_handles('{"receiptHandle": "MessageReceiptHandle"}')

    assert "MessageReceiptHandle" not in redacted
    assert "RH~MessageRec~" in redacted


@given(st.text())
def test_redacting_twice_changes_nothing_more(line):
    once = redact_handles("receiptHandle " + line)

    assert redact_handles(once) == once


HOSTILE = {
    "keys": "receiptHandle=",
    "keys and quotes": "receiptHandle='",
    "backslashes": "\\",
    "a handle without an end": "receiptHandle':'" + "A" * 999,
    "frames without an end": "Value " + "A" * 19 + "\n",
    "prefixes": "AQEB",
    "prefixes with blanks": "AQEB" * 8 + " ",
    "keys and backslashes": "receiptHandle" + "\\" * 20,
    "line ends": "receiptHandle\n\n\n",
    "ampersands": "receiptHandle&amp;amp;amp;",
}


@pytest.mark.slow
@pytest.mark.parametrize("piece", HOSTILE.values(), ids=HOSTILE)
def test_a_megabyte_of_hostile_text_takes_ten_times_as_long_as_a_tenth_of_it(piece):
    line = (piece * (1_000_000 // len(piece) + 1))[:1_000_000] + "andle"

    assert grows_with_its_input(redact_handles, line)
