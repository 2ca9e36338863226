"""Which lines a claim rests on: evidence ids, sorted, each once."""

from collections.abc import Iterable

from forensics.streams.model import Delivery


def united(*lists: Iterable[str]) -> list[str]:
    """Return what any of the lists holds, sorted, each once."""
    return sorted(set().union(*lists))


def evidence_of(delivery: Delivery) -> list[str]:
    """Return the lines that name the message, and the run's end where its outcome rests on that."""
    return sorted({*delivery.fact_ids, *delivery.end_ids})
