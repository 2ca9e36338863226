"""Judging deliveries: the ledger of the items to judge, their redeliveries put to the rules, and the verdicts."""

from collections.abc import Callable, Collection
from dataclasses import dataclass

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from spark_jobs.dead_letters import with_dead_letter_sign
from spark_jobs.deliveries import delivered_again, with_ending
from spark_jobs.effects import once_per_work, with_effect
from spark_jobs.guards import with_guards
from spark_jobs.inputs import Inputs
from spark_jobs.messages import hidden_possible, messages
from spark_jobs.origins import origins
from spark_jobs.redeliveries import decided, delivery_pairs, with_exact_receives
from spark_jobs.redrives import with_redriven_bodies
from spark_jobs.strays import with_strays_returned
from spark_jobs.suspects import shared_links, works
from spark_jobs.unseen import judge_unseen, unseen_receives
from spark_jobs.writer import Writer


@dataclass(frozen=True)
class Judged:
    """``ledger``: deliveries in order, unseen receives among them; ``pairs``: decided redeliveries; ``verdicts``: per item."""

    ledger: DataFrame
    pairs: DataFrame
    verdicts: DataFrame


@dataclass(frozen=True)
class Judge:
    """Judges whole works. ``runs`` are all runs, ``borders`` say per log group from when until when it was read.

    ``keep`` writes ledger, pairs and verdicts, in this order, and reads them back.
    """

    inputs: Inputs
    out: Writer
    runs: DataFrame
    borders: DataFrame
    keep: Callable[[str, DataFrame], DataFrame]

    def ledger(self, seen: DataFrame, mark: str = "") -> DataFrame:
        """Return the deliveries of the judged items in order, unseen receives included, each with effect and ending.

        ``mark`` tells apart what is kept of judging twice.
        """
        inputs, out, item = self.inputs, self.out, ["queue_arn", "item_id"]
        dead_letter_queues = [
            r["dead_letter_queue_arn"] for r in inputs.small["queue_settings"] if r["dead_letter_queue_arn"]
        ]
        seen = with_strays_returned(seen).withColumn(
            "is_dead_letter_queue", F.col("queue_arn").isin(dead_letter_queues)
        )
        missing = out.keep(f"unseen{mark}", unseen_receives(seen))
        if missing.isEmpty():
            ordered = delivered_again(seen, None)
        else:
            told = out.keep(f"judged_unseen{mark}", judge_unseen(missing, self.runs, inputs))
            ordered = delivered_again(seen, told)
        links = out.keep(f"works{mark}", works(shared_links(with_redriven_bodies(seen, inputs))))
        judged = with_effect(ordered, F.col("came_again"))
        linked = judged.join(F.broadcast(links), item, how="left").withColumn(
            "work_id", F.coalesce("work_id", "item_id")
        )
        ledger = with_ending(with_dead_letter_sign(once_per_work(linked), inputs))
        return self.keep("ledger", ledger)

    def verdicts(self, ledger: DataFrame, shown: Collection[str] | None = None) -> Judged:
        """Judge redeliveries and items of a ledger; ``shown`` are the groups with guard lines, where it is a part."""
        inputs = self.inputs
        pairs = self.keep("pairs", decided(with_exact_receives(delivery_pairs(ledger), inputs)))
        declared = sorted(g for g, consumer in inputs.consumers_by_group.items() if consumer.guard)
        guarded = with_guards(ledger, declared, None if shown is None else sorted(shown))
        hiding = hidden_possible(ledger, self.borders)
        return Judged(ledger, pairs, self.keep("verdicts", messages(guarded, pairs, hiding, origins(ledger, inputs))))
