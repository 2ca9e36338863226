"""How long tests wait, and how they see that work grows with its input: no test judges a machine's speed."""

from collections.abc import Callable
from time import process_time

# Only what never comes is a failure. Ten times what the slowest of these waits took on two busy cores.
PATIENCE_S = 180
PATIENCE_MS = PATIENCE_S * 1000


def cpu_s(work: Callable[[], object]) -> float:
    """Return the processor seconds this process spends on a piece of work."""
    started = process_time()
    work()
    return process_time() - started


def grows_with_its_input(work: Callable[[str], object], line: str) -> bool:
    """Tell whether a line costs in proportion to its length: ten times a tenth of it, not a hundred times.

    The floor of 10 ms keeps the clock's own steps out of the ratio.
    """
    tenth = line[: len(line) // 10]
    work(tenth)  # patterns are compiled at their first use
    return cpu_s(lambda: work(line)) < 40 * max(cpu_s(lambda: work(tenth)), 0.010)
