"""Whether an incident was still going on where the evidence ends; no clock is asked."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from forensics.people import is_settled

Row = Mapping[str, Any]
QUIET_AFTER = timedelta(hours=1)


def quiet_for(incident: Row, until: datetime | None) -> timedelta | None:
    """Return how long before the end of the data its last activity was; None where the data has no end."""
    return until - incident["ended_at"] if until and incident["ended_at"] else None


def is_open(incident: Row, until: datetime | None) -> bool:
    """Tell whether it was still going on in the last hour of the data; what people set aside as a whole is not."""
    if is_settled(incident):
        return False
    quiet = quiet_for(incident, until)
    return quiet is None or quiet <= QUIET_AFTER
