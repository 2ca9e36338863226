"""The command that balances a queue's messages day by day: balance."""

from typing import TYPE_CHECKING, Any

from cli.options import Everywhere, OnlyQueueArgument, SameQueueOption, either_queue
from cli.output import FormatOption, RowFormat, answer, print_rows, say
from cli.said import in_words
from cli.table import Layout

if TYPE_CHECKING:
    from forensics.balance import BalanceDay, Between

_COUNTS = (
    "sent",
    "waiting_before",
    "worked_off",
    "filtered",
    "dead_lettered",
    "expired",
    "waiting_after",
    "unexplained",
)
_TABLE = Layout(
    ("queue", "day", *_COUNTS, "sentence"),
    row=("queue", "day", "sent", "worked_off", "unexplained"),
    facts=("dead_lettered", "expired", "waiting_after"),
    sentences=("sentence",),
)
_COLUMNS = (
    "queue",
    "day",
    *(f"{name}_{end}" for name in _COUNTS for end in ("low", "high")),
    "read_share",
    "sentence",
    "notes",
)


def balance(
    chosen: Everywhere,
    queue: OnlyQueueArgument = None,
    how: FormatOption = RowFormat.TABLE,
    same_queue: SameQueueOption = None,
) -> None:
    """Balance a queue's messages per day: sent against worked off, filtered, dead-lettered, expired, waiting, unexplained."""
    queue = either_queue(queue, same_queue)
    from forensics.balance import balance as balanced

    found = balanced(chosen.open_lake().findings(), queue)
    is_table = how is RowFormat.TABLE
    print_rows([_shown(day) if is_table else _record(day) for day in found.days], how, _TABLE, _COLUMNS)
    tell = answer if is_table else say
    for day in found.days:
        for note in day.notes:
            tell(f"{day.queue}, {day.day}: {in_words(note)}")
    for name, texts in found.named.items():
        for text in texts:
            tell(f"{name}: {in_words(f'{text}.')}")
    if not found.days:
        say("No metric of a queue was read: `doubletake collect` reads them.")


def _shown(day: "BalanceDay") -> dict[str, Any]:
    counts = {name: None if getattr(day, name) is None else str(getattr(day, name)) for name in _COUNTS}
    return {"queue": day.queue, "day": day.day, **counts, "sentence": day.sentence}


def _record(day: "BalanceDay") -> dict[str, Any]:
    found: dict[str, Any] = {"queue": day.queue, "day": day.day}
    for name in _COUNTS:
        count: Between | None = getattr(day, name)
        found |= {f"{name}_low": count.low if count else None, f"{name}_high": count.high if count else None}
    return found | {"read_share": round(day.read_share, 4), "sentence": day.sentence, "notes": list(day.notes)}
