"""The guard part of a verdict: which guard stopped a repeat, and why one that is in place did not."""

from collections.abc import Mapping, Sequence

from forensics.sentence import joined, said
from forensics.verdict.guard_tables import TableWord, table_sentences

GUARDS = {
    "line": "a configured guard line shows it",
    "already_done": "the idempotency store had the result",
    "in_progress": "the idempotency store held its lock, another run was still at it",
    "refused": "the worker framework refused to run it again",
    "record": "its record in the idempotency table was completed and still held",
}
"""Kind of a stopped repeat to a clause that says how it was stopped."""


RECORD_S = 3600
"""So long Powertools keeps a result unless told otherwise."""


def guard_sentence(
    stopped: Mapping[str, int],
    is_in_place: bool = False,
    lock_ended_s: int | None = None,
    lock_ended: bool = False,
    other_payloads: int = 0,
    overlapped: bool = False,
    ids_done: int = 0,
    record_gap_s: int | None = None,
    recorded: Sequence[TableWord] = (),
) -> str:
    """Say what the guard did, from the repeats it ``stopped`` by kind.

    ``lock_ended``: a run was killed at its deadline, ``lock_ended_s`` after its start, and the repeat ran; an idempotency
    lock ends at that deadline. ``other_payloads`` counts keys that came again with another payload. ``overlapped``: two runs
    that both did the work were on at once. ``ids_done``: under so many message ids it was done. ``record_gap_s``: so long after an
    idempotency library's function had done the work it did it again. ``recorded``: what idempotency tables tell of it; where one
    holds a record of it, what else could be is not said.

    >>> guard_sentence({"already_done": 1})
    'A guard stopped 1 repeat: the idempotency store had the result.'
    """
    parts = []
    count = sum(stopped.values())
    if count:
        how = joined((words for kind, words in GUARDS.items() if stopped.get(kind)), "; ")
        phrase = "A guard stopped {count} repeats: {how}." if count > 1 else "A guard stopped {count} repeat: {how}."
        parts.append(said(phrase, count=count, how=how))
    if lock_ended:
        parts.append(_lock_ended(lock_ended_s))
    elif not count:
        parts.append(
            "A guard is in place, and no line shows that it stopped a repeat."
            if is_in_place
            else "No idempotency guard was logged."
        )
    if is_in_place:
        has_record = any(told.has_record for told in recorded)
        parts += _missed(overlapped, 0 if has_record else ids_done, None if has_record else record_gap_s)
    parts += [sentence for told in recorded for sentence in table_sentences(told)]
    if other_payloads:
        times = said("{count} time" if other_payloads == 1 else "{count} times", count=other_payloads)
        parts.append(said("The idempotency store met another payload under the same key {times}.", times=times))
    return joined(parts)


def _lock_ended(lock_ended_s: int | None) -> str:
    if not lock_ended_s:
        return (
            "An idempotency guard is in place, but its lock ended when the run before was killed at its deadline, so the repeat "
            "ran."
        )
    return said(
        "An idempotency guard is in place, but its lock ended when the run before was killed at its {limit} deadline, so the "
        "repeat ran.",
        limit=f"{lock_ended_s} s",
    )


def _missed(overlapped: bool, ids_done: int, record_gap_s: int | None) -> list[str]:
    """Say what lets a repeat pass a guard that is in place, as far as the deliveries show that it can be so."""
    parts = []
    if overlapped:
        parts.append("Two runs were on at once: a guard that looks first and records later lets both pass.")
    if ids_done > 1:
        parts.append(
            said(
                "It was done under {count} message ids: a guard that keys on the message id takes each for new.",
                count=ids_done,
            )
        )
    if record_gap_s is not None and record_gap_s > RECORD_S:
        parts.append(
            said(
                "It was done again after {gap}: the guard's record may have expired (Powertools keeps one for {kept} unless told "
                "otherwise).",
                gap=f"{record_gap_s:,} s",
                kept=f"{RECORD_S:,} s",
            )
        )
    return parts
