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

QUICK_FIELDS = tuple(name for name in RECORD_FIELDS if name != "position")
_JOINT = "\u0001"
_FORMS = (sqs_records.JSON_BODY, sqs_records.REPR_BODY, sqs_records.ANY_BODY)


def key_style(line: Column) -> Column:
    """How the keys of printed records are quoted; null where no record is printed."""
    style = F.coalesce(find(line, sqs_records.HANDLE_KEY), find(line, sqs_records.COUNT_KEY))
    return F.when(line.contains(sqs_records.NEEDLE) & contains_any(line, sqs_records.KEY_NEEDLES), style)


def list_begin(line: Column) -> Column:
    """Where the name of the list of records stands, from 1; 0 where there is no list."""
    return F.regexp_instr(line, F.lit(sqs_records.LIST.java))


def quick_quote(line: Column, style: Column) -> Column:
    """The quote of a line that may go the quick way: one character; null for every other line."""
    usual_json = ~has(line, sqs_records.UNUSUAL_BODY['"'])
    usual_repr = ~line.contains(sqs_records.OTHER_QUOTE_VALUE) & ~has(line, sqs_records.UNUSUAL_BODY["'"])
    return cases(
        *[
            ((style == printed) & (usual_json if quote == '"' else usual_repr), F.lit(quote))
            for printed, quote in sqs_records.QUICK_STYLES.items()
        ]
    )


def quick_values(line: Column, quote: Column, name: str) -> Column:
    """Every value of one field, in printed order."""
    return cases(*[(quote == q, find_all(line, fields[name], "value")) for q, fields in sqs_records.QUICK.items()])


def quick_fits(values: dict[str, Column]) -> Column:
    """Tell whether every field is there once for each record, or for none."""
    records_count = F.size(values["message_id"])
    fits = (F.size(values["receipt_handle"]) == records_count) | (F.size(values["receive_count"]) == records_count)
    for value in values.values():
        fits = fits & ((F.size(value) == records_count) | (F.size(value) == 0))
    return (records_count > 0) & fits


def quick_records(values: dict[str, Column]) -> Column:
    """The records of a line whose values fit."""
    columns = {
        **values,
        "position": F.sequence(F.lit(1), F.size(values["message_id"])),
        "body": _bodies(values["body"]),
    }
    typed = [columns[name].cast(f"array<{kind}>").alias(name) for name, kind in RECORD_FIELDS.items()]
    return F.arrays_zip(*typed)


def _bodies(printed: Column) -> Column:
    joined = F.array_join(printed, _JOINT)
    unescaped = F.split(replaced(joined, *sqs_records.UNESCAPE), _JOINT)
    return F.when(joined.contains("\\"), unescaped).otherwise(printed)


def careful(line: Column, style: Column, with_bodies: bool) -> Column:
    """Read any form: a struct of records, text and around, as ``forensics.parsers.sqs_records.printed``."""
    return let(
        _plain_text(line, style),
        lambda plain: let(list_begin(plain), lambda at: _printed(plain, at, style, with_bodies)),
    )


def _plain_text(line: Column, style: Column) -> Column:
    text = F.when(style.contains("&"), replaced(line, *sqs_records.HTML)).otherwise(line)
    once = let(text, lambda t: F.when(style.contains("\\"), replaced(t, *sqs_records.UNESCAPE)).otherwise(t))
    return let(once, lambda t: F.when(style.contains("\\\\\\"), replaced(t, *sqs_records.UNESCAPE)).otherwise(t))


def _printed(plain: Column, at: Column, style: Column, with_bodies: bool) -> Column:
    marked = F.substring(plain, at, F.lit(1_000_000_000))
    listed = F.when(
        at > 0, F.substring(marked, F.length(raw(marked, sqs_records.LIST)) + 1, F.lit(1_000_000_000))
    ).otherwise(plain)
    before = F.substring(plain, F.lit(1), at - 1)

    def read(text: Column) -> Column:
        return let(
            _blanked(text, style),
            lambda blanked: F.struct(
                _careful_records(
                    blanked,
                    _printed_bodies(text, style) if with_bodies else F.array().cast("array<string>"),
                    with_bodies,
                ).alias("records"),
                F.when(at > 0, before).otherwise(blanked).alias("text"),
                F.when(at > 0, F.concat(before, F.lit("\n"), tail(text))).otherwise(blanked).alias("around"),
            ),
        )

    return let(listed, read)


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
    parts = F.filter(pieces, lambda part: part.contains(sqs_records.NEEDLE))

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
            (F.size(bare_ids) > 0, bare_ids),
        )

    return F.when(text.contains(sqs_records.RESPONSE_NEEDLE), let(find(text, sqs_records.RESPONSE, "list"), named))
