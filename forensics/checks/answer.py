"""A check's answer: it fails, passes, cannot tell, or does not apply; the first three say why."""

from datetime import datetime
from typing import NamedTuple

from forensics.sentence import capitalized, joined, said

FAILS, PASSES, UNKNOWN, DOES_NOT_APPLY = "fails", "passes", "unknown", "does not apply"
CRITICAL, WARNING, NOTE = "critical", "warning", "note"
SEVERITIES = (CRITICAL, WARNING, NOTE)
"""Gravest first."""


class Answer(NamedTuple):
    """``uses`` names the values of the Setup that were compared: they give the numbers and the evidence."""

    status: str
    sentence: str = ""
    uses: tuple[str, ...] = ()
    severity: str | None = None
    advice: str | None = None
    would_decide: str | None = None


def fails(severity: str, sentence: str, advice: str, *uses: str) -> Answer:
    """The settings ask for trouble; ``advice`` says what to change."""
    return Answer(FAILS, sentence, uses, severity, advice)


def passes(sentence: str, *uses: str) -> Answer:
    """Nothing to change here."""
    return Answer(PASSES, sentence, uses)


def unknown(sentence: str, would_decide: str, *uses: str) -> Answer:
    """A value is missing; ``would_decide`` names the evidence that has it."""
    return Answer(UNKNOWN, sentence, uses, would_decide=would_decide)


def either(*ways: str) -> str:
    """Say what to do, where one of several ways is enough; each is a clause, and can be gone under the settings in force.

    >>> either("set the batch size to 1", "raise the function timeout")
    'Set the batch size to 1, or raise the function timeout.'
    """
    return said("{clause}.", clause=capitalized(joined(ways, ", or ")))


def since_set(at: datetime) -> str:
    """Say since when a setting holds; ``at`` is UTC."""
    return said("since it was set {at} UTC", at=f"{at:%d %b %H:%M}")


NOT_HERE = Answer(DOES_NOT_APPLY)
NO_QUEUE_SETTINGS = unknown("the queue's settings were not read", "GetQueueAttributes of the queue")
NO_FUNCTION_SETTINGS = unknown("the function's settings were not read", "GetFunctionConfiguration of the function")
NO_MAPPING = unknown("the event source mapping was not read", "ListEventSourceMappings of the queue")
