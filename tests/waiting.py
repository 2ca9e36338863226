"""How long tests wait, and how they see that work grows with its input: no test judges a machine's speed."""

import gc
import sys
from collections.abc import Callable
from time import thread_time
from types import FrameType
from typing import Any

# Only what never comes is a failure. Ten times what the slowest of these waits took on two busy cores.
PATIENCE_S = 180
PATIENCE_MS = PATIENCE_S * 1000


def instructions_of(work: Callable[[], object]) -> int:
    """Count the bytecode instructions a piece of work takes: the same number on every machine, however busy."""
    count = 0

    def counted(frame: FrameType, event: str, _: object) -> Any:
        nonlocal count
        frame.f_trace_opcodes = True
        count += event == "opcode"
        return counted

    tracing = sys.gettrace()
    sys.settrace(counted)
    try:
        work()
    finally:
        sys.settrace(tracing)
    return count


def grows_with_its_input(work: Callable[[str], object], line: str) -> bool:
    """Tell whether a line costs in proportion to its length: ten times a tenth of it, not a hundred times.

    What takes long in a line are patterns, whose steps nothing counts. So it is processor time, without searches for
    garbage, and it is looked at again before it is called too much: what the line itself costs comes back each time.
    The floor of 10 ms keeps the clock's own steps out of the ratio.
    """
    tenth = line[: len(line) // 10]
    limit_s = 40 * max(0.010, min(_cpu_s(work, tenth) for _ in range(3)))
    return any(_cpu_s(work, line) < limit_s for _ in range(3))


def _cpu_s(work: Callable[[str], object], line: str) -> float:
    was_collecting = gc.isenabled()
    gc.disable()
    try:
        started = thread_time()
        work(line)
        return thread_time() - started
    finally:
        if was_collecting:
            gc.enable()
