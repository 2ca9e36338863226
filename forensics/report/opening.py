"""What a tired person needs first of an incident: what happened, why, how often, what to do next, and how to stop it.

One template for the page, the reports, the command and the notification.
"""

import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from forensics.people import Marks, SetAside, aside_text, is_settled
from forensics.people.marks import SETTLES
from forensics.report.activity import is_open
from forensics.report.stop_now import Move
from forensics.report.works import by_work
from forensics.verdict.interval import AFFECTED
from forensics.words import count_text, interval_text

Row = Mapping[str, Any]

CHANGE_ACTIONS = {
    "batch_size_1": "set the batch size to 1",
    "longer_visibility": "raise the visibility timeout above the slowest handling",
    "longer_function_timeout": "raise the function timeout above the slowest batch",
    "partial_responses": "report failed items alone (ReportBatchItemFailures)",
    "maximum_concurrency": "set a maximum concurrency on the mapping",
    "idempotency_key": "add an idempotency key",
}


@dataclass(frozen=True)
class Opening:
    """The first lines about an incident; every sentence is plain text, without a full stop where it is a line of its own.

    ``steps`` are what to do next, in order; ``moves`` stop it while it is happening (``is_active``), or if it comes back.
    """

    headline: str
    why: str
    repeats: str
    steps: tuple[str, ...]
    moves: tuple[Move, ...]
    is_active: bool

    @property
    def next_line(self) -> str:
        """The steps in one line."""
        return " · ".join(self.steps)

    @property
    def stop_heading(self) -> str:
        """What the moves are for."""
        return "Stop it now" if self.is_active else "If it comes back"


def opening(
    incident: Row,
    works: Sequence[Row],
    counterfactuals: Sequence[Row],
    dead: Sequence[Row],
    lost: int,
    marks: Marks,
    first_moves: tuple[Move, ...],
    until: datetime | None,
    aside: Sequence[SetAside] = (),
    is_poison: bool = False,
) -> Opening:
    """Put the first lines together; ``counterfactuals`` with what prevents most first, ``dead`` the dead-lettered messages.

    ``works`` are all affected ones that count, of which ``counted_works`` is enough; ``aside`` those that people set aside.
    ``lost`` counts messages whose retention ended before their work was seen done; ``is_poison``: one always fails, and no
    dead-letter queue takes it.
    """
    return Opening(
        headline=headline(incident),
        why=incident["cause_sentence"] or "No cause was found for these redeliveries.",
        repeats=_with_aside(repeats_text(incident, works, lost), aside),
        steps=tuple(_steps(incident, works, counterfactuals, dead, marks, is_poison)),
        moves=first_moves,
        is_active=is_open(incident, until),
    )


def headline(incident: Row) -> str:
    """Return what happened, with numbers."""
    if incident["headline"]:
        return str(incident["headline"])
    if incident["messages"] is None:
        most = incident["messages_at_most"]
        return f"up to {count_text(most, 'message')} may have been processed twice" if most else "messages may repeat"
    return f"{count_text(incident['messages'], 'message')} may have been processed more than once"


def affected_works(messages: Iterable[Row]) -> list[Row]:
    """Return a row per affected work: a payment sent under two ids is one."""
    return by_work(m for m in messages if m["verdict"] in AFFECTED)


def repeats_text(incident: Row, works: Sequence[Row], lost: int = 0) -> str:
    """Say how often: ``24 or more repeats on 5 messages``; nothing where no message is named.

    Repeats are the incident's own count: a work that came again in two incidents is not counted whole in each.
    """
    if not works:
        return ""
    least, most = incident["extra_effects_at_least"] or 0, incident["extra_effects_at_most"]
    noun = "repeat" if most == 1 else "repeats"
    kind = "message" if all(len(work["item_ids"]) == 1 for work in works) else "work"
    said = f"{_at_most(least, most)} {noun} on {count_text(len(works), kind)}"
    if not least:
        said += f", received {count_text(sum(m['receive_count'] or m['deliveries'] for m in works), 'time')}"
    return f"{said}; {count_text(lost, 'message')} {'was' if lost == 1 else 'were'} probably lost" if lost else said


def _with_aside(said: str, aside: Sequence[SetAside]) -> str:
    return "; ".join(filter(None, (said, f"set aside: {aside_text(aside)}" if aside else "")))


def _at_most(least: int, most: int | None) -> str:
    return f"up to {most:,}" if most and not least else interval_text(least, most)


def _steps(
    incident: Row,
    everything: Sequence[Row],
    counterfactuals: Sequence[Row],
    dead: Sequence[Row],
    marks: Marks,
    is_poison: bool,
) -> Iterable[str]:
    if is_settled(incident):
        return
    done = {item for item, said in marks.of_items.items() if any(m.mark in SETTLES for m in said)}
    works = [work for work in everything if not done.intersection(work["item_ids"])]
    settled = len(everything) - len(works)
    sure = sum(work["verdict"] == "confirmed" for work in works)
    if sure:
        yield f"refund or undo {sure:,} (CSV)"
    if open_count := len(works) - sure:
        yield f"check {open_count:,} by hand"
    if settled:
        yield f"{settled:,} marked as settled"
    if incident["messages"] is None:
        look = f"`doubletake suggest {shlex.quote(incident['queue'])}`"
        yield f"let {look} look for lines that name messages, or log message ids"
    if risky := [row for row in dead if row["redrive"] != "safe"]:
        yield f"do not redrive {count_text(len(risky), 'dead letter')} unchecked"
    if is_poison:
        yield "give the queue a dead-letter queue, where what always fails ends"
    best = next((c for c in counterfactuals if c["prevented"] + c["undecided"]), None)
    if best:
        yield f"{CHANGE_ACTIONS[best['change']]} (would have prevented {_share(best)})"


def _share(row: Row) -> str:
    return f"{_at_most(row['prevented'], row['prevented'] + row['undecided'])} of {row['repeats']:,}"
