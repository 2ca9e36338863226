"""Evidence to findings: reads pinned versions, runs the transforms in order, publishes one generation."""

import shutil
import time
import uuid
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

from pyspark import StorageLevel
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from forensics.lake import Generation, Lake
from forensics.settings import Settings
from forensics.tables import FINDINGS, Table
from forensics.tables import findings as T
from spark_jobs.deliveries import delivered_again, delivered_once, ledger_columns, with_ending, with_evidence
from spark_jobs.effects import once_per_work, with_batch_progress, with_effect, without_batch_progress
from spark_jobs.facts import facts_of_line
from spark_jobs.handlings import worker_facts
from spark_jobs.incidents import incidents, membership
from spark_jobs.inputs import RULES_VERSION, Inputs, fingerprint, read_inputs
from spark_jobs.invocations import invocations, named_runs
from spark_jobs.ledger import run_deliveries, with_settings, worker_deliveries
from spark_jobs.messages import hidden_possible, in_incidents, messages
from spark_jobs.parsed_lines import parsed_lines
from spark_jobs.redeliveries import decided, delivery_pairs, redeliveries, rulings
from spark_jobs.runs import has_late_lines, join_late_lines, lines_in_runs, runs
from spark_jobs.session import spark_session
from spark_jobs.suspects import shared_links, suspects, works
from spark_jobs.timeline import timeline
from spark_jobs.unseen import judge_unseen, read_spans, unseen_receives

Say = Callable[[str], None]

KEEP_GENERATIONS = 5


def correlate(
    lake: Lake,
    settings: Settings,
    master: str | None = None,
    since: datetime | None = None,
    progress: Say | None = None,
    spark: SparkSession | None = None,
    force: bool = False,
) -> Generation:
    """Judge the evidence of a lake and publish the findings; returns the generation that readers see from now on.

    ``since`` leaves out log events before it (UTC). Where the newest generation was made from the same evidence,
    settings and rules, nothing is done, unless ``force``. Raises LakeMissingError, LakeBusyError.
    """
    say = progress or (lambda _: None)
    lake.check()
    with lake.writing("correlate"):
        versions = lake.versions()
        generation_id = fingerprint(lake, settings, versions, since)
        newest = lake.generation()
        if newest and newest.generation_id == generation_id and not force:
            say("findings are up to date with the evidence")
            return newest
        spark = spark or spark_session(master, say)
        inputs = read_inputs(spark, lake, settings, versions, since)
        run_id = f"{int(time.time() * 1000):015d}-{uuid.uuid4().hex[:12]}"
        try:
            data_until = _build(inputs, _Writer(lake, run_id), say)
        except BaseException:
            _discard(lake, run_id)
            raise
        finally:
            spark.catalog.clearCache()
        generation = lake.publish(
            run_id,
            {
                "generation_id": generation_id,
                "inputs": versions,
                "rules_version": RULES_VERSION,
                "data_until_at": data_until,
            },
        )
        _forget_old(lake)
        return generation


class _Writer:
    """Writes each findings table into its staging folder."""

    def __init__(self, lake: Lake, run_id: str) -> None:
        self.lake, self.run_id = lake, run_id

    def folder(self, table: Table) -> str:
        return str(self.lake.staging_folder(table, self.run_id))

    def write(self, table: Table, frame: DataFrame, few: bool = True, mode: str = "error") -> DataFrame:
        """Write and read back, so that what follows rests on the written rows and not on a second computation."""
        if few:
            frame = frame.coalesce(1).sortWithinPartitions(*table.key)
        frame.write.mode(mode).parquet(self.folder(table))
        return frame.sparkSession.read.schema(frame.schema).parquet(self.folder(table))


def _build(inputs: Inputs, out: _Writer, say: Say) -> datetime | None:
    """Run every transform; returns the time of the last log event or the end of what was read, UTC."""
    say("assigning log lines to invocations")
    lambda_groups, worker_groups = _groups(inputs)
    queue_names = _queue_names(inputs)
    all_runs = _runs(inputs, lambda_groups, queue_names)
    handled = _handlings(inputs, worker_groups, queue_names)
    out.write(T.INVOCATIONS, invocations(all_runs), few=False)

    say("building the delivery ledger")
    ended_well = F.col("end_status") == "success"
    raw = _with_effects(
        without_batch_progress(with_settings(run_deliveries(all_runs.where(ended_well)), inputs)).unionByName(
            with_batch_progress(
                with_settings(
                    run_deliveries(all_runs.where(~ended_well)).unionByName(worker_deliveries(handled)), inputs
                )
            )
        )
    )
    narrow = raw.select("queue_arn", "item_id", "message_id", "receive_count", "deduplication_id", "business_keys")
    judged_items = suspects(narrow).persist(StorageLevel.MEMORY_AND_DISK)
    borders, data_until = _borders(inputs, all_runs, handled)
    until = F.lit(data_until).cast("timestamp")
    item = ["queue_arn", "item_id"]
    once = with_ending(
        delivered_once(
            with_effect(raw.join(F.broadcast(judged_items), item, how="left_anti"), F.lit(False)).withColumn(
                "_data_until", until
            )
        )
    )
    out.write(T.DELIVERIES, ledger_columns(once), few=False)

    say("judging what was delivered again")
    ledger = _judged_ledger(inputs, raw, judged_items, all_runs, until)
    whole = out.write(T.DELIVERIES, ledger_columns(ledger), mode="append")
    pairs = decided(delivery_pairs(ledger)).persist(StorageLevel.MEMORY_AND_DISK)
    out.write(T.REDELIVERIES, redeliveries(pairs))
    out.write(T.RULINGS, rulings(pairs))
    judged = messages(ledger, pairs, hidden_possible(ledger, borders)).persist(StorageLevel.MEMORY_AND_DISK)
    members = membership(judged).persist(StorageLevel.MEMORY_AND_DISK)
    told = out.write(T.MESSAGES, in_incidents(judged, members.drop("is_affected")))
    out.write(T.INCIDENTS, incidents(judged, members, pairs, ledger, whole, inputs))
    out.write(T.TIMELINE, timeline(ledger, told))
    return data_until


def _groups(inputs: Inputs) -> tuple[list[str], list[str]]:
    """Split the log groups into those of Lambda functions and those of workers; unknown ones by what they hold."""
    present = sorted(r["log_group"] for r in inputs.log_events.select("log_group").distinct().collect())
    kinds = {r["log_group"]: r["consumer_kind"] for r in inputs.groups.collect()}
    unknown = [g for g in present if kinds.get(g) is None and not g.startswith("/aws/lambda/")]
    with_runs: set[str] = set()
    if unknown:
        lines = inputs.log_events.where(F.col("log_group").isin(unknown))
        marks = parsed_lines(lines, inputs.consumers_by_group).where(F.col("kind").isin("start", "end", "report"))
        with_runs = {r["log_group"] for r in marks.select("log_group").distinct().collect()}
    is_worker = {g: (kinds[g] == "worker" if kinds.get(g) else g in unknown and g not in with_runs) for g in present}
    return [g for g in present if not is_worker[g]], [g for g in present if is_worker[g]]


def _queue_names(inputs: Inputs) -> dict[str, str]:
    rows = inputs.groups.where(F.col("group_queue_arn").isNotNull()).collect()
    return {r["log_group"]: r["group_queue_arn"].rpartition(":")[2] for r in rows}


def _runs(inputs: Inputs, groups: list[str], queue_names: dict[str, str]) -> DataFrame:
    lines = inputs.log_events.where(F.col("log_group").isin(groups))
    parsed = parsed_lines(lines, inputs.consumers_by_group)
    gathered = runs(lines_in_runs(parsed, inputs.settings.queues, queue_names)).persist(StorageLevel.MEMORY_AND_DISK)
    if has_late_lines(gathered):
        gathered = join_late_lines(gathered).persist(StorageLevel.MEMORY_AND_DISK)
    return named_runs(gathered, inputs)


def _handlings(inputs: Inputs, groups: list[str], queue_names: dict[str, str]) -> DataFrame:
    lines = inputs.log_events.where(F.col("log_group").isin(groups))
    visibility = {r["queue_name"]: r["visibility_timeout_s"] for r in inputs.small["queue_settings"]}
    by_group = {g: visibility[name] for g, name in queue_names.items() if visibility.get(name)}
    facts = parsed_lines(lines, inputs.consumers_by_group).withColumn(
        "facts", facts_of_line(inputs.settings.queues, queue_names)
    )
    return worker_facts(facts, by_group).persist(StorageLevel.MEMORY_AND_DISK)


def _with_effects(raw: DataFrame) -> DataFrame:
    return with_evidence(
        raw.withColumn("sent_at", F.timestamp_millis("sent_ms")).withColumn("is_throttled", F.lit(None).cast("boolean"))
    )


def _judged_ledger(
    inputs: Inputs, raw: DataFrame, judged_items: DataFrame, all_runs: DataFrame, until: object
) -> DataFrame:
    """Return the deliveries of the judged items in order, unseen receives included, each with effect and ending."""
    item = ["queue_arn", "item_id"]
    dead_letter_queues = [
        r["dead_letter_queue_arn"] for r in inputs.small["queue_settings"] if r["dead_letter_queue_arn"]
    ]
    seen = (
        raw.join(F.broadcast(judged_items), item, how="left_semi")
        .withColumn("is_dead_letter_queue", F.col("queue_arn").isin(dead_letter_queues))
        .persist(StorageLevel.MEMORY_AND_DISK)
    )
    unseen = judge_unseen(unseen_receives(seen), all_runs, inputs).withColumnRenamed("effect", "unseen_effect")
    unseen = unseen.withColumnRenamed("basis", "unseen_basis")
    ordered = delivered_again(seen, unseen, until)
    judged = with_effect(ordered, F.col("came_again"))
    judged = judged.withColumn("effect", F.coalesce("unseen_effect", "effect")).withColumn(
        "basis", F.coalesce("unseen_basis", "basis")
    )
    links = shared_links(seen.select(*item, "deduplication_id", "business_keys", "receive_count"))
    linked = judged.join(F.broadcast(works(links)), item, how="left").withColumn(
        "work_id", F.coalesce("work_id", "item_id")
    )
    return with_ending(once_per_work(linked)).persist(StorageLevel.MEMORY_AND_DISK)


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
