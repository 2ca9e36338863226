"""Whether two consumers share one queue without knowing of one another."""

from forensics.checks.answer import NOT_HERE, WARNING, Answer, fails, passes
from forensics.checks.setup import Setup
from forensics.sentence import said


def several_consumers(setup: Setup) -> Answer:
    """One kind of consumer takes a queue's messages: of two, each sees only some, and nobody chooses which.

    >>> several_consumers(Setup("q", consumers=("bill", "mail"))).severity
    'warning'
    """
    if not setup.consumers or setup.is_dead_letter_queue:
        return NOT_HERE
    if len(setup.consumers) == 1:
        return passes(said("{who} alone consumes the queue", who=setup.consumers[0]), "consumers")
    return fails(
        WARNING,
        said(
            "{n} consumers share the queue: {name}; each gets only some messages",
            n=len(setup.consumers),
            name=", ".join(setup.consumers),
        ),
        "Give each its own queue behind a topic; or disable the one that was replaced.",
        "consumers",
    )
