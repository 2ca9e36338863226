"""The message outlived its retention: SQS dropped it, and nobody had finished it."""

from forensics.queue_rules.facts import QueueFacts
from forensics.rules.ruling import Ruling, excluded, supported, undecidable
from forensics.sentence import said


def retention_expired(facts: QueueFacts) -> Ruling:
    """It was never finished, and was still in the queue when its retention ended.

    >>> retention_expired(QueueFacts(retention_s=900, is_watched=True, age_s=880, fitting_count=1)).stance
    'supported'
    >>> retention_expired(QueueFacts(retention_s=900, is_watched=True)).stance
    'undecidable'
    """
    if facts.retention_s is None:
        return undecidable("nothing tells how long the queue keeps a message", "a snapshot of the queue's settings")
    if facts.is_going_on:
        return excluded("its retention had not ended where the evidence ends")
    ended = said("its retention of {span} ended without a delivery that finished it", span=_long(facts.retention_s))
    if not facts.is_watched:
        return undecidable(
            said("{ended}, but a consumer's log was not read up to then", ended=ended),
            "the logs of every consumer up to that moment",
        )
    if facts.age_s is None:
        return undecidable(
            said("{ended}; nothing shows that it was still in the queue then", ended=ended),
            "ApproximateAgeOfOldestMessage of the queue in the last minutes of the retention",
        )
    if facts.fitting_count != 1:
        return undecidable(
            said("{ended}; the age of the queue's oldest message fits it and others alike", ended=ended),
            "a log line of whoever purged or deleted the others",
        )
    return supported(
        said(
            "{ended}; the queue's oldest message was {age} old in its last minutes, which is this message's age",
            ended=ended,
            age=f"{facts.age_s:,} s",
        )
    )


def _long(seconds: int) -> str:
    for phrase, size in (("{count} day", 86_400), ("{count} hour", 3600), ("{count} minute", 60)):
        if seconds >= size and seconds % size == 0:
            count = seconds // size
            return said(phrase if count == 1 else f"{phrase}s", count=count)
    return f"{seconds:,} s"
