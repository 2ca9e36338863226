"""Whether two consumers share one queue without knowing of one another."""

from forensics.checks.answer import NOT_HERE, WARNING, Answer, fails, passes
from forensics.checks.setup import Setup


def several_consumers(setup: Setup) -> Answer:
    """One kind of consumer takes a queue's messages: of two, each sees only some, and nobody chooses which.

    >>> several_consumers(Setup("q", consumers=("bill", "mail"))).severity
    'warning'
    """
    if not setup.consumers or setup.is_dead_letter_queue:
        return NOT_HERE
    if len(setup.consumers) == 1:
        return passes(f"{setup.consumers[0]} alone consumes the queue", "consumers")
    return fails(
        WARNING,
        f"{len(setup.consumers)} consumers share the queue: {', '.join(setup.consumers)}; each gets only some messages",
        "Give each its own queue behind a topic; or disable the one that was replaced.",
        "consumers",
    )
