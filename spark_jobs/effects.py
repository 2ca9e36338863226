"""Was the work done in this delivery? The effect table of the product, row by row, in its order of precedence."""

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

_FAILED = ("timeout", "crash", "error")


def with_batch_progress(deliveries: DataFrame) -> DataFrame:
    """Add, for runs that failed, how far the batch got: ``is_in_progress`` and ``is_not_reached``.

    Only where the consumer is declared sequential, and either its start lines or exhaustive effect lines tell.
    Where the last touched item had finished, the one after it counts as in progress: the line of its start may be lost.
    """
    batch = Window.partitionBy("stream_hash", "consumer")
    place = F.col("batch_position")
    touched = F.col("marker_at").isNotNull() | F.col("started_at").isNotNull()
    finished = F.col("marker_at").isNotNull()
    sequential = (F.col("order_declared") == "sequential") & F.col("run_status").isin(*_FAILED)
    last_touched = F.max(F.when(touched, place)).over(batch)
    last_is_finished = F.max(F.when(touched & finished, place)).over(batch) == last_touched
    last_started_at = F.max("started_at").over(batch)
    reached = F.when(
        F.col("has_started") & ~F.col("has_stray_mark") & last_touched.isNotNull(),
        F.when(last_is_finished, last_touched + 1).otherwise(last_touched),
    ).when(
        F.col("is_exhaustive") & ~F.col("has_stray_mark"),
        F.coalesce(F.max(F.when(finished, place)).over(batch), F.lit(0)) + 1,
    )
    by_place = ~finished & (place == F.col("_reached"))
    by_time = ~finished & place.isNull() & (F.col("started_at") == F.col("_last_started_at"))
    alone = F.col("run_status").isin(*_FAILED) & (F.col("batch_count") == 1) & ~finished
    return (
        deliveries.withColumns(
            {
                "_reached": F.when(sequential, reached),
                "_last_started_at": F.when(sequential, last_started_at),
            }
        )
        .withColumns(
            {
                "is_in_progress": F.coalesce(by_place, F.lit(False)) | F.coalesce(by_time, F.lit(False)) | alone,
                "is_not_reached": F.coalesce(~touched & (place > F.col("_reached")), F.lit(False)),
            }
        )
        .drop("_reached", "_last_started_at")
    )


def without_batch_progress(deliveries: DataFrame) -> DataFrame:
    """Add the columns of ``with_batch_progress`` for runs that did not fail."""
    return deliveries.withColumns(
        {
            "is_in_progress": F.lit(False),
            "is_not_reached": F.lit(False),
        }
    )


def with_effect(deliveries: DataFrame, came_again: Column) -> DataFrame:
    """Add ``effect``, ``basis`` and ``effect_at`` as far as one delivery tells; ``came_again`` is about its message.

    ``returned`` is still given to every delivery it fits: that it counts once per work is for ``once_per_work``.
    """
    status = F.col("run_status")
    handed = F.col("started_at").isNotNull() | (F.col("consumer_kind") == "worker")
    delete_attempted = F.col("delete_at").isNotNull() & handed
    framework = F.col("worker_finished_at").isNotNull()
    succeeded = status == "success"
    returned = succeeded & (F.col("consumer_kind") == "lambda") & ~F.col("has_stray_guard")
    partial = F.col("reports_batch_item_failures")
    named_failure = F.coalesce("is_named_failure", F.lit(False))
    cannot_be_failure = (partial == F.lit(False)) | (F.col("has_response") & ~named_failure)
    sequential = F.coalesce(F.col("order_declared") == "sequential", F.lit(False))
    has_effect = F.coalesce("has_effect", F.lit(False))
    unseen = F.col("unseen_basis") if "unseen_basis" in deliveries.columns else F.lit(None).cast("string")
    rows = [
        ("no", "never_started", unseen == "never_started"),
        ("unknown", "unseen", unseen == "unseen"),
        ("yes", "marker", F.col("marker_at").isNotNull()),
        ("no", "guard", F.col("guard_at").isNotNull() | F.col("idempotency").isin("already_done", "in_progress")),
        ("no", "never_started", status == "init_failed"),
        ("yes", "finished", framework | delete_attempted),
        ("no", "not_reached", F.col("is_not_reached")),
        ("no", "no_marker", has_effect & F.col("is_exhaustive") & ~F.col("has_stray_mark") & sequential & succeeded),
        ("yes", "returned", returned & ~has_effect & cannot_be_failure),
        ("unknown", "in_progress", F.col("is_in_progress")),
        ("unknown", "parallel", status.isin(*_FAILED) & ~sequential),
        ("unknown", "partial_response", succeeded & partial & ~F.col("has_response") & came_again),
    ]
    effect, basis = F.lit("unknown"), F.lit("no_item_lines")
    for value, name, holds in reversed(rows):
        effect = F.when(F.coalesce(holds, F.lit(False)), value).otherwise(effect)
        basis = F.when(F.coalesce(holds, F.lit(False)), name).otherwise(basis)
    return deliveries.withColumns(
        {
            "effect": effect,
            "basis": basis,
            "finished_at": F.coalesce("marker_at", "worker_finished_at"),
        }
    ).withColumn(
        "effect_at",
        F.when(F.col("basis") == "marker", F.col("marker_at"))
        .when(F.col("basis") == "finished", F.coalesce("worker_finished_at", "delete_at"))
        .when(F.col("basis") == "returned", F.col("run_ended_at")),
    )


def once_per_work(deliveries: DataFrame) -> DataFrame:
    """Let ``returned`` count once per work: after any earlier yes of the same work a guard may have answered silently.

    Settings that say ``idempotent = false`` lift this.
    """
    earlier = (
        Window.partitionBy("queue_arn", "work_id")
        .orderBy("received_at", "item_id", "delivery_index")
        .rowsBetween(Window.unboundedPreceding, -1)
    )
    done_before = F.coalesce(F.max(F.when(F.col("effect") == "yes", True)).over(earlier), F.lit(False))
    repeats_surely = F.coalesce(F.col("is_idempotent") == F.lit(False), F.lit(False))
    silent = (F.col("basis") == "returned") & F.col("_done_before") & ~repeats_surely
    return (
        deliveries.withColumn("_done_before", done_before)
        .withColumns(
            {
                "effect": F.when(silent, "unknown").otherwise(F.col("effect")),
                "effect_at": F.when(~silent, F.col("effect_at")),
            }
        )
        .drop("_done_before")
    )
