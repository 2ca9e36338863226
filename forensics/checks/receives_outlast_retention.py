"""Whether a message that always fails reaches the dead-letter queue before its retention ends."""

from forensics.checks.answer import CRITICAL, NO_QUEUE_SETTINGS, NOT_HERE, Answer, fails, passes
from forensics.checks.setup import Setup
from forensics.sentence import said
from forensics.words import span_text


def receives_outlast_retention(setup: Setup) -> Answer:
    """maxReceiveCount times the visibility timeout is shorter than the retention: else what always fails is lost, not put aside.

    >>> receives_outlast_retention(Setup("q", dead_letter_queue="d", max_receive_count=10, visibility_timeout_s=43_200,
    ...     message_retention_s=345_600)).severity
    'critical'
    """
    if not setup.has_queue_settings:
        return NO_QUEUE_SETTINGS
    most, hidden, kept = setup.max_receive_count, setup.visibility_timeout_s, setup.message_retention_s
    if not setup.dead_letter_queue or most is None or hidden is None or kept is None:
        return NOT_HERE
    uses = ("max_receive_count", "visibility_timeout_s", "message_retention_s")
    told = {
        "most": str(most),
        "hidden": span_text(1000 * hidden),
        "whole": span_text(1000 * most * hidden),
        "kept": span_text(1000 * kept),
    }
    if most * hidden >= kept:
        return fails(
            CRITICAL,
            said(
                "{most} receives of {hidden} each take {whole}, and the queue keeps a message for {kept}: what always fails is lost "
                "before it is put aside",
                **told,
            ),
            said(
                "Lower maxReceiveCount below {n}, shorten the visibility timeout, or keep messages longer.",
                n=max(kept // max(hidden, 1), 1),
            ),
            *uses,
        )
    return passes(
        said("{most} receives of {hidden} each take {whole} of the {kept} that a message is kept", **told), *uses
    )
