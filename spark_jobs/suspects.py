"""Which messages need judging: delivered more than once, or sharing their work with another message."""

import pandas as pd
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

_LINKS = "queue_arn string, kind string, value string, item_id string"


def suspects(narrow: DataFrame) -> DataFrame:
    """Return (queue_arn, item_id) of the items to judge.

    ``narrow`` has one row per delivery: queue_arn, item_id, receive_count, deduplication_id, business_keys.
    """
    again = (
        narrow.groupBy("queue_arn", "item_id")
        .agg(F.count(F.lit(1)).alias("n"), F.max("receive_count").alias("highest"))
        .where((F.col("n") > 1) | (F.col("highest") > 1))
        .select("queue_arn", "item_id")
    )
    return again.unionByName(shared_links(narrow).select("queue_arn", "item_id")).distinct()


def shared_links(narrow: DataFrame) -> DataFrame:
    """Return (queue_arn, kind, value, item_id) for every deduplication id or business key that several items share."""
    linked = narrow.where(F.col("deduplication_id").isNotNull() | (F.size("business_keys") > 0))
    values = linked.select(
        "queue_arn",
        "item_id",
        F.explode(
            F.concat(
                F.transform(
                    F.array_compact(F.array("deduplication_id")), lambda v: F.struct(F.lit("deduplication_id"), v)
                ),
                F.transform("business_keys", lambda v: F.struct(F.lit("business_key"), v)),
            )
        ).alias("link"),
    ).select("queue_arn", "item_id", F.col("link.col1").alias("kind"), F.col("link.col2").alias("value"))
    shared = (
        values.groupBy("queue_arn", "kind", "value")
        .agg(F.min("item_id").alias("low"), F.max("item_id").alias("high"))
        .where(F.col("low") != F.col("high"))
        .select("queue_arn", "kind", "value")
    )
    return values.join(shared, ["queue_arn", "kind", "value"], how="left_semi").distinct()


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
