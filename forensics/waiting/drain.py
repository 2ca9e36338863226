"""How long a backlog takes to drain at the rate of the last hour of the evidence, and what was last seen of a queue at rest."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from math import sqrt

from forensics.coverage import standing
from forensics.lake import Findings
from forensics.lake.filters import between, equals
from forensics.lake.rows import plain_rows
from forensics.sentence import counted, said
from forensics.tables.evidence import COVERAGE, METRIC_POINTS
from forensics.words import clock_text, span_text

HOUR = timedelta(hours=1)
SETTLED = timedelta(minutes=15)
"""So late CloudWatch may still show a point: where the last one is older at the end of the evidence, it is of a state that is over."""
_Z = 1.96
_VISIBLE, _SENT, _DELETED = "ApproximateNumberOfMessagesVisible", "NumberOfMessagesSent", "NumberOfMessagesDeleted"
_IN_FLIGHT, _DELAYED = "ApproximateNumberOfMessagesNotVisible", "ApproximateNumberOfMessagesDelayed"


@dataclass(frozen=True)
class Drain:
    """What the last point of a queue's metrics tells: a backlog, and what came and went in the hour before it.

    Sends and deletes are taken as Poisson counts: ``soonest_s`` and ``latest_s`` bound the time to drain at 95 %; None: it may not
    drain at this rate. ``hidden`` counts messages in flight or delayed at that time, as one is that fails again and again; None
    where that was not read. ``ends_later`` is how much longer the evidence is where that point is not the queue's present state, for
    a queue at rest publishes none; then ``is_read`` tells whether its metrics were read until there, and nothing is said of draining.
    """

    queue: str
    at: datetime
    backlog: int
    sent: int
    deleted: int
    hidden: int | None
    soonest_s: float | None
    latest_s: float | None
    ends_later: timedelta | None = None
    is_read: bool = True

    @property
    def sentence(self) -> str:
        """Say it in words."""
        then = {"queue": self.queue, "at": clock_text(self.at)[:16], "levels": self._levels}
        if self.ends_later is not None:
            span = span_text(1000 * self.ends_later.total_seconds())
            if self.is_read:
                at_rest = "{queue}: at {at} UTC {levels}. No point follows until the evidence ends {span} later: a queue at rest publishes none."
                return said(at_rest, span=span, **then)
            unread = (
                "{queue}: at {at} UTC {levels}. How it went on until the evidence ends, {span} later, was not read."
            )
            return said(unread, span=span, **then)
        if not self.backlog:
            return said("{queue}: at {at} UTC {levels}.", **then)
        flow = said("in the hour before {sent} sent and {deleted} deleted", sent=self.sent, deleted=self.deleted)
        if self.soonest_s is None:
            return said("{queue}: at {at} UTC {levels}, {flow}: at this rate it does not drain.", flow=flow, **then)
        low = span_text(1000 * self.soonest_s)
        if self.latest_s is None:
            at_the_soonest = "{queue}: at {at} UTC {levels}, {flow}: it drains in {span} at the soonest, or not at all."
            return said(at_the_soonest, flow=flow, span=low, **then)
        between = "{queue}: at {at} UTC {levels}, {flow}: it drains in {soonest} to {latest} (95 %)."
        return said(between, flow=flow, soonest=low, latest=span_text(1000 * self.latest_s), **then)

    @property
    def _levels(self) -> str:
        if self.backlog:
            messages = counted(self.backlog, "message")
            if self.hidden:
                return said(
                    "{messages} waited and {hidden} more in flight or delayed", messages=messages, hidden=self.hidden
                )
            return said("{messages} waited", messages=messages)
        if self.hidden is None:
            return "nothing waited to be received; how many messages were in flight was not read"
        if self.hidden:
            return said(
                "nothing waited to be received, with {messages} in flight or delayed",
                messages=counted(self.hidden, "message"),
            )
        return "nothing waited"


def drain_of(findings: Findings, queue: str) -> Drain | None:
    """Return how a queue drains at the end of the evidence, or what was last seen of it; None where no metric tells."""
    here = equals("resource", queue) & equals("namespace", "AWS/SQS")
    columns = ["metric", "statistic", "period_s", "point_at", "value"]
    visible = plain_rows(findings.read(METRIC_POINTS, columns, here & equals("metric", _VISIBLE)))
    if not visible:
        return None
    last = max(visible, key=lambda r: (r["point_at"], r["value"]))
    recent = here & between("point_at", last["point_at"] - HOUR, last["point_at"])
    rows = plain_rows(findings.read(METRIC_POINTS, columns, recent))
    counts = {}
    for metric in (_SENT, _DELETED):
        mine = {
            (r["point_at"], r["period_s"]): r["value"]
            for r in rows
            if r["metric"] == metric and r["statistic"] == "Sum"
        }
        finest = min((period for _, period in mine), default=None)
        counts[metric] = sum(value for (_, period), value in mine.items() if period == finest)
    in_flight, delayed = (
        max((r["value"] for r in rows if (r["metric"], r["point_at"]) == (metric, last["point_at"])), default=None)
        for metric in (_IN_FLIGHT, _DELAYED)
    )
    hidden = None if in_flight is None else int(in_flight + (delayed or 0))
    sent, deleted, backlog = int(counts[_SENT]), int(counts[_DELETED]), int(last["value"])
    seen = queue, last["point_at"], backlog, sent, deleted, hidden
    until = findings.generation.data_until_at
    if until is not None and until - last["point_at"] > timedelta(seconds=last["period_s"]) + SETTLED:
        return Drain(*seen, None, None, until - last["point_at"], _is_read_until(findings, queue, until - SETTLED))
    net, spread = deleted - sent, _Z * sqrt(deleted + sent)
    return Drain(*seen, _time(backlog, net + spread), _time(backlog, net - spread))


def _is_read_until(findings: Findings, queue: str, until: datetime) -> bool:
    """Tell whether the queue's metrics were read until then."""
    coverage = plain_rows(
        findings.read(COVERAGE, where=equals("source", METRIC_POINTS.name) & equals("resource", queue))
    )
    return any(row["window_end_at"] >= until for row in standing(coverage))


def _time(backlog: int, net_an_hour: float) -> float | None:
    if not backlog:
        return 0.0
    return 3600 * backlog / net_an_hour if net_an_hour > 0 else None
