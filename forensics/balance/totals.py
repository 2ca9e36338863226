"""What a queue's days add up to, and which of them do not balance. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

from forensics.balance.day import BalanceDay, Between
from forensics.sentence import said

MOST_NAMED = 3
"""Days that do not balance and are named in a sentence, the newest ones."""


@dataclass(frozen=True)
class QueueBalance:
    """One queue over its days, oldest first; a sum is None where no day knows it."""

    queue: str
    days: tuple[BalanceDay, ...]

    @property
    def known(self) -> tuple[BalanceDay, ...]:
        """Days whose metrics were read."""
        return tuple(day for day in self.days if day.unexplained is not None)

    @property
    def odd(self) -> tuple[BalanceDay, ...]:
        """Days that do not balance."""
        return tuple(day for day in self.days if day.is_balanced is False)

    @property
    def waiting_after(self) -> Between | None:
        """What waits at the end of the last day that tells."""
        return next((day.waiting_after for day in reversed(self.days) if day.waiting_after is not None), None)

    @property
    def unexplained(self) -> Between | None:
        """What nothing explains over all days: the sum of their bounds, also of days that balance, for 0 is only one end of them."""
        return self.total("unexplained")

    def total(self, name: str) -> Between | None:
        """Add up one count of a day over all days that know it."""
        return _sum(self.days, name)

    @property
    def sentence(self) -> str:
        """Say whether all days balance."""
        known, odd = len(self.known), self.odd
        if not known:
            return "No day of it can be balanced: its metrics were not read, or have no point."
        if not odd:
            return "Its one day balances." if known == 1 else said("All {count} days balance.", count=known)
        newest = ", ".join(day.day for day in reversed(odd[-MOST_NAMED:]))
        told = {"some": len(odd), "count": known, "days": newest + (", …" if len(odd) > MOST_NAMED else "")}
        if len(odd) == 1:
            return said("{some} of {count} days does not balance: {days}.", **told)
        return said("{some} of {count} days do not balance: {days}.", **told)


def per_queue(days: Sequence[BalanceDay]) -> list[QueueBalance]:
    """Put days together by queue, those first of which most days do not balance."""
    found: dict[str, list[BalanceDay]] = {}
    for day in sorted(days, key=lambda day: (day.queue, day.day)):
        found.setdefault(day.queue, []).append(day)
    queues = [QueueBalance(queue, tuple(mine)) for queue, mine in found.items()]
    return sorted(queues, key=lambda queue: (-len(queue.odd), queue.queue))


def _sum(days: Sequence[BalanceDay], name: str) -> Between | None:
    known = [count for day in days if (count := getattr(day, name)) is not None]
    return Between(sum(c.low for c in known), sum(c.high for c in known)) if known else None
