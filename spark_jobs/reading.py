"""Lines to runs and handlings: every line, or in a round those that are new and what they belong to."""

from collections.abc import Callable
from functools import partial

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from spark_jobs import tuning
from spark_jobs.facts import facts_of_line
from spark_jobs.handlings import Handlings, each_handling, with_consumer, worker_facts
from spark_jobs.inputs import Inputs
from spark_jobs.invocations import named_runs
from spark_jobs.kept_handlings import keep_first, keep_on
from spark_jobs.kept_runs import KeptRuns
from spark_jobs.parsed_lines import marks_of_runs, parsed_lines
from spark_jobs.runs import (
    RUN_KEY,
    as_gathered,
    has_late_lines,
    has_nameless,
    join_late_lines,
    lines_in_runs,
    runs,
    split_nameless,
)
from spark_jobs.writer import Writer

_ORDERS: dict[str | None, str] = {"laravel": "sequential"}
"""A Laravel worker process runs one job at a time, and its stream is that process."""


def groups_by_kind(inputs: Inputs) -> tuple[list[str], list[str]]:
    """Split the log groups into those of Lambda functions and those of workers; unknown ones by what they hold."""
    present = sorted(r["log_group"] for r in inputs.log_events.select("log_group").distinct().collect())
    kinds = inputs.kinds_by_group
    unknown = [g for g in present if kinds.get(g) is None and not g.startswith("/aws/lambda/")]
    with_runs: set[str] = set()
    if unknown:
        lines = inputs.log_events.where(F.col("log_group").isin(unknown))
        with_runs = {r["log_group"] for r in marks_of_runs(lines).select("log_group").distinct().collect()}
    is_worker = {g: (kinds[g] == "worker" if kinds.get(g) else g in unknown and g not in with_runs) for g in present}
    return [g for g in present if not is_worker[g]], [g for g in present if is_worker[g]]


def read_runs(
    inputs: Inputs, out: Writer, kept: KeptRuns | None, groups: list[str], queue_names: dict[str, str]
) -> tuple[DataFrame, DataFrame | None]:
    """Return the runs of every stream; in a round those that were read again, and which kept runs they replace."""
    if not kept:
        lines = inputs.log_events.where(F.col("log_group").isin(groups))
        return _runs_of(inputs, lines, groups, queue_names, None, out.keep)[0], None

    def keep(name: str, frame: DataFrame, by: str, apart: str, table: str = "") -> DataFrame:
        kept.note("runs", frame.schema)
        return out.keep(f"{table}{name}", frame, by, apart, kept.path(name))

    if not kept.is_round:
        return _runs_of(inputs, kept.lines(groups, kept.streams(groups)), groups, queue_names, None, keep)[0], None
    with tuning.going_through_history(inputs.spark, kept.line_count):
        streams = out.keep("streams", kept.streams(groups))
    fresh, first_read = _runs_of(inputs, kept.lines(groups, streams), groups, queue_names, streams, keep)
    torn = first_read.where(F.col("start_index") == 0).select("stream_hash").distinct()
    torn = out.keep("torn", torn.join(streams.where(F.col("cut_at").isNotNull()), "stream_hash", how="left_semi"))
    if not torn.isEmpty():  # they have lines of something before the place they were read from
        marked = streams.join(F.broadcast(torn.withColumn("_is_torn", F.lit(True))), "stream_hash", how="left")
        whole = {c: F.when(F.col("_is_torn").isNull(), F.col(c)) for c in ("cut_at", "starts_before")}
        streams = out.keep("whole_streams", marked.withColumns(whole).drop("_is_torn"))
        kept.forget("runs", "joined_runs")
        keep_whole = partial(keep, table="whole_")
        fresh, _ = _runs_of(inputs, kept.lines(groups, streams), groups, queue_names, streams, keep_whole)
    with tuning.going_through_history(inputs.spark, kept.line_count):
        return fresh, kept.replace_from(streams)


def _runs_of(
    inputs: Inputs,
    lines: DataFrame,
    groups: list[str],
    queue_names: dict[str, str],
    streams: DataFrame | None,
    keep: Callable[..., DataFrame],
) -> tuple[DataFrame, DataFrame]:
    """Gather lines into runs, and return also how they were before late lines joined theirs; ``keep`` writes and reads back."""
    parsed = parsed_lines(lines, inputs.consumers_by_group)
    gathered = runs(lines_in_runs(parsed, inputs.settings.queues, queue_names, streams))
    named = keep("runs", named_runs(gathered, inputs), by=RUN_KEY[0], apart="ended_well")
    is_late, is_nameless = has_late_lines(named), has_nameless(named)
    if not (is_late or is_nameless):
        return named, named
    again = join_late_lines(named) if is_late else as_gathered(named)
    if is_nameless:
        again = split_nameless(again, longest_run_ms(inputs, groups))
    return keep("joined_runs", named_runs(again, inputs), by=RUN_KEY[0], apart="ended_well"), named


def longest_run_ms(inputs: Inputs, groups: list[str]) -> dict[str, int]:
    """Return how long one run can be silent, per log group: its function's timeout, else about one visibility timeout."""
    longest: dict[str, int] = {}
    for row in inputs.small["queue_settings"]:
        for group, arn in inputs.queue_arn_by_group.items():
            if group in groups and arn == row["queue_arn"] and row["visibility_timeout_s"]:
                longest[group] = row["visibility_timeout_s"] * 900
    timeouts = {r["log_group"]: r["timeout_s"] * 1000 for r in inputs.small["function_settings"] if r["timeout_s"]}
    return {**longest, **{group: ms for group, ms in timeouts.items() if group in groups}}


def silences_s(inputs: Inputs, groups: list[str], queue_names: dict[str, str]) -> dict[str, int]:
    """Return the visibility timeout of the queue of each worker's log group, where it is known."""
    visibility = {r["queue_name"]: r["visibility_timeout_s"] for r in inputs.small["queue_settings"]}
    return {g: visibility[name] for g, name in queue_names.items() if g in groups and visibility.get(name)}


def read_handlings(
    inputs: Inputs,
    out: Writer,
    kept: KeptRuns | None,
    groups: list[str],
    queue_names: dict[str, str],
    replaced: DataFrame | None,
) -> tuple[Handlings | None, DataFrame | None]:
    """Return what workers' lines tell, None where there are none; in a round only new lines are parsed.

    Also returns ``replaced``, the runs that do not count any more, with the handlings that do not.
    """
    if not groups:
        return None, replaced
    is_round = kept is not None and kept.is_round
    lines = kept.new_lines(groups) if kept and is_round else inputs.log_events.where(F.col("log_group").isin(groups))
    stated = parsed_lines(lines, inputs.consumers_by_group).select(
        "log_group",
        "log_stream",
        "logged_at",
        "order_in_ms",
        facts_of_line(inputs.settings.queues, queue_names).alias("facts"),
    )
    by_group = silences_s(inputs, groups, queue_names)
    declared = inputs.consumers_by_group
    one_at_a_time = [
        g for g in groups if g in declared and "sequential" in (declared[g].order, _ORDERS.get(declared[g].format))
    ]

    def place(lines: DataFrame, by_handle: DataFrame | None, shared: DataFrame | None) -> DataFrame:
        return worker_facts(lines, by_group, one_at_a_time, by_handle, shared)

    if kept is None:
        facts = out.keep("handled", with_consumer(place(out.keep("stated", stated), None, None)))
        return Handlings(facts, out.keep("handlings", each_handling(facts))), replaced
    new = kept.add("stated", stated)
    if not is_round or not kept.has("handlings"):
        return keep_first(kept, new, place), replaced
    with tuning.going_through_history(inputs.spark, kept.line_count):
        return keep_on(kept, out, new, one_at_a_time, place)
