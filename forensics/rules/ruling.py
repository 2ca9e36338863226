"""A rule's answer: it supports, excludes or cannot decide, and always says why."""

from typing import NamedTuple

SUPPORTED, EXCLUDED, UNDECIDABLE = "supported", "excluded", "undecidable"


class Ruling(NamedTuple):
    """``sentence`` is printed in reports; ``would_decide`` names the missing evidence of an undecidable ruling."""

    stance: str
    sentence: str
    would_decide: str | None = None


def supported(sentence: str) -> Ruling:
    """The evidence shows this cause."""
    return Ruling(SUPPORTED, sentence)


def excluded(sentence: str) -> Ruling:
    """The evidence rules this cause out."""
    return Ruling(EXCLUDED, sentence)


def undecidable(sentence: str, would_decide: str) -> Ruling:
    """The evidence allows this cause and others; ``would_decide`` says what would tell."""
    return Ruling(UNDECIDABLE, sentence, would_decide)


NO_LOG_OF_EARLIER = Ruling(
    UNDECIDABLE, "no log shows the earlier delivery", "the log of the consumer that got the earlier delivery"
)


def no_end_of_earlier(what: str) -> Ruling:
    """Say that the earlier run's end is unknown; ``what`` would tell it, of the consumer at hand."""
    return undecidable("no line tells how the earlier run ended", what)


RESPONSE_OR_COUNTS = "a line that prints the handler's return value, or the mapping's EventCount metrics"
MAYBE_HELD = Ruling(
    UNDECIDABLE,
    "it came back early: a throttled poller had held it before the earlier run began, so it may have been visible again before "
    "that ended",
    "the function's Throttles metric",
)
MAYBE_OUTLIVED = Ruling(
    UNDECIDABLE,
    "neither the visibility timeout nor the later receive is known: it may have been visible again before the earlier run ended",
    "the queue's settings",
)
MAYBE_A_COPY = Ruling(
    UNDECIDABLE,
    "it came back early for a failed run: either a throttled poller had held it before, or the standard queue delivered "
    "a copy",
    "the function's Throttles metric",
)
