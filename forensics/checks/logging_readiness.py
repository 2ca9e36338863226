"""What the logs let anybody tell later: message ids, receive counts, effects."""

from forensics.checks.answer import NOTE, WARNING, Answer, counted, fails, passes, unknown
from forensics.checks.setup import Setup


def logging_readiness(setup: Setup) -> Answer:
    """The consumer's log names messages, receive counts and effects, and its runs' starts and ends are kept.

    >>> logging_readiness(Setup("q", "f", "lambda", log_format="JSON", system_log_level="WARN")).severity
    'warning'
    """
    uses = (
        "system_log_level",
        "log_format",
        "run_count",
        "unnamed_run_count",
        "delivery_count",
        "uncounted_delivery_count",
    )
    if setup.log_format == "JSON" and setup.system_log_level == "WARN":
        return fails(
            WARNING,
            "system log level WARN: runs that go well leave neither START nor REPORT, so nobody can tell a run that "
            "succeeded from one that never began",
            "Set the function's system log level to INFO.",
            *uses,
        )
    if not setup.run_count and not setup.delivery_count:
        return unknown("no run and no delivery was seen in the last 7 days", "the consumer's log", *uses)
    unnamed = setup.unnamed_run_count or 0
    if setup.run_count and unnamed == setup.run_count:
        return fails(
            WARNING,
            f"none of {counted(setup.run_count, 'run')} names a message: duplicates can only be counted by the window",
            "Log the event once at the start of a run: print(json.dumps(event)) in Python, "
            "console.log(JSON.stringify(event)) in Node.",
            *uses,
        )
    uncounted = setup.uncounted_delivery_count or 0
    if uncounted:
        return fails(
            NOTE,
            f"{counted(uncounted, 'delivery', 'deliveries')} of {setup.delivery_count or 0:,} came without a receive "
            "count: hidden deliveries cannot be excluded",
            "Log attributes.ApproximateReceiveCount of each record, or the whole event.",
            *uses,
        )
    if not setup.has_effect_marker:
        return fails(
            NOTE,
            "no effect marker is configured: how often the work was done is inferred from how runs ended",
            "Log one line when an item's effect happened, with its message id or business key, and name it as "
            "`effect` in the settings file.",
            *uses,
        )
    return passes("messages, receive counts and effects are logged", *uses)
