"""Settings checks: settings in force at the end of the evidence, beside what its last seven days showed."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from forensics.checks import CONSUMER_CHECKS, FAILS, QUEUE_CHECKS, UNKNOWN, Answer, Setup, answers
from forensics.tables.health import SETTING_FINDINGS
from spark_jobs.in_force import intervals
from spark_jobs.inputs import Inputs
from spark_jobs.queue_health import recent_from
from spark_jobs.session import spark_schema
from spark_jobs.small_frames import frame_of

OF_QUEUE = "-"
Row = dict[str, Any]


def setting_findings(
    periods: DataFrame, deliveries: DataFrame, readiness: DataFrame, inputs: Inputs, data_until: datetime | None
) -> DataFrame:
    """One row per queue, consumer and check that applies.

    ``periods`` is what ``health_periods`` returned, ``deliveries`` at least those that were not deleted, ``readiness`` the
    rows of logging_readiness.
    Queues and consumers are few whatever the traffic: they are checked in this process, not by Spark.
    """
    recent = {(r["queue_arn"], r["consumer"]): r.asDict() for r in periods.where(F.col("kind") == "recent").collect()}
    returned = _returned_whole(deliveries, data_until)
    logs = {(r["queue_arn"], r["function_name"] or r["log_group"]): r.asDict() for r in readiness.collect()}
    rows = [
        _row(setup, arn, code, answer, data_until)
        for arn, setup, checks in _setups(inputs, recent, returned, logs)
        for code, answer in answers(setup, checks)
    ]
    data = [tuple(row[c] for c in SETTING_FINDINGS.column_names) for row in rows]
    return frame_of(inputs.spark, data, spark_schema(SETTING_FINDINGS))


def _returned_whole(deliveries: DataFrame, data_until: datetime | None) -> dict[tuple[str, str], tuple[int, list[str]]]:
    """Count per queue and function the runs that ended in success and whose whole batch, above one, came again."""
    if data_until is None:
        return {}
    well = deliveries.where((F.col("run_status") == "success") & (F.col("batch_count") > 1))
    # Hidden messages cannot have come again yet, and a gone one never will: only what came again counts.
    again = well.where(
        (F.col("ended_by") == "visibility_expired") & (F.col("received_at") >= F.lit(recent_from(data_until)))
    )
    whole = (
        again.groupBy("queue_arn", "function_name", "consumer", "batch_count")
        .agg(F.count(F.lit(1)).alias("came_again"), F.min(F.try_element_at("evidence_ids", F.lit(1))).alias("id"))
        .where((F.col("came_again") == F.col("batch_count")) & F.col("function_name").isNotNull())
        .groupBy("queue_arn", "function_name")
        .agg(F.count(F.lit(1)).alias("runs"), F.array_sort(F.slice(F.collect_list("id"), 1, 20)).alias("ids"))
    )
    return {(r["queue_arn"], r["function_name"]): (r["runs"], list(r["ids"])) for r in whole.collect()}


def _setups(
    inputs: Inputs,
    recent: dict[tuple[str, str], Row],
    returned: dict[tuple[str, str], tuple[int, list[str]]],
    logs: dict[tuple[str, str], Row],
) -> Iterator[tuple[str, Setup, Any]]:
    queues = _states(inputs, "queue_settings", "queue_arn")
    functions = _states(inputs, "function_settings", "function_name")
    mappings = _states(inputs, "event_source_mappings", "queue_arn", "function_name")
    dead = {s[-1]["dead_letter_queue_arn"] for s in queues.values()}
    consumers: dict[str, dict[str, str]] = {arn: {} for (arn,) in queues}
    for row in inputs.small["consumers"]:
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
        yield arn, replace(base, highest_receive_count=max(most, default=None), evidence=seen), QUEUE_CHECKS
        for name, kind in sorted(consumers[arn].items()):
            setup = _with_function(base, name, kind, functions, mappings.get((arn, name)))
            setup = _with_seen(setup, recent.get((arn, name)), returned.get((arn, name)))
            yield arn, _with_logs(setup, logs.get((arn, name))), CONSUMER_CHECKS


def _states(inputs: Inputs, table: str, *key: str) -> dict[tuple[str, ...], list[Row]]:
    """Return the states of each resource in order of time; the last is in force at the end."""
    found: dict[tuple[str, ...], list[Row]] = {}
    for row in intervals(inputs.small[table], key):
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
        line_to_add=f"{row['python_lines'][0]} (Python) or {row['node_lines'][0]} (Node)" if row["missing"] else None,
        evidence={**setup.evidence, "logs": tuple(row["evidence_ids"])},
    )


def _row(setup: Setup, arn: str, code: str, answer: Answer, data_until: datetime | None) -> Row:
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
