"""Settings checks as rows: what is in force at the end of the evidence, beside what its last days showed."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, NamedTuple

from forensics.checks import CONSUMER_CHECKS, FAILS, QUEUE_CHECKS, UNKNOWN, Answer, Setup, answers
from forensics.identity import is_fifo_name, queue_name
from forensics.known import Known, Row
from forensics.recorded_changes import Changes, recorded_changes
from forensics.sentence import said
from forensics.settings_in_force import SETTINGS_KEYS, intervals

OF_QUEUE = "-"
_SEEN = ("recursion_dropped_count", "known_dedup_count", "random_dedup_count", "self_sent_count", "redelivery_count")
OF_DAYS = {
    "empty_receive_count": "sum",
    "received_count": "sum",
    "sent_again_count": "sum",
    "stopped_count": "sum",
    "filtered_event_count": "sum",
    "in_flight_max_count": "max",
    "backlog_max_count": "max",
}
"""What the last seven days tell of a queue as a whole, and how days go together."""

OfConsumer = tuple[str, str]
"""Queue ARN, and function or worker's log group."""


class TimeoutSet(NamedTuple):
    """Since when a function's timeout has surely held without a break, UTC, and which evidence says so.

    ``was_other``: it was another one before. Else only a later snapshot vouches for the time before.
    """

    limit_s: int | None
    at: datetime
    evidence_id: str
    was_other: bool


SetApart = Callable[[str, str, TimeoutSet], dict[str, Any]]
"""Given queue ARN, function and since when its timeout holds, returns the values of a Setup that tell what came before and
after; none if that is long ago."""


def finding_rows(
    recent: Mapping[OfConsumer, Row],
    returned_whole: Mapping[OfConsumer, tuple[int, list[str]]],
    readiness: Iterable[Row],
    known: Known,
    days: Mapping[str, Row],
    data_until: datetime | None,
    since: datetime | None,
    set_apart: SetApart,
) -> list[dict[str, Any]]:
    """Return the rows of setting_findings: one per queue, consumer and check that applies.

    ``recent`` is what was measured of each consumer in the last days, ``returned_whole`` how many of its runs that ended in
    success came again as a whole, with lines; ``readiness`` are the rows of logging_readiness, ``days`` what those days tell
    of each queue as a whole, by ARN. They reach from ``since`` to ``data_until``, the end of the evidence, UTC.
    """
    logs = {(r["queue_arn"], r["function_name"] or r["log_group"]): r for r in readiness}
    return [
        _row(setup, arn, code, answer, data_until)
        for arn, setup, checks in _setups(known, recent, returned_whole, logs, days, since, set_apart)
        for code, answer in answers(setup, checks)
    ]


def _setups(
    known: Known,
    recent: Mapping[OfConsumer, Row],
    returned: Mapping[OfConsumer, tuple[int, list[str]]],
    logs: Mapping[OfConsumer, Row],
    days: Mapping[str, Row],
    since: datetime | None,
    set_apart: SetApart,
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
        limits = [states[-1] for n in active if (states := functions.get((n,))) and states[-1]["timeout_s"] is not None]
        longest = max(limits, key=lambda f: f["timeout_s"], default=None)
        whole = replace(
            base,
            highest_receive_count=max(most, default=None),
            consumers=active or None,
            function_timeout_s=longest["timeout_s"] if longest else None,
            evidence=seen | {"function": (longest["evidence_id"],)} if longest else seen,
        )
        yield arn, whole, QUEUE_CHECKS
        for name, kind in sorted(consumers[arn].items()):
            setup = _with_function(base, name, kind, functions, mappings.get((arn, name)))
            setup = replace(setup, has_guard_line=known.names_guard_of(name), seen_from=since)
            setup = _with_seen(setup, recent.get((arn, name)), returned.get((arn, name)))
            if states := functions.get((name,)):
                timeout = _timeout_set(states)
                apart = set_apart(arn, name, timeout) if timeout.was_other or setup.timeout_count else {}
                setup = replace(setup, **apart | {"evidence": {**setup.evidence, **apart.get("evidence", {})}})
            yield arn, _with_logs(setup, logs.get((arn, name))), CONSUMER_CHECKS


def _is_on(mapping: list[Row] | None) -> bool:
    return mapping is None or not str(mapping[-1]["state"] or "").startswith("Disab")


def _with_days(base: Setup, seen: Row | None) -> Setup:
    if seen is None:
        return base
    values = {name: seen[name] for name in OF_DAYS}
    return replace(base, **values, evidence={**base.evidence, "days": tuple(seen["evidence_ids"])})


def _timeout_set(states: Sequence[Row]) -> TimeoutSet:
    now, was_other = states[-1], False
    for state in reversed(states):
        was_other = state["timeout_s"] != now["timeout_s"]
        if was_other or state["known"]["timeout_s"].is_assumed:
            break
        now = state
    return TimeoutSet(now["timeout_s"], now["in_force_from"], now["known"]["timeout_s"].evidence_id, was_other)


def _states(table: str, rows: Sequence[Row], changes: dict[str, Changes]) -> dict[tuple[str, ...], list[Row]]:
    """Return the states of each resource in order of time, snapshots and recorded changes; the last is in force at the end."""
    key = SETTINGS_KEYS[table]
    found: dict[tuple[str, ...], list[Row]] = {}
    for row in intervals([dict(row) for row in rows], key, changes[table]):
        found.setdefault(tuple(row[k] for k in key), []).append(row)
    return found


def _queue_part(arn: str, queues: dict[tuple[str, ...], list[Row]], dead: set[str]) -> Setup:
    name = queue_name(arn)
    states = queues.get((arn,))
    if not states:
        return Setup(name, has_queue_settings=False, is_fifo=is_fifo_name(name), is_dead_letter_queue=arn in dead)
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
        dead_letter_queue=queue_name(now["dead_letter_queue_arn"]),
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
        line_to_add=_line_to_add(row),
        evidence={**setup.evidence, "logs": tuple(row["evidence_ids"])},
    )


def _line_to_add(row: Row) -> str | None:
    if not row["missing"]:
        return None
    return said("{line} (Python) or {other} (Node)", line=row["python_lines"][0], other=row["node_lines"][0])


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
