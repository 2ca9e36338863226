"""Where does another message id of the same work come from? One rule per origin, each asked about both ids."""

from collections.abc import Callable

from forensics.origins.dedup_window_passed import dedup_window_passed
from forensics.origins.dlq_redrive import dlq_redrive
from forensics.origins.ids import IdPair
from forensics.origins.producer_retry import producer_retry
from forensics.rules.ruling import SUPPORTED, Ruling

ORIGIN_RULES: dict[str, Callable[[IdPair], Ruling]] = {
    "dlq_redrive": dlq_redrive,
    "dedup_window_passed": dedup_window_passed,
    "producer_retry": producer_retry,
}
"""Origin code to its rule, the surest first."""


def origin_of(ids: IdPair) -> tuple[str | None, str]:
    """Return the origin and its sentence; None where several are open, or none is left.

    >>> origin_of(IdPair(has_same_business_key=True, sent_gap_s=2))[0]
    'producer_retry'
    """
    answers = {code: rule(ids) for code, rule in ORIGIN_RULES.items()}
    for code, ruling in answers.items():
        if ruling.stance == SUPPORTED:
            return code, ruling.sentence
    return None, "; ".join(ruling.sentence for ruling in answers.values())


__all__ = ["ORIGIN_RULES", "IdPair", "origin_of"]
