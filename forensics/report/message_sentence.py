"""What happened to one message, or to all ids of one work, in one sentence."""

from collections.abc import Mapping, Sequence
from typing import Any

from forensics.identity import is_fifo_name, is_one_receive
from forensics.sentence import capitalized, counted, joined, said

Row = Mapping[str, Any]


def message_sentence(deliveries: Sequence[Row], verdict: Row | None) -> str:
    """Say what happened: ``Received 2 times, deleted once, work done 2 times.``

    ``deliveries`` are those of one message or of every id of one work; ``verdict`` is its row of ``messages``, None for
    a message that came once.
    """
    return said("{clause}.", clause=capitalized(message_clause(deliveries, verdict)))


def message_clause(deliveries: Sequence[Row], verdict: Row | None) -> str:
    """Say the same as a clause."""
    # By id over all queues: a message that was moved to a dead-letter queue may keep its receive count there.
    of_id: dict[str, list[Row]] = {}
    for d in deliveries:
        of_id.setdefault(d["message_id"] or d["item_id"], []).append(d)
    receives = {name: _receives(mine) for name, mine in of_id.items()}
    counted_to = {name: max(d["receive_count"] or 0 for d in mine) for name, mine in of_id.items()}
    times = sum(max(len(mine), counted_to[name]) for name, mine in receives.items())
    surely = sum(max(len(_sure(mine)), counted_to[name], 1) for name, mine in receives.items())
    under = "received {times} under {n} ids" if len(of_id) > 1 else "received {times}"
    parts = [said(under, times=_between(surely, times), n=len(of_id))]
    every = [receive for mine in receives.values() for receive in mine]
    if len(every) < len(deliveries):
        runs = sum(bool(d["is_seen"]) for d in deliveries)
        parts.append(said("given to {n} runs", n=runs))
    if unseen := times - sum(any(d["is_seen"] for d in receive) for receive in every):
        parts.append(said("of which {receives} left no log line", receives=counted(unseen, "receive")))
    deleted = _deleted(_sure(every)) or _deleted(every)
    parts.append(said("deleted {times}", times=_times(deleted)) if deleted else "not seen to be deleted")
    if refused := sum(d["delete_status"] == "expired" for d in deliveries):
        parts.append(said("delete refused {times}", times=_times(refused)))
    if any(d["ended_by"] == "dead_lettered" for d in deliveries):
        parts.append("moved to the dead-letter queue")
    least, most = done(deliveries, verdict)
    often = said("{n} or more times", n=least) if most is None else _between(least, most)
    parts.append(said("work done {times}", times=often) if (least, most) != (0, 0) else "work not done")
    return joined(parts, ", ")


def _sure(receives: Sequence[list[Row]]) -> list[list[Row]]:
    """Return the receives of which some delivery is surely another one than those before it."""
    return [receive for receive in receives if any(d.get("basis") != "same_receive" for d in receive)]


def _deleted(receives: Sequence[list[Row]]) -> int:
    return sum(any(d["ended_by"] == "deleted" for d in receive) for receive in receives)


def _receives(mine: Sequence[Row]) -> list[list[Row]]:
    """Return a message's deliveries by receive: its poller may give one to several runs."""
    found: list[list[Row]] = []
    for d in mine:
        if found and _are_one_receive(found[-1][-1], d):
            found[-1].append(d)
        else:
            found.append([d])
    return found


def _are_one_receive(earlier: Row, later: Row) -> bool:
    queues = {(d["queue_arn"], d.get("received_from_arn")) for d in (earlier, later)}
    is_fifo = len(queues) == 1 and is_fifo_name(later["queue"])
    counts = earlier["receive_count"], later["receive_count"]
    return is_one_receive(is_fifo, counts, (earlier.get("receipt_handle"), later.get("receipt_handle")))


def done(deliveries: Sequence[Row], verdict: Row | None) -> tuple[int, int | None]:
    """Return how often the work was done: its interval, from the verdict where there is one."""
    if verdict:
        return verdict["effects_at_least"] or 0, verdict["effects_at_most"]
    least = sum(d["effect"] == "yes" for d in deliveries)
    return least, least + sum(d["effect"] == "unknown" for d in deliveries)


def _between(least: int, most: int) -> str:
    return _times(least) if least == most else said("{n} to {most} times", n=least, most=most)


def _times(number: int) -> str:
    return "once" if number == 1 else said("{count} times", count=number)
