"""How every kind of bar and mark looks and what the legend calls it."""

from dataclasses import dataclass

from forensics.charts.palette import ALARM, DELETED, HANDLER, QUIET, REFUSED, veil


@dataclass(frozen=True)
class BarLook:
    """A bar: what the legend says, its colours, and its pattern with the pattern's own colour."""

    words: str
    line: str
    fill: str
    pattern: str = ""
    ink: str = ""
    share: float = 1.0
    """Share of the lane's height."""


@dataclass(frozen=True)
class MarkLook:
    """A mark: what the legend says, its colour, and its shape."""

    words: str
    colour: str
    symbol: str
    size: int = 11


HANDLING = BarLook("Handler running", HANDLER, HANDLER, share=0.45)
BLOCKED = BarLook("Group blocked", ALARM, veil(ALARM, 0.25), "\\", ALARM, share=0.6)
MEASURE = BarLook("Queue, by the minute", QUIET, veil(QUIET, 0.35))
EXPIRED = BarLook("In flight until the visibility timeout", ALARM, veil(ALARM, 0.05), "/", veil(ALARM, 0.45))
IN_FLIGHT = {
    "deleted": BarLook("In flight until deleted", DELETED, veil(DELETED, 0.2)),
    "visibility_expired": EXPIRED,
    "delete_refused": EXPIRED,
    "dead_lettered": BarLook("In flight, then dead-lettered", QUIET, veil(QUIET, 0.15), "x", veil(QUIET, 0.45)),
    "in_flight": BarLook("Still in flight", QUIET, veil(QUIET, 0.05), ".", veil(QUIET, 0.6)),
    "unknown": BarLook("In flight, end unknown", QUIET, veil(QUIET, 0.05), ".", veil(QUIET, 0.6)),
}

MARKS = {
    "change": MarkLook("Settings changed", REFUSED, "hexagon", 12),
    "sent": MarkLook("Sent", QUIET, "line-ns-open", 12),
    "effect": MarkLook("Work done", HANDLER, "circle", 10),
    "repeat": MarkLook("Work done again", ALARM, "diamond", 13),
    "timeout": MarkLook("Function timeout", ALARM, "x", 11),
    "error": MarkLook("Handler error", ALARM, "x-open", 11),
    "crash": MarkLook("Handler crashed", ALARM, "cross-open", 12),
    "deleted": MarkLook("Deleted", DELETED, "triangle-down", 11),
    "delete_refused": MarkLook("Delete refused: receipt handle expired", REFUSED, "triangle-up", 12),
    "dead_lettered": MarkLook("Moved to the dead-letter queue", QUIET, "square", 11),
    "unseen": MarkLook("Received, but no log shows it", QUIET, "circle-open-dot", 11),
}
"""In drawing order: what matters most is drawn last but for the deletes, which never hide anything."""


def bar_look(kind: str, ended_by: str | None) -> BarLook:
    """Return how a bar of the timeline looks; an end that a later release names is drawn as unknown."""
    if kind == "handling":
        return HANDLING
    if kind == "blocked":
        return BLOCKED
    if kind == "measure":
        return MEASURE
    return IN_FLIGHT.get(ended_by or "unknown", IN_FLIGHT["unknown"])
