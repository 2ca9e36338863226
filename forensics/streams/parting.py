"""What the lines of one stream state, and where they are parted into runs that no START tells apart."""

from collections.abc import Sequence
from typing import NamedTuple

from forensics.identity import handle_prefix
from forensics.parsers.line import TIMEOUT_ANSWER
from forensics.streams.model import Fact

ENDS = frozenset({"report", "runtime_done"})
CLOSES = ENDS | {"end"}
ERRORS = frozenset({"runtime_error", "unhandled_error", "logged_error"})
MARKS = CLOSES | {"start", "timeout", TIMEOUT_ANSWER, "runtime_error", "unhandled_error", "logged_error"}


class Statement(NamedTuple):
    """What one line says of its invocation; ``at`` in µs. ``is_response``: it prints a batch response.

    ``kind`` is a kind of ``ParsedLine``; of a line that says nothing only its place in the stream counts.
    """

    at: int
    order_in_ms: int
    evidence_id: str
    kind: str
    request_id: str | None = None
    duration_ms: float | None = None
    status: str | None = None
    error_type: str | None = None
    function_name: str | None = None
    is_response: bool = False
    facts: Sequence[Fact] = ()


def by_batch(lines: Sequence[Statement]) -> list[tuple[int | None, list[Statement]]]:
    """Part the lines of one request id where it was run again and no START says so; with when each run but the first began.

    A run has one batch. Another is printed where the run before was closed, or where a message of that one stands under
    another receipt handle or count; what stands behind the close is of the new run, which began when it was printed.
    """
    parts: list[tuple[int | None, list[Statement]]] = [(None, [])]
    shown: dict[str | None, Fact] = {}
    closed = 0
    for statement in lines:
        records = [f for f in statement.facts if f.role == "record"]
        if records and shown and (closed or any(_is_received_anew(f, shown.get(f.message_id)) for f in records)):
            left = parts[-1][1][closed or len(parts[-1][1]) :]
            del parts[-1][1][len(parts[-1][1]) - len(left) :]
            parts.append((statement.at, left))
            shown, closed = {}, 0
        shown.update((f.message_id, f) for f in records)
        parts[-1][1].append(statement)
        if statement.kind in CLOSES or (closed and statement.kind in MARKS):
            closed = len(parts[-1][1])
    return parts


def _is_received_anew(record: Fact, before: Fact | None) -> bool:
    """Tell whether a message was printed of another receive than before."""
    if before is None:
        return False
    handles = (record.receipt_handle, before.receipt_handle)
    counts = {record.receive_count, before.receive_count} - {None}
    return len(counts) > 1 or (None not in handles and len({handle_prefix(h) for h in handles if h}) > 1)


def silent_parts(facts: Sequence[Fact], silence_ms: int) -> dict[str, list[Fact]]:
    """Part facts, in the order of their lines, into what may have been one run each; by when each part opened (ms).

    A message opens a part where its record is printed under another receipt handle, or where it was not spoken of for
    longer than one run can take (``silence_ms``). Facts that name no message stay with the records printed last; where
    there are none, or their part was silent for so long, they are in a part of their own.
    """
    parts: dict[str, list[Fact]] = {}
    of_message: dict[str, str] = {}
    spoken_ms: dict[str, int] = {}
    handles: dict[str, str] = {}
    current: str | None = None
    for fact in facts:
        at_ms = fact.at // 1000
        message_id = fact.message_id
        if message_id is None:
            if current is None or at_ms - parts[current][-1].at // 1000 > silence_ms:
                current = f"{at_ms}.unnamed"
            opened = current
        else:
            last_ms, last_handle = spoken_ms.get(message_id), handles.get(message_id)
            if fact.role == "record":
                handles[message_id] = fact.receipt_handle or fact.evidence_id
            if last_ms is None or at_ms - last_ms > silence_ms or handles.get(message_id) != last_handle:
                of_message[message_id] = str(at_ms)
            spoken_ms[message_id] = at_ms
            opened = of_message[message_id]
            if fact.role == "record":
                current = opened
        parts.setdefault(opened, []).append(fact)
    return parts
