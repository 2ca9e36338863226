"""Runs that failed: which did, and how far their batches got, asked once for all that look alike."""

from collections.abc import Sequence
from typing import Any

import polars as pl

from forensics.judging.effect import decide_effect
from forensics.judging.placing import take_declared
from forensics.judging.progress import mark_progress
from forensics.parsers.line import ParsedLine
from forensics.settings import Consumer
from forensics.streams.invocations import ENDED, end_said
from forensics.streams.model import Delivery

SCHEMA = {
    "place": pl.UInt32,
    "is_in_progress": pl.Boolean,
    "is_not_reached": pl.Boolean,
    "effect": pl.String,
    "basis": pl.String,
}
_REPORTED_TIMEOUT = end_said(ParsedLine("report", status="timeout"))
_KIND = ("group", "run_status")
_MARKED, _STARTED, _FIRST = 1, 2, 4
_OF_PLACE = 8
"""A message's place in its batch counts so much; below that stands what its lines say of it, and whether it came first."""


def failed_runs(ends: pl.DataFrame, reported: pl.Series) -> pl.DataFrame:
    """Return how each run ended of which a line tells that it failed, and the lines that do (``failure_ids``), REPORT aside.

    ``ends``: lines with their run, ``end`` (see ``end_said``), error_type and evidence_id; ``reported``: runs whose REPORT has the
    status of a timeout.
    """
    by_report = reported.to_frame("run").with_columns(end=pl.lit(_REPORTED_TIMEOUT, pl.UInt8))
    every = pl.concat([ends.select("run", "end", "error_type", "evidence_id"), by_report], how="diagonal")
    is_told = pl.col("end") == pl.col("end").max()
    return every.group_by("run").agg(
        run_status=pl.col("end").max().replace_strict(ENDED, return_dtype=pl.String),
        error_type=pl.col("error_type").filter(is_told).max(),
        failure_ids=pl.col("evidence_id").drop_nulls(),
    )


def naming_runs(ends: pl.DataFrame, records: pl.DataFrame) -> pl.Series:
    """Return runs of which a line that tells of their end may name one of their messages, by its id or its key: none that does is missing.

    ``ends``: run and line; ``records``: run, message_id and key.
    """
    lines = ends.select("run", "line", lower=pl.col("line").str.to_lowercase())
    of_messages = lines.join(records.select("run", "message_id", "key"), on="run")
    by_id = pl.col("lower").str.contains(pl.col("message_id"), literal=True)
    by_key = pl.col("line").str.contains(pl.col("key"), literal=True)
    return of_messages.filter(by_id | by_key.fill_null(False))["run"].unique()


def far_along(rows: pl.DataFrame, consumers: Sequence[Consumer]) -> pl.DataFrame:
    """Return how far the batches of some runs got, each message by its ``place`` among the rows, in order (SCHEMA).

    ``rows`` are of whole printed batches of functions: run, group, run_status, batch_position, marker_at, started_at and
    receive_count. ``consumers`` are those of the groups by their number. Nothing but these bears on it (``mark_progress``,
    and the rows of the effect table that a printed batch can meet whose lines hold no guard).
    """
    said = sum(
        what.cast(pl.Int32) * bit
        for bit, what in (
            (_MARKED, pl.col("marker_at").is_not_null()),
            (_STARTED, pl.col("started_at").is_not_null()),
            (_FIRST, (pl.col("receive_count") == 1).fill_null(False)),
        )
    )
    place = pl.int_range(pl.len(), dtype=pl.UInt32)
    told = rows.select("run", *_KIND, place=place, code=pl.col("batch_position") * _OF_PLACE + said)
    batches = (
        told.sort("code")
        .group_by("run")
        .agg(pl.col(*_KIND).first(), "place", "code")
        .with_columns(looks=pl.col("code").cast(pl.List(pl.String)).list.join(" "))
    )
    kinds = batches.unique((*_KIND, "looks"), keep="first").select(*_KIND, "looks", "code")
    answers = [_answers(status, codes, consumers[group]) for group, status, _, codes in kinds.iter_rows()]
    lists = {name: pl.List(kind) for name, kind in SCHEMA.items() if name != "place"}
    kinds = kinds.drop("code").hstack(pl.DataFrame(answers, lists, orient="row"))
    found = batches.join(kinds, on=[*_KIND, "looks"]).select("place", *lists).explode("place", *lists)
    return found.sort("place")


def _answers(status: str, codes: Sequence[int], consumer: Consumer) -> tuple[list[Any], ...]:
    """Return what SCHEMA says of each message of one batch, column by column."""
    batch = [
        Delivery(
            item_id=str(code),
            consumer_kind="lambda",
            run_status=status,
            is_batch_printed=True,
            batch_count=len(codes),
            batch_position=code // _OF_PLACE,
            marker_at=0 if code & _MARKED else None,
            started_at=0 if code & _STARTED else None,
            receive_count=1 if code & _FIRST else None,
        )
        for code in codes
    ]
    for delivery in batch:
        take_declared(delivery, consumer)
    mark_progress(batch)
    for delivery in batch:
        decide_effect(delivery)
    return tuple([getattr(delivery, name) for delivery in batch] for name in SCHEMA if name != "place")
