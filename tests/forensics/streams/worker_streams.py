"""Streams of workers in few words: what each line says, one line a second, messages with names of one letter.

A word is a role ("passing": a mention that says nothing more), then a message, ``key=``, ``handle=``, ``masked=`` (what a log puts in a handle's stead), ``thread=`` or ``detail=``.
"&" before it: it stands in the same ms as the last; "+": in the
same line. A number is a pause in seconds. "|" is where the reader expects a cut; it says nothing.
"""

from collections.abc import Iterable

from forensics.identity import handle_token
from forensics.streams.handlings import Handling, handlings_of
from forensics.streams.model import TAKEN, Fact, LogGroup, PlacedFact

NOON = 1_767_614_400_000_000
"""2026-01-05 12:00 UTC, in µs."""

GROUP = LogGroup("/ecs/pay", "worker", silence_ms=27_000)
DELETE, CHANGE = "detail=expired:DeleteMessage", "detail=expired:ChangeMessageVisibility"


def handle(name: str) -> str:
    """Return the token of a receipt handle."""
    return handle_token(f"{name}{'~' * 40}")


def stream(*said: str | float) -> list[PlacedFact]:
    """Return the facts of a stream, its first line a second after noon."""
    at, placed = NOON, []
    for word in said:
        if isinstance(word, str) and word != "|":
            at += 0 if word[0] in "&+" else 1_000_000
            line = placed[-1].fact.evidence_id if word.startswith("+") else f"line-{len(placed):03d}"
            placed.append(PlacedFact(at, len(placed), 0, _fact(word.lstrip("&+").split(), at, line)))
        elif word != "|":
            at += round(float(word) * 1_000_000)
    return placed


def cuts(*said: str | float) -> list[int]:
    """Return the places before which "|" stands."""
    places = [sum(isinstance(w, str) and w != "|" for w in said[:n]) for n, word in enumerate(said) if word == "|"]
    return [0, *places]


def handlings(
    *said: str | float,
    one_at_a_time: bool = False,
    handles: dict[str, str] | None = None,
    group: LogGroup = GROUP,
) -> list[Handling]:
    """Return the handlings of a stream."""
    return handlings_of(stream(*said), "app/1", group, one_at_a_time, handles or {})


def told(found: Iterable[Handling]) -> list[str]:
    """Return handlings as item and roles."""
    return [" ".join([f"{h.item_id}:", *[f.role.removeprefix("worker_") for f in h.facts]]) for h in found]


def _fact(words: list[str], at: int, evidence_id: str) -> Fact:
    role, *named = words
    values = dict(word.split("=", 1) for word in named if "=" in word)
    message_id = next((word for word in named if "=" not in word), None)
    receipt_handle = handle(values["handle"]) if "handle" in values else None
    receipt_handle = handle_token(values["masked"]) if "masked" in values else receipt_handle
    count = int(values["count"]) if "count" in values else None
    detail = values.get("detail", TAKEN if role == "mention" else None)
    return Fact(
        "mention" if role == "passing" else role,
        at,
        evidence_id,
        message_id,
        values.get("key"),
        receive_count=count,
        receipt_handle=receipt_handle,
        detail=detail,
        thread=values.get("thread"),
    )
