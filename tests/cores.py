"""Processes on a core of their own: polars hands each step to another thread, which costs half as much on the same core."""

import os
from contextlib import suppress


def on_one_core(number: int, process_id: int) -> None:
    """Keep a process and all that it starts on one of the cores that this one has, by its number among others.

    Where the system knows no such thing, or the process has ended, nothing is kept.
    """
    if hasattr(os, "sched_setaffinity"):
        cores = sorted(os.sched_getaffinity(0))
        with suppress(ProcessLookupError):
            os.sched_setaffinity(process_id, {cores[number % len(cores)]})
