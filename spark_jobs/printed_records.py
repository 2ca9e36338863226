"""SQS records printed on log lines, as Spark columns; ``forensics.parsers.sqs_records`` says how they are read."""

from pyspark.sql import Column
from pyspark.sql import functions as F

from forensics.parsers import mentions, sqs_records
from forensics.parsers.grammar import Pattern
from spark_jobs.grammar_columns import cases, contains_any, find, find_all, has, let, raw, replaced

RECORD_FIELDS = {
    "position": "int",
    "message_id": "string",
    "receive_count": "int",
    "sent_ms": "bigint",
    "first_receive_ms": "bigint",
    "group_id": "string",
    "deduplication_id": "string",
    "receipt_handle": "string",
    "body_md5": "string",
    "queue_arn": "string",
    "dead_letter_source_arn": "string",
    "body": "string",
}
"""One record of ``records``; ``position`` counts from 1 in printed order."""

_TO_THE_END = 1_000_000_000
_JOINT = "\u0001"
_FORMS = (sqs_records.JSON_BODY, sqs_records.REPR_BODY, sqs_records.ANY_BODY)
_ATTRIBUTES = {
    "receive_count": "ApproximateReceiveCount",
    "sent_ms": "SentTimestamp",
    "first_receive_ms": "ApproximateFirstReceiveTimestamp",
    "group_id": "MessageGroupId",
    "deduplication_id": "MessageDeduplicationId",
    "dead_letter_source_arn": "DeadLetterQueueSourceArn",
}
_PROPERTIES = {
    "message_id": "messageId",
    "receipt_handle": "receiptHandle",
    "body_md5": "md5OfBody",
    "queue_arn": "eventSourceARN",
    "body": "body",
}


def key_style(line: Column) -> Column:
    """How the keys of printed records are quoted; null where no record is printed."""
    style = F.coalesce(find(line, sqs_records.HANDLE_KEY), find(line, sqs_records.COUNT_KEY))
    return F.when(contains_any(line, sqs_records.NEEDLES) & line.contains(sqs_records.ID_NEEDLE), style)


def list_mark(line: Column) -> Column:
    """The name of the list of records with its bracket; empty where the line has none."""
    return raw(line, sqs_records.LIST)


def before_list(line: Column, mark: Column) -> Column:
    """What stands before the list."""
    return F.call_function("substring_index", line, mark, F.lit(1))


def quick_records(line: Column, style: Column, mark: Column, with_bodies: bool) -> Column:
    """The records of a Lambda event that Spark's JSON reader can read, single quotes or double; else null.

    It stops where the first list ends, so a line with a second one goes the careful way.
    """
    begin = F.octet_length(before_list(line, mark)) + F.octet_length(mark)
    listed = F.substring(line.cast("binary"), begin, F.lit(_TO_THE_END)).cast("string")
    properties = [name for key, name in _PROPERTIES.items() if with_bodies or key != "body"]
    attributes = ",".join(f"{name}:string" for name in _ATTRIBUTES.values())
    schema = f"array<struct<{','.join(f'{name}:string' for name in properties)},attributes:struct<{attributes}>>>"
    is_plain = (style.contains('"') | style.contains("'")) & ~style.contains("\\")
    is_only = F.octet_length(F.call_function("substring_index", line, mark, F.lit(2))) == F.octet_length(line)
    return F.when(
        (mark != "") & is_plain & is_only, let(F.from_json(listed, schema), lambda r: _zipped(r, with_bodies))
    )


def _zipped(read: Column, with_bodies: bool) -> Column:
    """Arrays of values put together as records; null unless each has an id, and a handle or a receive count."""
    columns = {key: read[name] for key, name in _PROPERTIES.items() if with_bodies or key != "body"}
    columns |= {key: read["attributes"][name] for key, name in _ATTRIBUTES.items()}
    columns["position"] = F.sequence(F.lit(1), F.size(read))
    columns.setdefault("body", F.array().cast("array<string>"))
    typed = [_cast(columns[name], kind).alias(name) for name, kind in RECORD_FIELDS.items()]
    ids, handles, counts = columns["message_id"], columns["receipt_handle"], columns["receive_count"]
    complete = F.size(F.array_compact(ids)) == F.size(ids)
    known = (F.size(F.array_compact(handles)) == F.size(ids)) | (F.size(F.array_compact(counts)) == F.size(ids))
    return F.when((F.size(ids) > 0) & complete & known, F.arrays_zip(*typed))


def _cast(values: Column, kind: str) -> Column:
    return values if kind == "string" else values.try_cast(f"array<{kind}>")


def careful(line: Column, style: Column, with_bodies: bool) -> Column:
    """Read any form: a struct of records, text and around, as ``forensics.parsers.sqs_records.printed``."""
    return let(
        _plain_text(line, style),
        lambda plain: let(list_mark(plain), lambda mark: _printed(plain, mark, style, with_bodies)),
    )


def _plain_text(line: Column, style: Column) -> Column:
    text = F.when(style.contains("&"), replaced(line, *sqs_records.HTML)).otherwise(line)
    once = let(text, lambda t: F.when(style.contains("\\"), replaced(t, *sqs_records.UNESCAPE)).otherwise(t))
    return let(once, lambda t: F.when(style.contains("\\\\\\"), replaced(t, *sqs_records.UNESCAPE)).otherwise(t))


def _printed(plain: Column, mark: Column, style: Column, with_bodies: bool) -> Column:
    has_list, before = mark != "", before_list(plain, mark)
    listed = F.when(has_list, F.substring(plain, F.length(before) + F.length(mark) + 1, F.lit(_TO_THE_END)))

    def read(text: Column) -> Column:
        bodies = _printed_bodies(text, style) if with_bodies else F.array().cast("array<string>")
        return let(
            _blanked(text, style),
            lambda blanked: F.struct(
                _careful_records(blanked, bodies, with_bodies).alias("records"),
                F.when(has_list, before).otherwise(blanked).alias("text"),
                F.when(has_list, F.concat(before, F.lit("\n"), tail(text))).otherwise(blanked).alias("around"),
            ),
        )

    return let(F.coalesce(listed, plain), read)


def tail(listed: Column) -> Column:
    """What follows the list of records; empty where its end is not on the line."""
    after = F.substring_index(listed, sqs_records.LIST_END, -1)
    return F.when(F.octet_length(after) < F.octet_length(listed), after).otherwise(F.lit(""))


def _by_style(style: Column, *of_json_repr_any: Column) -> Column:
    of_json, of_repr, of_any = of_json_repr_any
    is_json = style.contains('":') | style.contains("&quot;:")
    return F.when(is_json, of_json).when(style.contains("':"), of_repr).otherwise(of_any)


def _printed_bodies(text: Column, style: Column) -> Column:
    return _by_style(style, *[find_all(text, form, "body") for form in _FORMS])


def _blanked(text: Column, style: Column) -> Column:
    bare = _by_style(style, *[F.regexp_replace(text, form.java, sqs_records.BODY_BLANK) for form in _FORMS])
    return replaced(bare, sqs_records.ATTRIBUTES)


def _careful_records(blanked: Column, bodies: Column, with_bodies: bool) -> Column:
    pieces = F.split(F.regexp_replace(blanked, sqs_records.BETWEEN.java, _JOINT), _JOINT)
    parts = F.filter(pieces, lambda part: part.contains(sqs_records.ID_NEEDLE))

    def field(part: Column, pattern: Pattern) -> Column:
        return F.get(find_all(part, pattern, pattern.name), F.lit(0))

    def record(part: Column, index: Column, parts: Column, bodies: Column) -> Column:
        count, last = F.size(parts), F.element_at(parts, -1)
        cut = (F.size(bodies) == count - 1) & ~last.contains(sqs_records.BODY_BLANK)
        body = F.when(cut | (F.size(bodies) == count), _unquoted(F.get(bodies, index))) if with_bodies else F.lit(None)
        return F.struct(
            (index + 1).alias("position"),
            field(part, sqs_records.MESSAGE_ID).alias("message_id"),
            field(part, sqs_records.RECEIVE_COUNT).cast("int").alias("receive_count"),
            field(part, sqs_records.SENT).cast("bigint").alias("sent_ms"),
            field(part, sqs_records.FIRST_RECEIVE).cast("bigint").alias("first_receive_ms"),
            field(part, sqs_records.GROUP_ID).alias("group_id"),
            field(part, sqs_records.DEDUPLICATION_ID).alias("deduplication_id"),
            field(part, sqs_records.RECEIPT_HANDLE).alias("receipt_handle"),
            field(part, sqs_records.BODY_MD5).alias("body_md5"),
            field(part, sqs_records.QUEUE_ARN).alias("queue_arn"),
            field(part, sqs_records.DEAD_LETTER_SOURCE_ARN).alias("dead_letter_source_arn"),
            body.cast("string").alias("body"),
        )

    read = let(parts, lambda p: let(bodies, lambda b: F.transform(p, lambda part, i: record(part, i, p, b))))
    real = F.filter(
        read, lambda r: r["message_id"].isNotNull() & (r["receive_count"].isNotNull() | r["receipt_handle"].isNotNull())
    )
    return let(real, lambda r: F.when(F.size(r) > 0, r))


def _unquoted(printed: Column) -> Column:
    quote = F.substring(printed, 1, 1)
    inside = F.substring(printed, F.lit(2), F.length(printed) - 2)
    return F.when(~quote.isin('"', "'", "`"), printed).when(
        (F.length(printed) >= 2) & printed.endswith(quote), replaced(inside, *sqs_records.UNESCAPE)
    )


def batch_item_failures(text: Column) -> Column:
    """The ids a logged batch response names; empty for an empty one, null where no response is logged."""

    def named(listed: Column) -> Column:
        ids, bare_ids = find_all(listed, sqs_records.ITEM_IDENTIFIER, "id"), find_all(listed, mentions.ONE_ID)
        return cases(
            (has(listed, sqs_records.EMPTY_RESPONSE), F.array().cast("array<string>")),
            (F.size(ids) > 0, ids),
            (has(listed, sqs_records.OTHER_ENTRY), F.array(F.lit(""))),
            (F.size(bare_ids) > 0, bare_ids),
        )

    return F.when(text.contains(sqs_records.RESPONSE_NEEDLE), let(find(text, sqs_records.RESPONSE, "list"), named))
