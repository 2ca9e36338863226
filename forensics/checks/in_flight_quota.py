"""How near a queue is to its quota of messages in flight."""

from forensics.checks.answer import CRITICAL, WARNING, Answer, fails, passes, unknown
from forensics.checks.setup import Setup
from forensics.sentence import said
from forensics.words import percent

QUOTA = 120_000
WARN_SHARE, CRITICAL_SHARE = 0.8, 0.95


def in_flight_quota(setup: Setup) -> Answer:
    """Messages in flight stay well below the quota of 120,000: at it, receives bring nothing, on FIFO without an error.

    >>> in_flight_quota(Setup("q", in_flight_max_count=118_000)).severity
    'critical'
    """
    most = setup.in_flight_max_count
    if most is None:
        return unknown(
            "how many messages were in flight was not read",
            "ApproximateNumberOfMessagesNotVisible",
            "in_flight_max_count",
        )
    told = said("at most {most} messages were in flight, {share} of the quota", most=most, share=percent(most / QUOTA))
    if most < WARN_SHARE * QUOTA:
        return passes(told, "in_flight_max_count")
    return fails(
        CRITICAL if most >= CRITICAL_SHARE * QUOTA else WARNING,
        told,
        "Delete what is done sooner, shorten the visibility timeout, or spread the load over queues.",
        "in_flight_max_count",
    )
