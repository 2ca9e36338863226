"""How many receives a message gets before it is put aside."""

from forensics.checks.answer import NO_QUEUE_SETTINGS, NOT_HERE, NOTE, WARNING, Answer, fails, passes
from forensics.checks.setup import Setup
from forensics.sentence import counted, said
from forensics.words import span_text

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
    most, uses = (
        setup.max_receive_count,
        ("max_receive_count", "dead_letter_queue", "visibility_timeout_s", "message_retention_s"),
    )
    if most < LEAST:
        return fails(
            WARNING,
            said(
                "maxReceiveCount {n} < {least}: throttled polls count as receives, so healthy messages can be dead-lettered without "
                "a single run",
                n=most,
                least=LEAST,
            ),
            _raised(setup),
            *uses,
        )
    if most > MOST:
        return fails(
            NOTE,
            said(
                "maxReceiveCount {most}: a message that always fails is handled {times} before it is put aside",
                most=str(most),
                times=counted(most, "time"),
            ),
            said("Lower maxReceiveCount to what a passing outage needs; {least} to 10 is usual.", least=LEAST),
            *uses,
        )
    return passes(said("maxReceiveCount {n}", n=str(most)), *uses)


def _raised(setup: Setup) -> str:
    """Advise more receives, and to keep messages until after them: else what always fails would be lost before it is put aside."""
    whole, kept = LEAST * (setup.visibility_timeout_s or 0), setup.message_retention_s
    if kept is None or whole < kept:
        return said("Raise maxReceiveCount to {n} or more.", n=LEAST)
    longer = (
        "Raise maxReceiveCount to {n} or more, and keep messages for longer than {span}, which so many receives take."
    )
    return said(longer, n=LEAST, span=span_text(1000 * whole))
