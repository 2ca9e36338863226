"""Vectors decide what the grammar has to look at: what each line of a Lambda log group is, as columns.

The commonest forms are read here for sure: START, END and plain REPORT lines, a printed Lambda event, lines of the
application whose *shape* the grammar was asked about. A shape is a line whose request id, other ids and digits are masked;
lines of one shape say the same but for the values, so ``forensics.parsers`` is asked once per shape and the values are taken
by the configured expression. Whatever is not read for sure is ``is_odd``: its invocation goes to the grammar line by line.
"""

import ast
import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import msgspec
import numpy as np
import polars as pl
import pyarrow as pa

from forensics.parsers import app_lines, handle_errors, idempotency, lambda_text, sqs_records
from forensics.parsers.grammar import UUID
from forensics.parsers.line import ParsedLine, parse_line
from forensics.parsers.marks import needle_of
from forensics.settings import Consumer
from forensics.streams.business_keys import BusinessKeys
from forensics.streams.model import LogGroup

START, END, REPORT, EVENT, APPLICATION = 1, 2, 3, 4, 0
"""Kinds of lines; an application's line is any other."""

OWN_ID, OTHER_ID = "eeeeeeee-eeee-eeee-eeee-eeeeeeeeeeee", "ffffffff-ffff-ffff-ffff-ffffffffffff"
"""What stands in a shape for the invocation's own request id and for any other id; without digits, which are masked."""
_OWN = "\x01own\x01"

MENTION, EFFECT, STARTED, RESPONSE = 1, 2, 4, 8
"""What a line of some shape states, as bits: it mentions the message, shows its effect, its start, an empty batch response."""

_STAMP = r"\[?[0-9]{4}[-/][0-9]{2}[-/][0-9]{2}[T ][0-9:.,]{8,20}(?:Z|[ \x{A0}]?[+-][0-9:]{4,6})?\]?[ \t\x{A0},:-]*"
_PREFIX = rf"^[\s\x{{A0}}]*(?:\[?[A-Za-z]{{3,11}}\]?[: \t\x{{A0}}]*)?(?:{_STAMP}){{0,2}}<?({UUID})"
"""At least whatever ``app_lines.PREFIX`` takes for a request id: what else it finds makes a line odd, never wrong."""
_JSON_ID = rf'equest_?[Ii]d"\s*:\s*"({UUID})'
_REPORT = rf"^REPORT RequestId: {UUID}\tDuration: ([0-9]{{1,15}}(?:\.[0-9]{{1,9}})?) ms\t"
LONGEST_SHAPE = 4_000
MOST_SHAPES = 5_000
"""Above this a part's lines have no shapes in common, and asking about each costs what reading each line does."""

_NEEDLES = (
    lambda_text.TIMEOUT_NEEDLE,
    lambda_text.RUNTIME_ERROR_NEEDLE,
    lambda_text.RUNTIME_ERROR_START,
    "RequestId",
    "START",
    "END ",
    "REPORT",
    "INIT_",
    "RESTORE_",
    "platform.",
    sqs_records.RESPONSE_NEEDLE,
    *sqs_records.NEEDLES,
    *handle_errors.HANDLE_NEEDLES,
    *handle_errors.DELETE_NEEDLES,
    *idempotency.NEEDLES,
    app_lines.PYTHON_START,
    *app_lines.NODE_NEEDLES,
    *app_lines.DOTNET_LEVELS,
    app_lines.RUBY_START,
    app_lines.JAVA_NEEDLE,
    "log_level",
    "unction_name",
    "unctionName",
    ":function:",
)
"""A line with none of these, no id but its own request's and no configured mark says nothing."""


class Shape(NamedTuple):
    """What the grammar says of every line of one shape."""

    is_odd: bool
    says: int = 0
    names_message: bool = False
    effect_key: str | None = None
    started_key: str | None = None


ODD, SILENT = Shape(True), Shape(False)


def kinds(line: pl.Expr) -> pl.Expr:
    """Return the kind of each line by its first characters, and by the two words that every printed event has."""
    return (
        pl.when(line.str.starts_with("START RequestId: "))
        .then(pl.lit(START, pl.UInt8))
        .when(line.str.starts_with("END RequestId: "))
        .then(END)
        .when(line.str.starts_with("REPORT RequestId: "))
        .then(REPORT)
        .when(
            line.str.contains(sqs_records.ID_NEEDLE, literal=True)
            & (line.str.contains("eceiptHandle", literal=True) | line.str.contains("ReceiveCount", literal=True))
        )
        .then(EVENT)
        .otherwise(APPLICATION)
    )


def said_ids(kind: pl.Expr, line: pl.Expr) -> pl.Expr:
    """Return the request id of START, END and REPORT lines; null elsewhere."""
    cut = pl.when(kind == START).then(line.str.slice(17, 36)).when(kind == END).then(line.str.slice(15, 36))
    return cut.when(kind == REPORT).then(line.str.slice(18, 36))


def durations_ms(line: pl.Expr) -> pl.Expr:
    """Return the duration of plain REPORT lines; null where such a line has a status or any other form."""
    plain = pl.when(~line.str.contains("Status:", literal=True)).then(line)
    return plain.str.extract(_REPORT, 1).cast(pl.Float64)


def prefix_ids(line: pl.Expr) -> pl.Expr:
    """Return the id that stands where an application's line carries its request id; null where none does."""
    in_json = pl.when(line.str.starts_with("{")).then(line.str.extract(_JSON_ID, 1))
    return pl.coalesce(in_json, line.str.head(200).str.extract(_PREFIX, 1))


class Marks:
    """The configured expressions of one consumer, for vectors; ``readable`` is false where these cannot read them.

    Where ids and counts stand, as a path or an expression, is never read here: a shape has neither the digits nor the JSON.
    """

    def __init__(self, consumer: Consumer) -> None:
        every: dict[str, str] = {n: text for n in _MARKS if (text := getattr(consumer, n))}
        read = {name: _for_vectors(text) for name, text in every.items()}
        self.patterns: dict[str, str | None] = {name: read[name] for name in _SAYS if name in read}
        is_placed = consumer.message_id is not None or consumer.receive_count is not None
        self.readable = not is_placed and all(p is not None for p in self.patterns.values())
        needles = {name: needle_of(text) for name, text in every.items()}
        self.needles = [n for n in needles.values() if n]
        self.asks_every_line = "" in needles.values()
        line = pl.col("line")
        self.found_in = [
            (_SAYS.get(name, 0), line.str.contains(p) if (p := read[name]) else line.str.contains(needle, literal=True))
            for name, needle in needles.items()
        ]
        """Per mark the bit that a shape says it with, and whether it may be in a line: an expression may tell digits or ids
        apart that look alike in a shape, as ``status=200`` does."""

    def values(self, name: str, line: pl.Expr) -> pl.Expr:
        """Return what the groups of a mark's expression match, as a struct of ``message_id`` and ``key``; null where nothing does."""
        pattern = self.patterns.get(name)
        names = re.compile(pattern).groupindex if pattern else {}
        groups = line.str.extract_groups(pattern) if pattern and set(names) & _GROUPS else pl.lit(None)
        return pl.struct(
            [
                (groups.struct.field(group).replace("", None) if group in names else pl.lit(None, pl.String)).alias(
                    group
                )
                for group in sorted(_GROUPS)
            ]
        )


_GROUPS = {"message_id", "key"}
_MARKS = ("effect", "started", "guard", "deleted", "failed")
_SAYS = {"effect": EFFECT, "started": STARTED}
"""Marks that a shape can have; one with any other is odd."""


def _for_vectors(text: str) -> str | None:
    """Return a configured expression as the vectors' engine reads it, with Python's ASCII classes; None if it cannot."""
    if re.search(r"\(\?[=!<>](?!P?[A-Za-z_]+>)|\(\?P=|\\[1-9ZABG]|[*+?}]\+|\(\?[aiLmsux-]", text.replace("(?P<", "(")):
        return None
    ascii_classes = {r"\S": r"[^\t\n\x0B\f\r ]", r"\s": r"[\t\n\x0B\f\r ]", r"\w": "[A-Za-z0-9_]", r"\d": "[0-9]"}
    if re.search(r"\[[^\]]*\\[SWDswdb]", text) or re.search(r"\\[WDbB]", text):
        return None
    out = re.sub(r"\\.", lambda m: ascii_classes.get(m[0], m[0]), text)
    try:
        pl.Series([""]).str.extract(out, 1)
        re.compile(out)
    except (pl.exceptions.PolarsError, re.error):
        return None
    return out


def masked(lines: pl.Series) -> pl.Series:
    """Return texts with every digit as 0; lengths stay as they are.

    >>> masked(pl.Series(["pay_17 é"])).to_list()
    ['pay_00 é']
    """
    array = lines.rechunk().to_arrow().cast(pa.large_string())
    validity, offsets, data = array.buffers()
    if data is None:
        return lines
    text = np.frombuffer(data, np.uint8).copy()
    text[(text >= 48) & (text <= 57)] = 48
    same = pa.LargeStringArray.from_buffers(len(array), offsets, pa.py_buffer(text), validity, -1, array.offset)
    return pl.Series(lines.name, pl.from_arrow(same))


def shapes(lines: pl.DataFrame) -> pl.Series:
    """Return the shape of each application line, given ``line``, ``own_id`` and ``line_id`` (what its prefix holds)."""
    line, own = pl.col("line"), pl.col("line_id").is_not_null() & (pl.col("line_id") == pl.col("own_id"))
    is_json = line.str.starts_with("{")
    in_json = pl.when(own & is_json).then(line.str.replace(_JSON_ID, f'equestId":"{_OWN}'))
    once = in_json.when(own).then(line.str.replace(UUID, _OWN)).otherwise(line)
    return masked(lines.select(line=once.str.replace_all(UUID, OTHER_ID)).to_series())


def ask(shape: str, group: LogGroup) -> Shape:
    """Ask the grammar what every line of a shape says."""
    return _shape_of(parse_line(shape.replace(_OWN, OWN_ID), group.consumer, group.name), group)


def _shape_of(said: ParsedLine, group: LogGroup) -> Shape:
    if said.kind not in ("app", "other") or said.request_id not in (None, OWN_ID):
        return ODD
    if any((said.records, said.handle_error, said.idempotency, said.worker, said.guard_mark, said.batch_item_failures)):
        return ODD
    if said.deleted_mark or said.failed_mark or said.receive_count is not None:
        return ODD
    if said.function_name is not None and said.function_name != re.sub(r"[0-9]", "0", group.function_name or ""):
        return ODD
    says = RESPONSE if said.batch_item_failures is not None else 0
    marks = [(m, bit) for m, bit in ((said.effect, EFFECT), (said.started, STARTED)) if m]
    ids = {i for i in (*(said.mentions or ()), *(m.message_id for m, _ in marks)) if i is not None}
    if ids - {OTHER_ID}:
        return ODD
    says |= (MENTION if said.mentions else 0) | sum(bit for _, bit in marks)
    names = {m.message_id is not None for m, _ in marks}
    if len(names) > 1:
        return ODD
    return Shape(
        False,
        says,
        bool(ids),
        said.effect.key if said.effect else None,
        said.started.key if said.started else None,
    )


def needles_of(consumers: Sequence[Marks]) -> list[str]:
    """Return the texts of which a line must hold one to be worth a shape."""
    return sorted({*_NEEDLES, *(needle for marks in consumers for needle in marks.needles)})


# -- printed events -----------------------------------------------------------------------------------------------------

_LIST = sqs_records.LIST.compiled
_PLAIN_PREFIX = re.compile(
    r"(?:\[[A-Z]{3,11}\]\t)?[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]{8,15}Z\t[0-9a-f]{8}-[0-9a-f-]{27}\t(?:[A-Z]{3,11}\t)?(?=\{[\"']R)"
)
"""Python's and Node's own prefix, known without asking the grammar."""
_OPENINGS = ('{"Records": [', '{"Records":[', "{'Records': [")
_TEXT = r"^[A-Za-z0-9_.:/@+=#-]{1,300}$"
_RULES = {
    "message_id": rf"^{UUID}$",
    "receipt_handle": r"^[A-Za-z0-9+/=~_.-]+$",
    "receive_count": r"^[0-9]{1,9}$",
    "sent_ms": r"^[0-9]{1,18}$",
    "first_receive_ms": r"^[0-9]{1,18}$",
    "group_id": _TEXT,
    "deduplication_id": _TEXT,
    "body_md5": r"^[0-9a-fA-F]{32}$",
    "queue_arn": _TEXT,
    "dead_letter_source_arn": _TEXT,
    "sender_id": _TEXT,
}
"""What a printed value must look like for vectors to take it as the grammar would."""
_NUMBERS = {"receive_count": pl.Int32, "sent_ms": pl.Int64, "first_receive_ms": pl.Int64}
RECORD_COLUMNS = ("event", "batch_position", *_RULES, "key")


def records_of(
    events: Sequence[str], groups: Sequence[LogGroup], keys: BusinessKeys
) -> tuple[pl.DataFrame, Sequence[int]]:
    """Read printed events in the commonest forms, JSON and Python's repr; returns their records, and which events are odd.

    ``event`` is the place of the event among those given; ``key`` the business key of the body.
    """
    rows: list[tuple[object, ...]] = []
    odd = []
    for number, (line, group) in enumerate(zip(events, groups, strict=True)):
        try:
            rows += _records(number, line, group, keys)
        except (
            msgspec.MsgspecError,
            LookupError,
            TypeError,
            AttributeError,
            ValueError,
            SyntaxError,
            RecursionError,
            MemoryError,
        ):
            odd.append(number)
    texts = dict.fromkeys(RECORD_COLUMNS, pl.String) | {"event": pl.UInt32, "batch_position": pl.Int32}
    try:
        found = pl.DataFrame(rows, schema=texts, orient="row")
    except (pl.exceptions.PolarsError, TypeError):  # a value that is no text
        return pl.DataFrame(schema=texts), list(range(len(events)))
    fits = pl.all_horizontal(
        pl.col(name).str.contains(rule).fill_null(name not in ("message_id", "receipt_handle"))
        for name, rule in _RULES.items()
    )
    found = found.with_columns(fits=fits & ~pl.struct("event", "message_id").is_duplicated())
    odd += found.filter(~pl.col("fits"))["event"].unique().to_list()
    found = found.drop("fits").filter(~pl.col("event").is_in(odd))
    return found.with_columns(pl.col(name).cast(kind) for name, kind in _NUMBERS.items()), odd


class _Attributes(msgspec.Struct):
    ApproximateReceiveCount: str | None = None
    SentTimestamp: str | None = None
    ApproximateFirstReceiveTimestamp: str | None = None
    MessageGroupId: str | None = None
    MessageDeduplicationId: str | None = None
    DeadLetterQueueSourceArn: str | None = None
    SenderId: str | None = None


class _Record(msgspec.Struct):
    messageId: str
    receiptHandle: str
    attributes: _Attributes
    body: str | None = None
    md5OfBody: str | None = None
    eventSourceARN: str | None = None


_DECODE = msgspec.json.Decoder(list[_Record]).decode


def _listed(text: str) -> list[_Record]:
    if "'" not in text[:3]:
        return _DECODE(text)
    return msgspec.convert(ast.literal_eval(text), list[_Record])


def _records(number: int, line: str, group: LogGroup, keys: BusinessKeys) -> list[tuple[object, ...]]:
    prefix = _PLAIN_PREFIX.match(line)
    begin = prefix.end() if prefix else 0
    opened = line.find("[", begin, begin + 16)
    if line[begin : opened + 1] not in _OPENINGS:
        begin, opened = _opening(line, group)
    end = line.rindex("}]") + 2
    if line[end:].strip("} \t\r\n"):
        raise ValueError
    queue_name, key_of_body = group.queue_name, keys.key_of_body
    rows: list[tuple[object, ...]] = []
    for place, record in enumerate(_listed(line[opened:end]), 1):
        said, arn = record.attributes, record.eventSourceARN
        rows.append(
            (
                number,
                place,
                record.messageId,
                record.receiptHandle,
                said.ApproximateReceiveCount,
                said.SentTimestamp,
                said.ApproximateFirstReceiveTimestamp,
                said.MessageGroupId,
                said.MessageDeduplicationId,
                record.md5OfBody,
                arn,
                said.DeadLetterQueueSourceArn,
                said.SenderId,
                key_of_body(record.body, arn.rpartition(":")[2] if arn else queue_name),
            )
        )
    if not rows:
        raise ValueError
    return rows


def _opening(line: str, group: LogGroup) -> tuple[int, int]:
    """Return where an event begins whose line begins otherwise, and its bracket; ValueError unless it says nothing before it."""
    begin = _LIST.search(line)
    if begin is None or not _is_silent(_without_prefix(line[: begin.start()]), group):
        raise ValueError
    return begin.start(), begin.end() - 1


def _without_prefix(before: str) -> str:
    return before if before[:1] == "{" else before[len(app_lines.PREFIX.find(before) or "") :]


@lru_cache(maxsize=10_000)
def _is_silent(before: str, group: LogGroup) -> bool:
    """Tell that what stands between a line's prefix and its event says nothing; a JSON line has nothing there at all."""
    if before.strip() in ('{"R', "{'R"):
        return True
    return "{" not in before.rstrip("{\"'R ") and ask(before, group) == SILENT
