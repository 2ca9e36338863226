"""Ordinary invocations, and those of which a line of a known shape tells that they failed, put together by vectors.

The rows are those that going through their lines one by one would give.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import polars as pl

from forensics.counting.cut_off import far_along
from forensics.counting.frames import UTC_US
from forensics.counting.item_hashes import item_hash
from forensics.counting.sorted_lists import sorted_together
from forensics.streams.invocations import order_if_all_work_is_shown
from forensics.streams.model import LogGroup
from forensics.streams.reading import Reading
from forensics.streams.shapes import EFFECT, RESPONSE, STARTED
from spark_jobs.parts import DELIVERY_SCHEMA, INVOCATION_SCHEMA, Part


def in_force_at(
    lookup: Callable[[int], Mapping[str, Any] | None], at: np.ndarray
) -> list[tuple[Mapping[str, Any] | None, np.ndarray]]:
    """Return what was in force at moments (microseconds, UTC): each answer with the places of its moments."""
    if not len(at):
        return []
    low, high = lookup(int(at.min())), lookup(int(at.max()))
    if low is high:
        return [(low, np.arange(len(at)))]
    found: dict[int, tuple[Mapping[str, Any] | None, list[int]]] = {}
    for place, moment in enumerate(at.tolist()):
        row = lookup(moment)
        found.setdefault(id(row), (row, []))[1].append(place)
    return [(row, np.array(places)) for row, places in found.values()]


class Ordinary:
    """Ordinary runs, the records of their events and what their lines say, put together as rows."""

    def __init__(
        self,
        runs: pl.DataFrame,
        records: pl.DataFrame,
        said: pl.DataFrame,
        groups: Sequence[LogGroup],
        reading: Reading,
    ) -> None:
        self.records, self.said, self.groups, self.reading = records, said, groups, reading
        of_groups = pl.DataFrame(
            {
                "group": range(len(groups)),
                "function_name": [g.function_name for g in groups],
                "group_queue_arn": [g.queue_arn for g in groups],
                "has_effect": [bool(g.consumer.effect) for g in groups],
                "is_exhaustive": [g.consumer.effect_is_exhaustive for g in groups],
                "order": [g.consumer.order for g in groups],
                "order_if_all_shown": [order_if_all_work_is_shown(g.consumer) for g in groups],
            },
            schema_overrides={
                "group": pl.UInt32,
                **dict.fromkeys(("function_name", "group_queue_arn", "order", "order_if_all_shown"), pl.String),
            },
        )
        named = pl.concat_str(
            "log_group", "log_stream", "own_id", (pl.col("start_at") // 1000).cast(pl.String), separator="|"
        )
        self.runs = runs.join(of_groups, on="group", how="left").with_columns(
            invocation_id=named,
            run_ended_at=pl.max_horizontal("end_at", "report_at"),
            run_status=pl.col("run_status").fill_null("success"),
            mark_ids=pl.concat_list("start_id", pl.col("failure_ids").fill_null([]), "end_id", "report_id"),
        )

    def part(self) -> Part:
        """Return the rows of both tables."""
        return Part(self._invocations(), self._deliveries())

    def _invocations(self) -> pl.DataFrame:
        of_said = self.said.group_by("run").agg(
            shows_starts=(pl.col("says") & STARTED > 0).any(),
            begins_items=((pl.col("says") & STARTED > 0) & pl.col("message_id").is_not_null()).any(),
            shows_effects=(pl.col("says") & EFFECT > 0).any(),
            has_response=(pl.col("says") & RESPONSE > 0).any(),
        )
        of_records = self.records.group_by("run").agg(
            message_count=pl.len().cast(pl.Int32),
            shows_counts=pl.col("receive_count").is_not_null().any(),
            record_queue_arn=pl.col("queue_arn").drop_nulls().first(),
        )
        rows = self.runs.join(of_said, on="run", how="left").join(of_records, on="run", how="left")
        nothing, succeeded = pl.lit(False), pl.col("run_status") == "success"
        return rows.select(
            "invocation_id",
            "log_group",
            "log_stream",
            pl.col("own_id").alias("request_id"),
            pl.lit(1, pl.Int32).alias("start_index"),
            "function_name",
            pl.coalesce("record_queue_arn", "group_queue_arn").alias("queue_arn"),
            _time("start_at").alias("started_at"),
            _time("run_ended_at").alias("ended_at"),
            pl.col("duration_ms").floor().cast(pl.Int64),
            pl.col("run_status").alias("end_status"),
            "error_type",
            pl.lit(True).alias("has_start"),
            pl.col("message_count").fill_null(0),
            pl.col("mark_ids").list.sort().alias("evidence_ids"),
            *(
                (pl.col("message_count") > 0).fill_null(False).alias(n)
                for n in ("names_items", "shows_records", "shows_batch")
            ),
            pl.col("message_count").fill_null(0).alias("in_hand_count"),
            pl.when(pl.col("message_count").is_null() & succeeded)
            .then("order_if_all_shown")
            .alias("order_if_all_shown"),
            pl.coalesce("shows_counts", nothing),
            pl.coalesce("shows_starts", nothing),
            pl.coalesce("begins_items", nothing),
            pl.coalesce("shows_effects", nothing),
            pl.coalesce("has_response", nothing),
            nothing.alias("has_guard_line"),
            pl.col("start_id").alias("first_mark_id"),
            _time("start_at").alias("first_line_at"),
            _time("last_at").alias("last_line_at"),
        ).select(*INVOCATION_SCHEMA)

    def _deliveries(self) -> pl.DataFrame:
        says = pl.col("says")
        of_item = self.said.filter(pl.col("message_id").is_not_null()).select(
            "run",
            "message_id",
            "evidence_id",
            "effect_key",
            "started_key",
            effect_at=pl.when(says & EFFECT > 0).then("at"),
            started_at=pl.when(says & STARTED > 0).then("at"),
            is_by_key=(says & EFFECT > 0) & pl.col("by_key"),
        )
        marked = of_item.group_by("run", "message_id").agg(
            marker_at=pl.col("effect_at").min(),
            started_at=pl.col("started_at").min(),
            key_marker_count=pl.col("is_by_key").sum().cast(pl.Int32),
            mark_ids=pl.col("evidence_id"),
            mark_keys=pl.col("effect_key"),
            started_keys=pl.col("started_key"),
        )
        keys = pl.concat_list("mark_keys", "started_keys") if self._names_starts() else pl.col("mark_keys")
        marked = marked.with_columns(mark_keys=keys.list.drop_nulls()).drop("started_keys")
        response = self.said.group_by("run").agg(has_response=(says & RESPONSE > 0).any())
        run = self.runs.select(
            "run",
            "group",
            "log_group",
            "log_stream",
            "own_id",
            "function_name",
            "group_queue_arn",
            "has_effect",
            "is_exhaustive",
            "order",
            "invocation_id",
            "start_at",
            "run_ended_at",
            "run_status",
            "error_type",
            end_ids=pl.when(pl.col("run_status") != "success").then("mark_ids"),
        )
        batch = self.records.group_by("run").agg(batch_count=pl.len().cast(pl.Int32))
        rows = (
            self.records.join(run, on="run", how="left")
            .join(batch, on="run", how="left")
            .join(marked, on=["run", "message_id"], how="left")
            .join(response, on="run", how="left")
        )
        exact = (pl.col("receive_count") == 1) & pl.col("first_receive_ms").is_not_null()
        with_ends = pl.concat_list(pl.col("mark_ids").fill_null([]), "end_ids")
        rows = rows.with_columns(mark_ids=pl.when(pl.col("end_ids").is_null()).then("mark_ids").otherwise(with_ends))
        rows = rows.with_columns(
            queue_arn=pl.coalesce("queue_arn", "group_queue_arn", "log_group"),
            has_response=pl.col("has_response").fill_null(False),
            received=pl.when(exact).then(pl.col("first_receive_ms") * 1000).otherwise(pl.col("start_at")),
            received_basis=pl.when(exact).then(pl.lit("first_receive")).otherwise(pl.lit("run_start")),
            business_keys=sorted_together(rows, "key", "mark_keys"),
            evidence_ids=sorted_together(rows, "event_id", "mark_ids"),
        )
        rows = self._with_settings(rows).with_row_index("place")
        failed = rows.filter(pl.col("run_status") != "success")
        far = far_along(failed, [group.consumer for group in self.groups]).with_columns(failed["place"])
        return _with_effect(rows.join(far, on="place", how="left", maintain_order="left"))

    def _names_starts(self) -> bool:
        return self.said["started_key"].null_count() < self.said.height

    def _with_settings(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Add ``visibility_timeout_s`` and ``reports``, as they were in force at each receive."""
        in_force = self.reading.in_force
        visibility = np.full(rows.height, -1, np.int64)
        reports = np.full(rows.height, -1, np.int8)
        at = rows["received"].to_numpy()
        for keys, places in (
            rows.with_row_index("place")
            .group_by("queue_arn", "function_name")
            .agg("place")
            .select(pl.struct("queue_arn", "function_name"), "place")
            .iter_rows()
        ):
            queue, function = keys["queue_arn"], keys["function_name"]
            mine = np.array(places)
            for row, where in in_force_at(partial(in_force.queue, queue), at[mine]):
                if row and row["visibility_timeout_s"] is not None:
                    visibility[mine[where]] = row["visibility_timeout_s"]
            for row, where in in_force_at(partial(in_force.mapping, queue, function), at[mine]):
                if row and row["reports_batch_item_failures"] is not None:
                    reports[mine[where]] = row["reports_batch_item_failures"]
        return rows.with_columns(
            visibility_timeout_s=pl.Series(visibility, dtype=pl.Int64),
            reports=pl.Series(reports, dtype=pl.Int8),
        ).with_columns(
            visibility_timeout_s=pl.when(pl.col("visibility_timeout_s") >= 0)
            .then(pl.col("visibility_timeout_s"))
            .cast(pl.Int32)
        )


def _with_effect(rows: pl.DataFrame) -> pl.DataFrame:
    """Decide the effect of deliveries whose run succeeded: the rows of the effect table that such can meet, in its order.

    Of the others it is there already; whatever is said of those is judged anew.
    """
    succeeded = pl.col("run_status") == "success"
    marked = pl.col("marker_at").is_not_null()
    order = pl.coalesce("order", pl.when(pl.col("batch_count") == 1).then(pl.lit("sequential")))
    exhaustive = pl.col("has_effect") & pl.col("is_exhaustive") & order.eq_missing("sequential")
    no_failure = (pl.col("reports") == 0) | pl.col("has_response")
    returned = ~pl.col("has_effect") & no_failure
    basis = (
        pl.when(marked)
        .then(pl.lit("marker"))
        .when(exhaustive)
        .then(pl.lit("no_marker"))
        .when(returned)
        .then(pl.lit("returned"))
        .otherwise(pl.lit("no_item_lines"))
    )
    effect = (
        pl.when(marked | (returned & ~exhaustive))
        .then(pl.lit("yes"))
        .when(exhaustive)
        .then(pl.lit("no"))
        .otherwise(pl.lit("unknown"))
    )
    hidden_ms = pl.col("received") // 1000 + pl.col("visibility_timeout_s").cast(pl.Int64) * 1000
    none = pl.lit(None, pl.String)
    return (
        rows.with_columns(basis=pl.coalesce("basis", basis), effect=pl.coalesce("effect", effect))
        .select(
            "queue_arn",
            pl.col("queue_arn").str.extract(r"([^:]*)$", 1).alias("queue"),
            pl.col("message_id").alias("item_id"),
            pl.lit(1, pl.Int32).alias("delivery_index"),
            "message_id",
            "receive_count",
            pl.lit(True).alias("is_seen"),
            pl.col("invocation_id").alias("consumer"),
            pl.lit("lambda").alias("consumer_kind"),
            "function_name",
            pl.col("own_id").alias("request_id"),
            "log_group",
            "log_stream",
            "batch_position",
            "batch_count",
            _time("received").alias("received_at"),
            "received_basis",
            "visibility_timeout_s",
            (hidden_ms * 1000).cast(UTC_US).alias("hidden_until_at"),
            _time("started_at"),
            _time("marker_at").alias("finished_at"),
            _time("run_ended_at"),
            "run_status",
            none.alias("delete_status"),
            pl.lit(None, UTC_US).alias("delete_at"),
            pl.when(succeeded).then(pl.lit("deleted")).otherwise(pl.lit("unknown")).alias("ended_by"),
            "effect",
            "basis",
            pl.when(pl.col("basis") == "marker")
            .then(_time("marker_at"))
            .when(pl.col("basis") == "returned")
            .then(_time("run_ended_at"))
            .alias("effect_at"),
            "group_id",
            "deduplication_id",
            (pl.col("sent_ms") * 1000).cast(UTC_US).alias("sent_at"),
            "body_md5",
            "sender_id",
            "receipt_handle",
            "business_keys",
            "evidence_ids",
            *("first_receive_ms", "dead_letter_source_arn", "body_shape"),
            pl.col("key_marker_count").fill_null(0),
            "has_response",
            pl.lit(None, pl.Boolean).alias("is_provisional"),
            *(none.alias(name) for name in ("received_from_arn", "job_id")),
            "error_type",
            *(pl.col(name).fill_null(False) for name in ("is_in_progress", "is_not_reached")),
            (~succeeded).alias("is_open"),
            pl.lit(None, pl.Binary).alias("raw"),
            item_hash("message_id").alias("item_hash"),
        )
        .select(*DELIVERY_SCHEMA)
    )


def _time(name: str) -> pl.Expr:
    return pl.col(name).cast(UTC_US)
