"""How often was the work done? The interval, its verdict, and the sentences that say it."""

from forensics.verdict.interval import CERTAINTIES, VERDICTS, verdict_of
from forensics.verdict.sentences import (
    cause_sentence,
    effect_sentence,
    guard_sentence,
    headline,
    trigger_sentence,
)

__all__ = [
    "CERTAINTIES",
    "VERDICTS",
    "cause_sentence",
    "effect_sentence",
    "guard_sentence",
    "headline",
    "trigger_sentence",
    "verdict_of",
]
