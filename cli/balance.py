"""The command that balances a queue's messages day by day: balance."""

from typing import TYPE_CHECKING, Any

from cli.options import Everywhere, OnlyQueueArgument, SameQueueOption, either_queue
from cli.output import FormatOption, RowFormat, answer, print_rows, say
from cli.said import in_words
from cli.table import Layout
from forensics.identity import queue_name
from forensics.sentence import said

if TYPE_CHECKING:
    from forensics.balance import BalanceDay, Between, QueueBalance

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
_TOTALS = ("sent", "worked_off", "dead_lettered", "expired")
_QUEUES = Layout(
    ("queue", "days", *_TOTALS, "waiting_after", "unexplained", "sentence"),
    row=("queue", "days", "sent", "worked_off", "unexplained"),
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
    """Balance what was sent against worked off, dead-lettered, expired, waiting: a queue per day, or all queues in a row each.

    Other formats than the table have a row per queue and day.
    """
    queue = either_queue(queue, same_queue)
    from forensics.balance import balance as balanced
    from forensics.balance import per_queue

    found = balanced(chosen.findings(queue_name(queue)), queue)
    is_table = how is RowFormat.TABLE
    tell = answer if is_table else say
    told = found.days
    if is_table and queue is None:
        queues = per_queue(found.days)
        print_rows([_totals(q) for q in queues], how, _QUEUES, _COLUMNS)
        told = tuple(day for q in queues for day in q.odd)
        for day in told:
            tell(f"{day.queue}, {day.day}: {in_words(day.sentence)}")
    else:
        print_rows([_shown(day) if is_table else _record(day) for day in told], how, _TABLE, _COLUMNS)
    for day in told:
        for note in day.notes:
            tell(f"{day.queue}, {day.day}: {in_words(note)}")
    for name, texts in found.named.items():
        for text in texts:
            tell(f"{name}: {in_words(said('{clause}.', clause=text))}")
    if not found.days:
        say("No metric of a queue was read: `doubletake collect` reads them.")


def _totals(queue: "QueueBalance") -> dict[str, Any]:
    counts = {name: None if (n := queue.total(name)) is None else str(n) for name in _TOTALS}
    ends = {name: None if (n := getattr(queue, name)) is None else str(n) for name in ("waiting_after", "unexplained")}
    return {"queue": queue.queue, "days": len(queue.known), **counts, **ends, "sentence": queue.sentence}


def _shown(day: "BalanceDay") -> dict[str, Any]:
    counts = {name: None if getattr(day, name) is None else str(getattr(day, name)) for name in _COUNTS}
    return {"queue": day.queue, "day": day.day, **counts, "sentence": day.sentence}


def _record(day: "BalanceDay") -> dict[str, Any]:
    found: dict[str, Any] = {"queue": day.queue, "day": day.day}
    for name in _COUNTS:
        count: Between | None = getattr(day, name)
        found |= {f"{name}_low": count.low if count else None, f"{name}_high": count.high if count else None}
    return found | {"read_share": round(day.read_share, 4), "sentence": day.sentence, "notes": list(day.notes)}
