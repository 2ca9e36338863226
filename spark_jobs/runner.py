"""Evidence to findings: reads pinned versions, runs the transforms in order, publishes one generation."""

import shutil
import time
import uuid
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from forensics.health.accepted import check_codes
from forensics.lake import Generation, Lake
from forensics.settings import Settings
from forensics.tables import FINDINGS
from forensics.tables import findings as T
from forensics.tables.evidence import LOG_EVENTS
from spark_jobs.blind_windows import blind_windows
from spark_jobs.counterfactuals import counterfactuals, repeats
from spark_jobs.dead_letters import with_dead_letter_sign
from spark_jobs.deliveries import (
    delivered_again,
    delivered_once,
    ledger_columns,
    with_ending,
    with_evidence,
    with_read_until,
)
from spark_jobs.effects import once_per_work, with_batch_progress, with_effect, without_batch_progress
from spark_jobs.guards import with_guards
from spark_jobs.incidents import incidents, membership
from spark_jobs.inputs import RULES_VERSION, Inputs, fingerprint, read_inputs
from spark_jobs.invocations import invocations
from spark_jobs.kept_rows import Reach, carry_over, reach
from spark_jobs.kept_runs import Basis, KeptRuns
from spark_jobs.ledger import MANY_FACTS, run_deliveries, with_settings, worker_deliveries
from spark_jobs.logging_readiness import logging_readiness
from spark_jobs.messages import hidden_possible, in_incidents, messages
from spark_jobs.origins import origins
from spark_jobs.queue_findings import candidates, queue_findings
from spark_jobs.queue_health import health_periods, queue_health, queue_weeks
from spark_jobs.read_spans import read_spans
from spark_jobs.reading import groups_by_kind, longest_run_ms, read_handlings, read_runs
from spark_jobs.redeliveries import decided, delivery_pairs, redeliveries, rulings, with_exact_receives
from spark_jobs.redrives import has_fifo_dead_letters, was_moved, with_redriven_bodies
from spark_jobs.session import rules_left_out, side_by_side, spark_schema, spark_session
from spark_jobs.setting_findings import setting_findings
from spark_jobs.strays import with_strays_returned
from spark_jobs.suspects import (
    hashes_of,
    item_hash,
    shared_links,
    sharing,
    statements_of_runs,
    statements_of_workers,
    suspects,
    works,
)
from spark_jobs.timeline import timeline
from spark_jobs.unseen import judge_unseen, unseen_receives
from spark_jobs.writer import Writer

Say = Callable[[str], None]

KEEP_GENERATIONS = 5
FEW_LINES = 300_000
ROUNDS_FROM_LINES = 100_000
"""Below this, looking for what still holds costs more than making it anew."""
HELD_LINES = 30_000
"""Below so many lines what is needed between steps stays in memory: opening files would cost more than their rows."""
LINES_PER_PARTITION = 150_000


def correlate(
    lake: Lake,
    settings: Settings,
    master: str | None = None,
    since: datetime | None = None,
    progress: Say | None = None,
    spark: SparkSession | None = None,
    force: bool = False,
    in_rounds: bool | None = None,
) -> Generation:
    """Judge the evidence of a lake and publish the findings; returns the generation that readers see from now on.

    ``since`` leaves out log events before it (UTC). Where the newest generation was made from the same evidence,
    settings and rules, nothing is done, unless ``force``, which makes everything anew. ``in_rounds`` takes over what still
    holds of the round before and keeps this one's for the next; the findings are the same. None does so where there are
    enough lines for it to pay. Raises LakeMissingError, LakeBusyError, SettingsError.
    """
    say = progress or (lambda _: None)
    check_codes(settings)
    lake.check()
    with lake.writing("correlate"):
        versions = lake.versions()
        generation_id = fingerprint(lake, settings, lake.data_versions(), since)  # merged files are no new data
        newest = lake.generation()
        if newest and newest.generation_id == generation_id and not force:
            say("findings are up to date with the evidence")
            return newest
        line_count = lake.count(LOG_EVENTS, versions.get(LOG_EVENTS.name))
        has_few_lines = line_count < FEW_LINES
        spark = spark or spark_session(master, say, has_few_lines)
        _tune(spark, line_count, has_few_lines)
        inputs = read_inputs(spark, lake, settings, versions, since)
        run_id = f"{int(time.time() * 1000):015d}-{uuid.uuid4().hex[:12]}"
        out = Writer(lake, run_id, spark, in_memory=line_count < HELD_LINES)
        if in_rounds is None:
            in_rounds = line_count >= ROUNDS_FROM_LINES
        may_keep = in_rounds and since is None and LOG_EVENTS.name in versions
        kept = KeptRuns(lake, run_id, inputs) if may_keep else None
        try:
            data_until = _build(inputs, out, say, has_few_lines, kept, force)
        except BaseException:
            _discard(lake, run_id)
            if kept:
                kept.discard()
            raise
        finally:
            out.forget()
        generation = lake.publish(
            run_id,
            {
                "generation_id": generation_id,
                "inputs": versions,
                "rules_version": RULES_VERSION,
                "data_until_at": data_until,
            },
        )
        if kept:
            kept.commit(data_until)
        _forget_old(lake)
        return generation


def _tune(spark: SparkSession, line_count: int, is_small: bool) -> None:
    """Fit Spark to the size: for few lines, compiling Java for each step costs more than it saves."""
    spark.conf.set("spark.sql.codegen.wholeStage", str(not is_small).lower())
    spark.conf.set("spark.sql.codegen.factoryMode", "NO_CODEGEN" if is_small else "FALLBACK")
    # Of few lines, each further task costs more than it saves: it reads Hadoop's settings once more.
    for setting in ("spark.sql.leafNodeDefaultParallelism", "spark.sql.files.minPartitionNum"):
        spark.conf.set(setting, "1") if is_small else spark.conf.unset(setting)
    spark.conf.set("spark.sql.optimizer.excludedRules", rules_left_out(is_small))
    # Planning anew after every stage pays where stages are long.
    spark.conf.set("spark.sql.adaptive.enabled", str(not is_small).lower())
    # So many partitions that the runs of one fit in memory: Spark then gathers them by hash, without a second sort.
    spark.conf.set("spark.sql.shuffle.partitions", str(max(1 if is_small else 2, line_count // LINES_PER_PARTITION)))
    spark.conf.set("spark.sql.objectHashAggregate.sortBased.fallbackThreshold", "200000")
    # Files of a few kinds are written side by side; else Spark sorts all rows by kind first.
    spark.conf.set("spark.sql.maxConcurrentOutputFileWriters", "64")


def _build(
    inputs: Inputs, out: Writer, say: Say, has_few_lines: bool, kept: KeptRuns | None, anew: bool
) -> datetime | None:
    """Run every transform; returns the time of the last log event or the end of what was read, UTC."""
    say("assigning log lines to invocations")
    lambda_groups, worker_groups = groups_by_kind(inputs)
    queue_names = {group: arn.rpartition(":")[2] for group, arn in inputs.queue_arn_by_group.items()}
    if kept:
        is_worker = dict.fromkeys(lambda_groups, False) | dict.fromkeys(worker_groups, True)
        kept.begin(Basis.of(inputs, is_worker, longest_run_ms(inputs, lambda_groups)), anew)
    fresh_runs, replaced = read_runs(inputs, out, kept, lambda_groups, queue_names)
    all_runs = kept.together("runs", fresh_runs) if kept else fresh_runs
    handled = read_handlings(inputs, out, kept, worker_groups, queue_names)

    say("building the delivery ledger")
    (borders, data_until), (stated, items) = side_by_side(
        inputs.spark,
        lambda: _borders(inputs, all_runs, handled),
        lambda: _suspects(inputs, out, kept, fresh_runs, handled if worker_groups else None),
    )
    again = reach(kept, fresh_runs, replaced, items, out.keep) if kept and replaced is not None else None
    runs_at_hand = again.runs(fresh_runs, kept.older("runs"), stated) if kept and again else fresh_runs
    flagged = (
        with_read_until(
            _raw_deliveries(inputs, runs_at_hand, handled if worker_groups else None, has_few_lines), borders
        )
        .withColumn("item_hash", item_hash(F.col("item_id")))
        .join(F.broadcast(items.withColumn("is_judged", F.lit(True))), "item_hash", how="left")
        .drop("item_hash")
    )
    once = with_ending(with_dead_letter_sign(delivered_once(with_effect(flagged, F.lit(False))), inputs))
    came_back = F.coalesce(was_moved(inputs, F.col("queue_arn"), F.col("sent_at")), F.lit(False))
    once = once.withColumn("is_judged", F.coalesce("is_judged", F.lit(False)) | came_back)
    seen = _kept_apart(out, kept, again, once, data_until)
    if kept:
        kept.keep_suspects(items.unionByName(seen.select(item_hash(F.col("item_id")).alias("item_hash"))).distinct())
    of_lambda = _invocations(out, kept, again, fresh_runs, data_until)

    say("judging what was delivered again")
    ledger = out.keep("ledger", _judged_ledger(inputs, out, seen, all_runs))
    whole = out.write(T.DELIVERIES, ledger_columns(ledger), mode="append")
    pairs = out.keep("pairs", decided(with_exact_receives(delivery_pairs(ledger), inputs)))
    guarded_groups = sorted(g for g, consumer in inputs.consumers_by_group.items() if consumer.guard)
    guarded = with_guards(ledger, guarded_groups)
    judged = out.keep("judged", messages(guarded, pairs, hidden_possible(ledger, borders), origins(ledger, inputs)))
    members = out.keep("members", membership(judged))
    told = out.write(T.MESSAGES, in_incidents(judged, members.drop("is_affected")))

    def incident_tables() -> None:
        found = out.keep("incidents", incidents(judged, members, pairs, ledger, whole, inputs))
        out.write(T.INCIDENTS, found.unionByName(blind_windows(all_runs, found, inputs)))
        out.write(T.RULINGS, rulings(pairs))
        out.write(T.TIMELINE, timeline(ledger, told))

    def queue_tables() -> None:
        gathered = out.keep("queue_candidates", candidates(whole, ledger_columns(ledger), told, inputs, data_until))
        out.write(T.QUEUE_FINDINGS, queue_findings(gathered))
        out.write(T.COUNTERFACTUALS, counterfactuals(out.keep("repeats", repeats(ledger, pairs, told, members))))

    def health_tables() -> None:
        of_pairs = out.write(T.REDELIVERIES, redeliveries(pairs))
        periods = out.keep(
            "periods", health_periods(whole, of_lambda, told, of_pairs, inputs, data_until, has_few_lines)
        )
        out.write(T.QUEUE_HEALTH, queue_health(periods, inputs))
        out.write(T.QUEUE_WEEKS, queue_weeks(periods, inputs))
        readiness = out.write(T.LOGGING_READINESS, logging_readiness(all_runs, handled, inputs))
        out.write(T.SETTING_FINDINGS, setting_findings(periods, whole, readiness, inputs, data_until))

    say("weighing incidents, settings and the health of the queues")
    side_by_side(inputs.spark, incident_tables, queue_tables, health_tables)
    return data_until


def _suspects(
    inputs: Inputs, out: Writer, kept: KeptRuns | None, fresh_runs: DataFrame, handled: DataFrame | None
) -> tuple[DataFrame, DataFrame]:
    """Return what runs state, and the items to judge; in a round those judged before and what new lines add to them."""
    of_runs = statements_of_runs(fresh_runs)
    fresh = kept.add("statements", of_runs) if kept else out.keep("statements", of_runs)
    stated = kept.together("statements", fresh) if kept else fresh
    told, new = stated, fresh
    if handled is not None:
        of_workers = out.keep("told_by_workers", statements_of_workers(handled))
        told, new = told.unionByName(of_workers), new.unionByName(of_workers)
    if not (kept and kept.is_round):
        return stated, out.keep("suspects", suspects(told, has_fifo_dead_letters(inputs)))
    found = suspects(sharing(told, out.keep("shared", hashes_of(new))), has_fifo_dead_letters(inputs))
    return stated, out.keep("suspects", found.unionByName(kept.earlier_suspects()).distinct())


def _kept_apart(
    out: Writer, kept: KeptRuns | None, again: Reach | None, once: DataFrame, data_until: datetime | None
) -> DataFrame:
    """Write the deliveries that need no judging; return the others. What still holds of the round before is taken over."""
    of_worker = F.col("consumer_kind") == "worker"
    if kept and again:
        once = again.made_anew(once)
    seen, files = out.split(T.DELIVERIES, once, "is_judged", of_worker, "received_at", data_until)
    if kept and again:
        staged = out.lake.staging_folder(T.DELIVERIES, out.run_id)
        files += carry_over(kept, T.DELIVERIES, staged, again, "received_at", data_until)
    if kept:
        kept.keep_files(T.DELIVERIES.name, files)
    return seen


def _invocations(
    out: Writer, kept: KeptRuns | None, again: Reach | None, fresh_runs: DataFrame, data_until: datetime | None
) -> DataFrame:
    if not kept:
        return out.write(T.INVOCATIONS, invocations(fresh_runs), few=False)
    files = out.write_aged(T.INVOCATIONS, invocations(fresh_runs), "started_at", data_until)
    staged = out.lake.staging_folder(T.INVOCATIONS, out.run_id)
    if again:
        files += carry_over(kept, T.INVOCATIONS, staged, again, "started_at", data_until)
    kept.keep_files(T.INVOCATIONS.name, files)
    return out.spark.read.schema(spark_schema(T.INVOCATIONS)).parquet(str(staged))


def _raw_deliveries(inputs: Inputs, all_runs: DataFrame, handled: DataFrame | None, has_few_lines: bool) -> DataFrame:
    """Return every delivery that a log shows, with settings in force and how far its batch got.

    What there is none of is left out of the plan: a branch costs as much to plan as one full of rows.
    """
    is_big = not all_runs.where(F.col("facts_count") > MANY_FACTS).isEmpty()
    if has_few_lines:
        of_runs = run_deliveries(all_runs, is_big)
        every = of_runs if handled is None else of_runs.unionByName(worker_deliveries(handled))
        raw = with_batch_progress(with_settings(every, inputs))
    else:  # only what failed is sorted by its batch
        ended_well = F.col("ended_well")
        fine = without_batch_progress(with_settings(run_deliveries(all_runs.where(ended_well), is_big), inputs))
        failed = with_batch_progress(with_settings(run_deliveries(all_runs.where(~ended_well), is_big), inputs))
        raw = fine.unionByName(failed)
        if handled is not None:
            raw = raw.unionByName(with_batch_progress(with_settings(worker_deliveries(handled), inputs)))
    return with_evidence(
        raw.withColumns(
            {
                "sent_at": F.timestamp_millis("sent_ms"),
                "is_throttled": F.lit(None).cast("boolean"),
            }
        )
    ).withColumn("is_watched", F.lit(None).cast("boolean"))


def _judged_ledger(inputs: Inputs, out: Writer, seen: DataFrame, all_runs: DataFrame) -> DataFrame:
    """Return the deliveries of the judged items in order, unseen receives included, each with effect and ending."""
    item = ["queue_arn", "item_id"]
    dead_letter_queues = [
        r["dead_letter_queue_arn"] for r in inputs.small["queue_settings"] if r["dead_letter_queue_arn"]
    ]
    seen = with_strays_returned(seen).withColumn("is_dead_letter_queue", F.col("queue_arn").isin(dead_letter_queues))
    missing = out.keep("unseen", unseen_receives(seen))
    if missing.isEmpty():
        ordered = delivered_again(seen, None)
    else:
        ordered = delivered_again(seen, out.keep("judged_unseen", judge_unseen(missing, all_runs, inputs)))
    links = out.keep("works", works(shared_links(with_redriven_bodies(seen, inputs))))
    judged = with_effect(ordered, F.col("came_again"))
    linked = judged.join(F.broadcast(links), item, how="left").withColumn("work_id", F.coalesce("work_id", "item_id"))
    return with_ending(with_dead_letter_sign(once_per_work(linked), inputs))


def _borders(inputs: Inputs, all_runs: DataFrame, handled: DataFrame) -> tuple[DataFrame, datetime | None]:
    """Return per log group from when until when it was read, and the last moment the evidence knows of."""
    spans = read_spans(inputs, "log_events")
    seen = (
        all_runs.groupBy("log_group")
        .agg(F.min("first_line_at").alias("low"), F.max("last_line_at").alias("high"))
        .unionByName(
            handled.groupBy("log_group").agg(F.min("logged_at").alias("low"), F.max("logged_at").alias("high"))
        )
        .groupBy("log_group")
        .agg(F.unix_micros(F.min("low")).alias("low"), F.unix_micros(F.max("high")).alias("high"))
        .collect()
    )
    rows = []
    for row in seen:
        low, high = _utc(row["low"]), _utc(row["high"])
        if read := spans.get(row["log_group"]):
            low, high = min(low, read[0][0]), max(high, read[-1][1])
        rows.append((row["log_group"], low, high))
    borders = inputs.spark.createDataFrame(rows, "log_group string, read_from timestamp, read_until timestamp")
    return borders, max((r[2] for r in rows), default=None)


def _utc(micros: int) -> datetime:
    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=micros)


def _discard(lake: Lake, run_id: str) -> None:
    for table in FINDINGS:
        shutil.rmtree(lake.staging_folder(table, run_id), ignore_errors=True)


def _forget_old(lake: Lake) -> None:
    """Keep the files of the newest generations; older findings can be made again from the evidence."""
    for table in FINDINGS:
        data = Path(lake.path(table)) / "data"
        for folder in sorted(data.iterdir(), reverse=True)[KEEP_GENERATIONS:]:
            shutil.rmtree(folder, ignore_errors=True)
