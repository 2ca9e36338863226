"""Did the fix work? How often runs led to a redelivery before a change and since, with intervals that honour the numbers."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from forensics.estimates import CONFIDENCE, share_interval, share_upper
from forensics.report.changes import Change
from forensics.sentence import capitalized, counted, said
from forensics.words import clock_text, span_text

Row = Mapping[str, Any]
ONE_REPAIR = timedelta(minutes=15)
"""Changes closer together than this are one repair."""
OF_A_PERSON = "a person's mark"
"""What shows the change that is a person's mark "fixed"."""
_OF_BATCHES = frozenset({"function_timeout", "function_error", "runtime_crash"})


@dataclass(frozen=True)
class Side:
    """Runs before or since a change, and how many of them led to a redelivery of the fault's kind."""

    runs: int
    failed: int

    @property
    def interval(self) -> tuple[float, float]:
        """The rate's exact interval (Clopper and Pearson), 95 % sure; nothing known is 0 to 1."""
        return share_interval(self.failed, self.runs)


@dataclass(frozen=True)
class Comparison:
    """One repair: what was changed from ``began_at`` to ``ended_at`` (UTC), the runs before and since, and what follows."""

    began_at: datetime
    ended_at: datetime
    changes: tuple[Change, ...]
    before: Side
    since: Side
    sentence: str


def compare(
    changes: Sequence[Change],
    deliveries: Iterable[Row],
    redeliveries: Iterable[Row],
    trigger: str,
    started_at: datetime,
    until: datetime | None,
) -> Comparison | None:
    """Hold the runs since a repair after a fault's start against those before it; None where nothing was changed.

    The repair is the first since which no run led to it, else the last: what is changed after it has stopped (the next
    deployment, a person's mark) does not begin the count again. ``deliveries`` and ``redeliveries`` are the queue's. A run counts
    once, whatever its batch, because the messages of a batch fail together; one whose messages could not have come again before
    the data ends does not count.
    """
    every = repairs(changes, started_at)
    if not every:
        return None
    causes = {trigger, "batch_collateral"} if trigger in _OF_BATCHES else {trigger}
    led = {(r["item_id"], r["delivery_index"] - 1) for r in redeliveries if r["cause"] in causes}
    seen: dict[str, datetime] = {}
    failed: set[str] = set()
    for d in deliveries:
        if d["consumer"] is None or d["received_at"] is None or _may_come_again(d, until):
            continue
        seen[d["consumer"]] = min(d["received_at"], seen.get(d["consumer"], d["received_at"]))
        if (d["item_id"], d["delivery_index"]) in led:
            failed.add(d["consumer"])
    last_failed = max((at for consumer, at in seen.items() if consumer in failed), default=started_at)
    nth_repair = next((n for n, mine in enumerate(every) if mine[-1].at > last_failed), len(every) - 1)
    repair = every[nth_repair]
    began, ended = repair[0].at, repair[-1].at
    sides = [Side(0, 0), Side(0, 0)]
    for consumer, at in seen.items():
        if at < began or at >= ended:
            nth = int(at >= ended)
            sides[nth] = Side(sides[nth].runs + 1, sides[nth].failed + (consumer in failed))
    before, since = sides
    last = max((at for at in seen.values() if at >= ended), default=ended)
    told = verdict(before, since, ended, last - ended, choices=len(every) - nth_repair)
    marked = max((c.at for c in changes if c.source == OF_A_PERSON and c.at > started_at), default=None)
    if marked and failed and last_failed > marked:
        when = clock_text(marked)[:16]
        told = said(
            "{told} It came back after it was marked fixed at {at} UTC: that fix did not hold.", told=told, at=when
        )
    return Comparison(began, ended, tuple(repair), before, since, told)


def repairs(changes: Iterable[Change], started_at: datetime) -> list[list[Change]]:
    """Return the changes after a fault began, oldest first: those that lie close together are one repair."""
    found: list[list[Change]] = []
    for change in sorted((c for c in changes if c.at > started_at), key=lambda c: c.at):
        if found and change.at - found[-1][-1].at <= ONE_REPAIR:
            found[-1].append(change)
        else:
            found.append([change])
    return found


def last_repair(changes: Iterable[Change], started_at: datetime) -> list[Change]:
    """Return the last changes after a fault began that lie close together, oldest first."""
    return next(reversed(repairs(changes, started_at)), [])


def verdict(before: Side, since: Side, at: datetime, observed: timedelta, choices: int = 1) -> str:
    """Say whether it helped; ``observed`` is how long runs were seen since, ``choices`` how many repairs ``at`` was chosen from.

    >>> at = datetime(2026, 11, 22, 14, 35)
    >>> verdict(Side(1388, 60), Side(1348, 0), at, timedelta(hours=12))
    'No run of 1,348 led to it since 2026-11-22 14:35 UTC (before: 60 of 1,388): at least 94 % fewer, 95 % sure.'
    >>> verdict(Side(300, 3), Side(50, 0), at, timedelta(hours=1))
    'Too early to tell: no run of 50 led to it since 2026-11-22 14:35 UTC (before: 3 of 300); about 9 h more at this traffic.'
    """
    if not since.runs:
        led = said(
            "no run since {at} UTC is in the evidence (before: {failed} of {runs} led to it)",
            at=clock_text(at)[:16],
            failed=before.failed,
            runs=before.runs,
        )
        if not before.failed:
            return said("{now}: {what}.", now=capitalized(led), what="nothing to compare with")
        more_runs = counted(runs_wanted(before, choices), "more run")
        return said("Too early to tell: {now}; {more} would tell.", now=led, more=more_runs)
    led = (
        said("{some} of {runs}", some=since.failed, runs=counted(since.runs, "run"))
        if since.failed
        else said("no run of {count}", count=since.runs)
    )
    now = said(
        "{led} led to it since {at} UTC (before: {failed} of {runs})",
        led=led,
        at=clock_text(at)[:16],
        failed=before.failed,
        runs=before.runs,
    )
    if not before.failed:
        return said("{now}: {what}.", now=capitalized(now), what="nothing to compare with")
    most = ratio_at_most(before, since, choices)
    if most < 1:
        fewer = "at least {n} % fewer, 95 % sure"
        still = "at least {n} % fewer, 95 % sure, but it still happens"
        what = said(still if since.failed else fewer, n=int(100 * (1 - most)))
        return said("{now}: {what}.", now=capitalized(now), what=what)
    if since.failed:
        return said("{now}: {what}.", now=capitalized(now), what="these numbers show no improvement")
    wanted = runs_wanted(before, choices) - since.runs
    if not observed:
        more_runs = counted(wanted, "more run")
        return said("Too early to tell: {now}; {more} would tell.", now=now, more=more_runs)
    more_ms = observed.total_seconds() * 1000 * wanted / since.runs
    return said("Too early to tell: {now}; about {span} more at this traffic.", now=now, span=_rough(more_ms))


def ratio_at_most(before: Side, since: Side, choices: int = 1) -> float:
    """Return how many times the rate before the rate since is at most, 95 % sure (the exact test of two Poisson rates).

    A time that was chosen from several because it looks best has its chance of luck shared out among them (Bonferroni).

    >>> round(ratio_at_most(Side(1000, 13), Side(1000, 0)), 3)
    0.259
    """
    if not before.failed or not since.runs:
        return float("inf")
    share = share_upper(since.failed, since.failed + before.failed, 1 - (1 - CONFIDENCE) / choices)
    return share / (1 - share) * before.runs / since.runs


def runs_wanted(before: Side, choices: int = 1) -> int:
    """Return how many runs without one would show, 95 % sure, that the rate fell."""
    return int(before.runs * (((1 - CONFIDENCE) / choices) ** (-1 / before.failed) - 1)) + 1


def _may_come_again(delivery: Row, until: datetime | None) -> bool:
    hidden = delivery["hidden_until_at"]
    return delivery["ended_by"] != "deleted" and until is not None and hidden is not None and hidden > until


def _rough(span_ms: float) -> str:
    return span_text(max(span_ms // 3_600_000, 1) * 3_600_000).removesuffix(" 0 min")
