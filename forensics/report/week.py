"""The weekly review read from one generation of findings, and its rows as other programs read them."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from forensics.checks import FAILS
from forensics.health import QueueReview, Timeouts, WeekReview, WeekUnknownError, opening_week, review_week, week_bounds
from forensics.health.accepted import accepted_risk, check_codes
from forensics.lake import Findings
from forensics.lake.findings import rows_of
from forensics.lake.rows import plain_rows
from forensics.people import People, SetAside, aside_text, people_of
from forensics.report.freshness import logs_left_out
from forensics.report.records import Record, plain_value
from forensics.sentence import said
from forensics.settings import Settings
from forensics.settings_in_force import NEWEST, SettingsInForce
from forensics.tables.evidence import CONSUMERS, FUNCTION_SETTINGS, QUEUE_SETTINGS, SETTING_CHANGES
from forensics.tables.findings import INCIDENTS
from forensics.tables.health import QUEUE_HEALTH, QUEUE_WEEKS, SETTING_FINDINGS

NO_WEEKS = "this data version holds no week of any queue"
NO_WEEK = "Weeks are counted from deliveries and metrics of queues: `doubletake status` says what was read, and what the logs tell."
WEEK_COLUMNS = (
    "week",
    "queue",
    "need",
    "why",
    "redelivered_share",
    "redelivered_trend",
    "twice_at_least",
    "twice_at_most",
    "twice_share_at_least",
    "twice_share_at_most",
    *[
        c
        for c in QUEUE_WEEKS.column_names
        if c
        not in ("queue_arn", "queue", "week", "is_dead_letter_queue", "twice_at_least", "twice_at_most", "evidence_ids")
    ],
    "visibility_timeout_s",
    "function_timeout_s",
    "incidents",
    "accepted",
    "owner",
    "note",
    "counted_twice_at_least",
    "counted_twice_at_most",
    "set_aside",
    "set_aside_by",
    "queue_arn",
    "evidence_ids",
)
CHECK_COLUMNS = ("queue", "consumer", "code", "status", "severity", "sentence", "advice", "would_decide", "numbers")
CHECK_FIELDS = (*CHECK_COLUMNS, "accepted_until", "accepted_reason", "observed_until_at", "queue_arn", "evidence_ids")


def weeks_read(findings: Findings) -> list[str]:
    """Return the ISO weeks of which this data version holds anything, oldest first."""
    return sorted(set(findings.read(QUEUE_WEEKS, ["week"])["week"].to_pylist()))


def week_to_open(findings: Findings, settings: Settings, known: Sequence[str]) -> str:
    """Return which of the weeks that were read a review opens on: not one that has only just begun."""
    return opening_week(known, findings.generation.data_until_at, settings.team.local)


def load_week(
    findings: Findings, settings: Settings, week: str | None = None, people: People | None = None
) -> WeekReview:
    """Return the review of a week; None means the newest that was read of which at least one day is over.

    What people set aside does not count; ``people`` is read where it is not given.

    Raises WeekUnknownError for what is no week or was not read, SettingsError for an accepted risk that names no check.
    """
    check_codes(settings)
    known = weeks_read(findings)
    if week is None:
        if not known:
            raise WeekUnknownError(NO_WEEKS, NO_WEEK)
        week = week_to_open(findings, settings, known)
    week_bounds(week)
    if week not in known:
        hint = _known_hint(known) if known else NO_WEEK
        raise WeekUnknownError(said("nothing was read for week {week}", week=repr(week)), hint)
    generation = findings.generation
    people = people or people_of(findings)
    review = review_week(
        week,
        people.periods(plain_rows(findings.read(QUEUE_WEEKS))),
        rows_of(findings.read(SETTING_FINDINGS)),
        people.counted(rows_of(findings.read(INCIDENTS))),
        settings,
        _timeouts(findings),
        generation.data_version,
        generation.rules_version,
        generation.data_until_at,
        people.periods(plain_rows(findings.read(QUEUE_HEALTH))),
    )
    return replace(review, left_out=tuple(logs_left_out(generation)))


def _known_hint(known: Sequence[str]) -> str:
    if len(known) == 1:
        return said("There is: {names}.", names=known[0])
    return said("There are {first} to {last}.", first=known[0], last=known[-1])


def _timeouts(findings: Findings) -> dict[str, Timeouts]:
    """Return per queue the timeouts in force at the end of the evidence."""
    queues, functions, calls, consumers = (
        rows_of(findings.read(table)) for table in (QUEUE_SETTINGS, FUNCTION_SETTINGS, SETTING_CHANGES, CONSUMERS)
    )
    settings = SettingsInForce.of(queues, functions, [], calls)
    names: dict[str, set[str]] = {row["queue_arn"]: set() for row in queues}
    for row in consumers:
        if row["function_name"]:
            names.setdefault(row["queue_arn"], set()).add(row["function_name"])
    return {
        arn: Timeouts(
            (settings.queue(arn, NEWEST) or {}).get("visibility_timeout_s"),
            tuple(
                (name, now["timeout_s"])
                for name in sorted(of_queue)
                if (now := settings.function(name, NEWEST)) and now["timeout_s"] is not None
            ),
            (
                *((said("{name} timeout", name=name), settings.timeout_steps(name)) for name in sorted(of_queue)),
                ("visibility timeout", settings.visibility_steps(arn)),
            ),
        )
        for arn, of_queue in names.items()
    }


def headline(review: WeekReview) -> str:
    """Say how many queues need work."""
    needy, all_of = len(review.needy), len(review.queues)
    if not all_of:
        return "No queue was read"
    if not needy:
        return said("No queue of {all} needs work", all=all_of)
    needs = "{needy} of {total} queues needs work" if needy == 1 else "{needy} of {total} queues need work"
    return said("{needy} of {total} queue needs work" if all_of == 1 else needs, needy=needy, total=all_of)


def set_aside(review: WeekReview) -> tuple[SetAside, ...]:
    """Return the works of this week that people set aside."""
    return tuple(work for q in review.queues if q.now for work in q.now.get("set_aside") or ())


def week_record(review: WeekReview, queue: QueueReview) -> Record:
    """Return one queue's week with every number of the table; unknown ones are None."""
    least, most = queue.twice or (None, None)
    now = queue.now or {}
    record: dict[str, Any] = {name: plain_value(now.get(name)) for name in WEEK_COLUMNS}
    if "judged" in now:
        record |= {name: plain_value(now["judged"].get(name)) for name in ("twice_at_least", "twice_at_most")}
    aside = now.get("set_aside") or ()
    return record | {
        "week": review.week,
        "queue": queue.queue,
        "need": queue.need,
        "why": queue.why,
        "redelivered_share": _rounded(queue.redelivered),
        "redelivered_trend": [_rounded(share) for share in queue.redelivered_trend],
        "twice_share_at_least": _rounded(least),
        "twice_share_at_most": _rounded(most),
        "dead_letter_reasons": list(now.get("dead_letter_reasons") or ()),
        "incidents": [i["incident_id"] for i in queue.incidents],
        "accepted": [f"{s.code} until {risk.until.isoformat()}: {risk.reason}" for s, risk in queue.accepted],
        "owner": queue.owner,
        "note": queue.note,
        "visibility_timeout_s": queue.timeouts.visibility_s,
        "function_timeout_s": queue.timeouts.function_s,
        "counted_twice_at_least": queue.number("twice_at_least"),
        "counted_twice_at_most": queue.number("twice_at_most"),
        "set_aside": len(aside),
        "set_aside_by": aside_text(aside),
        "queue_arn": queue.queue_arn,
        "evidence_ids": list(now.get("evidence_ids") or ()),
    }


def check_records(findings: Findings, settings: Settings) -> list[Record]:
    """Return every answer of the settings checks, the gravest first, with the accepted risk that covers it."""
    check_codes(settings)
    until = findings.generation.data_until_at
    on = until.astimezone(settings.team.local).date() if until else None
    records = []
    for row in rows_of(findings.read(SETTING_FINDINGS)):
        held = row["status"] == FAILS and on is not None
        risk = accepted_risk(settings, row["queue"], row["code"], on) if held and on else None
        record = {name: plain_value(row.get(name)) for name in CHECK_FIELDS}
        records.append(
            record
            | {
                "accepted_until": risk.until.isoformat() if risk else None,
                "accepted_reason": risk.reason if risk else None,
            }
        )
    return sorted(records, key=_gravest)


def spark_line(values: Sequence[float | None]) -> str:
    """Draw numbers as blocks of one line, a dot where nothing is known.

    >>> spark_line([0.0, None, 0.02, 0.04])
    '▁·▅█'
    """
    known = [v for v in values if v is not None]
    top = max(known, default=0.0)
    blocks = "▁▂▃▄▅▆▇█"
    return "".join("·" if v is None else blocks[round(v / top * 7) if top else 0] for v in values)


def _rounded(share: float | None) -> float | None:
    return None if share is None else round(share, 6)


def _gravest(record: Record) -> tuple[Any, ...]:
    status = {"fails": 0, "unknown": 1, "passes": 2}
    severity = {"critical": 0, "warning": 1, "note": 2}
    return (
        status.get(record["status"], 3),
        severity.get(record["severity"] or "", 3),
        record["queue"],
        record["consumer"],
        record["code"],
    )
