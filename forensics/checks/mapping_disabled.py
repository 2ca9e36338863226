"""Whether the mapping takes messages at all."""

from forensics.checks.answer import CRITICAL, NO_MAPPING, NOT_HERE, WARNING, Answer, fails, passes, unknown
from forensics.checks.setup import Setup


def mapping_disabled(setup: Setup) -> Answer:
    """The event source mapping is enabled: a disabled one lets messages wait until their retention ends.

    >>> mapping_disabled(Setup("q", "f", "lambda", mapping_state="Disabled", backlog_max_count=12)).severity
    'critical'
    """
    if not setup.is_lambda:
        return NOT_HERE
    if setup.mapping_state is None:
        return NO_MAPPING
    uses = ("mapping_state", "backlog_max_count", "mapping_changed_at", "delivery_count")
    if not setup.mapping_state.startswith("Disab"):
        return passes(f"the mapping takes messages: its state is {setup.mapping_state}", *uses)
    changed, since = setup.mapping_changed_at, setup.seen_from
    if setup.delivery_count and changed and since and changed < since:
        return unknown(
            f"the mapping says {setup.mapping_state} since {changed:%Y-%m-%d}, and yet {setup.delivery_count:,} deliveries were seen "
            "in the last seven days",
            "ListEventSourceMappings of the queue, read again",
            *uses,
        )
    waits = f", and up to {setup.backlog_max_count:,} messages wait" if setup.backlog_max_count else ""
    return fails(
        CRITICAL if setup.backlog_max_count else WARNING,
        f"the mapping is {setup.mapping_state}{waits}",
        "Enable it, or delete it where another consumer has taken over.",
        *uses,
    )
