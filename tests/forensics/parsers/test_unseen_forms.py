"""The grammar on what it has not seen: fields in another order, lost tabs, cuts, escapes, odd characters, huge lines."""

import html
import json
import re
from unittest.mock import patch

from hypothesis import given, settings
from hypothesis import strategies as st

from forensics.parsers import parse_line, printed_lists
from forensics.parsers.handle_errors import EXPIRED_REASON
from forensics.parsers.sqs_records import unescape
from tests.forensics.parsers.lines import NO_BREAK, every_line, sample_lines
from tests.waiting import grows_with_its_input

IDS = st.uuids(version=4).map(str)
BLANKS = st.sampled_from(("\t", " ", "   ", " \t", NO_BREAK))
WORDS = st.text(st.characters(exclude_characters="\"'\\`{}[]:=&<>\x00", exclude_categories=("Cs", "Cc")), max_size=20)

FIELDS = {
    "Duration": "{duration} ms",
    "Billed Duration": "4000 ms",
    "Memory Size": "128 MB",
    "Max Memory Used": "91 MB",
    "Init Duration": "402.04 ms",
    "Status": "timeout",
}


@given(st.text(max_size=400))
def test_no_text_makes_the_grammar_raise(text):
    parse_line(text)
    parse_line(text, log_group="/ecs/worker")


@given(st.sampled_from(sample_lines()), st.integers(0, 5_000), st.text(max_size=30))
def test_no_recorded_line_that_was_cut_or_glued_makes_it_raise(line, place, glued):
    parse_line(line[:place] + glued, log_group="/ecs/worker")
    parse_line(glued + line[place:], log_group="/ecs/worker")


@given(IDS, st.permutations(sorted(FIELDS)), BLANKS, st.integers(0, 899_999))
def test_a_report_is_read_by_name_whatever_the_order_and_the_blanks(request_id, order, blank, hundredths):
    parts = [f"{name}: {FIELDS[name].format(duration=hundredths / 100)}" for name in order]
    parsed = parse_line(f"REPORT RequestId: {request_id}{blank}{blank.join(parts)}\n")

    assert parsed.kind == "report"
    assert (parsed.request_id, parsed.status) == (request_id, "timeout")
    assert parsed.duration_ms == hundredths / 100
    assert parsed.init_ms == 402.04


@st.composite
def records(draw: st.DrawFn) -> tuple[list[dict], list[tuple[str, int]]]:
    """Draw a batch with its fields in any order, and what must be read of it."""
    batch, told = [], []
    for message_id in draw(st.lists(IDS, min_size=1, max_size=4, unique=True)):
        count = draw(st.integers(1, 999))
        attributes = {
            "ApproximateReceiveCount": str(count),
            "SentTimestamp": "1523232000000",
            "ApproximateFirstReceiveTimestamp": "1523232000001",
            "SenderId": draw(WORDS),
        }
        fields = {
            "messageId": message_id,
            "receiptHandle": "AQEB" + draw(st.text("ABCxyz019+/", min_size=20, max_size=40)),
            "body": json.dumps({"messageId": draw(IDS), "note": draw(WORDS), "ApproximateReceiveCount": "7"}),
            "attributes": dict(draw(st.permutations(sorted(attributes.items())))),
            "messageAttributes": {},
            "md5OfBody": "0" * 32,
            "eventSource": "aws:sqs",
            "eventSourceARN": "arn:aws:sqs:eu-west-1:123456789012:orders",
            "awsRegion": "eu-west-1",
        }
        batch.append(dict(draw(st.permutations(sorted(fields.items())))))
        told.append((message_id, count))
    return batch, told


def pascal(value):
    if isinstance(value, dict):
        return {key[:1].upper() + key[1:]: pascal(inner) for key, inner in value.items()}
    return [pascal(inner) for inner in value] if isinstance(value, list) else value


FORMS = {
    "json": json.dumps,
    "indented": lambda event: json.dumps(event, indent=2),
    "repr": repr,
    "escaped in a message": lambda event: json.dumps({"level": "INFO", "message": json.dumps(event)}),
    "repr in a message": lambda event: json.dumps({"level": "INFO", "message": repr(event), "logger": "root"}),
    "repr in a message in a log": lambda event: json.dumps({"log": json.dumps({"message": f"got {event!r}"})}),
    "html": lambda event: html.escape(json.dumps(event)),
    "PascalCase": lambda event: json.dumps(pascal(event)),
    "with a prefix": lambda event: "2026-01-05T03:04:05.678Z\t-\tINFO\tevent " + json.dumps(event),
    "no-break spaces": lambda event: json.dumps(event).replace(": ", ":" + NO_BREAK),
}


@settings(max_examples=200)
@given(records(), st.sampled_from(sorted(FORMS)))
def test_a_printed_batch_is_read_whatever_the_order_of_fields_and_the_form(drawn, form):
    batch, told = drawn
    parsed = parse_line(FORMS[form]({"Records": batch}))

    assert [(r.message_id, r.receive_count) for r in parsed.records or []] == told


BODIES = st.recursive(
    st.text("ab '\"\\\n{}[],:\u00e9", max_size=9) | st.integers() | st.none(),
    lambda inner: st.dictionaries(st.sampled_from(("note", "it's", "body")), inner, max_size=2) | inner.map(json.dumps),
    max_leaves=4,
)
FORMS_OF_BODIES = sorted(FORMS.keys() - {"html", "no-break spaces"})
"""The others change what stands in a body, too."""


@settings(max_examples=200)
@given(records(), st.lists(BODIES.map(json.dumps), min_size=3, max_size=3), st.sampled_from(FORMS_OF_BODIES))
def test_a_body_is_read_as_it_was_sent_whatever_is_quoted_in_it(drawn, bodies, form):
    batch, _ = drawn
    sent = [record | {"body": body} for record, body in zip(batch, bodies, strict=False)]
    parsed = parse_line(FORMS[form]({"Records": sent}))

    assert [record.body for record in parsed.records or []] == [record["body"] for record in sent]


def by_fields(line):
    """Read a line as one whose list of records is in no common form."""
    with patch.object(printed_lists, "listed", side_effect=ValueError):
        return parse_line(line)


@settings(max_examples=200)
@given(records(), st.sampled_from(sorted(FORMS)), st.text("ABC xyz-{}\u00e9", max_size=8), st.booleans())
def test_a_list_that_is_read_at_once_says_what_its_fields_say_one_by_one(drawn, form, group, is_grouped):
    batch, _ = drawn
    if is_grouped:
        batch[0]["attributes"]["MessageGroupId"] = group
    line = FORMS[form]({"Records": batch})

    assert parse_line(line) == by_fields(line)


def test_recorded_lists_that_are_read_at_once_say_what_their_fields_say_one_by_one():
    lines = [line for line in every_line(seed=3) if "eceiptHandle" in line]
    with patch.object(printed_lists, "is_plain", wraps=printed_lists.is_plain) as looked_at:
        read = [parse_line(line) for line in lines]

    assert read == [by_fields(line) for line in lines]
    assert looked_at.call_count > 20


REFUSED = (
    "An error occurred (InvalidParameterValue) when calling the DeleteMessage operation: Value {handle} for parameter "
    "ReceiptHandle is invalid. Reason: The receipt handle has expired."
)


@given(st.integers(0, len(REFUSED)), st.sampled_from(("AQEBxxxx", "XXXXX", "<...>", "{VALUE}", "AQEB\nzz")))
def test_a_refusal_cut_anywhere_is_expired_or_no_claim_at_all(place, handle):
    whole = REFUSED.format(handle=handle)
    found = parse_line(whole[:place]).handle_error

    assert parse_line(whole).handle_error.reason == "expired"
    assert found is None or found.reason in ("expired", "other")


def test_a_refusal_cut_in_the_middle_of_its_reason_is_still_expired():
    whole = REFUSED.format(handle="AQEBxxxx")
    start = whole.lower().index(EXPIRED_REASON)

    assert parse_line(whole[: start + len("the receipt handle has")]).handle_error.reason == "expired"


@given(WORDS, st.sampled_from(("", "Task timed out after 3.00 seconds", "MessageNotInflight")))
def test_a_line_says_the_same_beside_emoji_and_no_break_spaces(word, said):
    plain, decorated = f"x {word} {said} x", f"\U0001f680{NO_BREAK}{word}{NO_BREAK}{said} \U0001f600"

    assert parse_line(decorated).kind == parse_line(plain).kind


def test_a_line_of_300_kilobytes_is_read_whole_and_costs_no_more_than_its_length():
    body = json.dumps({"text": "\u00e9\U0001f600 {[\"' " * 20_000})
    batch = [{"messageId": "861bec95-b670-4f2a-acf9-19d5bdd7cbe5", "receiptHandle": "AQEB" + "x" * 60, "body": body}]
    line = json.dumps({"Records": batch}, ensure_ascii=False)
    parsed = parse_line(line)

    assert len(line.encode()) > 300_000
    assert [r.message_id for r in parsed.records or []] == ["861bec95-b670-4f2a-acf9-19d5bdd7cbe5"]
    assert grows_with_its_input(parse_line, line)


def test_a_line_without_a_request_id_keeps_what_else_it_says():
    parsed = parse_line("REPORT RequestId: \tDuration: 3000.00 ms\tStatus: timeout")

    assert (parsed.kind, parsed.request_id, parsed.status, parsed.duration_ms) == ("report", None, "timeout", 3000.0)


_MEANT = {"n": "\n", "r": "\r", "t": "\t"}


@given(st.text(st.sampled_from("\\\\\\nrt\"'`/a\n"), max_size=12))
def test_escapes_are_undone_one_after_the_other_from_the_left(text):
    from_the_left = re.sub(r"\\([nrt\"'`/\\])", lambda found: _MEANT.get(found[1], found[1]), text)

    assert unescape(text) == from_the_left
