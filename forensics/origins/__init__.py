"""Where does another message id of the same work come from? One rule per origin, each asked about both ids."""

from collections.abc import Callable
from typing import NamedTuple

from forensics.origins.dedup_window_passed import dedup_window_passed
from forensics.origins.dlq_redrive import dlq_redrive
from forensics.origins.ids import IdPair
from forensics.origins.producer_retry import producer_retry
from forensics.rules.ruling import EXCLUDED, SUPPORTED, UNDECIDABLE, Ruling
from forensics.sentence import joined, labelled, said

ORIGIN_RULES: dict[str, Callable[[IdPair], Ruling]] = {
    "dlq_redrive": dlq_redrive,
    "dedup_window_passed": dedup_window_passed,
    "producer_retry": producer_retry,
}
"""Origin code to its rule, the surest first."""


class Origin(NamedTuple):
    """Where a further id of a work comes from; ``code`` is None where several are open, or none is left.

    ``excluded`` holds ``code: why`` of every rival that is out, ``still_open`` ``code: why (would decide: what)`` of every other.
    """

    code: str | None
    sentence: str
    excluded: tuple[str, ...] = ()
    still_open: tuple[str, ...] = ()


def origin_of(ids: IdPair) -> Origin:
    """Ask every rule.

    >>> origin_of(IdPair(has_same_business_key=True, sent_gap_s=2)).code
    'producer_retry'
    """
    answers = {code: rule(ids) for code, rule in ORIGIN_RULES.items()}
    code = next((code for code, ruling in answers.items() if ruling.stance == SUPPORTED), None)
    said = answers[code].sentence if code else joined((ruling.sentence for ruling in answers.values()), "; ")
    out = tuple(labelled(c, r.sentence) for c, r in answers.items() if r.stance == EXCLUDED)
    return Origin(code, said, out, tuple(still_open(c, r) for c, r in answers.items() if r.stance == UNDECIDABLE))


def still_open(code: str, ruling: Ruling) -> str:
    """Say of a rule that cannot decide why not, and what would."""
    return labelled(code, said("{why} (would decide: {what})", why=ruling.sentence, what=ruling.would_decide))


__all__ = ["ORIGIN_RULES", "IdPair", "Origin", "origin_of"]
