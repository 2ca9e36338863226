"""Lines of workers to handlings: a worker has no START and no request id, so the message itself opens and closes."""

from collections.abc import Sequence
from dataclasses import dataclass

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from spark_jobs.facts import item_of_fact

_OPENERS = ("record", "started", "worker_started")
LOOK_BACK_ROWS = 64
"""So many facts back is looked for what is open still."""
STREAM = ["log_group", "log_stream"]
_CLOSERS = ("worker_finished", "worker_failed", "worker_gave_up", "worker_timed_out", "worker_refused")


@dataclass(frozen=True)
class Handlings:
    """What workers' lines tell: ``facts`` of the handlings put together now, ``each`` one row per handling there is.

    ``older`` has the facts of those that hold from earlier rounds, None where nothing is taken over.
    """

    facts: DataFrame
    each: DataFrame
    older: DataFrame | None = None


def with_consumer(facts: DataFrame) -> DataFrame:
    """Add ``consumer``, the name of a handling, and 64 bits of it."""
    consumer = F.concat_ws("|", *STREAM, "item_id", "handling_index")
    return facts.withColumn("consumer", consumer).withColumn("consumer_hash", F.xxhash64("consumer"))


def each_handling(facts: DataFrame) -> DataFrame:
    """One row per handling: when it was spoken of, what its lines show, and hashes of all that they name."""
    return facts.groupBy("log_group", "log_stream", "consumer", "consumer_hash").agg(
        F.first("item_id").alias("item_id"),
        F.min("logged_at").alias("first_at"),
        F.max("logged_at").alias("last_at"),
        F.max("receive_count").isNotNull().alias("shows_count"),
        F.max(F.col("role").isin("started", "worker_started")).alias("shows_start"),
        F.max(F.col("role") == "effect").alias("shows_effect"),
        F.min("evidence_id").alias("first_id"),
        F.array_distinct(F.flatten(F.collect_list(names_of_fact()))).alias("names"),
        F.max("overtakes").alias("overtakes"),
    )


def names_of_fact() -> Column:
    """Hash whatever a fact names."""
    item = item_of_fact()
    handle = hashed_name("handle", handle_prefix())
    return F.array_compact(
        F.array(F.when(item.isNotNull(), F.xxhash64(item)), hashed_name("key", F.col("key")), handle)
    )


def hashed_name(kind: str, value: Column) -> Column:
    """Hash a name of some kind; null where there is none."""
    return F.when(value.isNotNull(), F.xxhash64(F.lit(kind), value))


def worker_facts(
    lines: DataFrame,
    visibility_by_group: dict[str, int],
    one_at_a_time: Sequence[str],
    by_handle: DataFrame | None = None,
    shared: DataFrame | None = None,
) -> DataFrame:
    """One row per fact of a worker's line, with ``handling_index``: which handling of its message it belongs to.

    ``lines`` are parsed lines of worker log groups with their ``facts``; ``one_at_a_time`` are the groups whose workers
    take one message after the other. Where ``lines`` are a part of what there is, ``by_handle`` says whose each receipt
    handle is (``messages_by_handle``), and ``shared`` which streams several workers are known to write.

    A fact that names no message goes to the message whose business key it names, else to the one whose receipt handle
    it names, else to the one message that is open in its stream; where several are open it goes to none.
    A printed record, the framework's start line or the configured start opens a handling, the surest of them that the
    message has; where there is none, silence of about one visibility timeout (seconds per log group, 30 if unknown) does.
    """
    facts = facts_of(lines)
    if by_handle is None:
        by_handle = messages_by_handle(facts.where(is_record()).withColumn("handle", handle_prefix()))
    return _in_handlings(_named(facts, one_at_a_time, by_handle, shared), visibility_by_group)


def facts_of(lines: DataFrame) -> DataFrame:
    """Return one row per fact of some lines."""
    return (
        lines.where(F.col("facts").isNotNull())
        .select("log_group", "log_stream", "logged_at", "order_in_ms", F.posexplode("facts").alias("place", "fact"))
        .select("log_group", "log_stream", "logged_at", "order_in_ms", "place", "fact.*")
    )


def is_record() -> Column:
    """Tell whether a fact is a printed record with its message's id."""
    return (F.col("role") == "record") & F.col("message_id").isNotNull()


def is_nameless_start() -> Column:
    """Tell whether a fact is a framework's start line that names nothing: it begins a job in its stream."""
    return (F.col("role") == "worker_started") & F.col("message_id").isNull() & F.col("key").isNull()


def is_opener() -> Column:
    """Tell whether a fact opens its message's handling."""
    return F.col("role").isin(*_OPENERS) & F.col("message_id").isNotNull()


def handle_prefix() -> Column:
    """Return what two facts of one receive share of their receipt handle, however long it was printed."""
    return F.substring("receipt_handle", 1, 27)


def messages_by_handle(records: DataFrame) -> DataFrame:
    """Return the one message of each ``handle`` of a log group, from the facts of its printed records."""
    return (
        records.where(F.col("handle").isNotNull())
        .groupBy("log_group", F.col("handle").alias("_handle"))
        .agg(F.min("message_id").alias("_of_handle"), F.max("message_id").alias("_of_handle_too"))
        .where(F.col("_of_handle") == F.col("_of_handle_too"))
        .drop("_of_handle_too")
    )


def _named(facts: DataFrame, one_at_a_time: Sequence[str], by_handle: DataFrame, shared: DataFrame | None) -> DataFrame:
    records = facts.where(is_record())
    by_key = (
        records.where(F.col("key").isNotNull())
        .groupBy(*STREAM, "key")
        .agg(F.min("message_id").alias("_of_key"), F.max("message_id").alias("_of_key_too"))
        .where(F.col("_of_key") == F.col("_of_key_too"))
        .drop("_of_key_too")
    )
    joined = (
        facts.withColumn("_handle", handle_prefix())
        .join(by_key, [*STREAM, "key"], how="left")
        .join(by_handle, ["log_group", "_handle"], how="left")
    )
    in_stream = (
        Window.partitionBy(*STREAM)
        .orderBy("logged_at", "order_in_ms", "evidence_id", "place")
        .rowsBetween(Window.unboundedPreceding, Window.currentRow)
    )
    if shared is None:
        joined = joined.withColumn("_was_shared", F.lit(False))
    else:
        joined = joined.join(F.broadcast(shared.withColumn("_was_shared", F.lit(True))), STREAM, how="left")
    names_nothing = F.coalesce("message_id", "_of_key", "_of_handle", "key").isNull()
    opens = is_opener()
    closes = F.col("role").isin(*_CLOSERS) & F.col("message_id").isNotNull()
    opened = F.when(opens, F.col("message_id"))
    named = (
        joined.withColumns(
            {
                "_last_opened": F.last(opened, ignorenulls=True).over(in_stream),
                "job": F.count(F.when(is_nameless_start(), 1)).over(in_stream),
                "_recent": F.collect_list(F.when(opens | closes, F.struct("message_id", opens.alias("is_open")))).over(
                    in_stream.rowsBetween(-LOOK_BACK_ROWS, Window.currentRow)
                ),
            }
        )
        .withColumns(
            {
                "_still_open": F.when(names_nothing & (F.col("job") == 0), _still_open(F.col("_recent"))),
                "overtakes": F.coalesce(_overtakes(), F.lit(False)),
                "_is_shared": F.coalesce("_was_shared", F.lit(False))
                | F.coalesce(F.max(_overtakes()).over(Window.partitionBy(*STREAM)), F.lit(False)),
                "message_id": F.coalesce("message_id", "_of_key", "_of_handle"),
            }
        )
        .withColumn("item_id", item_of_fact())
    )
    return _given_to_open(_given_to_job(named, one_at_a_time), one_at_a_time).drop(
        "_of_key", "_of_handle", "_handle", "_last_opened", "_recent", "_still_open", "_is_shared", "_was_shared"
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
    return _given_back(opened).drop("_opener", "_opens", "_after", "job")


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
    of_item = ("log_group", "log_stream", "item_id")
    one_before = Window.partitionBy(*of_item).orderBy("handling_index").rangeBetween(-1, -1)
    so_far = (
        Window.partitionBy(*of_item, "handling_index")
        .orderBy("logged_at", "order_in_ms", "evidence_id", "place")
        .rowsBetween(Window.unboundedPreceding, Window.currentRow)
    )
    is_effect = F.col("role") == "effect"
    ends_before = F.count(F.when(is_effect | F.col("role").isin(*_CLOSERS), 1)).over(one_before)
    is_second = F.count(F.when(is_effect, 1)).over(so_far) == 2
    is_given = is_effect & F.col("_is_second") & F.col("_is_open_before")
    return (
        facts.withColumns(
            {
                "_is_open_before": (F.count(F.lit(1)).over(one_before) > 0) & (ends_before == 0),
                "_is_second": is_second,
            }
        )
        .withColumn("handling_index", F.col("handling_index") - F.when(is_given, 1).otherwise(0))
        .drop("_is_open_before", "_is_second")
    )
