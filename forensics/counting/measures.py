"""What counts for queue health, of any part of the lake: small tables that are concatenated and counted together.

A part's measures say how often something was so, per queue, consumer and quarter of an hour. Every zone's days begin at a
quarter of an hour, so that measures go into days and weeks of any zone without a second look at what was measured.
"""

from collections.abc import Sequence

import polars as pl

from forensics.identity import FIFO_ENDING
from forensics.run_ends import CAUSES, CUT_OFF, FAILED
from forensics.verdict.interval import AFFECTED

QUARTER_US = 900_000_000
MOST_IDS = 200
"""Of the evidence of one row so many are cited, the first by id; the measures of a part need no more."""

KEY = ("queue_arn", "consumer", "at")
"""``consumer`` is the function or the worker's log group, null where a measure is of the queue alone; ``at`` is UTC."""
COUNTS = (
    "delivery",
    "redelivery",
    "unlogged",
    "item",
    "expired_handle",
    "poison",
    "run",
    "timeout",
    "error",
    "crash",
    "twice_surely",
    "twice_maybe",
    "stopped",
    "known_dedup",
    "random_dedup",
    "self_sent",
    "sent_again",
)
_UTC = pl.Datetime("us", "UTC")
VALUES = ("run_ms", "item_ms", "dead_letter_reason")
"""What is kept value by value: ``times`` says how often. Percentiles need every value, not a summary of a part."""
_HIGHEST = ("receives", "batch_count", "poison_age", "last_group")

MEASURES = pl.Schema(
    {
        "queue_arn": pl.String(),
        "consumer": pl.String(),
        "at": _UTC,
        "run_ms": pl.Int64(),
        "item_ms": pl.Int64(),
        "dead_letter_reason": pl.String(),
        "times": pl.Int64(),
        **dict.fromkeys(COUNTS, pl.Int64()),
        "receives": pl.Int64(),
        "batch_count": pl.Int64(),
        "poison_age": pl.Int64(),
        "first_group": pl.String(),
        "last_group": pl.String(),
        "slowest_ms": pl.Int64(),
        "slowest_id": pl.String(),
        "evidence": pl.List(pl.String()),
    }
)
"""A row holds either ``times`` of one of VALUES, or with those null the counts, the highest, and the lowest of groups.

``slowest_id`` is a line of the longest run, ``slowest_ms`` its length, 0 where unknown. ``evidence`` is sorted.
"""
NO_MEASURES = pl.DataFrame(schema=MEASURES)
"""Made once: it takes as long as counting a small part."""

_RANDOM_ID = r"(?i)^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$"
"""A UUID of version 4: made of nothing but chance."""
_POISONED_AT = 3
"""From the third receive on, a standard queue's message no longer counts for the age metric."""
_ITEM = ("queue_arn", "item_id")
DELIVERY_COLUMNS = (
    *_ITEM,
    "queue",
    "received_from_arn",
    "delivery_index",
    "receive_count",
    "is_seen",
    "consumer_kind",
    "function_name",
    "log_group",
    "batch_count",
    "received_at",
    "started_at",
    "finished_at",
    "run_ended_at",
    "run_status",
    "delete_status",
    "ended_by",
    "group_id",
    "sent_at",
    "deduplication_id",
    "business_keys",
    "sender_id",
    "evidence_ids",
)


def delivery_measures(deliveries: pl.DataFrame, last_causes: pl.DataFrame | None = None) -> pl.DataFrame:
    """Measure deliveries, in columns of the table ``deliveries``; returns MEASURES.

    ``last_causes``: queue_arn, item_id and ``last_cause``, the cause of the item's last redelivery (see last_causes).
    An item with an unlogged receive whose time nobody knows has to be in one part with all its deliveries.
    """
    if deliveries.is_empty():
        return NO_MEASURES
    measured = each_delivery(deliveries).collect().lazy()  # once: to plan it takes longer than a small part
    flags = (
        "redelivery",
        "unlogged",
        "item",
        "expired_handle",
        "poison",
        "run",
        "known_dedup",
        "random_dedup",
        "self_sent",
    )
    counts = measured.group_by(KEY).agg(
        pl.len().cast(pl.Int64).alias("delivery"),
        *[pl.col(name).sum().cast(pl.Int64) for name in flags],
        pl.col("receives", "batch_count", "poison_age").max(),
        pl.col("group").min().alias("first_group"),
        pl.col("group").max().alias("last_group"),
    )
    cited = measured.filter(pl.col("dead") | pl.col("expired_handle") | pl.col("poison")).select(*KEY, _first_lines())
    dead = measured.filter("dead").select(*_ITEM, "at", "run_status")
    of_workers = measured.filter("run")
    return _collected(
        [counts, _slowest(of_workers), cited],
        [_times(measured, "item_ms"), _times(of_workers, "run_ms"), _reasons(dead, last_causes)],
    )


def each_delivery(deliveries: pl.DataFrame) -> pl.LazyFrame:
    """Return what each delivery of a known queue and time counts for, with its ``evidence_ids``; ``at`` in microseconds."""
    return _of_each(_at_next_logged(deliveries.select(DELIVERY_COLUMNS)).lazy())


def invocation_measures(invocations: pl.DataFrame) -> pl.DataFrame:
    """Measure the invocations whose queue is known, in columns of the table ``invocations``; returns MEASURES."""
    if invocations.is_empty():
        return NO_MEASURES
    rows = each_invocation(invocations)
    counts = rows.group_by(KEY).agg(
        pl.len().cast(pl.Int64).alias("run"),
        *[pl.col(name).sum().cast(pl.Int64) for name in CUT_OFF],
    )
    cited = rows.filter("failed").select(*KEY, _first_lines())
    return _collected([counts, _slowest(rows), cited], [_times(rows, "run_ms")])


def each_invocation(invocations: pl.DataFrame) -> pl.LazyFrame:
    """Return what each invocation of a known queue and start counts for, with its ``evidence_ids``; ``at`` in microseconds."""
    status = pl.col("end_status")
    return (
        invocations.lazy()
        .filter(pl.col("queue_arn").is_not_null() & pl.col("started_at").is_not_null())
        .select(
            "queue_arn",
            _consumer(),
            _quarter("started_at"),
            (status == "timeout").alias("timeout"),
            (status == "error").alias("error"),
            status.is_in(["crash", "init_failed"]).alias("crash"),
            pl.col("duration_ms").cast(pl.Int64).alias("run_ms"),
            status.is_in(list(FAILED)).alias("failed"),
            "evidence_ids",
        )
    )


def verdict_measures(messages: pl.DataFrame) -> pl.DataFrame:
    """Measure verdicts at the first receive of their work, in columns of the table ``messages``; returns MEASURES.

    A work counts once, under however many message ids it came: all of them have to be in one part.
    """
    if messages.is_empty():
        return NO_MEASURES
    rows = each_work(messages)
    counts = rows.group_by(KEY).agg(pl.col("twice_surely", "twice_maybe", "stopped", "sent_again").sum().cast(pl.Int64))
    cited = rows.filter("twice_maybe").select(*KEY, _first_lines())
    return _collected([counts, cited], [])


def each_work(messages: pl.DataFrame) -> pl.LazyFrame:
    """Return what each work counts for at its first receive, with its ``evidence_ids``; ``at`` in microseconds."""
    verdict = pl.col("verdict")
    known = messages.lazy().filter(pl.col("queue_arn").is_not_null() & pl.col("first_received_at").is_not_null())
    return (
        known.sort("first_received_at", "item_id")
        .group_by("queue_arn", "work_id", maintain_order=True)
        .agg(
            pl.col("first_received_at", "verdict").first(),
            pl.col("evidence_ids").first(),
            (pl.col("origin") == "producer_retry").any().alias("sent_again"),
        )
        .select(
            "queue_arn",
            pl.lit(None, pl.String).alias("consumer"),
            _quarter("first_received_at"),
            (verdict == "confirmed").alias("twice_surely"),
            verdict.is_in(list(AFFECTED)).alias("twice_maybe"),
            pl.col("sent_again"),
            (verdict == "absorbed").alias("stopped"),
            "work_id",
            "evidence_ids",
        )
    )


def last_causes(redeliveries: pl.DataFrame) -> pl.DataFrame:
    """Return the cause of each item's last redelivery: queue_arn, item_id, last_cause."""
    return (
        redeliveries.sort("delivery_index")
        .unique(_ITEM, keep="last", maintain_order=True)
        .select(*_ITEM, pl.col("cause").alias("last_cause"))
    )


def returned_batches(deliveries: pl.DataFrame) -> pl.DataFrame:
    """Count of each invocation that ended in success, with a batch above one, how many of its messages came again.

    Grain: queue_arn, function_name, consumer (the invocation), batch_count and the quarter ``at`` of the receive (UTC);
    ``came_again`` is summed over parts, ``evidence_id`` is the lowest. Deliveries stand in columns of ``deliveries``.
    """
    # Hidden messages cannot have come again yet, and a gone one never will: only what came again counts.
    key = ["queue_arn", "function_name", "consumer", "batch_count", "at"]
    known = [pl.col(name).is_not_null() for name in ("queue_arn", "function_name", "received_at")]
    return (
        deliveries.filter(
            pl.col("run_status") == "success",
            pl.col("batch_count") > 1,
            pl.col("ended_by") == "visibility_expired",
            *known,
        )
        .with_columns(_quarter("received_at").cast(_UTC))
        .group_by(key)
        .agg(
            pl.len().cast(pl.Int64).alias("came_again"),
            pl.col("evidence_ids").list.first().min().alias("evidence_id"),
        )
        .sort(key)
    )


def together(measures: pl.DataFrame) -> pl.DataFrame:
    """Count measures together that are of one queue, consumer and quarter: of any parts, in any order, the same rows."""
    return _in_order(summed(measures, KEY), *(times_of(measures, KEY, name) for name in VALUES))


def summed(measures: pl.DataFrame, key: Sequence[str]) -> pl.DataFrame:
    """Add up counts, and find the highest and lowest and the evidence, of measures alike in ``key``; one row each."""
    rows = measures.filter(*[pl.col(name).is_null() for name in VALUES])
    is_slowest = pl.col("slowest_ms") == pl.col("slowest_ms").max()
    counts = rows.group_by(key).agg(
        pl.col(COUNTS).sum(),
        pl.col(_HIGHEST).max(),
        pl.col("first_group").min(),
        pl.col("slowest_ms").max(),
        pl.col("slowest_id").filter(is_slowest).max(),
    )
    return counts.join(first_ids(rows, key), key, how="left", nulls_equal=True)


def times_of(measures: pl.DataFrame, key: Sequence[str], name: str) -> pl.DataFrame:
    """Return how many ``times`` each value of one of VALUES was measured, of measures alike in ``key``."""
    return measures.filter(pl.col(name).is_not_null()).group_by(*key, name).agg(pl.col("times").sum())


def first_ids(rows: pl.DataFrame, key: Sequence[str]) -> pl.DataFrame:
    """Return the first MOST_IDS of the ``evidence`` of rows alike in ``key``, sorted; no row where there is none."""
    ids = rows.select(*key, "evidence").explode("evidence").filter(pl.col("evidence").is_not_null()).unique()
    return ids.sort("evidence").group_by(key, maintain_order=True).agg(pl.col("evidence").head(MOST_IDS))


def _collected(counts: Sequence[pl.LazyFrame], values: Sequence[pl.LazyFrame]) -> pl.DataFrame:
    """Put into one what was counted of one part: ``counts`` may say several things of one key, of ``values`` each one."""
    at = pl.col("at").cast(_UTC)
    found = pl.collect_all([frame.with_columns(at) for frame in (*counts, *values)], engine="in-memory")
    of_keys = pl.concat([NO_MEASURES, *found[: len(counts)]], how="diagonal")
    return _in_order(summed(of_keys, KEY), *found[len(counts) :])


def _in_order(*frames: pl.DataFrame) -> pl.DataFrame:
    """Return frames with some of the columns as one, in all of them and sorted."""
    every = pl.concat([NO_MEASURES, *frames], how="diagonal")
    return every.with_columns(pl.col("times", *COUNTS).fill_null(0)).sort(*KEY, *VALUES)


def _at_next_logged(deliveries: pl.DataFrame) -> pl.DataFrame:
    """Put an unlogged receive, whose time nobody knows, at the next delivery of its message that is logged."""
    is_known = pl.col("received_at").is_not_null()
    undated = deliveries.filter(~is_known)
    if undated.is_empty():
        return deliveries
    known = deliveries.filter(is_known)
    logged = known.select(*_ITEM, pl.col("delivery_index").alias("_index"), pl.col("received_at").alias("_at"))
    delivery = [*_ITEM, "delivery_index"]
    after = pl.col("_at").filter(pl.col("_index") > pl.col("delivery_index")).min()
    near = (
        undated.select(delivery)
        .join(logged, _ITEM)
        .group_by(delivery)
        .agg(pl.coalesce(after, pl.col("_at").max()).alias("received_at"))
    )
    placed = undated.drop("received_at").join(near, delivery)
    return pl.concat([known, placed.select(deliveries.columns)])


def _reasons(dead: pl.LazyFrame, causes: pl.DataFrame | None) -> pl.LazyFrame:
    """How the last delivery ended says why it was given up; where it ended well, the cause of the last redelivery."""
    if causes is None:
        causes = pl.DataFrame(schema={**dict.fromkeys(_ITEM, pl.String()), "last_cause": pl.String()})
    ended = pl.col("run_status").replace_strict(CAUSES, default=None, return_dtype=pl.String)
    reason = pl.coalesce(ended, "last_cause", pl.lit("undecidable")).alias("dead_letter_reason")
    given_up = dead.join(causes.lazy(), _ITEM, how="left")
    return _times(given_up.select("queue_arn", pl.lit(None, pl.String).alias("consumer"), "at", reason), VALUES[-1])


def _times(rows: pl.LazyFrame, value: str) -> pl.LazyFrame:
    counted = rows.filter(pl.col(value).is_not_null()).group_by(*KEY, value)
    return counted.agg(pl.len().cast(pl.Int64).alias("times"))


def _of_each(deliveries: pl.LazyFrame) -> pl.LazyFrame:
    """Return what each delivery counts for, where its queue and its time are known."""
    rows = deliveries.filter(pl.col("queue_arn").is_not_null() & pl.col("received_at").is_not_null())
    is_fifo = pl.col("queue").str.ends_with(FIFO_ENDING)
    count = pl.coalesce("receive_count", "delivery_index").cast(pl.Int64)
    is_worker = pl.col("consumer_kind") == "worker"
    is_logged = pl.col("is_seen")
    is_first = pl.col("delivery_index") == 1
    dedup = pl.col("deduplication_id")
    is_random = dedup.str.contains(_RANDOM_ID) & ~pl.col("business_keys").list.contains(dedup).fill_null(False)
    sent_by = pl.col("sender_id").str.split(":").list.last()
    done_at = pl.coalesce("finished_at", pl.when(is_worker).then("run_ended_at"))
    run_ms = _ms(pl.coalesce("run_ended_at", "finished_at")) - _ms(pl.coalesce("started_at", "received_at"))
    item_ms = _ms(done_at) - _ms(pl.col("started_at"))
    return rows.select(
        pl.coalesce("received_from_arn", "queue_arn").alias("queue_arn"),
        _consumer(),
        _quarter("received_at"),
        (count > 1).alias("redelivery"),
        (~is_logged).alias("unlogged"),
        is_first.alias("item"),
        _is_refused().alias("expired_handle"),
        (~is_fifo & (count == _POISONED_AT)).alias("poison"),
        pl.when(~is_fifo & (count >= _POISONED_AT)).then(_s("received_at") - _s("sent_at")).alias("poison_age"),
        count.alias("receives"),
        pl.col("batch_count").cast(pl.Int64),
        pl.when(is_logged).then("group_id").alias("group"),
        pl.when(item_ms >= 0).then(item_ms).alias("item_ms"),
        (is_first & dedup.is_not_null()).alias("known_dedup"),
        (is_first & is_random).fill_null(False).alias("random_dedup"),
        (is_first & (sent_by == pl.col("function_name"))).fill_null(False).alias("self_sent"),
        is_worker.alias("run"),
        pl.when(is_worker & (run_ms >= 0)).then(run_ms).alias("run_ms"),
        (pl.col("ended_by") == "dead_lettered").alias("dead"),
        pl.col("run_status"),
        "item_id",
        "evidence_ids",
    )


def _slowest(rows: pl.LazyFrame) -> pl.LazyFrame:
    """The lines that stand for the longest runs, per key."""
    known = rows.with_columns(pl.col("run_ms").fill_null(0).alias("slowest_ms"))
    longest = known.filter(pl.col("slowest_ms") == pl.col("slowest_ms").max().over(KEY))
    return longest.select(*KEY, "slowest_ms", pl.col("evidence_ids").list.first().alias("slowest_id"))


def _consumer() -> pl.Expr:
    return pl.coalesce("function_name", "log_group").alias("consumer")


def _is_refused() -> pl.Expr:
    return (pl.col("ended_by") == "delete_refused") | (pl.col("delete_status") == "expired")


def _first_lines() -> pl.Expr:
    return pl.col("evidence_ids").list.head(3).alias("evidence")


def _quarter(at: str) -> pl.Expr:
    """The quarter of an hour of a time, as microseconds since the epoch: rounded as numbers, which knows no zone."""
    return (pl.col(at).to_physical() // QUARTER_US * QUARTER_US).alias("at")


def _ms(at: pl.Expr) -> pl.Expr:
    return at.to_physical() // 1000


def _s(at: str) -> pl.Expr:
    return pl.col(at).to_physical() // 1_000_000
