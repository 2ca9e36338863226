"""The guard part of a verdict: which guard stopped a repeat, and why one that is in place did not."""

from collections.abc import Mapping

GUARDS = {
    "line": "a configured guard line shows it",
    "already_done": "the idempotency store had the result",
    "in_progress": "the idempotency store held its lock, another run was still at it",
    "refused": "the worker framework refused to run it again",
}
"""Kind of a stopped repeat to a clause that says how it was stopped."""


def guard_sentence(
    stopped: Mapping[str, int],
    is_in_place: bool = False,
    lock_ended_s: int | None = None,
    lock_ended: bool = False,
    other_payloads: int = 0,
) -> str:
    """Say what the guard did, from the repeats it ``stopped`` by kind.

    ``lock_ended``: a run was killed at its deadline, ``lock_ended_s`` after its start, and the repeat ran; an idempotency
    lock ends at that deadline. ``other_payloads`` counts keys that came again with another payload.

    >>> guard_sentence({"already_done": 1})
    'A guard stopped 1 repeat: the idempotency store had the result.'
    """
    parts = []
    count = sum(stopped.values())
    if count:
        how = "; ".join(words for kind, words in GUARDS.items() if stopped.get(kind))
        parts.append(f"A guard stopped {count:,} repeat{'s' if count > 1 else ''}: {how}.")
    if lock_ended:
        limit = f"{lock_ended_s} s " if lock_ended_s else ""
        parts.append(
            f"An idempotency guard is in place, but its lock ended when the run before was killed at its {limit}deadline, so "
            "the repeat ran."
        )
    elif not count:
        parts.append(
            "A guard is in place, and no line shows that it stopped a repeat."
            if is_in_place
            else "No idempotency guard was logged."
        )
    if other_payloads:
        parts.append(f"The idempotency store met another payload under the same key {other_payloads:,} time(s).")
    return " ".join(parts)
