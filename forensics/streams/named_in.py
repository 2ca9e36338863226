"""Whose of a run's messages a line is that says something of them by itself: an error, or that a repeat was stopped."""

from collections.abc import Iterable, Sequence

from forensics.parsers.idempotency import may_be_of_any_work
from forensics.streams.model import Delivery, Fact

_TELLING_KEY = 4
"""A key of so many characters or more tells whose a line is that it stands in."""


def named_by(error: Fact, batch: Iterable[Delivery]) -> list[Delivery]:
    """Return the deliveries of a run that a line names by itself; a key that is short may stand in it for something else."""
    text = error.detail or ""
    named = [
        d
        for d in batch
        if error.evidence_id in d.fact_ids or (d.message_id is not None and d.message_id in text.lower())
    ]
    by_key = (d for d in batch if any(len(key) >= _TELLING_KEY and is_word_of(text, key) for key in d.business_keys))
    return named or list(by_key)


def is_word_of(body: str, key: str) -> bool:
    """Tell whether a key stands in a body by itself, and not as a part of a longer name or number."""
    at = body.find(key)
    while at >= 0:
        beside = body[max(at - 1, 0) : at] + body[at + len(key) :][:1]
        if not any(sign.isalnum() or sign in "_-" for sign in beside):
            return True
        at = body.find(key, at + 1)
    return False


def mark_maybe_skipped(repeats: Iterable[Fact], batch: Sequence[Delivery]) -> None:
    """Mark those deliveries of a run whose work may not have been done again, as lines of its own words read: those that one names, else any.

    One that names none of them must be of some work all the same.
    """
    for repeat in repeats:
        for delivery in named_by(repeat, batch) or (batch if may_be_of_any_work(repeat.detail or "") else ()):
            delivery.may_be_skipped = True
            delivery.fact_ids = sorted({*delivery.fact_ids, repeat.evidence_id})
