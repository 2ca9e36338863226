"""What an idempotency table tells of a work, in words: why its record did not stop a repeat, or what would tell."""

from dataclasses import dataclass
from datetime import datetime

from forensics.words import clock_text


@dataclass(frozen=True)
class TableWord:
    """What the table ``table`` tells of one work; all times UTC, None where there is nothing of the kind.

    ``gap``: why nothing of it is known (``unread``, or coverage's word). ``ids_recorded``: so many message ids of the work have
    a record of their own. ``expired_at``: when its record expired, before the repeat at ``repeat_at``; ``kept_s``: the repeat
    wrote it again, for a record is kept so long at most. ``passed_until``: a completed record held until then, and the work was
    done again all the same. ``lock_until``: it is still in progress; ``is_lock_open``: without an end of its own;
    ``is_lock_past``: a repeat came after that end. ``completed_until``: it is completed. ``keeps_expired``: the table deletes nothing by itself. ``absence``: that there is none:
    ``decided``, or why that says nothing (``part``, ``deleted``, ``key``, ``failed``); ``read_at``: when the table was read.
    """

    table: str
    gap: str | None = None
    ids_recorded: int = 0
    expired_at: datetime | None = None
    repeat_at: datetime | None = None
    kept_s: int | None = None
    gap_s: int | None = None
    passed_until: datetime | None = None
    is_passed: bool = False
    is_in_progress: bool = False
    is_lock_open: bool = False
    is_lock_past: bool = False
    lock_until: datetime | None = None
    is_completed: bool = False
    completed_until: datetime | None = None
    never_expires: bool = False
    bears_no_status: bool = False
    keeps_expired: bool = False
    absence: str | None = None
    read_at: datetime | None = None

    @property
    def has_record(self) -> bool:
        """Tell whether the table holds a record of the work."""
        return self.gap is None and self.absence is None


def table_sentences(told: TableWord) -> list[str]:
    """Say what an idempotency table tells of a work.

    >>> table_sentences(TableWord("idempotency", gap="denied"))
    ['The idempotency table idempotency could not be read (denied): what it recorded of this work is not known.']
    """
    table = told.table
    if told.gap is not None:
        if told.gap == "unread":
            return [
                f"The idempotency table {table} was not read: a collection or an export of it would tell what it recorded."
            ]
        return [
            f"The idempotency table {table} could not be read ({told.gap}): what it recorded of this work is not known."
        ]
    if told.absence is not None:
        return [_absent(told)]
    return [*_why_it_passed(told), *_state(told)]


def _why_it_passed(told: TableWord) -> list[str]:
    parts = []
    if told.ids_recorded > 1:
        parts.append(
            f"The table {told.table} holds a record for each of {told.ids_recorded:,} message ids: its guard keys on the message id "
            "and takes each for new."
        )
    if told.expired_at is not None:
        parts.append(
            f"Its record in the table {told.table} expired at {clock_text(told.expired_at)} UTC, before the repeat at "
            f"{clock_text(told.repeat_at)} UTC."
        )
    if told.kept_s is not None:
        parts.append(
            f"The repeat wrote its record in the table {told.table} again {told.gap_s:,} s after the work was done: a record is kept "
            f"for {told.kept_s:,} s at most, so the one before had expired."
        )
    if told.is_passed:
        parts.append(
            f"A completed record in the table {told.table} held{_until(told.passed_until)} when the repeat did the work: "
            "it was done without asking the table, or under another key."
        )
    return parts


def _state(told: TableWord) -> list[str]:
    parts = []
    if told.is_in_progress and told.is_lock_open:
        until = f"{clock_text(told.lock_until)} UTC" if told.lock_until else "somebody deletes it"
        parts.append(
            f"Its record in the table {told.table} is still in progress and its lock has no end of its own: every repeat is refused "
            f"until {until}."
        )
    elif told.is_in_progress:
        after = "a repeat that came after it ran" if told.is_lock_past else "whoever comes after it runs"
        parts.append(
            f"Its record in the table {told.table} is still in progress; its lock ends at {clock_text(told.lock_until)} UTC: {after}."
        )
    if told.never_expires:
        parts.append(f"Its record in the table {told.table} never expires.")
    if told.keeps_expired:
        parts.append(
            f"Time to live is not enabled on the table {told.table}: what has expired stays until somebody deletes it."
        )
    if told.bears_no_status:
        parts.append(
            f"Its record in the table {told.table} bears no status that could hold off a second run while the first is at work."
        )
    if told.is_completed:
        parts.append(
            f"Its record in the table {told.table} is completed{_until(told.completed_until)}; only a reading of the table before the "
            "repeat would tell whether it stood there then."
        )
    return parts


def _until(at: datetime | None) -> str:
    return f" until {clock_text(at)} UTC" if at else ""


_WHY = {
    "part": "it was not read whole after the work",
    "failed": "a guard deletes the record of what raised, and a run may have failed after the work was done",
    "deleted": "what has expired is deleted, and when this would have expired is not known (guard_s)",
    "key": "the settings do not say what its guard takes for its key (keyed_by)",
}


def _absent(told: TableWord) -> str:
    if told.absence == "decided":
        return (
            f"The idempotency table {told.table}, read whole at {clock_text(told.read_at)} UTC, has no record of it, and none can have "
            "been deleted as expired: its guard did not record this work as done."
        )
    return (
        f"The idempotency table {told.table} has no record of it, which decides nothing: {_WHY[told.absence or 'key']}."
    )
