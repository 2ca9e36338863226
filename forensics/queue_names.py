"""Queues that evidence names by their name alone: an import may be told a queue before anything tells its ARN."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

Row = Mapping[str, Any]


def arns_of_names(consumers: Sequence[Row], queue_settings: Iterable[Row]) -> dict[str, str]:
    """Return the ARN of each name that rows of ``consumers`` have in its stead, where one queue alone is known by that name.

    >>> bare = {"queue_name": "orders", "queue_arn": "orders"}
    >>> arns_of_names([bare], [{"queue_name": "orders", "queue_arn": "arn:aws:sqs:eu-west-1:123456789012:orders"}])
    {'orders': 'arn:aws:sqs:eu-west-1:123456789012:orders'}
    """
    bare = {row["queue_arn"] for row in consumers if _is_bare(row["queue_arn"])}
    if not bare:
        return {}
    known: dict[str, set[str]] = defaultdict(set)
    for row in (*consumers, *queue_settings):
        if row["queue_name"] in bare and not _is_bare(row["queue_arn"]):
            known[row["queue_name"]].add(row["queue_arn"])
    return {name: next(iter(arns)) for name, arns in sorted(known.items()) if len(arns) == 1}


def with_arns(rows: Iterable[Row], arns: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return rows, each with its queue's ARN where it has the name alone."""
    return [{**row, "queue_arn": arns.get(row["queue_arn"], row["queue_arn"])} for row in rows]


def consumers_with_arns(consumers: Sequence[Row], arns: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return rows of ``consumers`` so; of two that then say the same, the one that had its ARN."""
    own = {_consumer(row) for row in consumers}
    changed = with_arns(consumers, arns)
    return [
        new
        for old, new in zip(consumers, changed, strict=True)
        if old["queue_arn"] == new["queue_arn"] or _consumer(new) not in own
    ]


def _consumer(row: Row) -> tuple[Any, ...]:
    return row["queue_arn"], row["log_group"], row["function_name"]


def _is_bare(queue_arn: str | None) -> bool:
    return queue_arn is not None and ":" not in queue_arn
