"""FIFO message groups as findings see them: who held a group, for how long, and what it received next."""

from dataclasses import dataclass

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

IN_GROUP = ["queue_arn", "group_key"]
"""What names a group; deliveries whose group nothing tells share one."""

ASKED = (
    "queue_arn",
    "queue",
    "item_id",
    "message_id",
    "group_id",
    "consumer",
    "batch_position",
    "is_seen",
    "sent_at",
    "received_at",
    "run_ended_at",
    "run_status",
    "hidden_until_at",
    "ended_by",
    "effect",
    "effect_at",
    "business_keys",
    "evidence_ids",
)
"""Columns of deliveries that findings about groups ask for."""


def is_fifo() -> Column:
    """Tell whether a row is of a FIFO queue."""
    return F.col("queue").endswith(".fifo")


def group_key() -> Column:
    """Return the message group's id, empty where nothing tells it."""
    return F.coalesce("group_id", F.lit("")).alias("group_key")


@dataclass(frozen=True)
class MessageGroups:
    """Groups that findings look at, with every delivery of theirs: the columns ``ASKED``, and maybe more."""

    deliveries: DataFrame

    def held_ms(self, members: DataFrame) -> DataFrame:
        """Return per incident (incident_id, blocked_ms) how long failed deliveries held their groups.

        That is from the end of a run to the group's next receive. ``members`` says which messages belong to which incident.
        """
        affected = members.where("is_affected").select("queue_arn", "item_id", "incident_id")
        marked = (
            self.deliveries.where("is_seen")
            .join(F.broadcast(affected), ["queue_arn", "item_id"], how="left")
            .withColumn("group_key", group_key())
        )
        groups = marked.where(F.col("incident_id").isNotNull()).select(*IN_GROUP).distinct()
        held = F.col("ended_by").isin("visibility_expired", "delete_refused", "dead_lettered")
        per_consumer = (
            marked.join(F.broadcast(groups), IN_GROUP, how="left_semi")
            .groupBy(*IN_GROUP, "consumer")
            .agg(
                F.min("received_at").alias("received_at"),
                F.max(F.coalesce("run_ended_at", "received_at")).alias("freed_at"),
                F.max("hidden_until_at").alias("hidden_until_at"),
                F.max(F.when(held, F.col("incident_id"))).alias("incident_id"),
            )
        )
        in_order = Window.partitionBy(*IN_GROUP).orderBy("received_at", "consumer")
        next_at = F.coalesce(F.lead("received_at").over(in_order), F.col("hidden_until_at"))
        held_ms = F.greatest(F.unix_millis(next_at) - F.unix_millis("freed_at"), F.lit(0))
        return (
            per_consumer.withColumn("_held_ms", held_ms)
            .where(F.col("incident_id").isNotNull())
            .groupBy("incident_id")
            .agg(F.sum("_held_ms").alias("blocked_ms"))
        )

    def next_receives(self, dead: DataFrame) -> DataFrame:
        """Return per dead-lettered message (queue_arn, item_id, _next_at) its group's first receive from ``from_at`` on.

        ``dead`` has a row per message, with from_at: the moment it was visible again. A message whose group nothing tells
        has no row.
        """
        mine = dead.where(is_fifo() & F.col("group_id").isNotNull())
        mine = mine.select("queue_arn", group_key(), "item_id", "from_at")
        receives = (
            self.deliveries.where(F.col("received_at").isNotNull())
            .withColumn("group_key", group_key())
            .join(F.broadcast(mine.select(*IN_GROUP).distinct()), IN_GROUP, how="left_semi")
            .select(*IN_GROUP, F.col("received_at").alias("_at"), F.col("received_at").alias("_received_at"))
        )
        events = receives.unionByName(mine.withColumn("_at", F.col("from_at")), allowMissingColumns=True).withColumn(
            "_at", F.unix_micros("_at")
        )
        from_here = Window.partitionBy(*IN_GROUP).orderBy("_at").rangeBetween(0, Window.unboundedFollowing)
        return (
            events.withColumn("_next_at", F.min("_received_at").over(from_here))
            .where(F.col("item_id").isNotNull())
            .select("queue_arn", "item_id", "_next_at")
        )

    def findings_before(self) -> DataFrame | None:
        """Return findings about groups that are not looked at; here all are."""
        return None
