"""The cause chain: what led from the first receive to the work being done again, as numbered facts."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from forensics.identity import queue_name
from forensics.report.faults import trigger_of
from forensics.report.runs import came_at, consumer_text, ids_of, is_named_whole, same_run
from forensics.run_ends import WORDS
from forensics.sentence import counted, joined, said
from forensics.terms import INVOKED_AGAIN
from forensics.words import ms_between, span_text

Row = Mapping[str, Any]


@dataclass(frozen=True)
class Fact:
    """One link of the chain. ``at`` is UTC and may be unknown; ``offset_ms`` counts from the incident's start."""

    at: datetime | None
    offset_ms: int | None
    sentence: str
    evidence_ids: tuple[str, ...]


_ENDS = {**WORDS, "success": "ended in success"}
_VISIBLE = "The visibility timeout of {span} expired; SQS made them visible again."
_VISIBLE_ONE = "The visibility timeout of {span} expired; SQS made it visible again."
_DELETES = {
    "expired": "The delete after the work was refused: the receipt handle had expired.",
    "failed": "The delete after the work failed.",
    "gone": "The delete found the message gone.",
}


def cause_chain(
    incident: Row, deliveries: Sequence[Row], redeliveries: Sequence[Row], invocations: Sequence[Row]
) -> tuple[Fact, ...]:
    """Return three to six facts about the first redelivery of the primary cause; none if no delivery is known."""
    told = _first_redelivery(incident, redeliveries)
    by_key = {(d["item_id"], d["delivery_index"]): d for d in deliveries}
    earlier = by_key.get((told["item_id"], told["delivery_index"] - 1)) if told else None
    later = by_key.get((told["item_id"], told["delivery_index"])) if told else None
    if told is None or earlier is None or later is None:
        return ()
    start = incident["started_at"]
    first_run = same_run(deliveries, earlier)
    second_run = same_run(deliveries, later)
    durations = {i["invocation_id"]: _ran_ms(i) for i in invocations}
    facts: list[Fact] = []

    def add(at: datetime | None, sentence: str, rows: Sequence[Row]) -> None:
        facts.append(Fact(at, ms_between(start, at), sentence, ids_of(rows)))

    add(earlier["received_at"], _received(incident, earlier, first_run), first_run)
    done = [d for d in first_run if d["effect"] == "yes"]
    again = [d for d in second_run if d["effect"] == "yes" and _done_before(d, deliveries)]
    is_overtaken = bool(again) and _all_overtake(again, done)
    if done:
        shown = max(
            (d["effect_at"] or d["finished_at"] for d in done if d["effect_at"] or d["finished_at"]), default=None
        )
        finished = _finished_late if is_overtaken else _finished
        add(shown, finished(len(done), len(first_run), _bases(done)), done)
    left = sum(d["ended_by"] != "deleted" for d in first_run)
    refused = earlier["delete_status"] in _DELETES
    if (
        earlier["run_status"] in _ENDS
        and earlier["run_ended_at"]
        and not (refused and earlier["run_status"] == "success")
    ):
        add(earlier["run_ended_at"], _ended(earlier, durations.get(earlier["consumer"]), left), first_run)
    if refused:
        add(earlier["delete_at"], _DELETES[earlier["delete_status"]], [earlier])
    is_one_receive = told.get("is_one_receive")
    seen_at = None if is_one_receive else later["received_at"]
    if earlier["hidden_until_at"] and seen_at and earlier["hidden_until_at"] <= seen_at:
        hidden = span_text(ms_between(earlier["received_at"], earlier["hidden_until_at"]))
        add(
            earlier["hidden_until_at"],
            said(_VISIBLE_ONE if left <= 1 else _VISIBLE, span=hidden),
            [earlier],
        )
    if is_one_receive:
        began = {i["invocation_id"]: i["started_at"] for i in invocations}
        after_ms = ms_between(began.get(earlier["consumer"]), came_at(told))
        add(came_at(told), _invoked_again(told, later, second_run, after_ms), [told, *second_run])
    else:
        add(later["received_at"], _came_again(told, later, second_run), [told, *second_run])
    if again:
        at = min(
            (d["effect_at"] or d["finished_at"] for d in again if d["effect_at"] or d["finished_at"]), default=None
        )
        done_then = _done_meanwhile if is_overtaken else _done_again
        add(at, done_then(len(again), len(second_run)), again)
    facts.sort(key=lambda f: (f.at is None, f.at or start))
    return tuple(facts)


def _first_redelivery(incident: Row, redeliveries: Sequence[Row]) -> Row | None:
    by_poller = trigger_of(incident) == INVOKED_AGAIN

    def order(r: Row) -> tuple[Any, ...]:
        at = came_at(r) or r["earlier_received_at"]
        is_other = r["cause"] != incident["primary_cause"] or bool(r.get("is_one_receive")) != by_poller
        return (is_other, at is None, at, r["item_id"], r["delivery_index"])

    return min(redeliveries, key=order) if redeliveries else None


def _received(incident: Row, earlier: Row, run: Sequence[Row]) -> str:
    if not earlier["is_seen"]:
        unlogged = "{queue} delivered a message that no log shows: only the receive count tells."
        return said(unlogged, queue=incident["queue"])
    hidden_ms = ms_between(earlier["received_at"], earlier["hidden_until_at"])
    many = counted(max(len(run), earlier["batch_count"] or 0), "message")
    return said(
        "{who} received {n} of {queue}{request}{until}.",
        who=consumer_text(earlier),
        n=many if is_named_whole(run) else said("at least {messages}", messages=many),
        queue=incident["queue"],
        request=said(" (request {name})", name=earlier["request_id"]) if earlier["request_id"] else "",
        until=said(", hidden for {span}", span=span_text(hidden_ms)) if hidden_ms is not None else "",
    )


def _ran_ms(invocation: Row) -> float | None:
    """Return how long a run took: by its first and last lines, as the cause sentence tells, and by its report where it hit its limit."""
    by_lines = ms_between(invocation["started_at"], invocation["ended_at"])
    is_reported = invocation["end_status"] == "timeout" or by_lines is None
    return invocation["duration_ms"] if is_reported else by_lines


def _ended(delivery: Row, duration_ms: float | None, left: int) -> str:
    ended = _ENDS[delivery["run_status"]]
    many = said("{messages} were not deleted", messages=counted(left, "message"))
    kept = "the message was not deleted" if left == 1 else many
    if duration_ms is None:
        return (
            said("The run {ended}; {kept}.", ended=ended, kept=kept) if left else said("The run {ended}.", ended=ended)
        )
    span = span_text(duration_ms)
    if left:
        return said("The run {ended} after {span}; {kept}.", ended=ended, span=span, kept=kept)
    return said("The run {ended} after {span}.", ended=ended, span=span)


def _came_again(told: Row, later: Row, run: Sequence[Row]) -> str:
    if not later["is_seen"]:
        return "It was received again; only the receive count tells."
    gap_ms, overlap_ms = told["gap_ms"], told["overlap_ms"]
    dead_letter_queue = queue_name(later.get("received_from_arn"))
    n = counted(len(run), "message")
    return said(
        "{who} received {n} again{gap}{overlap}.",
        who=consumer_text(later),
        n=said("{messages} of {queue}", messages=n, queue=dead_letter_queue) if dead_letter_queue else n,
        gap=said(" {span} after the previous receive", span=span_text(gap_ms)) if gap_ms is not None else "",
        overlap=_overlap(overlap_ms),
    )


def _invoked_again(told: Row, later: Row, run: Sequence[Row], after_ms: float | None) -> str:
    """Say that one receive was given to another run, so long after the first began: nothing was received again."""
    return said(
        "The poller invoked {who} again with {n} of the same receive{gap}{overlap}.",
        who=consumer_text(later),
        n=counted(len(run), "message"),
        gap=said(", {span} after the first run began", span=span_text(after_ms)) if after_ms is not None else "",
        overlap=_overlap(told["overlap_ms"]),
    )


def _overlap(overlap_ms: float | None) -> str:
    return said("; both ran at once for {span}", span=span_text(overlap_ms)) if overlap_ms else ""


def _done_before(delivery: Row, deliveries: Sequence[Row]) -> bool:
    return any(
        d["effect"] == "yes"
        and d["item_id"] == delivery["item_id"]
        and d["delivery_index"] < delivery["delivery_index"]
        for d in deliveries
    )


def _all_overtake(again: Sequence[Row], done: Sequence[Row]) -> bool:
    """Tell whether a later run did the work of each message before the run that had it first: which of the two repeated it, is the slower's."""
    first = {d["item_id"]: d["effect_at"] for d in done}
    pairs = [(d["effect_at"], first.get(d["item_id"])) for d in again]
    return all(at is not None and other is not None and at < other for at, other in pairs)


def _done_meanwhile(part: int, whole: int) -> str:
    if whole == 1:
        return "The work was done, before the earlier run had done it."
    several = "The work of {part} of {messages} was done, before the earlier run had done it."
    return said(several, part=part, messages=counted(whole, "message"))


def _finished_late(part: int, whole: int, bases: str) -> str:
    if whole == 1:
        return said("The earlier run did the work, too: it was done again ({bases}).", bases=bases)
    several = "The earlier run did the work of {part} of {messages}, too: it was done again ({bases})."
    return said(several, part=part, messages=counted(whole, "message"), bases=bases)


def _done_again(part: int, whole: int) -> str:
    if whole == 1:
        return "The work was done again."
    return said("The work of {part} of {messages} was done again.", part=part, messages=counted(whole, "message"))


def _finished(part: int, whole: int, bases: str) -> str:
    if whole == 1:
        return said("The message had finished ({bases}).", bases=bases)
    several = "{part} of {messages} had finished ({bases})."
    return said(several, part=part, messages=counted(whole, "message"), bases=bases)


def _bases(done: Sequence[Row]) -> str:
    by_basis = sorted(Counter(d["basis"] for d in done).items())
    return joined((said("{basis}: {count}", basis=basis, count=count) for basis, count in by_basis), ", ")
