"""Quiet separates incidents: how long it has to be, and what an incident is called."""

from datetime import UTC, datetime

QUIET_MS = 15 * 60 * 1000
"""So long a quiet separates incidents at least."""


def quiet_limit_ms(visibility_timeout_s: int | None) -> int:
    """Return the quiet that still belongs to an incident: two visibility timeouts, and never less than 15 minutes.

    >>> quiet_limit_ms(None), quiet_limit_ms(30), quiet_limit_ms(600)
    (900000, 900000, 1200000)
    """
    return max((visibility_timeout_s or 0) * 2000, QUIET_MS)


def is_after_quiet(at: int, active_at: int | None, visibility_timeout_s: int | None) -> bool:
    """Tell whether what happens at a moment begins another incident; ``active_at`` is the last activity before it."""
    return active_at is None or at // 1000 - active_at // 1000 > quiet_limit_ms(visibility_timeout_s)


def incident_id(queue: str, started_at: int | None) -> str:
    """Name an incident by its queue and the minute it began.

    >>> incident_id("payments", 1_795_345_199_999_999)
    'payments-20261122T1059Z'
    """
    if started_at is None:
        return queue
    return f"{queue}-{datetime.fromtimestamp(started_at // 1_000_000, UTC):%Y%m%dT%H%MZ}"
