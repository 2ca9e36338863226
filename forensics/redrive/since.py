"""What happened on a queue since a message failed for the last time: to its cause, its guard and its group."""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from forensics.estimates import share_interval, share_upper
from forensics.identity import is_fifo_name
from forensics.lake import Findings
from forensics.lake.rows import plain_rows
from forensics.run_ends import FAILED, WORDS
from forensics.sentence import counted, said
from forensics.settings import Queue
from forensics.tables.evidence import SETTING_CHANGES
from forensics.words import clock_text, percent, span_text

Row = Mapping[str, Any]


class _Run(NamedTuple):
    ended_at: datetime
    status: str | None


class Since:
    """Answers about the time after a moment, of one queue."""

    def __init__(
        self,
        runs: Sequence[_Run],
        changes: Sequence[Row],
        deliveries: Sequence[Row],
        queue: Queue,
        until: datetime | None,
    ) -> None:
        self._runs = sorted(runs, key=lambda run: run.ended_at)
        self._ends = [run.ended_at for run in self._runs]
        self._changes, self._queue, self._until = changes, queue, until
        self._done: dict[str, dict[str, datetime]] = defaultdict(dict)
        for d in deliveries:
            if d["group_id"] and d["sent_at"] and (d["effect"] == "yes" or d["ended_by"] == "deleted"):
                self._done[d["group_id"]][d["item_id"]] = d["sent_at"]
        self._held_ms, self._has_guard = _held(deliveries)

    @classmethod
    def of(cls, findings: Findings, arn: str, deliveries: Sequence[Row], queue: Queue) -> "Since":
        """Read what tells of one queue."""
        by_consumer = {d["consumer"]: _Run(d["run_ended_at"], d["run_status"]) for d in deliveries if d["run_ended_at"]}
        functions = {d["function_name"] for d in deliveries if d["function_name"]}
        changes = [
            r
            for r in plain_rows(findings.read(SETTING_CHANGES))
            if r["error_code"] is None and (r["queue_arn"] == arn or r["function_name"] in functions)
        ]
        changes.sort(key=lambda r: (r["changed_at"], r["evidence_id"]))
        return cls(list(by_consumer.values()), changes, deliveries, queue, findings.generation.data_until_at)

    def mended(self, row: Row) -> tuple[str, str, list[str]]:
        """Return what is known of the cause of a message's last failure since then, in words, with evidence.

        Runs are taken to be alike and independent: the bounds are at 95 %.
        """
        last = next((d for d in reversed(row["deliveries"]) if d["run_ended_at"]), None)
        if last is None or last["run_status"] in (None, "unknown"):
            return "unknown", said("How its last delivery ended is not known."), []
        after = self._runs[bisect_right(self._ends, last["run_ended_at"]) :]
        changed = [c for c in self._changes if c["changed_at"] > last["run_ended_at"]]
        ids = [c["evidence_id"] for c in changed]
        if last["run_status"] not in FAILED:
            return "unknown", said("Its last run ended by itself, and did not delete it."), ids
        ended = WORDS[last["run_status"]]
        if not after:
            return "unknown", said("Its last run {ended}; no run since was read.", ended=ended), ids
        runs, alike = counted(len(after), "run"), sum(run.status == last["run_status"] for run in after)
        if alike:
            low, high = share_interval(alike, len(after))
            told = said(
                "Its last run {ended}, and so did {some} of {runs} since ({low} to {high} at 95 %).",
                ended=ended,
                some=alike,
                runs=runs,
                low=percent(low),
                high=percent(high),
            )
            return "still_failing" if 2 * alike > len(after) else "at_times", told, ids
        most = percent(share_upper(0, len(after)))
        if changed:
            told = said(
                "Its last run {ended}; {event} at {at} UTC, and none of {runs} since did (at most {share} at 95 %).",
                ended=ended,
                event=changed[0]["event_name"],
                at=clock_text(changed[0]["changed_at"]),
                runs=runs,
                share=most,
            )
            return "changed", told, ids
        told = said(
            "Its last run {ended}; none of {runs} since did (at most {share} at 95 %), though no change is known: it may be "
            "this message's own.",
            ended=ended,
            runs=runs,
            share=most,
        )
        return "not_seen", told, ids

    def guard(self, row: Row) -> str:
        """Say how long a guard still stops the repeat of a message's work."""
        done_at = max((d["effect_at"] for d in row["deliveries"] if d["effect_at"]), default=None)
        if self._queue.guard_s is not None:
            if done_at is None:
                return said(
                    "Its guard remembers a work for {span}; when it was done is not known.",
                    span=span_text(1000 * self._queue.guard_s),
                )
            ends = done_at + timedelta(seconds=self._queue.guard_s)
            if self._until and ends <= self._until:
                return said("Its guard forgot it at {at} UTC.", at=clock_text(ends))
            return said("Its guard remembers it until {at} UTC (guard_s).", at=clock_text(ends))
        if self._held_ms is not None:
            return said(
                "A guard was seen to hold for {span}; how long it does is not configured (guard_s).",
                span=span_text(self._held_ms),
            )
        if self._has_guard:
            return said("A guard was seen; how long it holds is not configured (guard_s).")
        return said("No guard was seen on this queue.")

    def overtaken_by(self, row: Row) -> int | None:
        """Count the later messages of its group that were done; None on a queue without order, or without a known send."""
        if not is_fifo_name(row["queue"]) or not row["group_id"] or row["sent_at"] is None:
            return None
        return sum(sent_at > row["sent_at"] for sent_at in self._done.get(row["group_id"], {}).values())


def _held(deliveries: Sequence[Row]) -> tuple[int | None, bool]:
    """Return the longest time after a work in which a guard was seen to stop its repeat, and whether one was seen at all."""
    done: dict[str, datetime] = {}
    for d in deliveries:
        if d["effect"] == "yes" and d["effect_at"]:
            done[d["item_id"]] = min(done.get(d["item_id"], d["effect_at"]), d["effect_at"])
    stopped = [d for d in deliveries if d["basis"] == "guard"]
    held = [d["received_at"] - done[d["item_id"]] for d in stopped if d["item_id"] in done and d["received_at"]]
    longest = max((h for h in held if h > timedelta(0)), default=None)
    return (None if longest is None else round(longest.total_seconds() * 1000)), bool(stopped)
