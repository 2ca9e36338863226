"""Does a consumer take its batch one message after the other? Inferred from its runs where the settings file does not say."""

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

LEAST_RUNS = 30
"""As many runs that tell of an order, and none against it, make one that is not declared."""
_STEPS = (1, 2, 5)


class ItemTimes(NamedTuple):
    """When a message was begun and finished in its run (any unit, None where no line says), in the order of the batch."""

    started_at: int | None
    finished_at: int | None


class Order(NamedTuple):
    """``taken`` is sequential, parallel or None; ``runs``: from at least so many."""

    taken: str | None = None
    runs: int | None = None


class OrderCounts(NamedTuple):
    """Runs of several messages of one consumer: how many tell of one after the other, and how many of the contrary."""

    in_order: int = 0
    against: int = 0

    @property
    def order(self) -> Order:
        """What they say together. One run against it is enough; the number of runs is told in round figures.

        >>> OrderCounts(in_order=347).order, OrderCounts(in_order=347, against=1).order.taken
        (Order(taken='sequential', runs=200), 'parallel')
        """
        if self.against:
            return Order("parallel", _round(self.against))
        return Order("sequential", _round(self.in_order)) if self.in_order >= LEAST_RUNS else Order()


def is_in_order(began_at: int | None, items: Sequence[ItemTimes]) -> bool | None:
    """Tell whether a run took its messages one after the other; None where its lines do not tell.

    Handlers that begin everything at once also say so in the order of the batch, and may end in it: where starts are logged,
    each must stand behind the end of the message before. Where only ends are, they must be as far apart as the first one is
    from the run's beginning, or nearly: of work done at once, ends come together.

    >>> is_in_order(0, [ItemTimes(None, 100), ItemTimes(None, 210)]), is_in_order(0, [ItemTimes(None, 100), ItemTimes(None, 101)])
    (True, None)
    >>> is_in_order(0, [ItemTimes(5, 100), ItemTimes(6, 210)]), is_in_order(0, [ItemTimes(None, 9), ItemTimes(None, 8)])
    (False, False)
    """
    begun = done_until = None
    for item in items:
        if _is_before(item.started_at, begun) or any(_is_before(at, done_until) for at in item):
            return False
        begun = begun if item.started_at is None else item.started_at
        done_until = done_until if item.finished_at is None else item.finished_at
    done = [item.finished_at for item in items if item.finished_at is not None]
    if len(done) < 2 or done[0] == done[-1]:
        return None
    if all(item.started_at is not None for item in items if item.finished_at is not None):
        return True
    if began_at is None:
        return None
    return True if 2 * (done[-1] - done[0]) >= (len(done) - 1) * (done[0] - began_at) else None


def hand_overs(items: Sequence[ItemTimes]) -> int:
    """Count the messages of which it is seen that they were begun when the one before in the batch was done.

    >>> hand_overs([ItemTimes(1, 100), ItemTimes(101, 200), ItemTimes(150, 300), ItemTimes(None, 400)])
    1
    """
    return sum(
        before.finished_at is not None and item.started_at is not None and before.finished_at <= item.started_at
        for before, item in pairwise(items)
    )


def _is_before(at: int | None, other: int | None) -> bool:
    return at is not None and other is not None and at < other


def _round(count: int) -> int:
    """Round down to 1, 2 or 5 and zeros, or to LEAST_RUNS: what is said must not change with every run.

    >>> _round(47), _round(199), _round(7)
    (30, 100, 5)
    """
    least = 10 ** (len(str(count)) - 1)
    found = max(step * least for step in _STEPS if step * least <= count)
    return max(found, LEAST_RUNS) if count >= LEAST_RUNS else found
