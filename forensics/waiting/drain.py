"""How long a backlog takes to drain at the present rate, from metrics of the last hour."""

from dataclasses import dataclass
from datetime import timedelta
from math import sqrt

from forensics.lake import Findings
from forensics.lake.filters import between, equals
from forensics.lake.rows import plain_rows
from forensics.sentence import counted, said
from forensics.tables.evidence import METRIC_POINTS
from forensics.words import span_text

HOUR = timedelta(hours=1)
_Z = 1.96
_VISIBLE, _SENT, _DELETED = "ApproximateNumberOfMessagesVisible", "NumberOfMessagesSent", "NumberOfMessagesDeleted"
_IN_FLIGHT, _DELAYED = "ApproximateNumberOfMessagesNotVisible", "ApproximateNumberOfMessagesDelayed"


@dataclass(frozen=True)
class Drain:
    """A backlog and what comes and goes in the last hour of a queue's metrics. Sends and deletes are taken as Poisson counts.

    ``soonest_s`` and ``latest_s`` bound the time to drain at 95 %; None: it may not drain at this rate. ``hidden`` counts messages in
    flight or delayed at that time, as one is that fails again and again; None where that was not read.
    """

    queue: str
    backlog: int
    sent: int
    deleted: int
    hidden: int | None
    soonest_s: float | None
    latest_s: float | None

    @property
    def sentence(self) -> str:
        """Say it in words."""
        if not self.backlog:
            if self.hidden is None:
                return said(
                    "{queue}: nothing waits to be received; how many messages are in flight was not read.",
                    queue=self.queue,
                )
            if self.hidden:
                messages = counted(self.hidden, "message")
                return said(
                    "{queue}: nothing waits to be received, but {messages} in flight or delayed.",
                    queue=self.queue,
                    messages=messages,
                )
            return said("{queue}: nothing waits.", queue=self.queue)
        counts = {"backlog": self.backlog, "sent": self.sent, "deleted": self.deleted}
        rates = (
            said(
                "{backlog} messages waited and {hidden} more were in flight or delayed; in the last hour {sent} were sent and {deleted} deleted",
                hidden=self.hidden,
                **counts,
            )
            if self.hidden
            else said("{backlog} messages waited; in the last hour {sent} were sent and {deleted} deleted", **counts)
        )
        if self.soonest_s is None:
            return said("{queue}: {rates}: at this rate it does not drain.", queue=self.queue, rates=rates)
        low = span_text(1000 * self.soonest_s)
        if self.latest_s is None:
            at_the_soonest = "{queue}: {rates}: it drains in {span} at the soonest, or not at all."
            return said(at_the_soonest, queue=self.queue, rates=rates, span=low)
        return said(
            "{queue}: {rates}: it drains in {soonest} to {latest} (95 %).",
            queue=self.queue,
            rates=rates,
            soonest=low,
            latest=span_text(1000 * self.latest_s),
        )


def drain_of(findings: Findings, queue: str) -> Drain | None:
    """Return how a queue drains at the end of its metrics; None where they do not tell."""
    here = equals("resource", queue) & equals("namespace", "AWS/SQS")
    visible = plain_rows(findings.read(METRIC_POINTS, ["point_at", "value"], here & equals("metric", _VISIBLE)))
    if not visible:
        return None
    last = max(visible, key=lambda r: (r["point_at"], r["value"]))
    recent = here & between("point_at", last["point_at"] - HOUR, last["point_at"])
    rows = plain_rows(findings.read(METRIC_POINTS, ["metric", "statistic", "period_s", "point_at", "value"], recent))
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
    net, spread = deleted - sent, _Z * sqrt(deleted + sent)
    return Drain(queue, backlog, sent, deleted, hidden, _time(backlog, net + spread), _time(backlog, net - spread))


def _time(backlog: int, net_an_hour: float) -> float | None:
    if not backlog:
        return 0.0
    return 3600 * backlog / net_an_hour if net_an_hour > 0 else None
