"""Whether the mapping takes messages at all."""

from forensics.checks.answer import CRITICAL, NO_MAPPING, NOT_HERE, WARNING, Answer, fails, passes, unknown
from forensics.checks.setup import Setup
from forensics.sentence import said


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
        return passes(said("the mapping takes messages: its state is {state}", state=setup.mapping_state), *uses)
    changed, since = setup.mapping_changed_at, setup.seen_from
    if setup.delivery_count and changed and since and changed < since:
        return unknown(
            said(
                "the mapping says {state} since {day}, and yet {count} deliveries were seen in the last seven days",
                state=setup.mapping_state,
                day=f"{changed:%Y-%m-%d}",
                count=setup.delivery_count,
            ),
            "ListEventSourceMappings of the queue, read again",
            *uses,
        )
    told = (
        "the mapping is {state}, and up to {n} messages wait" if setup.backlog_max_count else "the mapping is {state}"
    )
    return fails(
        CRITICAL if setup.backlog_max_count else WARNING,
        said(told, state=setup.mapping_state, n=setup.backlog_max_count),
        "Enable it, or delete it where another consumer has taken over.",
        *uses,
    )
