"""What a tired person needs first of an incident: what happened, why, how often, what to do next, and how to stop it.

One template for the page, the reports, the command and the notification.
"""

import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from forensics.people import Marks, SetAside, aside_text, is_settled
from forensics.report.actions import ANY_ROOM, Room, action_of
from forensics.report.left_to_do import left_to_do, repeated_here, size_of
from forensics.report.stop_now import Move
from forensics.report.works import by_work
from forensics.sentence import joined, said
from forensics.verdict.interval import AFFECTED

Row = Mapping[str, Any]


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
        return joined(self.steps, " · ") if self.steps else ""

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
    is_active: bool,
    aside: Sequence[SetAside] = (),
    is_poison: bool = False,
    room: Room = ANY_ROOM,
) -> Opening:
    """Put the first lines together; ``counterfactuals`` with what prevents most first, ``dead`` the dead-lettered messages.

    ``works`` are all affected ones that count, of which ``counted_works`` is enough; ``aside`` those that people set aside.
    ``lost`` counts messages whose retention ended before their work was seen done; ``is_poison``: one always fails, and no
    dead-letter queue takes it. ``is_active``: something of it is left to be stopped. ``room`` is what the newest settings leave.
    """
    return Opening(
        headline=headline(incident),
        why=incident["cause_sentence"] or "No cause was found for these redeliveries.",
        repeats=_with_aside(repeats_text(incident, works, lost), aside),
        steps=tuple(_steps(incident, works, counterfactuals, dead, marks, is_poison, room)),
        moves=first_moves,
        is_active=is_active,
    )


def headline(incident: Row) -> str:
    """Return what happened, with numbers."""
    if incident["headline"]:
        told: str = incident["headline"]
        return told
    if incident["messages"] is None:
        most = incident["messages_at_most"]
        return (
            said("up to {what} may have been processed twice", what=_counted(most)) if most else "messages may repeat"
        )
    return said("{what} may have been processed more than once", what=_counted(incident["messages"]))


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
    kind = "message" if all(len(work["item_ids"]) == 1 for work in works) else "work"
    on = _counted(size_of(works), kind)
    if not least:
        times = _counted(sum((w["receive_count"] or w["deliveries"]) * size_of([w]) for w in works), "time")
        on = said("{what}, received {times}", what=on, times=times)
    told = _repeats_on(least, most, on)
    if others := size_of(works) - size_of(repeated_here(incident, works)):
        phrase = (
            "{left}; {count} work was repeated in another incident"
            if others == 1
            else "{left}; {count} works were repeated in other incidents"
        )
        told = said(phrase, left=told, count=others)
    if not lost:
        return told
    are_lost = (
        "{left}; {count} message was probably lost" if lost == 1 else "{left}; {count} messages were probably lost"
    )
    return said(are_lost, left=told, count=lost)


def _repeats_on(least: int, most: int | None, on: str) -> str:
    if most is None:
        return said("{count} or more repeats on {rest}", count=least, rest=on)
    if least == most:
        return said("{count} repeat on {rest}" if most == 1 else "{count} repeats on {rest}", count=most, rest=on)
    if not least:
        up_to = "up to {count} repeat on {rest}" if most == 1 else "up to {count} repeats on {rest}"
        return said(up_to, count=most, rest=on)
    return said("{count} to {most} repeats on {rest}", count=least, most=most, rest=on)


def _counted(count: int, noun: str = "message") -> str:
    return said(f"{{count}} {noun}" if count == 1 else f"{{count}} {noun}s", count=count)


def _with_aside(told: str, aside: Sequence[SetAside]) -> str:
    return (
        joined([*([told] if told else []), said("set aside: {aside}", aside=aside_text(aside))], "; ")
        if aside
        else told
    )


def _steps(
    incident: Row,
    works: Sequence[Row],
    counterfactuals: Sequence[Row],
    dead: Sequence[Row],
    marks: Marks,
    is_poison: bool,
    room: Room,
) -> Iterable[str]:
    if is_settled(incident):
        return
    left = left_to_do(incident, works, marks)
    if left.refund:
        yield said("refund or undo {count} (CSV)", count=left.refund)
    if left.check:
        yield said("check {count} by hand", count=left.check)
    if left.elsewhere:
        yield said("settle {count} in the incident that repeated it", count=left.elsewhere)
    if left.settled:
        yield said("{count} marked as settled", count=left.settled)
    if incident["messages"] is None:
        look = f"`doubletake suggest {shlex.quote(incident['queue'])}`"
        yield said("let {command} look for lines that name messages, or log message ids", command=look)
    if risky := [row for row in dead if row["redrive"] != "safe"]:
        yield said(
            "do not redrive {count} dead letter unchecked"
            if len(risky) == 1
            else "do not redrive {count} dead letters unchecked",
            count=len(risky),
        )
    if is_poison:
        yield "give the queue a dead-letter queue, where what always fails ends"
    helping = (c for c in counterfactuals if c["prevented"] + c["undecided"])
    best = next(((c, action) for c in helping if (action := action_of(c["change"], room))), None)
    if best:
        yield _prevents(*best)


def _prevents(best: Row, action: str) -> str:
    least, total = best["prevented"], best["repeats"]
    most = least + best["undecided"]
    if least == most:
        return said("{action} (would have prevented {count} of {all})", action=action, count=least, all=total)
    if not least:
        return said("{action} (would have prevented up to {most} of {all})", action=action, most=most, all=total)
    phrase = "{action} (would have prevented {count} to {most} of {all})"
    return said(phrase, action=action, count=least, most=most, all=total)
