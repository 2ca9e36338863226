"""What the logs let anybody tell later: message ids, receive counts, effects."""

from forensics.checks.answer import NOTE, WARNING, Answer, fails, passes, unknown
from forensics.checks.setup import Setup
from forensics.sentence import clause, counted, said


def logging_readiness(setup: Setup) -> Answer:
    """The consumer's log names messages, receive counts, starts and effects, and its runs' starts and ends are kept.

    >>> logging_readiness(Setup("q", "f", "lambda", log_format="JSON", system_log_level="WARN")).severity
    'warning'
    """
    uses = ("system_log_level", "log_format", "logging_level", "handling_count", "named_count", "counted_count")
    if setup.log_format == "JSON" and setup.system_log_level == "WARN":
        return fails(
            WARNING,
            "system log level WARN: runs that go well leave neither START nor REPORT, so nobody can tell a run that "
            "succeeded from one that never began",
            "Set the function's system log level to INFO.",
            *uses,
        )
    if setup.logging_level in (None, "unread"):
        return unknown("no line of its log is in evidence", "the consumer's log", *uses)
    advice = said("Add to the handler: {line}.", line=setup.line_to_add)
    if setup.logging_level == "blind":
        return fails(
            WARNING,
            _blind(setup.handling_count, setup.named_count),
            advice,
            *uses,
        )
    if setup.logging_level == "partial":
        return fails(NOTE, clause(setup.logging_sentence), advice, *uses)
    uncounted = (setup.named_count or 0) - (setup.counted_count or 0)
    if uncounted > 0:
        return fails(
            NOTE,
            said(
                "{handlings} of {total} came without a receive count: hidden deliveries cannot be excluded",
                handlings=counted(uncounted, "handling"),
                total=setup.named_count or 0,
            ),
            "Log attributes.ApproximateReceiveCount of each record, or the whole event.",
            *uses,
        )
    return passes("messages, receive counts, starts and effects are logged", *uses)


def _blind(handlings: int | None, named: int | None) -> str:
    """Say of what none names a message: a worker's handlings are told by the messages they name."""
    if named:
        return "only lines of failures name a message: what went well, and was repeated, is not seen"
    if not handlings:
        return "no line names a message: duplicates can only be counted by the window"
    phrase = "none of {handlings} names a message: duplicates can only be counted by the window"
    return said(phrase, handlings=counted(handlings, "handling"))
