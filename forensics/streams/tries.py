"""Messages that a worker tries again while it has them in hand: SQS does not deliver them again for that."""

from collections.abc import Sequence

from forensics.streams.model import ERROR, TAKEN, Fact, PlacedFact
from forensics.streams.told_of_handling import SURENESS

AGAIN = "worker_retrying"
"""Role of a line that says: this message failed, and its worker, which still has it, tries it again at once."""

_FAILED = frozenset({ERROR, "worker_raised", "worker_failed", "worker_timed_out"})


def with_tries_in_hand(facts: Sequence[PlacedFact], silence_ms: int) -> list[PlacedFact]:
    """Return the facts of a stream, in order, in which what begins a message once more behind such a line opens nothing.

    Nor does what failed before it end anything. Each kind of line begins it once for each such line, and with the same receive count;
    and before the message was visible again (``silence_ms`` as in ``LogGroup``): later it was delivered again, for its worker may have died.
    """
    if all(placed.fact.role != AGAIN for placed in facts):
        return list(facts)
    found = list(facts)
    opened: dict[str, Fact] = {}
    failed: dict[str, list[int]] = {}
    again: dict[str, set[str]] = {}
    for place, (_, _, _, fact) in enumerate(facts):
        message_id = fact.message_id
        if message_id is None:
            continue
        if fact.role == AGAIN:
            for before in failed.pop(message_id, ()):
                found[before] = _as_mention(found[before])
            again[message_id] = set()
        elif fact.role in _FAILED:
            failed.setdefault(message_id, []).append(place)
        elif fact.role in SURENESS:
            if _is_try(fact, opened.get(message_id), again.get(message_id), silence_ms):
                again[message_id].add(fact.role)
                found[place] = _as_mention(found[place])
            else:
                opened[message_id] = fact
                again.pop(message_id, None)
                failed.pop(message_id, None)
    return found


def _is_try(fact: Fact, opened: Fact | None, begun: set[str] | None, silence_ms: int) -> bool:
    """Tell whether what begins a message does so for a worker that has had it in hand since it ``opened`` it; ``begun``: what did for this try."""
    if opened is None or begun is None or fact.role in begun:
        return False
    is_counted_apart = (
        None not in (fact.receive_count, opened.receive_count) and fact.receive_count != opened.receive_count
    )
    return not is_counted_apart and fact.at < opened.at + silence_ms * 1000


def _as_mention(placed: PlacedFact) -> PlacedFact:
    return placed._replace(fact=placed.fact._replace(role="mention", detail=TAKEN))


def done_more(facts: Sequence[Fact]) -> tuple[int, int]:
    """Return in how many more tries than one a handling's work was done, and in how many more it may have been.

    One that a guard stopped did nothing. Whether the last one did where no effect is told at all, is for its delivery.
    """
    tries: list[set[str]] = [set()]
    for fact in facts:
        if fact.role == AGAIN:
            tries.append(set())
        else:
            tries[-1].add(fact.role)
    done = sum("effect" in roles for roles in tries)
    open_tries = tries if done else tries[:-1]
    return max(done - 1, 0), sum(roles.isdisjoint(("effect", "guard")) for roles in open_tries)


def last_try(facts: Sequence[Fact]) -> Sequence[Fact]:
    """Return what a handling's lines say from its last try on."""
    return facts[max((place for place, fact in enumerate(facts) if fact.role == AGAIN), default=0) :]
