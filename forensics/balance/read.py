"""The balances of a lake: health rows, findings, purges and redrives, brought together per queue and day."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from typing import Any

from forensics.balance.day import BalanceDay, Between, Levels, balance_of, levels_of
from forensics.errors import QueueUnknownError
from forensics.lake import Findings
from forensics.lake.findings import rows_of
from forensics.lake.rows import plain_rows
from forensics.sentence import counted, said
from forensics.tables.evidence import MOVE_TASKS, SETTING_CHANGES
from forensics.tables.findings import QUEUE_FINDINGS
from forensics.tables.health import QUEUE_HEALTH, SETTING_FINDINGS
from forensics.words import clock_text, percent

Row = Mapping[str, Any]
_NAMED = ("mapping_disabled", "mapping_filters", "several_consumers")
"""Checks that say where messages can have gone."""


@dataclass(frozen=True)
class Balance:
    """Every queue's days, and per queue what is said of its mappings and consumers."""

    days: tuple[BalanceDay, ...]
    named: Mapping[str, tuple[str, ...]]


def balance(findings: Findings, queue: str | None = None) -> Balance:
    """Balance all queues or one, day by day; raises QueueUnknownError for a queue without a day.

    Of all queues a dead-letter queue has only the days that do not balance: nothing is sent to it, and it rests.
    """
    rows = [
        r
        for r in plain_rows(findings.read(QUEUE_HEALTH))
        if queue in (None, r["queue"], r["queue_arn"]) and (r["metrics_read_s"] or r["sent_count"] is not None)
    ]
    if queue is not None and not rows:
        raise QueueUnknownError(
            said("no metric of a queue {queue} was read", queue=repr(queue)),
            "`doubletake status` lists what was read; collect reads metrics.",
        )
    found = plain_rows(findings.read(QUEUE_FINDINGS))
    events = _events(findings)
    days = []
    for row, levels in _with_levels(rows, findings.generation.data_until_at):
        mine = [f for f in found if f["queue_arn"] == row["queue_arn"] and _inside(f["from_at"], row)]
        dead, expired = (_counted(mine, code) for code in ("dead_lettered", "retention_expired"))
        if row["dead_letter_rise_count"]:
            rise = row["dead_letter_rise_count"]
            dead = Between(max(dead.low, min(rise, dead.high)), max(dead.high, rise))
        notes = [text for at, text in events[row["queue_arn"]] if _inside(at, row)]
        share = min(row["metrics_read_s"] / max((row["ends_at"] - row["starts_at"]).total_seconds(), 1), 1)
        if share < 1:
            notes.append(said("Metrics of {share} of the day were read.", share=percent(share)))
        day = balance_of(row, dead, expired, tuple(notes), levels)
        if queue is not None or not row["is_dead_letter_queue"] or day.is_balanced is False:
            days.append(day)
    named: dict[str, list[str]] = defaultdict(list)
    for row in rows_of(findings.read(SETTING_FINDINGS)):
        if (
            row["code"] not in _NAMED
            or row["status"] == "passes"
            or queue not in (None, row["queue"], row["queue_arn"])
        ):
            continue
        name, what = row["consumer"], row["sentence"]
        if row["status"] == "fails" or "mapping says" in what or "filters" in what:
            named[row["queue"]].append(what if name == "-" else said("{name}: {what}", name=name, what=what))
    return Balance(tuple(days), {name: tuple(sorted(texts)) for name, texts in sorted(named.items())})


def _with_levels(rows: Sequence[Row], until: datetime | None) -> Iterator[tuple[Row, Levels]]:
    """Yield the days in their order, each with what its queue's neighbouring days tell of its begin and end."""
    in_order = sorted(rows, key=lambda r: (r["queue"], r["queue_arn"], r["day"]))
    for _, mine in groupby(in_order, key=lambda r: r["queue_arn"]):
        days = list(mine)
        yield from zip(days, levels_of(days, until), strict=True)


def _inside(at: datetime | None, day: Row) -> bool:
    return at is not None and day["starts_at"] <= at < day["ends_at"]


def _counted(rows: Sequence[Row], code: str) -> Between:
    mine = [r for r in rows if r["code"] == code and r["stance"] != "excluded"]
    return Between(sum(r["stance"] == "supported" for r in mine), len(mine))


def _events(findings: Findings) -> dict[str, list[tuple[datetime, str]]]:
    """Return per queue what moved messages in bulk: purges, and redrives out of a dead-letter queue or into the queue."""
    found: dict[str, list[tuple[datetime, str]]] = defaultdict(list)
    for row in plain_rows(findings.read(SETTING_CHANGES)):
        if row["event_name"] == "PurgeQueue" and row["error_code"] is None and row["queue_arn"]:
            at, who = clock_text(row["changed_at"]), row["actor"]
            text = said("Purged at {at} UTC by {who}.", at=at, who=who) if who else said("Purged at {at} UTC.", at=at)
            found[row["queue_arn"]].append((row["changed_at"], text))
    tasks = {r["task"]: r for r in sorted(plain_rows(findings.read(MOVE_TASKS)), key=lambda r: r["observed_at"])}
    for task in tasks.values():
        if task["started_at"] is None:
            continue
        moved = (
            "an unknown number of messages" if task["moved_count"] is None else counted(task["moved_count"], "message")
        )
        out, into = said("A redrive moved {n} out of it.", n=moved), said("A redrive moved {n} into it.", n=moved)
        for arn, text in ((task["source_arn"], out), (task["destination_arn"], into)):
            if arn:
                found[arn].append((task["started_at"], text))
    return found
