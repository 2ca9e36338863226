"""Lines of idempotency helpers: a repeat that was stopped, or a key that was used for something else."""

from forensics.parsers.grammar import BLANK, SPACE, Pattern, holds_any

IN_PROGRESS = Pattern(
    "idempotency_in_progress",
    r"IdempotencyAlreadyInProgress"
    r"|[Aa]lready (?:an execution )?in progress with idempotency key"
    r"|existing idempotency key[^\n\r]{0,600}?with status:" + SPACE + r"*+INPROGRESS"
    r"|R-DUPE" + BLANK,  # MassTransit dropped a message that it still held
)
"""The repeat met the first run while it was at work: overlap proved, effect absorbed.

>>> bool(IN_PROGRESS.find("Execution already in progress with idempotency key: body=fn#5f"))
True
"""
ALREADY_DONE = Pattern(
    "idempotency_already_done",
    r"already existing idempotency key(?![^\n\r]{0,600}?with status:" + SPACE + r"*+(?:INPROGRESS|EXPIRED))"
    r"|IdempotencyItemAlreadyExists",
)
"""The repeat met a finished record and was answered from the store."""
VALIDATION = Pattern(
    "idempotency_validation",
    r"IdempotencyValidation(?:Error|Exception)|[Pp]ayload does not match stored record for this event key",
)
"""The same key with another payload: not a repeat at all."""

NEEDLES = ("potency", "vent key", "R-DUPE")
"""A line without any of these is none of the above."""


def idempotency(line: str) -> str | None:
    """Return in_progress, already_done or validation; None for every other line."""
    if not holds_any(line, NEEDLES):
        return None
    for pattern, meaning in ((VALIDATION, "validation"), (IN_PROGRESS, "in_progress"), (ALREADY_DONE, "already_done")):
        if pattern.compiled.search(line):
            return meaning
    return None
