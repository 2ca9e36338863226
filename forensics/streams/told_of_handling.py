"""What the facts of one handling tell of it as a whole."""

from collections.abc import Sequence
from itertools import pairwise

from forensics.streams.in_hand import CLOSERS, DELETED, DONE, ends_handling
from forensics.streams.model import HIDDEN, Fact
from forensics.streams.once import MOMENT_US

SURENESS = {"started": 1, "worker_started": 2, "record": 3}
"""Roles that open a handling, by how sure they are; of each message the surest that it has opens its handlings."""


def visible_from(handling: Sequence[Fact], silence_ms: int) -> int:
    """Return from when on (µs) the message of a handling may be handed out again, as far as its lines tell; ``silence_ms`` as in ``LogGroup``."""
    hidden = [f.at + int(f.detail) * 1_000_000 for f in handling if f.role == HIDDEN and f.detail is not None]
    return hidden[-1] if hidden else handling[0].at + silence_ms * 1000


def is_begun_less_surely(handling: Sequence[Fact], fact: Fact) -> bool:
    """Tell whether nothing but less sure openers than a fact began a handling, a moment before: one receive has both lines.

    Not where another thread wrote them, or with another receive count.
    """
    sureness = [SURENESS.get(told.role, 0) for told in handling if told.role != "mention"]
    if not sureness or min(sureness) == 0 or max(sureness) >= SURENESS.get(fact.role, 0):
        return False
    is_anothers = fact.thread is not None and bool(threads_of(handling) - {fact.thread})
    counts = counts_in(handling) - {fact.receive_count} if fact.receive_count is not None else set()
    return fact.at - handling[0].at <= MOMENT_US and not is_anothers and not counts


def is_delete(fact: Fact) -> bool:
    """Tell whether a fact says that a message was deleted, or could not be."""
    return fact.role in DELETED or fact.is_failed_delete


def shows_effect(handling: Sequence[Fact]) -> bool:
    """Tell whether a line of a handling says that its work was done."""
    return any(fact.role == "effect" for fact in handling)


def shows_work(handling: Sequence[Fact]) -> bool:
    """Tell whether a handling shows that its work was done, or was not because a guard stopped it."""
    return any(fact.role in ("effect", "guard", "worker_refused") for fact in handling)


def counts_in(handling: Sequence[Fact]) -> set[int]:
    """Return the receive counts that the lines of a handling tell."""
    return {fact.receive_count for fact in handling if fact.receive_count is not None}


def with_sure_count(handling: list[Fact], is_one_process: bool) -> list[Fact]:
    """Return a handling without its receive count where neither what opens it nor every line tells one: some may be another's.

    Lines that say nothing but the message's name are no work. And where one process writes the stream, and has one message at a time, it
    had received this one no more often before than what ends its lines tells.
    """
    counted = {fact.evidence_id for fact in handling if fact.receive_count is not None}
    if not counted or any(fact.role in SURENESS and fact.evidence_id in counted for fact in handling):
        return handling
    telling = [fact for fact in handling if fact.role != "mention"] or handling
    if counted.issuperset(fact.evidence_id for fact in (telling[-1:] if is_one_process else telling)):
        return handling
    return [fact._replace(receive_count=None) for fact in handling]


def threads_of(handling: Sequence[Fact]) -> set[str]:
    """Return the threads that began a handling, as far as lines say it."""
    return {fact.thread for fact in handling if fact.role in SURENESS and fact.thread is not None}


def is_over(handling: Sequence[Fact]) -> bool:
    """Tell whether the worker said that a handling was over, or that its delete went wrong."""
    return any(map(ends_handling, handling))


def ends_later(mine: Sequence[Fact], latest: Sequence[Fact], fact: Fact) -> bool:
    """Tell whether a worker's success, or a delete, is that of a slower handling: the latest had ended, and work was told since, or another thread says so.

    SQS takes the delete of a slower worker as well, out of a standard queue. What the latest seems to tell since is its work, if it shows none.
    """
    roles = DONE if fact.is_failed_delete else DONE & {fact.role}
    ends = [told for told in latest if told.role in roles]
    if not ends or fact.at - ends[-1].at <= MOMENT_US:
        return False
    told_by = mine if shows_work(mine) else latest
    is_done_since = any(told.role == "effect" and told.at > ends[-1].at for told in told_by)
    return is_done_since or (fact.thread is not None and all(told.thread not in (None, fact.thread) for told in ends))


def give_back(handlings: Sequence[list[Fact]]) -> None:
    """Give a second effect of one handling to the one before it, where that is still open and shows none.

    Several workers may share a stream: the slower one's effect then stands behind the start of the quicker one.
    """
    for before, handling in pairwise(handlings):
        effects = [place for place, fact in enumerate(handling) if fact.role == "effect"]
        if any(handling[place].receive_count is not None for place in effects):  # it stands where its count is
            continue
        if len(effects) > 1 and not any(fact.role == "effect" or fact.role in CLOSERS for fact in before):
            before.append(handling.pop(effects[1]))
