"""Runs again and again: when, what is said of each, and how long to wait after a failure."""

import random
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from cli.output import about_file, is_disk_full
from cli.said import count_text, in_words, phrase
from forensics.errors import EXIT_USAGE, ForensicsError

if TYPE_CHECKING:
    from forensics.lake import Generation

LONGEST_BACK_OFF_S = 900.0
"""A run that failed is tried again after ever longer waits, up to this."""
SLOW_TABLES = frozenset({"coverage", "metric_points", "quarantine"})
"""Evidence that grows in every run, on a quiet queue too: it is judged, but not every minute."""
SLOW_EVERY = timedelta(minutes=10)


@dataclass
class WatchRun:
    """What one run did: what is new, and how things stand. Times are UTC."""

    stored_count: int = 0
    gap_count: int = 0
    generation: "Generation | None" = None
    is_new: bool = False
    incidents: tuple[tuple[str, str], ...] = ()
    """Incident id and headline, newest first."""
    told_count: int = 0
    """Notices that the webhook took."""


@dataclass
class Watch:
    """Runs at an interval, with longer waits after failures. ``wait`` returns true when it is time to end.

    ``one_run`` does the work and raises ForensicsError or OSError where it cannot; what is wrong in the very first run
    and only a person can mend ends the watch.
    """  # noqa: D205

    one_run: Callable[[datetime], WatchRun]
    interval_s: float
    wait: Callable[[float], bool]
    tell: Callable[[str], None]
    now: Callable[[], datetime] = lambda: datetime.now(UTC)
    clock: Callable[[], float] = time.monotonic
    most_runs: int | None = None
    _known: set[str] | None = None
    _failures: int = 0
    runs: int = field(default=0)

    def run(self) -> int:
        """Run again and again until it is time to end; returns how often."""
        while True:
            began_at, began = self.now(), self.clock()
            try:
                done = self.one_run(began_at)
            except ForensicsError as problem:
                if self.runs == 0 and problem.exit_code == EXIT_USAGE:
                    raise
                pause_s = self._failed(began_at, f"{in_words(problem.sentence)} {in_words(problem.hint)}")
            except BaseException as problem:
                said = _of_machine(problem)
                if said is None or self.runs == 0:
                    raise
                pause_s = self._failed(began_at, said)
            else:
                self._failures = 0
                took_s = self.clock() - began
                self.tell(self._line(began_at, done, took_s))
                pause_s = max(0.0, self.interval_s - took_s)
            self.runs += 1
            if self.runs == self.most_runs or self.wait(pause_s):
                return self.runs

    def _failed(self, began_at: datetime, said: str) -> float:
        """Tell that a run failed; returns the seconds to wait before the next."""
        pause_s = self._back_off()
        self.tell(
            phrase(
                "{clock}  {said} Trying again in {pause_s} s.",
                clock=_clock(began_at),
                said=said,
                pause_s=f"{pause_s:.0f}",
            )
        )
        return pause_s

    def _back_off(self) -> float:
        """Return a wait that doubles with each failure in a row, with some chance in it: others may be waiting, too."""
        self._failures += 1
        longest = min(self.interval_s * 2**self._failures, max(LONGEST_BACK_OFF_S, self.interval_s))
        return longest * random.uniform(0.75, 1.0)  # noqa: S311 (not a secret)

    def _line(self, began_at: datetime, done: WatchRun, took_s: float) -> str:

        new = [(i, h) for i, h in done.incidents if self._known is not None and i not in self._known]
        self._known = {i for i, _ in done.incidents}
        parts = [f"{count_text(done.stored_count, 'new log event')}"]
        if done.gap_count:
            parts.append(phrase("{source} not readable", source=count_text(done.gap_count, "source")))
        if done.generation is not None:
            parts.append(count_text(len(done.incidents), "incident"))
            version = phrase("data version {data_version}", data_version=done.generation.data_version)
            parts.append(version if done.is_new else phrase("{version} as before", version=version))
            if done.generation.data_until_at:
                parts.append(phrase("evidence until {clock}", clock=_clock(done.generation.data_until_at)))
        if done.told_count:
            parts.append(phrase("{notice} sent", notice=count_text(done.told_count, "notice")))
        line = f"{_clock(began_at)}  {', '.join(parts)}; {took_s:.1f} s."
        return "  ".join(
            [
                line,
                *(
                    phrase("NEW {incident_id}: {headline}", incident_id=incident_id, headline=headline)
                    for incident_id, headline in new
                ),
            ]
        )


def _of_machine(problem: BaseException) -> str | None:
    """Say what the machine refused, which it may grant later; None for what is a person's wish, or a bug of ours."""
    if isinstance(problem, KeyboardInterrupt | SystemExit):
        return None
    if isinstance(problem, OSError):
        return f"{about_file(problem)}."
    # Arrow, delta-rs, polars and Spark say so each in its own way.
    return phrase("The disk is full; nothing is half-written.") if is_disk_full(problem) else None


def _clock(at: datetime) -> str:
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def must_judge(
    before: Mapping[str, int] | None, versions: Mapping[str, int], judged_at: datetime | None, now: datetime
) -> bool:
    """Tell whether there is evidence that is worth a correlation now; ``before`` are the versions judged last."""
    changed = {name for name, version in versions.items() if before is None or before.get(name) != version}
    return bool(changed - SLOW_TABLES) or bool(changed) and (judged_at is None or now - judged_at >= SLOW_EVERY)
