"""How often was the work done? The interval, its verdict, and the sentences that say it."""

from forensics.verdict.guards import guard_sentence
from forensics.verdict.interval import CERTAINTIES, VERDICTS, verdict_of
from forensics.verdict.redrive import REDRIVES, redrive_of, redrive_sentence
from forensics.verdict.sentences import (
    OPEN_WORDS,
    effect_sentence,
    headline,
    headline_of,
    noun_of,
    trigger_sentence,
)
from forensics.verdict.why import Why, why_sentence

__all__ = [
    "CERTAINTIES",
    "OPEN_WORDS",
    "REDRIVES",
    "VERDICTS",
    "Why",
    "effect_sentence",
    "guard_sentence",
    "headline",
    "headline_of",
    "noun_of",
    "redrive_of",
    "redrive_sentence",
    "trigger_sentence",
    "verdict_of",
    "why_sentence",
]
