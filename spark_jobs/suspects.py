"""Which messages need judging: delivered more than once, or sharing their work with another message."""

import pandas as pd
from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from spark_jobs.facts import item_of_fact
from spark_jobs.runs import RUN_KEY


def statements_of_runs(runs: DataFrame) -> DataFrame:
    """Return one narrow row per fact of a run that names a message or a key: what finding suspects needs, and no more.

    Columns: stream_hash, item_hash, consumer_hash, receive_count, deduplication_hash, key_hash, job_hash. Hashes of 64 bits
    keep what is shuffled small; two that are equal by chance make a suspect too many, never one too few.
    """
    facts = runs.select("stream_hash", F.xxhash64(*RUN_KEY).alias("consumer_hash"), F.explode("facts").alias("fact"))
    return _statements(facts.select("stream_hash", "consumer_hash", *[F.col(f"fact.{c}").alias(c) for c in _STATED]))


def statements_of_workers(handled: DataFrame) -> DataFrame:
    """Return the same for facts of workers."""
    stream = F.xxhash64("log_group", "log_stream").alias("stream_hash")
    return _statements(handled.select(stream, "consumer_hash", *_STATED))


def _statements(facts: DataFrame) -> DataFrame:
    return facts.where(F.col("message_id").isNotNull() | F.col("key").isNotNull()).select(
        "stream_hash",
        item_hash(item_of_fact()).alias("item_hash"),
        "consumer_hash",
        "receive_count",
        F.when(F.col("deduplication_id").isNotNull(), F.xxhash64("deduplication_id")).alias("deduplication_hash"),
        F.when(F.col("message_id").isNotNull() & F.col("key").isNotNull(), F.xxhash64("key")).alias("key_hash"),
        F.when(F.col("role").startswith("worker_") & F.col("detail").isNotNull(), F.xxhash64("detail")).alias(
            "job_hash"
        ),
    )


_STATED = ("role", "message_id", "key", "receive_count", "deduplication_id", "detail")


def item_hash(item_id: Column) -> Column:
    """What ``suspects`` calls an item: 64 bits of its id."""
    return F.xxhash64(item_id)


_SHARED = ("item_hash", "deduplication_hash", "key_hash", "job_hash")


def hashes_of(stated: DataFrame) -> DataFrame:
    """Return whatever statements can share with others, as ``shared_hash``."""
    return stated.select(F.explode(F.array_compact(F.array(*_SHARED))).alias("shared_hash")).distinct()


def sharing(stated: DataFrame, hashes: DataFrame) -> DataFrame:
    """Return the statements that share any of the hashes: about the same item, or one linked to it."""
    marked = stated
    for column in _SHARED:
        mine = F.broadcast(hashes.select(F.col("shared_hash").alias(column), F.lit(True).alias(f"_{column}")))
        marked = marked.join(mine, column, how="left")
    is_shared = F.lit(False)
    for column in _SHARED:
        is_shared = is_shared | F.col(f"_{column}").isNotNull()
    return marked.where(is_shared).select(*stated.columns)


def suspects(stated: DataFrame, with_redrives: bool = True) -> DataFrame:
    """Return the item_hash of each item to judge: in more than one run, counted above one, or linked to another item.

    Queues are not told apart here, so a few items too many come out; what they turn out to be is judged later.
    ``with_redrives`` also looks for deduplication ids that are another message's id, as a FIFO dead-letter queue gives.
    """
    again = (
        stated.groupBy("item_hash")
        .agg(
            F.min("consumer_hash").alias("low"),
            F.max("consumer_hash").alias("high"),
            F.max("receive_count").alias("highest"),
        )
        .where((F.col("low") != F.col("high")) | (F.col("highest") > 1))
        .select("item_hash")
    )
    values = stated.select(
        "item_hash", F.explode(F.array_compact(F.array("deduplication_hash", "key_hash", "job_hash"))).alias("value")
    )
    shared = (
        values.groupBy("value")
        .agg(F.min("item_hash").alias("low"), F.max("item_hash").alias("high"))
        .where(F.col("low") != F.col("high"))
        .select("value")
    )
    found = again.unionByName(values.join(shared, "value", how="left_semi").select("item_hash"))
    if with_redrives:
        named_after = stated.where(F.col("deduplication_hash").isNotNull()).select(
            "item_hash", F.col("deduplication_hash").alias("earlier_hash")
        )
        known = stated.select(F.col("item_hash").alias("earlier_hash"))
        redriven = named_after.join(known, "earlier_hash", how="left_semi")
        found = found.unionByName(redriven.select("item_hash")).unionByName(
            redriven.select(F.col("earlier_hash").alias("item_hash"))
        )
    return found.distinct()


def shared_links(deliveries: DataFrame) -> DataFrame:
    """Return (queue_arn, kind, value, item_id) for every value that items of a queue share and that makes them one work.

    Such are deduplication ids, business keys, a framework's job id, a deduplication id that is the other's message id (a FIFO redrive), and a
    body that went to the dead-letter queue once and came back once while a move task was on (``redriven_body``).
    """

    def links(values: Column, kind: str) -> Column:
        return F.transform(values, lambda v: F.struct(F.lit(kind).alias("kind"), v.alias("value")))

    dedup_ids = F.array_compact(F.array("deduplication_id"))
    lineage = F.array_compact(F.array("message_id", "deduplication_id"))
    every_link = F.concat(
        links(dedup_ids, "deduplication_id"),
        links(F.col("business_keys"), "business_key"),
        links(lineage, "lineage"),
        links(F.array_compact(F.array("job_id")), "job"),
        links(F.array_compact(F.array("redriven_body")), "redriven_body"),
    )
    values = (
        deliveries.select("queue_arn", "item_id", F.explode(every_link).alias("link"))
        .select("queue_arn", "item_id", "link.*")
        .distinct()
    )
    same = Window.partitionBy("queue_arn", "kind", "value")
    return values.withColumn("_sharers", F.count(F.lit(1)).over(same)).where(F.col("_sharers") > 1).drop("_sharers")


def works(links: DataFrame) -> DataFrame:
    """Return (queue_arn, item_id, work_id) for items that share work, directly or through others.

    The smallest item id names the work. An equal body links nothing: it never reaches this function.
    """
    return links.groupBy("queue_arn").applyInPandas(_components, "queue_arn string, item_id string, work_id string")


def _components(links: pd.DataFrame) -> pd.DataFrame:
    parent: dict[str, str] = {}

    def root(node: str) -> str:
        parent.setdefault(node, node)
        while parent[node] != node:
            parent[node] = parent[parent[node]]
            node = parent[node]
        return node

    for _, items in links.groupby(["kind", "value"])["item_id"]:
        first, *others = sorted(items)
        for other in others:
            low, high = sorted((root(first), root(other)))
            parent[high] = low
    items = sorted(set(links["item_id"]))
    return pd.DataFrame(
        {"queue_arn": links["queue_arn"].iloc[0], "item_id": items, "work_id": [root(i) for i in items]},
        columns=["queue_arn", "item_id", "work_id"],
    )
