"""Which rows a reason of the weekly review rests on: those its number counted, and no others."""

from typing import Any

import polars as pl
import pyarrow.compute as pc

from forensics.counting.measures import DELIVERY_COLUMNS, each_delivery, each_invocation, each_work
from forensics.counting.metrics import metric_measures
from forensics.health import Signal
from forensics.known import KNOWN_TABLES, Known
from forensics.lake import Findings
from forensics.lake.conditions import all_of
from forensics.lake.rows import plain_rows
from forensics.tables import BY_NAME, Table
from forensics.tables.evidence import METRIC_POINTS
from forensics.tables.findings import DELIVERIES, INVOCATIONS, MESSAGES

Week = dict[str, Any]
"""A queue's row of queue_weeks."""

_DELIVERIES = {
    "dead_letters": "dead",
    "expired_handles": "expired_handle",
    "hidden_poison": "poison",
    "redelivered": "redelivery",
}
_RUNS = {"function_timeouts": ("timeout",), "errors": ("error", "crash")}
_METRICS = {
    "dead_letters": ["ApproximateNumberOfMessagesVisible"],
    "redelivered": ["NumberOfMessagesReceived", "NumberOfMessagesDeleted"],
    "throttles": ["Throttles"],
    "age": ["ApproximateAgeOfOldestMessage"],
    "hidden_poison": ["ApproximateAgeOfOldestMessage"],
}
_RUN_COLUMNS = ["queue_arn", "function_name", "log_group", "started_at", "end_status", "duration_ms", "evidence_ids"]
_WORK_COLUMNS = ["queue_arn", "item_id", "work_id", "first_received_at", "verdict", "origin", "evidence_ids"]


def reason_ids(findings: Findings, signal: Signal, week: Week) -> tuple[str, ...]:
    """Return the evidence ids of what gives rise to ``signal`` in a queue's week, in order of time, each once.

    A settings check brings its own. Works that people set aside are not among them, as they are not in the number.
    """
    if signal.is_setting:
        return signal.evidence_ids
    if signal.code == "processed_twice":
        return _of_works(findings, week)
    if signal.code in _RUNS:
        rows = each_invocation(_of_week(findings, INVOCATIONS, week, "started_at", _RUN_COLUMNS))
        return _ids(rows.filter(pl.any_horizontal(_RUNS[signal.code])).collect())
    found = _of_points(findings, signal.code, week) if _rests_on_metrics(signal.code, week) else ()
    if signal.code in _DELIVERIES:
        rows = each_delivery(_of_week(findings, DELIVERIES, week, "received_at", list(DELIVERY_COLUMNS)))
        found = (*_ids(rows.filter(_DELIVERIES[signal.code]).collect()), *found)
    return tuple(dict.fromkeys(found))


def _rests_on_metrics(code: str, week: Week) -> bool:
    """Tell whether a signal's sentence says a number of CloudWatch."""
    if code == "dead_letters":
        return (week["dead_letter_rise_count"] or 0) > (week["dead_lettered_count"] or 0)
    if code == "redelivered":
        return not week["delivery_count"]
    return code in _METRICS


def _of_works(findings: Findings, week: Week) -> tuple[str, ...]:
    # A work counts where it was first received, so a message of an earlier week decides as well.
    where = all_of(("queue_arn", "==", week["queue_arn"]), ("first_received_at", "<", week["ends_at"]))
    rows = each_work(_frame(findings, MESSAGES, _WORK_COLUMNS, where))
    aside = [work.work_id for work in week.get("set_aside") or ()]
    since = pl.col("at").cast(pl.Datetime("us", "UTC")) >= week["starts_at"]
    return _ids(rows.filter("twice_maybe", since, ~pl.col("work_id").is_in(aside)).collect())


def _of_week(findings: Findings, table: Table, week: Week, time: str, columns: list[str]) -> pl.DataFrame:
    of_queue = ("queue_arn", "==", week["queue_arn"])
    where = all_of(of_queue, (time, ">=", week["starts_at"]), (time, "<", week["ends_at"]))
    return _frame(findings, table, columns, where)


def _points(findings: Findings, code: str, week: Week) -> pl.DataFrame:
    """Measure the points of the queue, its consumers and its dead-letter queue."""
    # What a level rose from can lie any time before the week.
    since = () if code == "dead_letters" else (("point_at", ">=", week["starts_at"]),)
    where = all_of(("metric", "in", _METRICS[code]), ("point_at", "<", week["ends_at"]), *since)
    points = _frame(findings, METRIC_POINTS, list(METRIC_POINTS.column_names), where)
    small = {name: plain_rows(findings.read(BY_NAME[name])) for name in KNOWN_TABLES}
    measured = metric_measures(points, Known.of(small, {}))
    return measured.filter(pl.col("queue_arn") == week["queue_arn"], pl.col("at") >= week["starts_at"]).sort("at")


def _of_points(findings: Findings, code: str, week: Week) -> tuple[str, ...]:
    points = _points(findings, code, week)
    if code == "redelivered":
        shown = points.filter((pl.col("received") > 0) | (pl.col("deleted") > 0))["sum_id"]
    elif code == "age":
        shown = points.filter(pl.col("age") >= week["age_p95_s"])["age_id"]
    elif code == "hidden_poison":
        shown = points.filter(pl.col("age") == week["age_max_s"])["age_id"].head(1)
    else:
        counted = "throttles" if code == "throttles" else "dead_letter_rise"
        shown = points.filter(pl.col(counted) > 0)["evidence"].explode()
    return tuple(shown.drop_nulls().unique(maintain_order=True))


def _ids(rows: pl.DataFrame) -> tuple[str, ...]:
    in_time = rows.select("at", pl.col("evidence_ids").list.sort()).sort("at", "evidence_ids")
    return tuple(in_time["evidence_ids"].explode().drop_nulls().unique(maintain_order=True))


def _frame(findings: Findings, table: Table, columns: list[str], where: pc.Expression | None) -> pl.DataFrame:
    frame = pl.from_arrow(findings.read(table, columns, where))
    assert isinstance(frame, pl.DataFrame)
    return frame
