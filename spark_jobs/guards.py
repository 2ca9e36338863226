"""Which guard stood between a repeat and its effect, per delivery."""

from collections.abc import Sequence

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F


def groups_with_guard_lines(ledger: DataFrame) -> set[str]:
    """Return the log groups in which an idempotency line shows a guard."""
    shown = ledger.where(F.col("idempotency").isNotNull() & F.col("log_group").isNotNull())
    return {row["log_group"] for row in shown.select("log_group").distinct().collect()}


def with_guards(ledger: DataFrame, guarded_groups: Sequence[str], shown: Sequence[str] | None = None) -> DataFrame:
    """Add ``guard_kind`` (of a repeat that was stopped), ``is_guarded_group``, ``is_lock_ended`` and ``lock_ended_s``.

    ``guarded_groups`` are the log groups whose guard lines are configured; an idempotency line of any message shows a
    guard for its whole log group. ``shown`` names those groups where ``ledger`` is only a part of what was judged.
    """
    item = Window.partitionBy("queue_arn", "item_id").orderBy("delivery_index")
    group = Window.partitionBy("log_group")
    line = F.max(F.col("idempotency").isNotNull()).over(group) if shown is None else F.col("log_group").isin([*shown])
    idempotent = F.coalesce(line, F.lit(False))
    before_died = (F.lag("run_status").over(item) == "timeout") & (F.lag("effect").over(item) != "no")
    return ledger.withColumns(
        {
            "guard_kind": F.when(F.col("basis") != "guard", None)
            .when(F.col("is_refused"), "refused")
            .when(F.col("idempotency").isin("already_done", "in_progress"), F.col("idempotency"))
            .otherwise("line"),
            "is_guarded_group": F.coalesce(idempotent | F.col("log_group").isin(list(guarded_groups)), F.lit(False)),
            "is_lock_ended": F.coalesce(
                idempotent & before_died & (F.col("effect") != "no") & F.col("is_seen"), F.lit(False)
            ),
        }
    ).withColumn("lock_ended_s", F.when(F.col("is_lock_ended"), F.lag("function_timeout_s").over(item)))
