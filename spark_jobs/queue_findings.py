"""What went wrong with queues and message groups: candidates gathered natively, each put to its pure rule."""

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any

import pandas as pd
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from forensics.queue_rules import EXCLUDED, QUEUE_RULES, QueueFacts
from forensics.tables.findings import QUEUE_FINDINGS
from forensics.verdict import redrive_of, redrive_sentence
from spark_jobs.blocked_groups import blocked_groups
from spark_jobs.commit_order import late_commits
from spark_jobs.dead_letters import moved_messages
from spark_jobs.inputs import Inputs
from spark_jobs.message_groups import MessageGroups
from spark_jobs.unfinished import outlived_messages, poison_messages, unfinished_messages

_KEY = list(QUEUE_FINDINGS.key)
_SAID = "stance string, sentence string, redrive string, redrive_sentence string, would_decide string"


def candidates(
    ends: DataFrame,
    groups: MessageGroups | None,
    judged: DataFrame,
    told: DataFrame,
    inputs: Inputs,
    data_until: datetime | None,
) -> DataFrame:
    """Gather what may be a finding, with the facts that its rule asks for.

    ``ends`` are at least the deliveries that were not deleted, ``groups`` those of FIFO queues, None where there
    are none; ``judged`` is the part of the ledger that was judged, ``told`` the verdicts. ``data_until`` is where the
    evidence ends, UTC.
    """
    unfinished = unfinished_messages(ends, judged, told, inputs)
    found = (
        moved_messages(ends, groups, told, inputs)
        .unionByName(poison_messages(unfinished), allowMissingColumns=True)
        .unionByName(outlived_messages(unfinished, inputs, data_until), allowMissingColumns=True)
    )
    if groups is not None:
        found = found.unionByName(late_commits(groups.deliveries), allowMissingColumns=True)
    incidents = told.select("queue_arn", "item_id", "incident_id")
    with_incident = found.join(F.broadcast(incidents), ["queue_arn", "item_id"], how="left")
    every = with_incident
    if groups is not None:
        every = every.unionByName(blocked_groups(groups.deliveries, told), allowMissingColumns=True)
    return every.withColumn("span_ms", F.unix_millis("until_at") - F.unix_millis("from_at"))


def queue_findings(gathered: DataFrame) -> DataFrame:
    """Put each candidate to its rule, and return what is supported or cannot be decided."""
    kinds = dict(gathered.dtypes)
    asked = gathered.select(
        *_KEY, "effects_at_least", "effects_at_most", *[c for c in QueueFacts._fields if c in kinds]
    ).withColumn("from_us", F.unix_micros("from_at"))
    said = asked.drop("from_at").mapInPandas(
        _ask, f"queue_arn string, code string, item_id string, from_us bigint, {_SAID}"
    )
    joined = gathered.withColumn("from_us", F.unix_micros("from_at")).join(
        said, ["queue_arn", "code", "item_id", "from_us"]
    )
    sorted_ids = F.array_sort(F.array_distinct("evidence_ids"))
    return joined.withColumn("evidence_ids", sorted_ids).select(*QUEUE_FINDINGS.column_names)


def _ask(batches: Iterable[pd.DataFrame]) -> Iterator[pd.DataFrame]:
    for batch in batches:
        rows = []
        for row in batch.to_dict("records"):
            known: dict[str, Any] = {k: v for k, v in row.items() if k in QueueFacts._fields and not pd.isna(v)}
            whole: dict[str, Any] = {k: int(v) if isinstance(v, float) else v for k, v in known.items()}
            ruling = QUEUE_RULES[row["code"]](QueueFacts(**whole))
            if ruling.stance == EXCLUDED:
                continue
            redrive: tuple[str | None, str | None] = (None, None)
            if row["code"] == "dead_lettered":
                least = int(row["effects_at_least"])
                most = None if pd.isna(row["effects_at_most"]) else int(row["effects_at_most"])
                redrive = (redrive_of(least, most), redrive_sentence(least, most))
            key = (row["queue_arn"], row["code"], row["item_id"], row["from_us"])
            rows.append((*key, ruling.stance, ruling.sentence, *redrive, ruling.would_decide))
        yield pd.DataFrame(
            rows,
            columns=[
                "queue_arn",
                "code",
                "item_id",
                "from_us",
                "stance",
                "sentence",
                "redrive",
                "redrive_sentence",
                "would_decide",
            ],
        )
