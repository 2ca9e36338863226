"""Lines of workers to handlings: a worker has no START and no request id, so the message itself opens and closes."""

from collections.abc import Sequence

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

_OPENERS = ("record", "started", "worker_started")
_LOOK_BACK_ROWS = 64
_CLOSERS = ("worker_finished", "worker_failed", "worker_gave_up", "worker_timed_out", "worker_refused")


def worker_facts(lines: DataFrame, visibility_by_group: dict[str, int], one_at_a_time: Sequence[str]) -> DataFrame:
    """One row per fact of a worker's line, with ``handling_index``: which handling of its message it belongs to.

    ``lines`` are parsed lines of worker log groups with their ``facts``; ``one_at_a_time`` are the groups whose workers
    take one message after the other.

    A fact that names no message goes to the message whose business key it names, else to the one whose receipt handle
    it names, else to the one message that is open in its stream; where several are open it goes to none.
    A printed record, the framework's start line or the configured start opens a handling, the surest of them that the
    message has; where there is none, silence of about one visibility timeout (seconds per log group, 30 if unknown) does.
    """
    facts = (
        lines.where(F.col("facts").isNotNull())
        .select("log_group", "log_stream", "logged_at", "order_in_ms", F.posexplode("facts").alias("place", "fact"))
        .select("log_group", "log_stream", "logged_at", "order_in_ms", "place", "fact.*")
    )
    return _in_handlings(_named(facts, one_at_a_time), visibility_by_group)


def _named(facts: DataFrame, one_at_a_time: Sequence[str]) -> DataFrame:
    stream = ["log_group", "log_stream"]
    records = facts.where((F.col("role") == "record") & F.col("message_id").isNotNull())
    by_key = (
        records.where(F.col("key").isNotNull())
        .groupBy(*stream, "key")
        .agg(F.min("message_id").alias("_of_key"), F.max("message_id").alias("_of_key_too"))
        .where(F.col("_of_key") == F.col("_of_key_too"))
        .drop("_of_key_too")
    )
    by_handle = (
        records.where(F.col("receipt_handle").isNotNull())
        .groupBy("log_group", F.substring("receipt_handle", 1, 27).alias("_handle"))
        .agg(F.min("message_id").alias("_of_handle"), F.max("message_id").alias("_of_handle_too"))
        .where(F.col("_of_handle") == F.col("_of_handle_too"))
        .drop("_of_handle_too")
    )
    joined = (
        facts.withColumn("_handle", F.substring("receipt_handle", 1, 27))
        .join(by_key, [*stream, "key"], how="left")
        .join(by_handle, ["log_group", "_handle"], how="left")
    )
    in_stream = (
        Window.partitionBy(*stream)
        .orderBy("logged_at", "order_in_ms", "evidence_id", "place")
        .rowsBetween(Window.unboundedPreceding, Window.currentRow)
    )
    opens = F.col("role").isin(*_OPENERS) & F.col("message_id").isNotNull()
    closes = F.col("role").isin(*_CLOSERS) & F.col("message_id").isNotNull()
    opened = F.when(opens, F.col("message_id"))
    nameless_start = (F.col("role") == "worker_started") & F.col("message_id").isNull() & F.col("key").isNull()
    named = (
        joined.withColumns(
            {
                "_last_opened": F.last(opened, ignorenulls=True).over(in_stream),
                "job": F.count(F.when(nameless_start, 1)).over(in_stream),
                "_recent": F.collect_list(F.when(opens | closes, F.struct("message_id", opens.alias("is_open")))).over(
                    in_stream.rowsBetween(-_LOOK_BACK_ROWS, Window.currentRow)
                ),
            }
        )
        .withColumns(
            {
                "_still_open": _still_open(F.col("_recent")),
                "_is_shared": F.coalesce(F.max(_overtakes()).over(Window.partitionBy(*stream)), F.lit(False)),
                "message_id": F.coalesce("message_id", "_of_key", "_of_handle"),
            }
        )
        .withColumn("item_id", F.coalesce("message_id", F.concat(F.lit("key:"), F.col("key"))))
    )
    return _given_to_open(_given_to_job(named, one_at_a_time), one_at_a_time).drop(
        "_of_key", "_of_handle", "_handle", "_last_opened", "_recent", "_still_open", "_is_shared"
    )


def _overtakes() -> Column:
    """A message goes on after another one was opened: whatever was declared, several workers write this stream."""
    return F.col("role").isin("effect", *_CLOSERS) & (F.col("message_id") != F.col("_last_opened"))


def _is_one_at_a_time(groups: Sequence[str]) -> Column:
    return F.col("log_group").isin(list(groups)) & ~F.col("_is_shared")


def _given_to_job(facts: DataFrame, one_at_a_time: Sequence[str]) -> DataFrame:
    """Give facts that name nothing to the one item named in their job; of several, whose starts are lost, to the last.

    Some frameworks' start lines name no message (Laravel's text form); each still begins a job in its stream.
    """
    in_job = Window.partitionBy("log_group", "log_stream", "job")
    before = in_job.orderBy("logged_at", "order_in_ms", "evidence_id", "place").rowsBetween(
        Window.unboundedPreceding, Window.currentRow
    )
    low, high = F.min("item_id").over(in_job), F.max("item_id").over(in_job)
    last = F.when(_is_one_at_a_time(one_at_a_time), F.last("item_id", ignorenulls=True).over(before))
    of_job = F.when(low == high, low).otherwise(last)
    return facts.withColumn("item_id", F.coalesce("item_id", F.when(F.col("job") > 0, of_job)))


def _given_to_open(facts: DataFrame, one_at_a_time: Sequence[str]) -> DataFrame:
    """Give facts that still name nothing to the one message open in their stream, or the last if none is.

    Where a log group's workers take one message at a time, a new start closes whatever was open before.
    """
    count = F.size("_still_open")
    open_item = (
        F.when(_is_one_at_a_time(one_at_a_time), F.col("_last_opened"))
        .when(count == 1, F.col("_still_open")[0])
        .when(count == 0, F.col("_last_opened"))
    )
    item = F.coalesce("item_id", F.when(F.col("job") == 0, open_item))
    is_key = item.startswith("key:")
    return facts.withColumn("item_id", item).withColumns(
        {
            "message_id": F.coalesce("message_id", F.when(~is_key, F.col("item_id"))),
            "key": F.coalesce("key", F.when(is_key, F.substring("item_id", 5, 1_000_000))),
        }
    )


def _still_open(recent: Column) -> Column:
    ids = F.array_distinct(F.transform(recent, lambda e: e["message_id"]))
    return F.filter(
        ids,
        lambda i: F.element_at(F.filter(recent, lambda e: e["message_id"] == i), -1)["is_open"],
    )


def _in_handlings(facts: DataFrame, visibility_by_group: dict[str, int]) -> DataFrame:
    of_message = ["log_group", "log_stream", "item_id"]
    everything = Window.partitionBy(*of_message)
    so_far = everything.orderBy("logged_at", "order_in_ms", "evidence_id", "place").rowsBetween(
        Window.unboundedPreceding, Window.currentRow
    )
    role = F.col("role")
    opener = F.when(role == "record", 3).when(role == "worker_started", 2).when(role == "started", 1)
    silence_s = F.lit(30)
    for seconds in sorted(set(visibility_by_group.values())):
        groups = [group for group, theirs in visibility_by_group.items() if theirs == seconds]
        silence_s = F.when(F.col("log_group").isin(groups), seconds).otherwise(silence_s)
    before = F.lag("logged_at").over(everything.orderBy("logged_at", "order_in_ms", "evidence_id", "place"))
    silent_ms = F.unix_millis("logged_at") - F.unix_millis(before)
    gap_opens = before.isNull() | (silent_ms >= silence_s * 900)
    job_before = F.lag("job").over(everything.orderBy("logged_at", "order_in_ms", "evidence_id", "place"))
    next_job = F.coalesce(job_before != F.col("job"), F.lit(False))
    is_opener = F.coalesce(opener == F.col("_opener"), F.lit(False))
    opens_in_job = F.max(is_opener).over(Window.partitionBy(*of_message, "job"))
    # What stands before the message's first opener is part of the same handling, unless a job ended in between.
    lacks_opener = before.isNull() & F.col("_opener").isNotNull() & ~opens_in_job
    before_now = so_far.rowsBetween(Window.unboundedPreceding, -1)
    again = Window.partitionBy(*of_message, "_span", "role").orderBy("logged_at", "order_in_ms", "evidence_id", "place")
    lost_start = F.col("_opener").isNull() & (role == "effect") & (F.col("_after") == "closed") & F.col("_was_done")
    opened = (
        facts.where(F.col("item_id").isNotNull())
        .withColumn("_opener", F.max(opener).over(everything))
        .withColumn("_span", F.count(F.when(opener == F.col("_opener"), 1)).over(so_far))
        .withColumns(
            {
                "_is_repeated": opener.isNotNull() & (F.row_number().over(again) > 1),
                "_after": F.last(_turn(), ignorenulls=True).over(before_now),
                "_was_done": F.max(role == "effect").over(before_now),
            }
        )
        .withColumn(
            "_opens",
            next_job
            | lacks_opener
            | F.col("_is_repeated")
            | F.coalesce(lost_start, F.lit(False))
            | F.coalesce(
                F.when(F.col("_opener").isNull(), gap_opens).otherwise(opener == F.col("_opener")), F.lit(False)
            ),
        )
        .withColumn(
            "handling_index", F.greatest(F.count(F.when(F.col("_opens"), 1)).over(so_far), F.lit(1)).cast("int")
        )
        .drop("_span", "_is_repeated", "_was_done")
    )
    return _given_back(opened).drop("_opener", "_opens", "_after", "job", "item_id")


def _turn() -> Column:
    """What a fact does to its message's handling: an effect begins or goes on with it, an end closes it."""
    role = F.col("role")
    is_failed_delete = (role == "worker_delete_failed") | (
        (role == "handle_error") & F.col("detail").contains(":DeleteMessage")
    )
    return (
        F.when(role.isin(*_OPENERS), "open")
        .when(role.isin(*_CLOSERS) | is_failed_delete, "closed")
        .when(role == "effect", "done")
    )


def _given_back(facts: DataFrame) -> DataFrame:
    """Give a second effect of one handling to the one before it, where that is still open and shows none.

    Several workers may share a stream: the slower one's effect then stands behind the start of the quicker one.
    """
    of_item = ["log_group", "log_stream", "item_id"]
    handling = Window.partitionBy(*of_item, "handling_index")
    is_effect = F.col("role") == "effect"
    per_handling = (
        facts.groupBy(*of_item, (F.col("handling_index") + 1).alias("handling_index"))
        .agg(F.count(F.when(is_effect | F.col("role").isin(*_CLOSERS), 1)).alias("_ends_before"))
        .where(F.col("_ends_before") == 0)
    )
    nth = F.count(F.when(is_effect, 1)).over(
        handling.orderBy("logged_at", "order_in_ms", "evidence_id", "place").rowsBetween(
            Window.unboundedPreceding, Window.currentRow
        )
    )
    return (
        facts.join(per_handling, [*of_item, "handling_index"], how="left")
        .withColumn("_nth", nth)
        .withColumn(
            "handling_index",
            F.when(is_effect & (F.col("_nth") == 2) & F.col("_ends_before").isNotNull(), F.col("handling_index") - 1)
            .otherwise(F.col("handling_index"))
            .cast("int"),
        )
        .drop("_ends_before", "_nth")
    )
