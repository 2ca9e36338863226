"""Units of a step that are carried to where a kernel runs: those whose output is not in the cache."""

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from spark_jobs.cache import Cache, Summary
from spark_jobs.carrier import Carrier, Here

Kernel = Callable[[Any, Any], Summary]
Unit = dict[str, Any]


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
        step: str,
        kernel: Kernel,
        shared: Any,
        units: Sequence[Unit],
        weights: Sequence[int] | None = None,
        what: str = "",
    ) -> list[Summary]:
        """Return the summary of each unit, in their order; units have the ``name`` of their output.

        ``what`` says what ``weights`` count, for people who wait: "log events read".
        """
        self.used += [(step, unit["name"]) for unit in units]
        found: dict[int, Summary] = {}
        missing = []
        for number, unit in enumerate(units):
            summary = self.cache.summary(step, unit["name"])
            if summary is None:
                missing.append(number)
            else:
                found[number] = summary
        if missing:
            mine = None if weights is None else [weights[n] for n in missing]
            done = self._done(sum(weights), sum(mine), what) if weights and mine and what else None
            carrier = self.carrier if len(missing) > 1 else Here()  # one alone is nothing to share out
            made = carrier.map(kernel, shared, [units[n] for n in missing], mine, done)
            found |= dict(zip(missing, made, strict=True))
        return [found[n] for n in range(len(units))]

    def _done(self, every: int, missing: int, what: str) -> Callable[[int], None]:
        def done(over: int) -> None:
            self.progress.done(every - missing + min(over, missing), every, what)

        done(0)
        return done

    def one(self, step: str, kernel: Kernel, shared: Any, unit: Unit) -> Summary:
        """Return the summary of a step that has one unit."""
        (summary,) = self.map(step, kernel, shared, [unit])
        return summary
