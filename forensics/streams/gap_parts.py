"""Lines of a function's stream that stand in no run, parted into what may have been one run each."""

from collections.abc import Iterable

from forensics.streams.model import TAKEN, Fact
from forensics.streams.once import MOMENT_US
from forensics.streams.runs import Statement

_ONCE_IN_A_RUN = ("started", "effect")


def parts_of(lines: Iterable[Statement], silence_ms: int) -> dict[str, list[Fact]]:
    """Part the facts of lines, in order, into what may have been one run each; by when each part opened (ms).

    A message opens a part where its record is printed under another receipt handle, where it was not spoken of for
    longer than one run can take (``silence_ms``), or where it is handed over or failed again more than a moment behind a response: a
    run answers once. So it does where its work is begun or done once more, with the same key, more than a moment later: by another run,
    perhaps, so that there the message counts as taken, and no more. Facts that name no message stay with the records printed last; where
    there are none, or another message was begun since, or their part was silent for so long, they are in a part of their own; so they
    are from where one tells of a key what it told in that part so long ago: other keys may have been told of all the while.
    """
    parts: dict[str, list[Fact]] = {}
    of_message: dict[str, str] = {}
    spoken_at: dict[str, int] = {}
    handles: dict[str, str] = {}
    keys: dict[tuple[str, str | None], tuple[str, int]] = {}
    current: str | None = None
    printed: str | None = None
    told: dict[tuple[str, str, str | None], tuple[str, int]] = {}
    answered_at: int | None = None
    for statement in lines:
        for fact in statement.facts:
            at_ms, message_id = fact.at // 1000, fact.message_id
            if message_id is None:
                told_in, told_ms = keys.get((fact.role, fact.key), (None, at_ms))
                since_ms = told_ms if told_in == current else at_ms
                if current is None or at_ms - min(parts[current][-1].at // 1000, since_ms) > silence_ms:
                    current = f"{at_ms}.unnamed"
                if fact.key is not None:
                    keys[fact.role, fact.key] = current, at_ms
                parts.setdefault(current, []).append(fact)
                continue
            last_at, last_handle = spoken_at.get(message_id), handles.get(message_id)
            if fact.role == "record":
                handles[message_id] = fact.receipt_handle or fact.evidence_id
            is_new = last_at is None or at_ms - last_at // 1000 > silence_ms or handles.get(message_id) != last_handle
            if is_new or (last_at is not None and _is_behind_answer(fact, answered_at, last_at)):
                of_message[message_id] = str(at_ms)
            if fact.role in _ONCE_IN_A_RUN:
                what = fact.role, message_id, fact.key
                told_in, told_at = told.get(what, (None, fact.at))
                if told_in == of_message[message_id] and fact.at - told_at > MOMENT_US:
                    of_message[message_id] = str(at_ms)
                    fact = fact._replace(role="mention", detail=TAKEN)
                told[what] = of_message[message_id], fact.at
            spoken_at[message_id] = fact.at
            opened = of_message[message_id]
            if fact.role == "record":
                current = printed = opened
            elif fact.role == "started" and opened != current == printed:  # its record is lost
                current = None
            parts.setdefault(opened, []).append(fact)
        answered_at = statement.at if statement.is_response else answered_at
    return parts


def _is_behind_answer(fact: Fact, answered_at: int | None, last_at: int) -> bool:
    """Tell whether a message that was last spoken of before a response is in another run's hand; what is left behind only works on."""
    if answered_at is None or last_at > answered_at or fact.at - answered_at <= MOMENT_US:
        return False
    return fact.is_of_hand or fact.role == "failure"
