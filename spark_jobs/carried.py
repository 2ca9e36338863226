"""Units of a step that are carried to where a kernel runs: those whose output is not in the cache."""

from collections.abc import Callable, Sequence
from typing import Any, Protocol, cast

from spark_jobs.cache import Cache, Kernel, Summary
from spark_jobs.carrier import Carrier, Here

Unit = dict[str, Any]
Work = tuple[Kernel, Sequence[Unit], Sequence[int]]
"""A step's kernel, the units, and what each weighs."""


def _called(shared: Any, work: tuple[Kernel, Unit]) -> Summary:
    kernel, unit = work
    return kernel(shared, unit)


class Progress(Protocol):
    """Hears how far a correlation is."""

    def step(self, words: str) -> None:
        """Hear what is done from now on."""

    def done(self, over: int, of: int, what: str) -> None:
        """Hear how much of the step is over, counted in ``what``; told first when the step begins, then now and then."""


class Unheard:
    """Progress that nobody waits for."""

    def step(self, words: str) -> None:
        """Say nothing."""

    def done(self, over: int, of: int, what: str) -> None:
        """Say nothing."""


class Carried:
    """One run's way to its outputs; remembers which of them it used."""

    def __init__(self, cache: Cache, carrier: Carrier, progress: Progress) -> None:
        self.cache, self.carrier, self.progress = cache, carrier, progress
        self.used: list[tuple[str, str]] = []

    def map(
        self,
        kernel: Kernel,
        shared: Any,
        units: Sequence[Unit],
        weights: Sequence[int] | None = None,
        what: str = "",
    ) -> list[Summary]:
        """Return the summary of each unit, in their order; units have the ``name`` of their output.

        ``what`` says what ``weights`` count, for people who wait: "log events read".
        """
        return self.both(shared, (kernel, units, weights or [1] * len(units)), what=what)[0]

    def both(self, shared: Any, *works: Work, what: str = "") -> list[list[Summary]]:
        """Return the summaries of several steps' units, of which none waits for another's; heavy ones are carried first."""
        every = [(kernel, unit, weight) for kernel, *of in works for unit, weight in zip(*of, strict=True)]
        self.used += [(kernel.step, unit["name"]) for kernel, unit, _ in every]
        found = [self.cache.summary(kernel.step, unit["name"]) for kernel, unit, _ in every]
        missing = [number for number, summary in enumerate(found) if summary is None]
        if missing:
            weights = [every[n][2] for n in missing]
            done = (
                self._done(sum(weight for *_, weight in every), sum(weights), what) if what and any(weights) else None
            )
            carrier = self.carrier if len(missing) > 1 else Here()  # one alone is nothing to share out
            made = carrier.map(_called, shared, [every[n][:2] for n in missing], weights, done)
            for number, summary in zip(missing, made, strict=True):
                found[number] = summary
        told = iter(found)
        return [[cast(Summary, next(told)) for _ in units] for _, units, _ in works]

    def _done(self, every: int, missing: int, what: str) -> Callable[[int], None]:
        def done(over: int) -> None:
            self.progress.done(every - missing + min(over, missing), every, what)

        done(0)
        return done

    def one(self, kernel: Kernel, shared: Any, unit: Unit) -> Summary:
        """Return the summary of a step that has one unit."""
        (summary,) = self.map(kernel, shared, [unit])
        return summary
