"""Settings checks: settings in force at the end of the evidence, beside what its last seven days showed."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any

import polars as pl

from forensics.checks.findings import OF_DAYS, TimeoutSet, finding_rows
from forensics.counting.periods import DAY, RECENTLY, percentiles, recent_from
from forensics.known import Known, Row

_NEAR_LIMIT_MS = 2_000
"""A run that was stopped at its limit lasted at most so much less."""


def setting_findings(
    periods: pl.DataFrame,
    returned: pl.DataFrame,
    readiness: Iterable[Row],
    known: Known,
    data_until: datetime | None,
    runs: pl.LazyFrame | None = None,
    timeouts: pl.LazyFrame | None = None,
) -> list[dict[str, Any]]:
    """Return the rows of setting_findings: one per queue, consumer and check that applies.

    ``periods`` is what periods_of returned, ``returned`` what returned_batches returned of all parts, one after the
    other, ``readiness`` the rows of logging_readiness; ``data_until`` is the end of the evidence, UTC. ``runs`` holds the
    table ``invocations``, ``timeouts`` what timeouts_of returns of it: they are looked into only where a function's timeout was
    set in the last seven days.
    """
    recent: dict[tuple[str, str], Row] = {
        (r["queue_arn"], r["consumer"]): r for r in periods.filter(pl.col("kind") == RECENTLY).to_dicts()
    }
    days, since, apart = _days(periods, data_until), recent_from(data_until), _Runs(runs, timeouts, data_until).apart
    whole = _returned_whole(returned, data_until)
    return finding_rows(recent, whole, readiness, known, days, data_until, since, apart)


def _days(periods: pl.DataFrame, data_until: datetime | None) -> dict[str, Row]:
    if data_until is None:
        return {}
    mine = periods.filter(pl.col("kind") == DAY, pl.col("ends_at") > recent_from(data_until))
    total = {"sum": _sum, "max": pl.Expr.max}
    found = mine.group_by("queue_arn").agg(
        *[total[how](pl.col(name)).alias(name) for name, how in OF_DAYS.items()],
        pl.col("evidence_ids").list.explode().drop_nulls().unique().sort().head(20),
    )
    return {row["queue_arn"]: row for row in found.to_dicts()}


def _sum(column: pl.Expr) -> pl.Expr:
    return pl.when(column.count() > 0).then(column.sum())


def timeouts_of(invocations: pl.DataFrame) -> pl.DataFrame:
    """Return those invocations that were stopped at a timeout, in the columns that are asked of them."""
    return invocations.filter(pl.col("end_status") == "timeout").select(
        "queue_arn", "function_name", "started_at", "duration_ms", "evidence_ids"
    )


class _Runs:
    """The recent invocations of functions, counted by the timeout in force when each began."""

    def __init__(self, runs: pl.LazyFrame | None, timeouts: pl.LazyFrame | None, data_until: datetime | None) -> None:
        self._runs, self._timeouts, self._from = runs, timeouts, recent_from(data_until)

    def apart(self, arn: str, function: str, timeout: TimeoutSet) -> dict[str, Any]:
        """Return the values of a Setup that tell what came before and after the timeout in force was set; none if long ago.

        Where nothing tells what it was before, runs that were stopped after another time do.
        """
        set_at = timeout.at
        if self._runs is None or self._timeouts is None or self._from is None or set_at <= self._from:
            return {}
        of_function = (pl.col("queue_arn") == arn) & (pl.col("function_name") == function)
        began = pl.col("started_at")
        is_mine = of_function & (began >= self._from) & (began < set_at)
        stopped = self._timeouts.filter(is_mine).collect()
        if not timeout.was_other and not _stopped_elsewhere(stopped, timeout.limit_s):
            return {}
        after = self._runs.filter(of_function & (began >= set_at)).select("duration_ms", "end_status").collect()
        times = after.select(pl.col("duration_ms").drop_nulls().alias("run_ms"), times=pl.lit(1))
        p99 = percentiles(times.with_columns(of=pl.lit(0)), ["of"], "run_ms", {"p99": 0.99})["p99"].to_list()
        cited = stopped["evidence_ids"].explode().drop_nulls().unique().sort().head(20).to_list()
        return {
            "timeout_set_at": set_at,
            "since_run_count": after.height,
            "since_timeout_count": after.filter(pl.col("end_status") == "timeout").height,
            "since_run_p99_ms": p99[0] if p99 else None,
            "earlier_timeout_count": stopped.height,
            "earlier_limit_ms": stopped["duration_ms"].max(),
            "evidence": {"timeout_change": (timeout.evidence_id, *cited)},
        }


def _stopped_elsewhere(stopped: pl.DataFrame, limit_s: int | None) -> bool:
    """Tell whether runs were stopped, and none of them at this limit."""
    lengths = stopped["duration_ms"].drop_nulls()
    return limit_s is not None and not lengths.is_empty() and not (lengths >= 1000 * limit_s - _NEAR_LIMIT_MS).any()


def _returned_whole(
    returned: pl.DataFrame, data_until: datetime | None
) -> dict[tuple[str, str], tuple[int, list[str]]]:
    """Count per queue and function the runs that ended in success and whose whole batch, above one, came again."""
    if data_until is None:
        return {}
    of_function = ["queue_arn", "function_name"]
    whole = (
        returned.filter(pl.col("at") >= recent_from(data_until))
        .group_by(*of_function, "consumer", "batch_count")
        .agg(pl.col("came_again").sum(), pl.col("evidence_id").min())
        .filter(pl.col("came_again") == pl.col("batch_count"))
        .group_by(of_function)
        .agg(pl.len(), pl.col("evidence_id").drop_nulls().sort().head(20))
    )
    return {(arn, function): (runs, ids) for arn, function, runs, ids in whole.iter_rows()}
