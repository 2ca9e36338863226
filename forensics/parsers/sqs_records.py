"""SQS records printed on a log line, and batch responses: JSON, Python repr, Node inspect, .NET, Java and Go forms.

How a line is read:
1. a key of a record (receiptHandle, or ApproximateReceiveCount) must stand there as a key; how it is quoted tells
   whether the event is escaped inside another string or as HTML, and the escaping is undone;
2. the list of records is found by its name; what stands before it is about the line, not about a message;
3. bodies and message attributes are blanked, so that an event inside a body never counts;
4. the rest is split where one object ends and the next begins, so each value stays with its own record;
5. fields are looked for by name inside their record. What is not there is unknown, never shifted from a neighbour.
A list in a common form (``printed_lists``) is read at once instead of by 3. to 5.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate

import msgspec

from forensics.parsers import json_lines, printed_lists
from forensics.parsers.grammar import (
    BACK_QUOTED,
    DOUBLE_QUOTED,
    QUOTE,
    SINGLE_QUOTED,
    SPACE,
    Pattern,
    Replacement,
    balanced_object,
    holds_any,
)
from forensics.parsers.mentions import ONE_ID

NEEDLES = ("Handle", "ReceiveCount")
"""A line without any of these prints no record."""
ID_NEEDLE = "ssageId"

_COMMON_STYLES = tuple(key + after for key in ("eceiptHandle", "pproximateReceiveCount") for after in ('":', "':"))
_AFTER_KEY = r"(?:\\{0,7}[\"'`]|&quot;|&#0?3[49];|&apos;)?" + SPACE + r"{0,4}[:=]"
HANDLE_KEY = Pattern("handle_key", r"eceiptHandle" + _AFTER_KEY)
COUNT_KEY = Pattern("count_key", r"pproximateReceiveCount" + _AFTER_KEY)
"""How a record's key is printed: `":` for JSON, `':` for repr, `\\":` for JSON inside JSON, `&quot;:` for HTML."""

HTML = (
    Replacement(Pattern("html_double_quote", r"&quot;|&#0?34;"), '"'),
    Replacement(Pattern("html_single_quote", r"&apos;|&#0?39;"), "'"),
    Replacement(Pattern("html_less", r"&lt;"), "<"),
    Replacement(Pattern("html_greater", r"&gt;"), ">"),
    Replacement(Pattern("html_ampersand", r"&amp;"), "&"),
)
_ESCAPED = (
    *(("\\" + letter, character) for letter, character in zip("nrt", "\n\r\t", strict=True)),
    *(("\\" + quote, quote) for quote in "\"'`/"),
)
"""String escapes but for that of the backslash, and what they stand for."""

_COLON = r"[\"'`]?" + SPACE + r"*+[:=]" + SPACE + r"*+"
_OBJECT = balanced_object(6)
_STRING = "(?:" + DOUBLE_QUOTED + "|" + SINGLE_QUOTED + "|" + BACK_QUOTED + ")"
_CUT = r"[\"'`{][\s\S]*+"  # a value that runs past the end of a cut line

JSON_BODY = Pattern(
    "json_body",
    r"ody\":(?<=[\"'][Bb]ody\":)" + SPACE + r"*+(?P<body>" + DOUBLE_QUOTED + "|" + _OBJECT + "|" + _CUT + ")",
)
REPR_BODY = Pattern(
    "repr_body",
    r"ody':(?<=[\"'][Bb]ody':)" + SPACE + r"*+(?P<body>" + _STRING + "|" + _OBJECT + "|" + _CUT + ")",
)
ANY_BODY = Pattern(
    "any_body",
    r"(?<![A-Za-z0-9_$])[Bb]ody" + _COLON + r"(?P<body>"
    r"" + _STRING + "(?:" + SPACE + r"*+\+" + SPACE + "*+" + _STRING + ")*+"  # Node breaks long texts
    r"|" + _OBJECT + "|" + _CUT + ""
    r"|(?!null|None)[^\"'`{,][\s\S]*?(?=[ ,]++(?:[Mm][Dd]5Of|[Aa]ttributes[:=])))",  # Java and Go do not quote it
)
"""A body as printed, quotes included; the first two are the same for the two commonest forms, and quicker."""
BODY_BLANK = 'ody":""'

ATTRIBUTES = Replacement(
    Pattern(
        "filled_message_attributes",
        r"essageAttributes(?<![Ff]MessageAttributes)" + _COLON + r"(?=\{" + SPACE + r"*+[^}\s])" + _OBJECT,
    ),
    "essageAttributes:{}",
)
"""Attributes a producer put on the message: their names and values are anybody's."""

LIST = Pattern("record_list", r"(?:ecords|essages)" + _COLON + r"\[")
"""Where the list of records begins."""
LIST_END = "}]"
CLOSED_LIST = Pattern("closed_list", r"[})](?:" + SPACE + r"|\\[nrt]|,)*+\]")
"""Where it ends; of a cut line it does not."""
BETWEEN = Pattern(
    "between_records",
    r"\}" + SPACE + r"*+,?+" + SPACE + r"*+(?:[A-Za-z][A-Za-z0-9_.]{0,60}+)?\{"
    r"|\)" + SPACE + r"*+," + SPACE + r"*+(?=[A-Za-z]{1,40}\()",
)
"""Where one record ends and the next begins."""


BRACKET = Pattern("bracket", r"[\[\]{}]")


def _field(name: str, literal: str, value: str, check: str = "") -> Pattern:
    return Pattern(name, literal + check + _COLON + r"[\"'`]?(?P<" + name + ">" + value + ")")


def _text_field(name: str, literal: str) -> Pattern:
    ends = r"(?=[\s\u00a0,}\])]|(?![\s\S]))"
    return Pattern(name, literal + _COLON + r"([\"'`]?)(?P<" + name + r">[^\n\r]{1,300}?)\1" + ends)


_ID = r"(?!(?:null|None|undefined|nil)(?![0-9A-Za-z_-]))[0-9A-Za-z][0-9A-Za-z_-]{0,99}+"
_HANDLE = r"[^\"'`\\,\s\u00a0})\]&]{1,4096}+"
_ARN = r"arn:[^\"'`\\,\s\u00a0})\]]{1,300}+"
MESSAGE_ID = _field(
    "message_id",
    "essageId",
    _ID,
    r"(?<![A-Za-z0-9_.$-][Mm]essageId)",  # not originalMessageId
)
"""SQS's id of the message: stable over all its deliveries.

>>> MESSAGE_ID.find("{'messageId': 'd5ebb291-904d-4f8f-bbad-7533cbb71267'", "message_id")
'd5ebb291-904d-4f8f-bbad-7533cbb71267'
"""
RECEIPT_HANDLE = _field("receipt_handle", "eceiptHandle", _HANDLE)
RECEIVE_COUNT = _field("receive_count", "pproximateReceiveCount", r"[0-9]{1,9}+(?![0-9])")
_MS = r"[0-9]{1,14}+(?![0-9])"  # until the year 5138: what is longer is no time that anything can hold
SENT = _field("sent_ms", "SentTimestamp", _MS)
FIRST_RECEIVE = _field("first_receive_ms", "pproximateFirstReceiveTimestamp", _MS)
GROUP_ID = _text_field("group_id", "essageGroupId")
DEDUPLICATION_ID = _text_field("deduplication_id", "essageDeduplicationId")
BODY_MD5 = _field("body_md5", "5OfBody", r"[0-9a-fA-F]{32}+", r"(?<=[Mm][Dd]5OfBody)")
QUEUE_ARN = _field("queue_arn", "ventSourceA(?:RN|rn)", _ARN)
SENDER = _text_field("sender_id", "SenderId")
"""Who sent the message: an IAM user's id, a role's id and session (for a function its name), or an account."""
DEAD_LETTER_SOURCE_ARN = _field("dead_letter_source_arn", "eadLetterQueueSourceArn", _ARN)

RESPONSE_NEEDLE = "ItemFailures"
_GAP = r"(?:" + SPACE + r"|\\[nrt])*+"
RESPONSE = Pattern(
    "batch_response",
    r"atchItemFailures" + QUOTE + r"?+" + _GAP + r"[:=]" + _GAP + r"(?P<list>\[[^\]]*+|null|None|nil)",
)
"""A logged batchItemFailures list, from its bracket on."""
EMPTY_RESPONSE = Pattern("empty_batch_response", r"^(?:\[" + _GAP + r"|null|None|nil)(?![\s\S])")
ITEM_IDENTIFIER = Pattern(
    "item_identifier",
    r"temIdentifier" + QUOTE + r"?+" + _GAP + r"[:=]" + _GAP + r"(?:null|None|nil|undefined|" + QUOTE + r")?+"
    r"(?P<id>[0-9A-Za-z_-]{0,100}+)",
)
"""One failed item; an empty identifier makes AWS take the whole batch as failed."""

OTHER_ENTRY = Pattern("other_response_entry", r"\{" + _GAP + QUOTE + r"?+[A-Za-z_]++" + QUOTE + r"?+" + _GAP + "[:=]")
"""An entry with other keys than itemIdentifier: AWS takes the whole batch as failed."""


class Record(msgspec.Struct, frozen=True):
    """One printed SQS record. What the line does not say is None.

    ``position`` is its place in the printed list, from 1; None where it stands by itself.
    """

    position: int | None
    message_id: str
    receive_count: int | None = None
    sent_ms: int | None = None
    first_receive_ms: int | None = None
    group_id: str | None = None
    deduplication_id: str | None = None
    receipt_handle: str | None = None
    body_md5: str | None = None
    queue_arn: str | None = None
    dead_letter_source_arn: str | None = None
    body: str | None = None
    sender_id: str | None = None


def key_style(line: str) -> str | None:
    """Return how the keys of printed records are quoted; None where no record is printed."""
    if ID_NEEDLE not in line or not holds_any(line, NEEDLES):
        return None
    return HANDLE_KEY.find(line) or COUNT_KEY.find(line)


def plain_text(line: str, style: str) -> str:
    """Undo the escaping that ``style`` shows, or, of keys in no quotes that JSON would escape, the JSON around them."""
    if "&" in style:
        for replacement in HTML:
            line = replacement.apply(line)
    for mark in ("\\", "\\\\\\"):
        if mark in style:
            line = unescape(line)
    if '"' not in style and "&" not in style and "\\" in line and json_lines.START.compiled.search(line):
        for _ in range(_texts_around(line)):
            line = unescape(line)
    return line


def _texts_around(line: str) -> int:
    r"""Return in how many texts of JSON, one in the other, the records of a line stand.

    >>> _texts_around(r'{"log": "{\"message\": \"{\'Records\': [{\'messageId\'')
    2
    """
    begin = LIST.compiled.search(line)
    before = line[: begin.start() if begin else line.find(ID_NEEDLE)].rpartition('"')[0]
    return (len(before) - len(before.rstrip("\\")) + 1).bit_length()


def unescape(text: str) -> str:
    r"""Undo one level of string escapes.

    >>> unescape(r'{\"a\":1,\n\"b\":2}')
    '{"a":1,\n"b":2}'
    """
    if "\\\\" in text:  # between backslashes that are escaped themselves, none is
        return "\\".join(map(unescape, text.split("\\\\")))
    if "\\" in text:
        for escaped, character in _ESCAPED:
            text = text.replace(escaped, character)
    return text


def body_pattern(style: str) -> Pattern:
    """Return the body pattern for keys quoted in this style."""
    if '":' in style or "&quot;:" in style:
        return JSON_BODY
    return REPR_BODY if "':" in style else ANY_BODY


@dataclass(frozen=True)
class Printed:
    """A line with records: ``text`` is what it says besides them, ``around`` also what follows their list.

    ``is_whole``: their list stands there up to its end.
    """

    records: list[Record] | None
    text: str
    around: str
    is_whole: bool = False


def printed(line: str, style: str) -> Printed:
    """Read a line on which ``key_style`` found a record's key."""
    plain = plain_text(line, style)
    begin = LIST.compiled.search(plain)
    listed = plain[begin.end() :] if begin else plain
    found = _listed_records(plain[begin.end() - 1 :]) if begin and style in _COMMON_STYLES else None
    blanked, is_whole = "", found is not None
    if found is None:
        pattern = body_pattern(style)
        blanked = ATTRIBUTES.apply(pattern.replace(listed, BODY_BLANK))
        if begin is None and goes_on(blanked):
            return Printed(None, "", "")
        found = records(blanked, pattern.find_all(listed, "body"))
    if begin is None:
        alone = [msgspec.structs.replace(record, position=None) for record in found or ()]
        return Printed(alone or None, blanked, blanked)
    before = plain[: begin.start()]
    tail = listed.rpartition(LIST_END)[2] if LIST_END in listed else ""
    is_whole = is_whole or CLOSED_LIST.compiled.search(blanked, blanked.rfind(ID_NEEDLE)) is not None
    return Printed(found, before, before + "\n" + tail, is_whole)


def goes_on(text: str) -> bool:
    """Tell whether a text begins inside of an object: it is the rest of an event that was cut.

    >>> goes_on('AQEB"}, {"messageId": "m"'), goes_on('{"messageId": "m"}')
    (True, False)
    """
    return min(_depths(text), default=0) < 0


def _depths(text: str) -> Iterator[int]:
    """Yield how deep in brackets a text is behind each of them."""
    return accumulate(1 if bracket in "{[" else -1 for bracket in BRACKET.compiled.findall(text))


def _without_cut_value(text: str) -> str:
    """Leave out the last value of a text that ends inside of an object: an id or a number may be cut short.

    >>> _without_cut_value('{"messageId": "m", "SentTimestamp": "17'), _without_cut_value('{"messageId": "m"}')
    ('{"messageId": "m"', '{"messageId": "m"}')
    """
    *_, depth = 0, *_depths(text)
    return text[: max(text.rfind(","), text.rfind("{"))] if depth > 0 else text


def _listed_records(text: str) -> list[Record] | None:
    """Read a list of records in a common form, given from its bracket on; None where it is in no such form."""
    try:
        found = printed_lists.listed(text[: text.rindex(LIST_END) + len(LIST_END)])
    except printed_lists.PROBLEMS:
        return None
    if not all(map(printed_lists.is_plain, found)):
        return None
    return [_of_listed(position, record) for position, record in enumerate(found, start=1)] or None


def _of_listed(position: int, record: printed_lists.PrintedRecord) -> Record:
    said = record.attributes
    count, sent, first = said.receive_count, said.sent_ms, said.first_receive_ms
    return Record(
        position,
        record.message_id,
        int(count) if count else None,
        int(sent) if sent else None,
        int(first) if first else None,
        said.group_id,
        said.deduplication_id,
        record.receipt_handle,
        record.body_md5,
        record.queue_arn,
        said.dead_letter_source_arn,
        record.body,
        said.sender_id,
    )


def records(text: str, bodies: list[str]) -> list[Record] | None:
    """Read the records of a text whose bodies were blanked; None where no object is one.

    ``bodies`` are the blanked values in printed order; they are given back to their records only if there is one each.
    """
    parts = [p for p in BETWEEN.compiled.split(_without_cut_value(text)) if ID_NEEDLE in p]
    cut = len(bodies) == len(parts) - 1 and BODY_BLANK not in parts[-1]
    fits = cut or len(bodies) == len(parts)
    found = []
    for position, part in enumerate(parts, start=1):
        message_id = MESSAGE_ID.find(part, 1)
        count, handle = RECEIVE_COUNT.find(part, 1), RECEIPT_HANDLE.find(part, 1)
        if message_id is None or (count is None and handle is None):
            continue
        sent, first = SENT.find(part, 1), FIRST_RECEIVE.find(part, 1)
        found.append(
            Record(
                position,
                message_id,
                int(count) if count else None,
                int(sent) if sent else None,
                int(first) if first else None,
                GROUP_ID.find(part, "group_id"),
                DEDUPLICATION_ID.find(part, "deduplication_id"),
                handle,
                BODY_MD5.find(part, 1),
                QUEUE_ARN.find(part, 1),
                DEAD_LETTER_SOURCE_ARN.find(part, 1),
                unquoted(bodies[position - 1]) if fits and position <= len(bodies) else None,
                SENDER.find(part, "sender_id"),
            )
        )
    return found or None


def unquoted(printed: str) -> str | None:
    """Return a printed body as text: quotes off, one level of escapes undone; None where it was cut or is broken up."""
    if printed[0] not in "\"'`":
        return printed
    if len(printed) < 2 or printed[-1] != printed[0]:
        return None
    return unescape(printed[1:-1])


def batch_item_failures(line: str) -> list[str] | None:
    """Return the ids a logged batch response names; [] for an empty one, None where no response was logged.

    An entry that identifies nothing is an empty id.

    >>> batch_item_failures('{"batchItemFailures": [{"itemIdentifier": "A1"}]}')
    ['A1']
    >>> batch_item_failures('{"batchItemFailures": [{"itemId": "A1"}]}')
    ['']
    """
    listed = RESPONSE.find(line, "list") if RESPONSE_NEEDLE in line else None
    if listed is None:
        return None
    if EMPTY_RESPONSE.compiled.search(listed):
        return []
    if ids := ITEM_IDENTIFIER.find_all(listed, "id"):
        return ids
    if OTHER_ENTRY.compiled.search(listed):
        return [""]
    return ONE_ID.find_all(listed) or None
