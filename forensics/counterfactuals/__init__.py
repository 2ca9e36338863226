"""Which change would have prevented the repeats? One file per change, each asked about every repeat."""

from collections.abc import Callable

from forensics.counterfactuals.batch_size_1 import batch_size_1
from forensics.counterfactuals.idempotency_key import idempotency_key
from forensics.counterfactuals.longer_function_timeout import longer_function_timeout
from forensics.counterfactuals.longer_visibility import longer_visibility
from forensics.counterfactuals.maximum_concurrency import maximum_concurrency
from forensics.counterfactuals.partial_responses import partial_responses
from forensics.counterfactuals.repeat import NOT_PREVENTED, PREVENTED, UNDECIDED, Answer, Repeat

CHANGES: dict[str, Callable[[Repeat], Answer]] = {
    "batch_size_1": batch_size_1,
    "longer_visibility": longer_visibility,
    "longer_function_timeout": longer_function_timeout,
    "partial_responses": partial_responses,
    "maximum_concurrency": maximum_concurrency,
    "idempotency_key": idempotency_key,
}
"""Change to its function."""


def answers(repeat: Repeat) -> list[tuple[str, Answer]]:
    """Ask every change about one repeat."""
    return [(change, ask(repeat)) for change, ask in CHANGES.items()]


__all__ = ["CHANGES", "NOT_PREVENTED", "PREVENTED", "UNDECIDED", "Answer", "Repeat", "answers"]
