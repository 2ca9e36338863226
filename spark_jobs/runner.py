"""Evidence to findings: reads pinned versions, runs the transforms in order, publishes one generation."""

import shutil
import time
import uuid
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql import functions as F

from forensics.health.accepted import check_codes
from forensics.lake import Generation, Lake
from forensics.settings import Settings
from forensics.tables import FINDINGS
from forensics.tables import findings as T
from forensics.tables.evidence import LOG_EVENTS
from spark_jobs import tuning
from spark_jobs.basis import Basis
from spark_jobs.blind_windows import blind_windows, has_blind_queue
from spark_jobs.counterfactuals import counterfactuals, repeats
from spark_jobs.dead_letters import with_dead_letter_sign
from spark_jobs.deliveries import delivered_once, ledger_columns, with_ending, with_evidence, with_read_until
from spark_jobs.effects import with_batch_progress, with_effect, without_batch_progress
from spark_jobs.grounds import Grounds
from spark_jobs.incidents import incidents, membership, with_surroundings
from spark_jobs.inputs import RULES_VERSION, Inputs, fingerprint, read_inputs
from spark_jobs.java_failures import java_failures_told
from spark_jobs.kept_runs import KeptRuns
from spark_jobs.ledger import MANY_FACTS, run_deliveries, with_settings, worker_deliveries
from spark_jobs.logging_readiness import counts_of_workers, logging_readiness, run_counts
from spark_jobs.messages import in_incidents
from spark_jobs.queue_findings import candidates, queue_findings
from spark_jobs.queue_health import health_periods, periods_of, queue_health, queue_weeks
from spark_jobs.read_spans import read_spans
from spark_jobs.reading import groups_by_kind, longest_run_ms, read_handlings, read_runs, silences_s
from spark_jobs.redrives import was_moved
from spark_jobs.rounds import Rounds
from spark_jobs.session import side_by_side, spark_session
from spark_jobs.setting_findings import setting_findings
from spark_jobs.small_frames import frame_of
from spark_jobs.suspects import item_hash
from spark_jobs.timeline import timeline
from spark_jobs.writer import Writer

Say = Callable[[str], None]

KEEP_GENERATIONS = 5
ROUNDS_FROM_LINES = 100_000
"""Below this, looking for what still holds costs more than making it anew."""


@java_failures_told()
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
    enough lines for it to pay. Raises LakeMissingError, LakeBusyError, SettingsError, SparkEndedError.
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
        has_few_lines = line_count < tuning.FEW_LINES
        spark = spark or spark_session(master, say, has_few_lines)
        tuning.tune(spark, line_count, has_few_lines)
        inputs = read_inputs(spark, lake, settings, versions, since)
        run_id = f"{int(time.time() * 1000):015d}-{uuid.uuid4().hex[:12]}"
        out = Writer(lake, run_id, spark, in_memory=line_count < tuning.HELD_LINES)
        if in_rounds is None:
            in_rounds = line_count >= ROUNDS_FROM_LINES
        may_keep = in_rounds and since is None and LOG_EVENTS.name in versions
        kept = KeptRuns(lake, run_id, inputs, line_count) if may_keep else None
        try:
            data_until = _build(inputs, out, say, line_count, kept, force)
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


def _build(
    inputs: Inputs, out: Writer, say: Say, line_count: int, kept: KeptRuns | None, anew: bool
) -> datetime | None:
    """Run every transform; returns the time of the last log event or the end of what was read, UTC."""
    has_few_lines = line_count < tuning.FEW_LINES
    say("assigning log lines to invocations")
    lambda_groups, worker_groups = groups_by_kind(inputs)
    queue_names = {group: arn.rpartition(":")[2] for group, arn in inputs.queue_arn_by_group.items()}
    if kept:
        is_worker = dict.fromkeys(lambda_groups, False) | dict.fromkeys(worker_groups, True)
        silences = longest_run_ms(inputs, lambda_groups) | silences_s(inputs, worker_groups, queue_names)
        kept.begin(Basis.of(inputs, is_worker, silences), anew)
        if kept.is_round:
            tuning.tune_round(inputs.spark, line_count, kept.new_lines_count)
    fresh_runs, replaced = read_runs(inputs, out, kept, lambda_groups, queue_names)
    all_runs = kept.together("runs", fresh_runs) if kept else fresh_runs
    handlings, replaced = read_handlings(inputs, out, kept, worker_groups, queue_names, replaced)

    say("building the delivery ledger")
    rounds = Rounds(inputs, out, kept)
    with tuning.going_through_history(inputs.spark, line_count):
        of_groups, found = side_by_side(
            inputs.spark,
            lambda: _of_groups(all_runs),
            lambda: rounds.find(fresh_runs, replaced, handlings),
        )
        of_workers = counts_of_workers(handlings.each) if handlings else []
    read = _borders(inputs, [*of_groups, *of_workers])
    data_until = max((border[2] for border in read), default=None)
    borders = frame_of(inputs.spark, read, "log_group string, read_from timestamp, read_until timestamp")
    grounds = Grounds.of(inputs, read, {row["log_group"] for row in of_groups if row["with_start"]})
    rounds.compare(grounds, fresh_runs)
    runs_at_hand, facts_at_hand = rounds.at_hand(fresh_runs, handlings, found)
    flagged = (
        with_read_until(_raw_deliveries(inputs, runs_at_hand, facts_at_hand, has_few_lines), borders)
        .withColumn("item_hash", item_hash(F.col("item_id")))
        .join(F.broadcast(found.items.withColumn("is_judged", F.lit(True))), "item_hash", how="left")
        .drop("item_hash")
    )
    once = with_ending(with_dead_letter_sign(delivered_once(with_effect(flagged, F.lit(False))), inputs))
    came_back = F.coalesce(was_moved(inputs, F.col("queue_arn"), F.col("sent_at")), F.lit(False))
    once = once.withColumn("is_judged", F.coalesce("is_judged", F.lit(False)) | came_back)
    seen = rounds.apart(once, data_until)
    of_lambda = rounds.invocations(fresh_runs, data_until)

    say("judging what was delivered again")
    judged, whole, of_pairs = rounds.judged(all_runs, borders, seen, found, data_until)
    ledger, pairs = judged.ledger, judged.pairs
    members = out.keep("members", membership(judged.verdicts))
    told = out.write(T.MESSAGES, in_incidents(judged.verdicts, members.drop("is_affected")))

    unfinished, has_fifo = rounds.unfinished(whole, ledger)
    of_incidents = rounds.incidents(members)
    groups = rounds.message_groups(whole, ledger, told, of_incidents) if has_fifo else None

    def incident_tables() -> None:
        rows = of_incidents.rows() if of_incidents else incidents(judged.verdicts, members, pairs, ledger)
        rows = out.keep("incidents", with_surroundings(rows, members, groups, inputs))
        if has_blind_queue({row["log_group"]: row["with_message"] > 0 for row in of_groups}, inputs):
            rows = rows.unionByName(blind_windows(all_runs, rows, inputs))
        if of_incidents:
            of_incidents.keep_rows(rows)
            of_incidents.write_timeline(told, data_until)
        else:
            out.write(T.INCIDENTS, rows)
            out.write(T.TIMELINE, timeline(ledger, told))

    def queue_tables() -> None:
        found = candidates(unfinished, groups, ledger_columns(ledger), told, inputs, data_until)
        rows = queue_findings(out.keep("queue_candidates", found))
        rounds.write_queue_findings(rows, groups)
        if of_incidents:
            of_incidents.write_counterfactuals(told)
        else:
            out.write(T.COUNTERFACTUALS, counterfactuals(out.keep("repeats", repeats(ledger, pairs, told, members))))

    def health_tables() -> None:
        if (measures := rounds.measures()) is not None:
            periods = periods_of(measures, inputs, data_until)
        else:
            periods = health_periods(whole, of_lambda, told, of_pairs, inputs, data_until, has_few_lines)
        periods = out.keep("periods", periods)
        out.write(T.QUEUE_HEALTH, queue_health(periods, inputs))
        out.write(T.QUEUE_WEEKS, queue_weeks(periods, inputs))
        readiness = out.write(T.LOGGING_READINESS, logging_readiness(of_groups, of_workers, inputs))
        out.write(T.SETTING_FINDINGS, setting_findings(periods, unfinished, readiness, inputs, data_until))

    say("weighing incidents, settings and the health of the queues")
    side_by_side(inputs.spark, incident_tables, queue_tables, health_tables)
    return data_until


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


def _borders(inputs: Inputs, of_groups: Sequence[Row]) -> list[tuple[str, datetime, datetime]]:
    """Return per log group from when until when it was read, UTC. ``of_groups`` tells where its lines begin and end."""
    spans = read_spans(inputs, "log_events")
    seen: dict[str, tuple[int, int]] = {row["log_group"]: (row["low"], row["high"]) for row in of_groups}
    rows = []
    for group, (first, last) in seen.items():
        low_at, high_at = _utc(first), _utc(last)
        if read := spans.get(group):
            low_at, high_at = min(low_at, read[0][0]), max(high_at, read[-1][1])
        rows.append((group, low_at, high_at))
    return rows


def _of_groups(all_runs: DataFrame) -> list[Row]:
    """Return what is counted of the runs of each log group, in one pass over all of them."""
    first, last = F.unix_micros(F.min("first_line_at")), F.unix_micros(F.max("last_line_at"))
    return all_runs.groupBy("log_group").agg(first.alias("low"), last.alias("high"), *run_counts()).collect()


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
