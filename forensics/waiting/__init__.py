"""How long messages wait: from the send to the first receive and to the work's end, and how long a backlog takes to drain."""

from forensics.waiting.drain import Drain, drain_of
from forensics.waiting.times import WaitingDay, waiting_days

__all__ = ["Drain", "WaitingDay", "drain_of", "waiting_days"]
