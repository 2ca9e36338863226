"""A rule's answer: it supports, excludes or cannot decide, and always says why."""

from typing import NamedTuple

from forensics.rules.pair import HOLDERS, DeliveryPair, seconds
from forensics.sentence import said
from forensics.terms import CLOCKS_APART

SUPPORTED, EXCLUDED, UNDECIDABLE = "supported", "excluded", "undecidable"


class Ruling(NamedTuple):
    """``sentence`` is printed in reports; ``would_decide`` names the missing evidence of an undecidable ruling."""

    stance: str
    sentence: str
    would_decide: str | None = None


class Ruled(NamedTuple):
    """One rule's answer for one redelivery: its ``Ruling``, with the rule's code."""

    code: str
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


ERRORS_METRIC = "the function's Errors metric, or its settings if they name one of Lambda's own runtimes"


def maybe_raised(pair: DeliveryPair) -> Ruling:
    """Say that a run without a word of failure may have raised what it logged."""
    return undecidable(
        said(
            "{run} logged an error, and nothing tells whether its handler raised it: a custom runtime need not say so",
            run=pair.earlier_name,
        ),
        ERRORS_METRIC,
    )


def clocks_apart(clocks_words: str) -> Ruling:
    """Say why the times of the two receives cannot both hold."""
    return undecidable(clocks_words, CLOCKS_APART)


def maybe_outlived(pair: DeliveryPair) -> Ruling:
    """Say why nothing tells whether it was visible again before the earlier run ended."""
    if pair.clocks_words is not None:
        return clocks_apart(pair.clocks_words)
    return undecidable(
        "the visibility timeout is not known, nor whether the later receive lies behind the end of the earlier run: it may have been "
        "visible again before that",
        "the queue's settings",
    )


def maybe_held(pair: DeliveryPair) -> Ruling:
    """Say that whoever had the message before the earlier run began may have had it for too long."""
    who, decides = HOLDERS[pair.earlier_holder or "poller"]
    return undecidable(
        said(
            "{holder} may have held it for up to {span} before the earlier run began, so it may have been visible again before that ended",
            holder=who,
            span=seconds(pair.earlier_held_ms),
        ),
        decides,
    )


def maybe_copy(pair: DeliveryPair) -> Ruling:
    """Say that a failed run's message came back early on a standard queue, held before or copied."""
    who, decides = HOLDERS[pair.earlier_holder or "poller"]
    return undecidable(
        said(
            "it was redelivered early for a failed run: either {holder} had held it before, or the standard queue delivered a copy",
            holder=who,
        ),
        decides,
    )
