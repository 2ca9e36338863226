"""What the engine has to reach, and how a measurement stands beside it. Everything here is better the smaller it is."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

Took = dict[str, Any]
"""A ``Measured`` as JSON."""


@dataclass(frozen=True)
class Goal:
    """What must be, and what is aimed at, in ``unit``: ``×`` of something, ``%``, ``s``, ``GB``, or a bare number."""

    must: float
    aim: float
    unit: str


GOALS = {
    "warm": Goal(1.5, 1.0, "×"),
    "warm, large": Goal(1.2, 0.9, "×"),
    "cold, large": Goal(1.5, 1.1, "×"),
    "memory, large": Goal(4.0, 3.0, "GB"),
    "every tenth again": Goal(2.5, 1.5, "×"),
    "1 % new": Goal(8.0, 3.0, "%"),
    "ten times the history": Goal(1.2, 1.05, "×"),
    "demo": Goal(18.0, 12.0, "s"),
    "watch": Goal(3.0, 1.0, "s"),
    "lines": Goal(4_000, 2_700, ""),
    "files": Goal(30, 20, ""),
    "floors": Goal(8, 6, ""),
}
LARGE = 5_000_000
"""From so many lines on the goals for large lakes hold."""


@dataclass(frozen=True)
class Row:
    """One line of the table: what was done, what it took, and the figures that have a goal, by what they are of."""

    work: str
    took: str
    figures: tuple[tuple[str, float], ...]
    goal: Goal | None

    @property
    def is_reached(self) -> bool:
        """Tell whether every figure is as it must be."""
        return self.goal is None or all(figure <= self.goal.must for _, figure in self.figures)

    def cells(self) -> tuple[str, ...]:
        """Return what stands in the table."""
        unit = self.goal.unit if self.goal else "×"
        figures = ", ".join(f"{_figure(figure, unit)} {of}".strip() for of, figure in self.figures)
        if self.goal is None:
            return self.work, self.took, figures, "", ""
        missed = "" if self.is_reached else " **missed**"
        return self.work, self.took, figures, f"≤ {_figure(self.goal.must, unit)}{missed}", _figure(self.goal.aim, unit)


def _figure(number: float, unit: str) -> str:
    if unit == "":
        return f"{number:,.0f}"
    digits = 1 if unit in ("%", "s", "GB") else 2
    return f"{number:.{digits}f} {unit}"


def table(rows: Sequence[Row]) -> str:
    """Write rows as a table of Markdown."""
    head = ("Work", "Took", "Figure", "Must", "Aim")
    lines = [head, ("---",) * len(head), *(row.cells() for row in rows)]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def beside(work: str, mine: Took, by_hand: Took, goal: Goal | None) -> Row:
    """Return the row of a correlation beside the same answers by hand: wall time and CPU time."""
    figures = [("wall", mine["wall_s"] / by_hand["wall_s"])]
    if mine["cpu_s"] and by_hand["cpu_s"]:
        figures.append(("CPU", mine["cpu_s"] / by_hand["cpu_s"]))
    return Row(work, f"{spent(mine)}; DuckDB {spent(by_hand)}", tuple(figures), goal)


def spent(took: Took) -> str:
    """Write what something took: wall time, CPU time."""
    cpu = "" if took["cpu_s"] is None else f" ({took['cpu_s']:.0f} s CPU)"
    return f"{took['wall_s']:.1f} s{cpu}"
