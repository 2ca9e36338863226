"""Worlds whose log events before a moment are left out, as ``--since`` leaves them out: what was read then must not count as read.

All have the same moment, so that one run can judge many: each is played such that a moment drawn of its span falls on it.
"""

import random

from tests.oracle.kinds import ANYTHING, KINDS
from tests.oracle.world import EPOCH_MS, Since, World

LEFT_OUT = "log events left out"
"""What such worlds are called as a kind; each is of one of the others, too."""
SINCE_MS = EPOCH_MS + 86_400_000 + 12_345_678
"""No whole minute: what counts by minutes knows part of that one."""


def world_of(seed: int) -> World:
    """Play a world of some kind, half of them of any; its seed says the kind and which share of its lines is left out."""
    rng = random.Random(f"left out {seed}")
    kind = ANYTHING if rng.random() < 0.5 else rng.choice(list(KINDS))
    share = rng.uniform(0.05, 0.95)
    whole = World(seed, kind=kind)
    moments = [line.at_ms for line in whole.book.lines] or [whole.started_ms]
    before_ms = int(min(moments) + share * (max(moments) - min(moments))) - whole.started_ms
    return World(seed, kind=kind, since=Since(SINCE_MS - before_ms, SINCE_MS))
