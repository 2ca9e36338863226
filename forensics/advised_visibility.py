"""The visibility timeout that is advised: one rule for verdicts, checks, replays, reports and pages."""

from forensics.limits import LONGEST_VISIBILITY_S

FUNCTION_TIMEOUTS = 6
"""AWS advises a visibility timeout of at least this many function timeouts, and the batching window."""
HANDLINGS = 3
"""Where no function timeout ends a run: as many of the slowest handling, in whole minutes."""


def advised_visibility_s(function_timeout_s: int | None, window_s: int, slowest_ms: float | None) -> int | None:
    """Return the seconds that are advised, of a consumer with such a function timeout (None: a worker), batching window and slowest
    handling; None where nothing tells.

    >>> advised_visibility_s(30, 5, None), advised_visibility_s(None, 0, 46_330), advised_visibility_s(None, 0, None)
    (185, 180, None)
    """
    if function_timeout_s is not None:
        return of_function_s(function_timeout_s, window_s)
    return of_handling_s(slowest_ms + 1000 * window_s) if slowest_ms else None


def of_function_s(timeout_s: int, window_s: int) -> int:
    """Return what AWS advises in front of a function."""
    return min(FUNCTION_TIMEOUTS * timeout_s + window_s, LONGEST_VISIBILITY_S)


def of_handling_s(slowest_ms: float) -> int:
    """Return what leaves the slowest handling its time, and as much again twice over; a batching window belongs to it."""
    return min(60 * int(-(-HANDLINGS * slowest_ms // 60_000)), LONGEST_VISIBILITY_S)
