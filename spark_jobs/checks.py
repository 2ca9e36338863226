"""Settings checks: settings in force at the end of the evidence, beside what its last seven days showed."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

import polars as pl

from forensics.checks import CONSUMER_CHECKS, FAILS, QUEUE_CHECKS, UNKNOWN, Answer, Setup, answers
from forensics.settings_in_force import SETTINGS_KEYS, Changes, intervals, recorded_changes
from spark_jobs.health import DAY, RECENTLY, percentiles, recent_from
from spark_jobs.known import Known, Row

OF_QUEUE = "-"
_SEEN = ("recursion_dropped_count", "known_dedup_count", "random_dedup_count", "self_sent_count", "redelivery_count")
_OF_DAYS = {
    "empty_receive_count": "sum",
    "received_count": "sum",
    "sent_again_count": "sum",
    "stopped_count": "sum",
    "filtered_event_count": "sum",
    "in_flight_max_count": "max",
    "backlog_max_count": "max",
}
"""What the last seven days tell of a queue as a whole, and how days go together."""


def setting_findings(
    periods: pl.DataFrame,
    returned: pl.DataFrame,
    readiness: Iterable[Row],
    known: Known,
    data_until: datetime | None,
    runs: Sequence[pl.LazyFrame] = (),
) -> list[dict[str, Any]]:
    """Return the rows of setting_findings: one per queue, consumer and check that applies.

    ``periods`` is what periods_of returned, ``returned`` what returned_batches returned of all parts, one after the
    other, ``readiness`` the rows of logging_readiness; ``data_until`` is the end of the evidence, UTC. ``runs`` holds the
    table ``invocations`` in parts: it is looked into only where a function's timeout was set in the last seven days.
    """
    recent: dict[tuple[str, str], Row] = {
        (r["queue_arn"], r["consumer"]): r for r in periods.filter(pl.col("kind") == RECENTLY).to_dicts()
    }
    whole = _returned_whole(returned, data_until)
    logs = {(r["queue_arn"], r["function_name"] or r["log_group"]): r for r in readiness}
    days = _days(periods, data_until)
    return [
        _row(setup, arn, code, answer, data_until)
        for arn, setup, checks in _setups(known, recent, whole, logs, days, _Runs(runs, data_until))
        for code, answer in answers(setup, checks)
    ]


class _Runs:
    """The recent invocations of functions, counted by the timeout in force when each began."""

    def __init__(self, runs: Sequence[pl.LazyFrame], data_until: datetime | None) -> None:
        self._runs, self.since = runs, recent_from(data_until)

    def apart(self, arn: str, function: str, states: Sequence[Row]) -> dict[str, Any]:
        """Return the values of a Setup that tell what came before and after the timeout in force was set; none if long ago."""
        set_at, shown_by = _set_at(states, "timeout_s")
        if not self._runs or self.since is None or set_at <= self.since:
            return {}
        mine = (
            (pl.col("queue_arn") == arn) & (pl.col("function_name") == function) & (pl.col("started_at") >= self.since)
        )
        wanted = ("started_at", "duration_ms", "end_status", "evidence_ids")
        found = pl.concat([frame.filter(mine).select(wanted) for frame in self._runs]).collect()
        after = found.filter(pl.col("started_at") >= set_at)
        stopped = found.filter((pl.col("started_at") < set_at) & (pl.col("end_status") == "timeout"))
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
            "evidence": {"timeout_change": (shown_by, *cited)},
        }


def _set_at(states: Sequence[Row], column: str) -> tuple[datetime, str]:
    """Return since when the last value of a column has held without a break, UTC, and which evidence says so."""
    now = states[-1]
    for state in reversed(states):
        if state[column] != states[-1][column]:
            break
        now = state
    return now["in_force_from"], now["known"][column].evidence_id


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


def _setups(
    known: Known,
    recent: dict[tuple[str, str], Row],
    returned: dict[tuple[str, str], tuple[int, list[str]]],
    logs: dict[tuple[str, str], Row],
    days: dict[str, Row],
    runs: _Runs,
) -> Iterator[tuple[str, Setup, Any]]:
    changes = recorded_changes(known.setting_changes, known.event_source_mappings)
    queues = _states("queue_settings", known.queue_settings, changes)
    functions = _states("function_settings", known.function_settings, changes)
    mappings = _states("event_source_mappings", known.event_source_mappings, changes)
    dead = {s[-1]["dead_letter_queue_arn"] for s in queues.values()}
    consumers: dict[str, dict[str, str]] = {arn: {} for (arn,) in queues}
    for row in known.consumers:
        name = row["function_name"] or row["log_group"]
        consumers.setdefault(row["queue_arn"], {})[name] = row["kind"] or "worker"
    for arn, function in mappings:
        consumers.setdefault(arn, {})[function] = "lambda"
    for arn, name in recent:
        consumers.setdefault(arn, {}).setdefault(name, "worker")
    for arn in sorted(consumers):
        base = _queue_part(arn, queues, dead)
        most = [r["highest_receive_count"] for (a, _), r in recent.items() if a == arn and r["highest_receive_count"]]
        ids = {i for (a, _), r in recent.items() if a == arn for i in r["evidence_ids"]}
        seen = {**base.evidence, "observed": tuple(sorted(ids))}
        base = _with_days(base, days.get(arn))
        active = tuple(sorted(n for n in consumers[arn] if _is_on(mappings.get((arn, n)))))
        mine = [m[-1]["evidence_id"] for (a, _), m in mappings.items() if a == arn]
        mine += [row["evidence_id"] for row in known.consumers if row["queue_arn"] == arn]
        seen |= {"consumers": tuple(sorted(mine)), "days": base.evidence.get("days", ())}
        whole = replace(base, highest_receive_count=max(most, default=None), consumers=active or None, evidence=seen)
        yield arn, whole, QUEUE_CHECKS
        for name, kind in sorted(consumers[arn].items()):
            setup = _with_function(base, name, kind, functions, mappings.get((arn, name)))
            setup = replace(setup, has_guard_line=_has_guard(known, name), seen_from=runs.since)
            setup = _with_seen(setup, recent.get((arn, name)), returned.get((arn, name)))
            if states := functions.get((name,)):
                apart = runs.apart(arn, name, states)
                setup = replace(setup, **apart | {"evidence": {**setup.evidence, **apart.get("evidence", {})}})
            yield arn, _with_logs(setup, logs.get((arn, name))), CONSUMER_CHECKS


def _is_on(mapping: list[Row] | None) -> bool:
    return mapping is None or not str(mapping[-1]["state"] or "").startswith("Disab")


def _has_guard(known: Known, name: str) -> bool:
    """Tell whether the settings name a line that says a repeat was stopped."""
    declared = [c for c in known.consumers_by_group.values() if name in (c.name, c.log_group)]
    return any(c.guard for c in declared)


def _days(periods: pl.DataFrame, data_until: datetime | None) -> dict[str, Row]:
    if data_until is None:
        return {}
    mine = periods.filter(pl.col("kind") == DAY, pl.col("ends_at") > recent_from(data_until))
    total = {"sum": _sum, "max": pl.Expr.max}
    found = mine.group_by("queue_arn").agg(
        *[total[how](pl.col(name)).alias(name) for name, how in _OF_DAYS.items()],
        pl.col("evidence_ids").list.explode().drop_nulls().unique().sort().head(20),
    )
    return {row["queue_arn"]: row for row in found.to_dicts()}


def _sum(column: pl.Expr) -> pl.Expr:
    return pl.when(column.count() > 0).then(column.sum())


def _with_days(base: Setup, seen: Row | None) -> Setup:
    if seen is None:
        return base
    values = {name: seen[name] for name in _OF_DAYS}
    return replace(base, **values, evidence={**base.evidence, "days": tuple(seen["evidence_ids"])})


def _states(table: str, rows: Sequence[Row], changes: dict[str, Changes]) -> dict[tuple[str, ...], list[Row]]:
    """Return the states of each resource in order of time, snapshots and recorded changes; the last is in force at the end."""
    key = SETTINGS_KEYS[table]
    found: dict[tuple[str, ...], list[Row]] = {}
    for row in intervals([dict(row) for row in rows], key, changes[table]):
        found.setdefault(tuple(row[k] for k in key), []).append(row)
    return found


def _queue_part(arn: str, queues: dict[tuple[str, ...], list[Row]], dead: set[str]) -> Setup:
    name = arn.rpartition(":")[2]
    states = queues.get((arn,))
    if not states:
        return Setup(name, has_queue_settings=False, is_fifo=name.endswith(".fifo"), is_dead_letter_queue=arn in dead)
    now = states[-1]
    evidence = {"queue": (now["evidence_id"],), "first": (states[0]["evidence_id"],)}
    target = queues.get((now["dead_letter_queue_arn"],), [{}])[-1]
    if target:
        evidence["dead_letter_queue"] = (target["evidence_id"],)
    return Setup(
        name,
        is_fifo=now["is_fifo"],
        is_dead_letter_queue=arn in dead,
        visibility_timeout_s=now["visibility_timeout_s"],
        message_retention_s=now["message_retention_s"],
        receive_wait_s=now["receive_wait_s"],
        content_based_deduplication=now["content_based_deduplication"],
        dead_letter_queue=(now["dead_letter_queue_arn"] or "").rpartition(":")[2] or None,
        max_receive_count=now["max_receive_count"],
        queue_changed_at=now["last_modified_at"],
        dead_letter_retention_s=target.get("message_retention_s"),
        first_visibility_timeout_s=states[0]["visibility_timeout_s"],
        evidence=evidence,
    )


def _with_function(
    base: Setup, name: str, kind: str, functions: dict[tuple[str, ...], list[Row]], mapping: list[Row] | None
) -> Setup:
    evidence = dict(base.evidence)
    setup = replace(base, consumer=name, consumer_kind=kind)
    if states := functions.get((name,)):
        now = states[-1]
        evidence |= {
            "function": (now["evidence_id"],),
            "first": (*evidence.get("first", ()), states[0]["evidence_id"]),
        }
        setup = replace(
            setup,
            function_timeout_s=now["timeout_s"],
            reserved_concurrency=now["reserved_concurrency"],
            log_format=now["log_format"],
            system_log_level=now["system_log_level"],
            function_changed_at=now["last_modified_at"],
            first_function_timeout_s=states[0]["timeout_s"],
        )
    if mapping:
        now = mapping[-1]
        evidence["mapping"] = (now["evidence_id"],)
        setup = replace(
            setup,
            batch_size=now["batch_size"],
            batching_window_s=now["batching_window_s"],
            reports_batch_item_failures=now["reports_batch_item_failures"],
            maximum_concurrency=now["maximum_concurrency"],
            counts_events=now["counts_events"],
            mapping_changed_at=now["last_modified_at"],
            mapping_state=now["state"],
            filter_patterns=None if now["filter_patterns"] is None else tuple(now["filter_patterns"]),
        )
    return replace(setup, evidence=evidence)


def _with_seen(setup: Setup, seen: Row | None, returned: tuple[int, list[str]] | None) -> Setup:
    if seen is None:
        return setup
    ids = tuple(seen["evidence_ids"])
    runs, of_runs = returned or (0, [])
    return replace(
        setup,
        run_count=seen["run_count"],
        timeout_count=seen["timeout_count"],
        failed_run_count=None
        if seen["run_count"] is None
        else seen["timeout_count"] + seen["error_count"] + seen["crash_count"],
        run_p99_ms=seen["handler_p99_ms"],
        run_max_ms=seen["handler_max_ms"],
        item_p99_ms=seen["item_p99_ms"],
        largest_batch=seen["largest_batch"],
        delivery_count=seen["delivery_count"],
        highest_receive_count=seen["highest_receive_count"],
        has_one_group=seen["has_one_group"],
        throttle_count=seen["throttle_count"],
        **{name: seen[name] for name in _SEEN},
        returned_whole_count=runs if seen["delivery_count"] else None,
        evidence={**setup.evidence, "observed": tuple(sorted({*ids, *of_runs})), "throttles": ids},
    )


def _with_logs(setup: Setup, row: Row | None) -> Setup:
    if row is None:
        return setup
    return replace(
        setup,
        logging_level=row["level"],
        logging_sentence=row["sentence"],
        handling_count=row["handling_count"],
        named_count=row["named_count"],
        counted_count=row["counted_count"],
        response_count=row["response_count"],
        line_to_add=f"{row['python_lines'][0]} (Python) or {row['node_lines'][0]} (Node)" if row["missing"] else None,
        evidence={**setup.evidence, "logs": tuple(row["evidence_ids"])},
    )


def _row(setup: Setup, arn: str, code: str, answer: Answer, data_until: datetime | None) -> dict[str, Any]:
    return {
        "queue_arn": arn,
        "queue": setup.queue,
        "consumer": setup.consumer or OF_QUEUE,
        "code": code,
        "status": answer.status,
        "severity": answer.severity if answer.status == FAILS else None,
        "sentence": answer.sentence,
        "advice": answer.advice,
        "would_decide": answer.would_decide if answer.status == UNKNOWN else None,
        "numbers": setup.numbers(answer.uses),
        "observed_until_at": data_until,
        "evidence_ids": setup.ids(answer.uses)[:200],
    }
