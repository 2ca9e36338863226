"""What people say goes into the lake in the order in which it was said: whatever the clock shows, and one after another."""

import random
import time
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any, TypeVar

from forensics.errors import LakeBusyError
from forensics.lake import Lake
from forensics.tables import Table

Said = TypeVar("Said")
MOST_TRIES = 8
LONGEST_PAUSE_S = 0.2
"""A mark is one small commit: whoever writes at this moment is done in less."""


def kept(
    lake: Lake, table: Table, time_column: str, now: datetime, say: Callable[[datetime], tuple[Said, dict[str, Any]]]
) -> Said:
    """Append one row, made by ``say`` for the time at which it counts as said, and return what was said.

    That is now, or just after the newest row: a clock may have been set back, and what came last must count. Raises
    LakeBusyError where others write for all of several tries.
    """
    for tries_left in reversed(range(MOST_TRIES)):
        said, row = say(_after_all(lake, table, time_column, now))
        try:
            lake.append(table, [row], f"{table.name}|people")
        except LakeBusyError:
            if not tries_left:
                raise
            time.sleep(random.uniform(0, LONGEST_PAUSE_S))  # noqa: S311 (not a secret); the other is writing still
        else:
            return said
    raise AssertionError("the last try returns or raises")


def _after_all(lake: Lake, table: Table, time_column: str, now: datetime) -> datetime:
    said = [at for at in lake.read(table, [time_column])[time_column].to_pylist() if at is not None]
    newest = max(said, default=None)
    return now if newest is None or newest <= now else newest + timedelta(microseconds=1)
