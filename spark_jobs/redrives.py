"""Redrives out of dead-letter queues: when move tasks were on, and which messages they brought back."""

from datetime import datetime, timedelta

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from spark_jobs.inputs import Inputs
from spark_jobs.read_spans import Span, read_spans

_LONGEST = timedelta(hours=36)
"""SQS ends a move task after that."""


def move_spans(inputs: Inputs) -> dict[str, list[Span]]:
    """Return, per source queue, when messages may have been moved back into it, UTC."""
    ends: dict[tuple[str, str | None, datetime], datetime] = {}
    for row in inputs.small.get("move_tasks", []):
        task = (row["source_arn"], row["destination_arn"], row["started_at"])
        if row["status"] != "RUNNING":
            ends[task] = min(ends.get(task, row["observed_at"]), row["observed_at"])
        else:
            ends.setdefault(task, row["started_at"] + _LONGEST)
    sources = _sources(inputs)
    spans: dict[str, list[Span]] = {}
    for (dead_letter_queue, destination, began), ended in ends.items():
        for queue in [destination] if destination else sources.get(dead_letter_queue, []):
            spans.setdefault(queue, []).append((began, max(ended, began)))
    return {queue: sorted(found) for queue, found in spans.items()}


def moves_known(inputs: Inputs) -> str:
    """Return as text what ``was_moved`` rests on: the same text, the same answers."""
    return repr((sorted(move_spans(inputs).items()), sorted(_queues_asked(inputs))))


def was_moved(inputs: Inputs, queue: Column, sent_at: Column) -> Column:
    """Tell whether a move task into the queue was on; null where nobody asked for its move tasks."""
    spans, known = move_spans(inputs), _queues_asked(inputs)
    inside = F.lit(False)
    for arn, found in spans.items():
        for start, end in found:
            inside = inside | ((queue == arn) & (sent_at >= F.lit(start)) & (sent_at <= F.lit(end)))
    return F.when(queue.isin(sorted(known | set(spans))), F.coalesce(inside, F.lit(False)))


def with_redriven_bodies(seen: DataFrame, inputs: Inputs) -> DataFrame:
    """Add ``redriven_body``: the MD5 that one dead-lettered message and one that a move task brought share, else null."""
    if not move_spans(inputs):
        return seen.withColumn("redriven_body", F.lit(None).cast("string"))
    came = F.coalesce(was_moved(inputs, F.col("queue_arn"), F.col("sent_at")), F.lit(False))
    went = F.coalesce(F.col("ended_by") == "dead_lettered", F.lit(False)) & ~came
    same = Window.partitionBy("queue_arn", "body_md5")
    ids_went = F.collect_set(F.when(went, F.col("item_id"))).over(same)
    ids_came = F.collect_set(F.when(came, F.col("item_id"))).over(same)
    mine = F.array_contains("_went", F.col("item_id")) | F.array_contains("_came", F.col("item_id"))
    one_each = (F.size("_went") == 1) & (F.size("_came") == 1)
    return (
        seen.withColumns(
            {
                "_went": ids_went,
                "_came": ids_came,
            }
        )
        .withColumn("redriven_body", F.when(one_each & mine & F.col("body_md5").isNotNull(), F.col("body_md5")))
        .drop("_went", "_came")
    )


def has_fifo_dead_letters(inputs: Inputs) -> bool:
    """Tell whether any FIFO queue has a dead-letter queue, or nothing says that it has none."""
    told = {r["queue_arn"] for r in inputs.small["queue_settings"]}
    untold = any(r["queue_arn"].endswith(".fifo") and r["queue_arn"] not in told for r in inputs.small["consumers"])
    return untold or any(r["is_fifo"] and r["dead_letter_queue_arn"] for r in inputs.small["queue_settings"])


def _queues_asked(inputs: Inputs) -> set[str]:
    asked = read_spans(inputs, "move_tasks")
    return {
        queue
        for dlq, sources in _sources(inputs).items()
        if dlq in asked or dlq.rpartition(":")[2] in asked
        for queue in sources
    }


def _sources(inputs: Inputs) -> dict[str, list[str]]:
    sources: dict[str, set[str]] = {}
    for row in inputs.small["queue_settings"]:
        if row["dead_letter_queue_arn"]:
            sources.setdefault(row["dead_letter_queue_arn"], set()).add(row["queue_arn"])
    return {dlq: sorted(found) for dlq, found in sources.items()}
