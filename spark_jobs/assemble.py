"""Lines of streams to invocations, handlings and deliveries, one line after the other: the meaning that vectors stand in for."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, groupby
from operator import itemgetter
from typing import Any

import msgspec
import polars as pl

from forensics.counting.frames import frame
from forensics.counting.item_hashes import item_hash
from forensics.counting.waiting_lines import STREAM
from forensics.identity import handle_prefix
from forensics.judging.judge import judge_alone
from forensics.judging.placing import place
from forensics.judging.progress import mark_progress
from forensics.judging.rows import delivery_row
from forensics.parsers import parse_line
from forensics.parsers.grammar import UUID
from forensics.parsers.needles import OF_WORKERS, of_marks
from forensics.settings_in_force import SettingsInForce
from forensics.streams.attribution import takes_one_at_a_time
from forensics.streams.deliveries import deliveries_of
from forensics.streams.facts import facts_of, of_line
from forensics.streams.handlings import delivery_of, handlings_of, unnamed_rows
from forensics.streams.handlings import lines_row as shown_by_handling
from forensics.streams.invocations import assembled, invocation_row, statements_of
from forensics.streams.invocations import lines_row as shown_by_invocation
from forensics.streams.model import Delivery, Fact, LogGroup, LogLine, PlacedFact
from forensics.streams.reading import Reading
from forensics.streams.repeats import apart, mark_in_hand
from forensics.streams.runs import Statement
from spark_jobs.parts import (
    DELIVERY_SCHEMA,
    FACT_SCHEMA,
    HANDLE_SCHEMA,
    HANDLING_SCHEMA,
    INVOCATION_SCHEMA,
    REST_SCHEMA,
    Part,
    packed,
)

_FACTS = msgspec.msgpack.Decoder(list[Fact]).decode
_STATEMENT = msgspec.msgpack.Decoder(Statement).decode
PLACE = (*STREAM, "at", "order_in_ms", "evidence_id")


def of_streams(lines: pl.DataFrame, reading: Reading) -> Part:
    """Return what the lines of some functions' streams tell, each stream as if these were all its lines."""
    said = (
        (log_stream, group := reading.groups.of(log_group, log_stream), _statements(mine, group, reading))
        for log_group, log_stream, mine in _by_stream(lines, "line")
    )
    return _of_said(said, reading)


def said_by(lines: pl.DataFrame, reading: Reading) -> pl.DataFrame:
    """Return what lines of functions say one by one (``REST_SCHEMA``); where ``line`` is null it was seen to say nothing."""
    rows: list[tuple[Any, ...]] = []
    is_silent = pl.col("line").is_null()
    for log_group, log_stream, mine in _by_stream(lines.filter(~is_silent), "line"):
        for said in _statements(mine, reading.groups.of(log_group, log_stream), reading):
            is_start = said.kind == "start" and said.request_id is not None
            rows.append((log_group, log_stream, *said[:3], said.request_id, is_start, packed(said)))
    silent = lines.filter(is_silent)
    nothing = {"request_id": None, "is_start": False, "said": None}
    silent = silent.with_columns(pl.lit(value).cast(REST_SCHEMA[name]).alias(name) for name, value in nothing.items())
    return pl.concat([frame(rows, REST_SCHEMA), silent.select(*REST_SCHEMA)])


def of_said(rest: pl.DataFrame, reading: Reading) -> Part:
    """Return what some functions' streams tell by what their lines say (``REST_SCHEMA``), as if these were all."""
    said = (
        (log_stream, reading.groups.of(log_group, log_stream), _unpacked(mine))
        for log_group, log_stream, mine in _by_stream(rest, "said")
    )
    return _of_said(said, reading)


def _of_said(streams: Iterable[tuple[str, LogGroup, Sequence[Statement]]], reading: Reading) -> Part:
    invocations: list[dict[str, Any]] = []
    deliveries: list[tuple[Any, ...]] = []
    for log_stream, group, said in streams:
        for invocation in assembled(said, log_stream, group, reading.in_force):
            invocations.append(invocation_row(invocation, group) | shown_by_invocation(invocation, group))
            deliveries += _placed_rows(deliveries_of(invocation), group, reading.in_force)
    return Part(frame(invocations, INVOCATION_SCHEMA), _hashed(deliveries))


def _statements(lines: Iterable[tuple[Any, ...]], group: LogGroup, reading: Reading) -> list[Statement]:
    return statements_of((LogLine(*line) for line in lines), group, reading.keys)


def _unpacked(rest: Iterable[tuple[Any, ...]]) -> list[Statement]:
    return [
        _STATEMENT(said) if said is not None else Statement(at, order, name, "other") for at, order, name, said in rest
    ]


def facts_of_workers(lines: pl.DataFrame, reading: Reading) -> pl.DataFrame:
    """Return what lines of workers' log groups state, one row per line that states anything (``FACT_SCHEMA``)."""
    rows = []
    for (log_group,), mine in lines.sort("log_group", maintain_order=True).group_by("log_group", maintain_order=True):
        group = reading.groups[str(log_group)]
        consumer, key_of = group.consumer, reading.keys.in_group(group.queue_name)
        for row in _worth_reading(mine, group).iter_rows(named=True):
            said, where = parse_line(row["line"], consumer, group.name), (row["at"], row["evidence_id"])
            if facts := of_line(facts_of(said, *where, key_of), said, row["line"], *where):
                rows.append((*(row[name] for name in PLACE), facts))
    return fact_rows(rows)


def fact_rows(rows: Iterable[tuple[Any, ...]]) -> pl.DataFrame:
    """Return lines as ``FACT_SCHEMA``, given where each stands (up to its evidence id) and its facts."""
    schema = {name: kind for name, kind in FACT_SCHEMA.items() if name != "keys"}
    facts = frame(((*place, packed(facts), _named_by(facts)) for *place, facts in rows), schema).with_row_index("row")
    each = facts.select("row", *STREAM, item="items").explode("item").filter(pl.col("item").is_not_null())
    keys = each.group_by("row").agg(keys=pl.struct(*STREAM, "item").hash())
    found = facts.join(keys, on="row", how="left", maintain_order="left")
    return found.with_columns(pl.col("keys").fill_null(pl.lit([], FACT_SCHEMA["keys"]))).select(*FACT_SCHEMA)


def _named_by(facts: Sequence[Fact]) -> list[str]:
    """Return the messages that a line's facts name; none where one of them names none."""
    named = {fact.message_id or "" for fact in facts}
    return [] if "" in named else sorted(named)


def of_items(facts: pl.DataFrame, keys: pl.Series, reading: Reading) -> Part:
    """Return what facts tell of some messages (``keys``) in streams where every fact names its message.

    There no line bears on a message that it does not name.
    """
    each = facts.explode("items", "keys").filter(pl.col("keys").is_in(keys.implode()))
    return _of_facts(each.with_columns(item="items"), {}, reading)


def _worth_reading(lines: pl.DataFrame, group: LogGroup) -> pl.DataFrame:
    marks = of_marks(group.consumer)
    if "" in marks:
        return lines
    line = pl.col("line")
    return lines.filter(line.str.contains_any([*OF_WORKERS, *marks]) | line.str.contains(UUID))


def handles_of(facts: pl.DataFrame) -> pl.DataFrame:
    """Return the receipt handles that workers' facts show of records (``HANDLE_SCHEMA``)."""
    rows = {
        (log_group, handle_prefix(fact.receipt_handle), fact.message_id)
        for log_group, raw in facts.select("log_group", "facts").iter_rows()
        for fact in _FACTS(raw)
        if fact.role == "record" and fact.message_id and fact.receipt_handle
    }
    return frame(sorted(rows), HANDLE_SCHEMA)


def of_workers(facts: pl.DataFrame, handles: pl.DataFrame, reading: Reading) -> Part:
    """Return what the facts of some workers' streams tell; ``handles`` are those of their log groups."""
    only = (
        handles.unique()
        .group_by("log_group", "handle")
        .agg(pl.col("message_id").n_unique().alias("n"), pl.col("message_id").first())
    )
    by_group: dict[str, dict[str, str]] = {}
    for log_group, handle, count, message_id in only.iter_rows():
        if count == 1:
            by_group.setdefault(log_group, {})[handle] = message_id
    return _of_facts(facts.with_columns(item=pl.lit(None, pl.String)), by_group, reading)


def _of_facts(facts: pl.DataFrame, by_group: Mapping[str, Mapping[str, str]], reading: Reading) -> Part:
    """Put handlings together; of a row with an ``item`` only what it says of that one."""
    deliveries: list[tuple[Any, ...]] = []
    handlings: list[dict[str, Any]] = []
    for log_group, log_stream, mine in _by_stream(facts, "facts", "item"):
        group = reading.groups[log_group]
        placed = [
            PlacedFact(at, order, place, fact)
            for at, order, _, raw, item in mine
            for place, fact in enumerate(_FACTS(raw))
            if item is None or fact.message_id == item
        ]
        repeats, placed = apart(placed)
        one_at_a_time = takes_one_at_a_time(group.consumer)
        found = handlings_of(placed, log_stream, group, one_at_a_time, by_group.get(log_group, {}))
        told = [(handling.facts, delivery_of(handling, group)) for handling in found]
        mark_in_hand(repeats, told, group.silence_ms)
        deliveries += chain.from_iterable(_placed_rows([delivery], group, reading.in_force) for _, delivery in told)
        handlings += [shown_by_handling(handling, group) for handling in found]
        handlings += unnamed_rows(placed, log_stream, group, one_at_a_time, found)
    return Part(deliveries=_hashed(deliveries), handlings=frame(handlings, HANDLING_SCHEMA))


def _by_stream(lines: pl.DataFrame, *names: str) -> Iterator[tuple[str, str, Iterator[tuple[Any, ...]]]]:
    """Yield each stream with its lines in order: time, order and evidence id, then the columns of these ``names``."""
    ordered = lines.select(*PLACE, *names).sort(PLACE)
    for (log_group, log_stream), mine in groupby(ordered.iter_rows(), itemgetter(0, 1)):
        yield log_group, log_stream, (row[2:] for row in mine)


def _placed_rows(batch: Sequence[Delivery], group: LogGroup, in_force: SettingsInForce) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of one consumer's deliveries, each as if it were its message's only one."""
    for delivery in batch:
        place(delivery, group, in_force)
    mark_progress(batch)
    for delivery in batch:
        is_over = judge_alone(delivery)
        yield (
            *delivery_row(delivery),
            delivery.first_receive_ms,
            delivery.dead_letter_source_arn,
            delivery.body_shape,
            delivery.key_marker_count,
            delivery.has_response,
            delivery.error_type,
            delivery.is_in_progress,
            delivery.is_not_reached,
            delivery.job_id,
            not is_over,
            packed(delivery),
        )


def _hashed(deliveries: Sequence[tuple[Any, ...]]) -> pl.DataFrame:
    schema = {name: kind for name, kind in DELIVERY_SCHEMA.items() if name != "item_hash"}
    return frame(deliveries, schema).with_columns(item_hash=item_hash())
