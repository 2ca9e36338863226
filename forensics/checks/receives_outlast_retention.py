"""Whether a message that always fails reaches the dead-letter queue before its retention ends."""

from forensics.advised_visibility import advised_visibility_s
from forensics.checks.answer import CRITICAL, NO_QUEUE_SETTINGS, NOT_HERE, Answer, either, fails, passes
from forensics.checks.max_receive_count import LEAST
from forensics.checks.setup import Setup
from forensics.limits import LONGEST_RETENTION_S
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
            _advice(
                most, hidden, kept, advised_visibility_s(setup.function_timeout_s, setup.window_s, setup.run_max_ms)
            ),
            *uses,
            "function_timeout_s",
            "batching_window_s",
            "run_max_ms",
        )
    return passes(
        said("{most} receives of {hidden} each take {whole} of the {kept} that a message is kept", **told), *uses
    )


def _advice(most: int, hidden: int, kept: int, advised: int | None) -> str:
    """Name what SQS takes, and no other check would ask to take back.

    >>> _advice(5, 345_600, 1_209_600, None)
    'Shorten the visibility timeout to 241919 s or less.'
    """
    fewer, shorter, needed = (kept - 1) // hidden, (kept - 1) // most, most * hidden + 1
    ways = []
    if fewer >= LEAST:
        ways.append(said("lower maxReceiveCount to {n} or less", n=str(fewer)))
    if shorter >= max(1, advised or 0):
        ways.append(said("shorten the visibility timeout to {n} s or less", n=str(shorter)))
    if needed <= LONGEST_RETENTION_S:
        ways.append(said("keep messages for {n} s or longer", n=str(needed)))
    if not ways:
        n = str((LONGEST_RETENTION_S - 1) // hidden)
        ways.append(said("keep messages for 14 days and lower maxReceiveCount to {n} or less", n=n))
    return either(*ways)
