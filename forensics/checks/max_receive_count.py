"""How many receives a message gets before it is put aside."""

from forensics.checks.answer import NO_QUEUE_SETTINGS, NOT_HERE, NOTE, WARNING, Answer, fails, passes
from forensics.checks.setup import Setup
from forensics.words import count_text

LEAST, MOST = 5, 100


def max_receive_count(setup: Setup) -> Answer:
    """maxReceiveCount is 5 or more, as AWS advises for Lambda, and not so high that a poison message runs for hours.

    >>> max_receive_count(Setup("q", dead_letter_queue="d", max_receive_count=1)).severity
    'warning'
    """
    if not setup.has_queue_settings:
        return NO_QUEUE_SETTINGS
    if not setup.dead_letter_queue or setup.max_receive_count is None:
        return NOT_HERE
    most, uses = setup.max_receive_count, ("max_receive_count", "dead_letter_queue", "visibility_timeout_s")
    if most < LEAST:
        return fails(
            WARNING,
            f"maxReceiveCount {most} < {LEAST}: throttled polls count as receives, so healthy messages can be "
            "dead-lettered without a single run",
            f"Raise maxReceiveCount to {LEAST} or more.",
            *uses,
        )
    if most > MOST:
        return fails(
            NOTE,
            f"maxReceiveCount {most}: a message that always fails is handled {count_text(most, 'time')} before it is put "
            "aside",
            f"Lower maxReceiveCount to what a passing outage needs; {LEAST} to 10 is usual.",
            *uses,
        )
    return passes(f"maxReceiveCount {most}", *uses)
