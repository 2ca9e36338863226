"""One week of all queues, ranked by need, each with one sentence of why."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from forensics.health.accepted import accepted_risk
from forensics.health.numbers import Number, week_numbers
from forensics.health.signals import (
    ACT_NOW,
    WATCH,
    Signal,
    redelivered_share,
    signals_of,
    signals_of_checks,
    twice_share,
)
from forensics.health.spans import DAYS, same_days, whole_days
from forensics.health.weeks import week_bounds, week_of, weeks_before
from forensics.identity import queue_name
from forensics.sentence import said
from forensics.settings import AcceptedRisk, Settings
from forensics.settings_in_force import Step

Row = Mapping[str, Any]
OK, NO_EVIDENCE = "ok", "unknown"
NEEDS = (ACT_NOW, WATCH, NO_EVIDENCE, OK)
"""What a queue can need, most first."""
TREND_WEEKS = 8


@dataclass(frozen=True)
class Timeouts:
    """The timeouts in force at the end of the evidence; None where no settings were read. ``functions`` by name.

    ``steps`` holds what each was when: the name of the timeout, and its known values in order of time.
    """

    visibility_s: int | None = None
    functions: tuple[tuple[str, int], ...] = ()
    steps: tuple[tuple[str, tuple[Step, ...]], ...] = ()

    @property
    def function_s(self) -> int | None:
        """The shortest function timeout."""
        return min((s for _, s in self.functions), default=None)


@dataclass(frozen=True)
class QueueReview:
    """One queue in one week. ``now`` and ``before`` are rows of queue_weeks, None where nothing was read.

    Of a week that has only begun ``before`` covers as many days of the week before as ``compared`` of this one: those
    that are over. ``compared`` is ``now`` for a whole week, None where there is nothing to compare with.
    ``trend`` holds the weeks up to this one, oldest first. ``signals`` are ordered by weight; ``accepted`` holds
    those the team accepted, with the risk. ``checks`` are the rows of setting_findings, failed ones first.
    """

    queue: str
    queue_arn: str
    need: str
    why: str
    signals: tuple[Signal, ...]
    accepted: tuple[tuple[Signal, AcceptedRisk], ...]
    now: Row | None
    before: Row | None
    compared: Row | None
    trend: tuple[Row | None, ...]
    checks: tuple[Row, ...]
    incidents: tuple[Row, ...]
    owner: str | None
    note: str | None
    timeouts: Timeouts
    weight: int
    """How much one repeat matters beside one of another queue, as its owners say."""

    @property
    def redelivered(self) -> float | None:
        """Redeliveries per delivery."""
        return redelivered_share(self.now)

    @property
    def redelivered_trend(self) -> list[float | None]:
        """The same per week, oldest first."""
        return [redelivered_share(row) for row in self.trend]

    @property
    def twice(self) -> tuple[float, float] | None:
        """Share of the messages processed twice, at least and at most."""
        return twice_share(self.now)

    @property
    def numbers(self) -> list[Number]:
        """The week in numbers, each beside the week before."""
        return week_numbers(self.now, self.before, self.compared)

    def number(self, column: str) -> int | None:
        """Return a number of this week; None where it is unknown."""
        return None if self.now is None else self.now[column]


@dataclass(frozen=True)
class WeekReview:
    """All queues in one ISO week of the team's zone, the neediest first. Totals are None where no queue knows."""

    week: str
    zone: str
    first_day: date
    last_day: date
    trend_weeks: tuple[str, ...]
    queues: tuple[QueueReview, ...]
    data_version: str
    rules_version: str
    data_until_at: datetime | None
    days: int
    """Whole days of the week that the evidence covers, of 7."""
    is_newest: bool
    """No whole day of a later week is known. Settings checks tell of the last days of the evidence, so only here are they reasons."""
    left_out: tuple[str, ...] = ()
    """Which logs the data version leaves out, in sentences."""

    @property
    def needy(self) -> tuple[QueueReview, ...]:
        """Queues that need work."""
        return tuple(q for q in self.queues if q.need in (ACT_NOW, WATCH))

    @property
    def is_running(self) -> bool:
        """The evidence ends inside this week: its counts are those so far."""
        return self.days < DAYS

    def total(self, column: str) -> int | None:
        """Return a sum over all queues."""
        return _total((q.now for q in self.queues), column)

    def change(self, column: str) -> int | None:
        """Return how much more than the week before, over as many days; None where nothing can be compared."""
        now, before = (_total(rows, column) for rows in self._compared())
        return None if now is None or before is None else now - before

    def redelivered(self) -> float | None:
        """Return redeliveries per delivery over all queues."""
        return _share([q.now for q in self.queues])

    def redelivered_change(self) -> float | None:
        """Return how much more of all deliveries were redeliveries than the week before, over as many days."""
        now, before = (_share(list(rows)) for rows in self._compared())
        return None if now is None or before is None else now - before

    def _compared(self) -> tuple[list[Row | None], list[Row | None]]:
        return [q.compared for q in self.queues], [q.before for q in self.queues]


def _total(rows: Iterable[Row | None], column: str) -> int | None:
    known = [row[column] for row in rows if row is not None and row[column] is not None]
    return sum(known) if known else None


def _share(rows: Sequence[Row | None]) -> float | None:
    again, all_of = _total(rows, "redelivery_count"), _total(rows, "delivery_count")
    return again / all_of if again is not None and all_of else None


def review_week(
    week: str,
    weeks: Iterable[Row],
    findings: Iterable[Row],
    incidents: Iterable[Row],
    settings: Settings,
    timeouts: Mapping[str, Timeouts] | None = None,
    data_version: str = "",
    rules_version: str = "",
    data_until_at: datetime | None = None,
    days: Iterable[Row] = (),
) -> WeekReview:
    """Rank the queues of one week.

    ``weeks`` are rows of queue_weeks (dead-letter queues are left out), ``days`` of queue_health: without them a week
    that has only begun is compared with nothing. ``findings`` are rows of setting_findings,
    ``incidents`` of incidents; ``timeouts`` by queue ARN. What settings ask for at the evidence's end is a reason of the newest
    week alone. Raises WeekUnknownError for what is no week.
    """
    first, last = week_bounds(week)
    zone = settings.team.local
    rows = [r for r in weeks if not r["is_dead_letter_queue"]]
    by_key = {(r["queue_arn"], r["week"]): r for r in rows}
    arns = sorted({r["queue_arn"] for r in rows})
    until = data_until_at.astimezone(zone).date() if data_until_at else last
    is_newest = data_until_at is None or not whole_days(week_of(last + timedelta(days=1)), data_until_at, zone)
    checks: dict[str, list[Row]] = {}
    for finding in findings:
        checks.setdefault(finding["queue_arn"], []).append(finding)
    trend = weeks_before(week, TREND_WEEKS)
    over = whole_days(week, data_until_at, zone)
    of_day: dict[str, dict[str, Row]] = {}
    for row in days if over < DAYS else ():
        of_day.setdefault(row["queue_arn"], {})[row["day"]] = row
    reviews = [
        _queue(
            arn,
            tuple(by_key.get((arn, w)) for w in trend),
            _compared(by_key, arn, trend, over, of_day.get(arn, {})),
            sorted(checks.get(arn, []), key=_gravest),
            is_newest,
            _of_week(incidents, arn, first, last, zone),
            settings,
            min(until, last),
            (timeouts or {}).get(arn, Timeouts()),
        )
        for arn in arns
    ]
    reviews.sort(key=_neediest)
    return WeekReview(
        week,
        str(zone),
        first,
        last,
        trend,
        tuple(reviews),
        data_version,
        rules_version,
        data_until_at,
        over,
        is_newest,
    )


def _compared(
    by_key: Mapping[tuple[str, str], Row], arn: str, trend: Sequence[str], over: int, days: Mapping[str, Row]
) -> tuple[Row | None, Row | None]:
    """Return what of a queue's week is compared, and with what of the week before; None where that is nothing."""
    now, before = by_key.get((arn, trend[-1])), by_key.get((arn, trend[-2]))
    return (now, before) if over == DAYS else same_days(days, trend[-1], over, before)


def _queue(
    arn: str,
    trend: tuple[Row | None, ...],
    pair: tuple[Row | None, Row | None],
    checks: list[Row],
    is_newest: bool,
    incidents: tuple[Row, ...],
    settings: Settings,
    on: date,
    timeouts: Timeouts,
) -> QueueReview:
    now, (compared, before) = trend[-1], pair
    name = queue_name(arn)
    of_week = checks if is_newest else []
    found = [*(signals_of(now, before, of_week) if now else ()), *signals_of_checks(of_week)]
    found.sort(key=lambda s: (-s.weight, s.code, s.sentence))
    held = [(s, accepted_risk(settings, name, s.code, on)) for s in found]
    mine = tuple(s for s, risk in held if risk is None)
    accepted = tuple((s, risk) for s, risk in held if risk is not None)
    need, why = _need(now, mine, accepted)
    said = settings.queue(name)
    return QueueReview(
        queue=name,
        queue_arn=arn,
        need=need,
        why=why,
        signals=mine,
        accepted=accepted,
        now=now,
        before=before,
        compared=compared,
        trend=trend,
        checks=tuple(checks),
        incidents=incidents,
        owner=said.owner,
        note=said.note,
        timeouts=timeouts,
        weight=said.weight,
    )


def _need(
    now: Row | None, signals: tuple[Signal, ...], accepted: tuple[tuple[Signal, AcceptedRisk], ...]
) -> tuple[str, str]:
    if signals:
        level = ACT_NOW if any(s.level == ACT_NOW for s in signals) else WATCH
        return level, signals[0].sentence
    if now is None or not (now["metrics_read_s"] or now["logs_read_s"] or now["delivery_count"] or now["run_count"]):
        return NO_EVIDENCE, "nothing was read for this week"
    if accepted:
        signal, risk = accepted[0]
        return OK, said("accepted until {day}: {sentence}", day=risk.until.isoformat(), sentence=signal.sentence)
    return OK, ""


def _neediest(q: QueueReview) -> tuple[Any, ...]:
    heaviest = q.signals[0].weight if q.signals else 0
    twice = (-q.weight * (q.number("twice_at_least") or 0), -q.weight * (q.number("twice_at_most") or 0))
    return (NEEDS.index(q.need), -heaviest, *twice, -q.weight, -len(q.signals), q.queue, q.queue_arn)


def _gravest(row: Row) -> tuple[Any, ...]:
    order = {"critical": 0, "warning": 1, "note": 2}
    status = {"fails": 0, "unknown": 1, "passes": 2}
    return (status.get(row["status"], 3), order.get(row["severity"] or "", 3), row["consumer"], row["code"])


def _of_week(incidents: Iterable[Row], arn: str, first: date, last: date, zone: ZoneInfo) -> tuple[Row, ...]:
    mine = [
        i
        for i in incidents
        if i["queue_arn"] == arn and i["started_at"] and first <= i["started_at"].astimezone(zone).date() <= last
    ]
    return tuple(sorted(mine, key=lambda i: (i["started_at"], i["incident_id"])))
