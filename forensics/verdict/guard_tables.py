"""What an idempotency table tells of a work, in words: why its record did not stop a repeat, or what would tell."""

from dataclasses import dataclass
from datetime import datetime

from forensics.sentence import said
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
                said(
                    "The idempotency table {table} was not read: a collection or an export of it would tell what it recorded.",
                    table=table,
                )
            ]
        return [
            said(
                "The idempotency table {table} could not be read ({gap}): what it recorded of this work is not known.",
                table=table,
                gap=told.gap,
            )
        ]
    if told.absence is not None:
        return [_absent(told)]
    return [*_why_it_passed(told), *_state(told)]


def _why_it_passed(told: TableWord) -> list[str]:
    parts = []
    if told.ids_recorded > 1:
        parts.append(
            said(
                "The table {table} holds a record for each of {count} message ids: its guard keys on the message id and takes each for new.",
                table=told.table,
                count=told.ids_recorded,
            )
        )
    if told.expired_at is not None:
        parts.append(
            said(
                "Its record in the table {table} expired at {at} UTC, before the repeat at {again_at} UTC.",
                table=told.table,
                at=clock_text(told.expired_at),
                again_at=clock_text(told.repeat_at),
            )
        )
    if told.kept_s is not None:
        parts.append(
            said(
                "The repeat wrote its record in the table {table} again {gap} after the work was done: a record is kept for {kept} at most, so "
                "the one before had expired.",
                table=told.table,
                gap=f"{told.gap_s:,} s",
                kept=f"{told.kept_s:,} s",
            )
        )
    if told.is_passed:
        parts.append(
            said(
                "A completed record in the table {table} held{until} when the repeat did the work: it was done without asking the table, or "
                "under another key.",
                table=told.table,
                until=_until(told.passed_until),
            )
        )
    return parts


def _state(told: TableWord) -> list[str]:
    parts = []
    if told.is_in_progress and told.is_lock_open:
        until = said("{at} UTC", at=clock_text(told.lock_until)) if told.lock_until else "somebody deletes it"
        parts.append(
            said(
                "Its record in the table {table} is still in progress and its lock has no end of its own: every repeat is refused until "
                "{until}.",
                table=told.table,
                until=until,
            )
        )
    elif told.is_in_progress:
        after = "a repeat that came after it ran" if told.is_lock_past else "whoever comes after it runs"
        parts.append(
            said(
                "Its record in the table {table} is still in progress; its lock ends at {at} UTC: {after}.",
                table=told.table,
                at=clock_text(told.lock_until),
                after=after,
            )
        )
    if told.never_expires:
        parts.append(said("Its record in the table {table} never expires.", table=told.table))
    if told.keeps_expired:
        parts.append(
            said(
                "Time to live is not enabled on the table {table}: what has expired stays until somebody deletes it.",
                table=told.table,
            )
        )
    if told.bears_no_status:
        parts.append(
            said(
                "Its record in the table {table} bears no status that could hold off a second run while the first is at work.",
                table=told.table,
            )
        )
    if told.is_completed:
        parts.append(
            said(
                "Its record in the table {table} is completed{until}; only a reading of the table before the repeat would tell whether it stood "
                "there then.",
                table=told.table,
                until=_until(told.completed_until),
            )
        )
    return parts


def _until(at: datetime | None) -> str:
    return said(" until {at} UTC", at=clock_text(at)) if at else ""


_WHY = {
    "part": "it was not read whole after the work",
    "failed": "a guard deletes the record of what raised, and a run may have failed after the work was done",
    "deleted": "what has expired is deleted, and when this would have expired is not known (guard_s)",
    "key": "the settings do not say what its guard takes for its key (keyed_by)",
}


def _absent(told: TableWord) -> str:
    if told.absence == "decided":
        return said(
            "The idempotency table {table}, read whole at {at} UTC, has no record of it, and none can have been deleted as expired: its "
            "guard did not record this work as done.",
            table=told.table,
            at=clock_text(told.read_at),
        )
    return said(
        "The idempotency table {table} has no record of it, which decides nothing: {why}.",
        table=told.table,
        why=_WHY[told.absence or "key"],
    )
