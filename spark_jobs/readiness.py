"""What the lines of each consumer tell, and what they do not: counted per log group, part by part."""

from collections.abc import Collection, Iterable, Mapping
from typing import Any

import polars as pl

from forensics.readiness import LogFacts, Readiness, readiness
from forensics.streams.model import Invocation
from spark_jobs.known import Known

COUNTS = ("handlings", "with_message", "with_count", "with_item_start", "with_effect", "with_response", "with_start")
Counts = dict[str, Any]
"""What is counted of one log group: ``log_group``, COUNTS, ``samples`` (the lowest and the highest line that stands for a
handling, none where no line does), ``first_at`` and ``last_at`` of its lines (microseconds since 1970, UTC)."""


def lines_of(invocation: Invocation) -> dict[str, Any]:
    """Return what the lines of one invocation show, as a row for invocation_counts."""
    facts = invocation.facts
    return {
        "log_group": invocation.log_group,
        "first_line_at": invocation.first_line_at,
        "last_line_at": invocation.last_line_at,
        "names_items": any(f.role != "failure" and f.item_id is not None for f in facts),
        "shows_counts": any(f.receive_count is not None for f in facts),
        "shows_starts": any(f.role == "started" for f in facts),
        "shows_effects": any(f.role == "effect" for f in facts),
        "has_response": invocation.has_response,
        "start_at": invocation.start_at,
        "first_mark_id": invocation.mark_ids[0] if invocation.mark_ids else None,
    }


def invocation_counts(invocations: pl.DataFrame) -> list[Counts]:
    """Count what the invocations of a part show, per log group, sorted; columns are those of lines_of."""
    return _counted(
        invocations,
        ("first_line_at", "last_line_at", "first_mark_id"),
        with_message=pl.col("names_items").sum(),
        with_count=pl.col("shows_counts").sum(),
        with_item_start=pl.col("shows_starts").sum(),
        with_effect=pl.col("shows_effects").sum(),
        with_response=pl.col("has_response").sum(),
        with_start=pl.col("start_at").count(),
    )


def handling_counts(handlings: pl.DataFrame) -> list[Counts]:
    """Count what a worker's handlings of a part show, per log group, sorted.

    Columns: log_group, first_at, last_at, first_id (a line), item_id, shows_count, shows_start, shows_effect.
    """
    return _counted(
        handlings,
        ("first_at", "last_at", "first_id"),
        with_message=pl.col("item_id").count(),
        with_count=pl.col("shows_count").sum(),
        with_item_start=pl.col("shows_start").sum(),
        with_effect=pl.col("shows_effect").sum(),
        with_response=pl.lit(0),
        with_start=pl.lit(0),
    )


def _counted(rows: pl.DataFrame, names: tuple[str, str, str], **counts: pl.Expr) -> list[Counts]:
    first, last, sample = names
    samples = pl.concat_list(pl.col(sample).min(), pl.col(sample).max()).list.drop_nulls()
    return (
        rows.group_by("log_group")
        .agg(
            pl.len().cast(pl.Int64).alias("handlings"),
            *[count.cast(pl.Int64).alias(name) for name, count in counts.items()],
            samples.alias("samples"),
            pl.col(first).min().to_physical().alias("first_at"),
            pl.col(last).max().to_physical().alias("last_at"),
        )
        .sort("log_group")
        .to_dicts()
    )


def together(parts: Iterable[Iterable[Counts]]) -> dict[str, Counts]:
    """Count the parts of a lake together; returns the counts by log group."""
    found: dict[str, Counts] = {}
    for part in parts:
        for counts in part:
            group = counts["log_group"]
            found[group] = _sum(found[group], counts) if group in found else counts
    return {group: found[group] for group in sorted(found)}


def _sum(one: Counts, other: Counts) -> Counts:
    samples = [*one["samples"], *other["samples"]]
    return {
        "log_group": one["log_group"],
        **{name: one[name] + other[name] for name in COUNTS},
        "samples": [min(samples), max(samples)] if samples else [],
        "first_at": min(one["first_at"], other["first_at"]),
        "last_at": max(one["last_at"], other["last_at"]),
    }


def logging_readiness(
    of_invocations: Mapping[str, Counts], of_handlings: Mapping[str, Counts], known: Known
) -> list[dict[str, Any]]:
    """Return the rows of logging_readiness: one per queue and log group of a known consumer, sorted.

    What is counted comes by log group, of all parts together: of those that functions write, and of those of workers.
    """
    counted = {**of_invocations, **of_handlings}
    asks = {r["function_name"]: bool(r["reports_batch_item_failures"]) for r in known.event_source_mappings}
    rows = []
    for queue_arn, queue, group, kind, function in _consumers(known, of_handlings):
        declared = known.consumers_by_group.get(function or group) or known.consumers_by_group.get(group)
        found = counted.get(group)
        counts = {name: found[name] if found else 0 for name in COUNTS}
        ready = readiness(
            LogFacts(
                kind,
                **counts,
                asks_response=asks.get(function) if function else False,
                is_effect_declared=bool(declared and declared.effect),
                is_exhaustive=bool(declared and declared.effect_is_exhaustive),
            )
        )
        if found is None:
            ready = Readiness("unread", "No line of this log group is in evidence.", ())
        samples = found["samples"] if found else []
        rows.append(
            {
                "queue_arn": queue_arn,
                "queue": queue,
                "log_group": group,
                "consumer_kind": kind,
                "function_name": function,
                **_in_words(ready),
                **_in_numbers(counts),
                "evidence_ids": sorted(samples),
            }
        )
    return rows


def _consumers(known: Known, of_workers: Collection[str]) -> list[tuple[str, str, str, str, str | None]]:
    """Return each queue's log groups; where nobody said what writes a group, what its lines turned out to be."""

    def kind(group: str) -> str:
        return "worker" if group in of_workers else "lambda"

    found = {
        (r["queue_arn"], r["queue_name"], r["log_group"], r["kind"] or kind(r["log_group"]), r["function_name"])
        for r in known.consumers
    }
    return sorted(found, key=lambda c: tuple(str(part) for part in c))


def _in_words(ready: Readiness) -> dict[str, Any]:
    return {
        "level": ready.level,
        "sentence": ready.sentence,
        "missing": [m.what for m in ready.missing],
        "reasons": [m.why for m in ready.missing],
        "python_lines": [m.python for m in ready.missing],
        "node_lines": [m.node for m in ready.missing],
        "setting_lines": [m.setting or "" for m in ready.missing],
    }


def _in_numbers(counts: Mapping[str, int]) -> dict[str, int]:
    return {
        "handling_count": counts["handlings"],
        "named_count": counts["with_message"],
        "counted_count": counts["with_count"],
        "item_start_count": counts["with_item_start"],
        "effect_count": counts["with_effect"],
        "response_count": counts["with_response"],
        "start_line_count": counts["with_start"],
    }
