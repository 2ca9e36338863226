"""The three questions that are asked of a double: why was it, is it still happening, what is to be refunded?"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from forensics.books import Line, book_sums, has_books, reconcile
from forensics.lake import Findings
from forensics.lake.filters import equals, one_of
from forensics.lake.findings import rows_of
from forensics.people import People, marks_text
from forensics.people.marks import SETTLES
from forensics.report.activity import ALL_GONE, quiet_for
from forensics.report.fault_case import load_fault
from forensics.report.faults import Fault, faults, shares_works
from forensics.report.find import LEAST_CHARS, Key, Work, asked_text, find, reader, works
from forensics.report.found_works import read_works
from forensics.report.freshness import logs_left_out
from forensics.report.log_readiness import nothing_checked
from forensics.report.message_sentence import message_clause, message_sentence
from forensics.report.opening import affected_works
from forensics.report.provisional import provisional_sentence
from forensics.report.standing import standing_incidents
from forensics.report.works import told_of_work
from forensics.sentence import capitalized, clause, counted, joined, said
from forensics.tables.findings import MESSAGES, REDELIVERIES
from forensics.terms import CLOCKS_APART
from forensics.verdict.interval import AFFECTED
from forensics.words import clock_text, interval_text, span_text

Row = Mapping[str, Any]
QUESTIONS = {
    "why": "Why was this charged twice?",
    "still": "Is it still happening?",
    "refund": "What do I refund?",
}
MOST_COMPARED = 5
"""Faults of which it is looked up whether a change helped, the worst first."""
WHY_COLUMNS = (
    "queue",
    "message_id",
    "business_keys",
    "verdict",
    "sentence",
    "because",
    "hints",
    "marks",
    "incident_id",
)
STILL_COLUMNS = ("queue", "cause", "state", "last_at", "times", "repeats", "since_the_change", "incident_id")
REFUND_COLUMNS = (
    *("queue", "business_keys", "message_ids", "do", "repeats", "to_refund", "marks", "incident_id", "work_id"),
)
COLUMNS = {"why": WHY_COLUMNS, "still": STILL_COLUMNS, "refund": REFUND_COLUMNS}


@dataclass(frozen=True)
class Reply:
    """An answer: one sentence, and the rows that it rests on, under the columns of its question; times are UTC text."""

    question: str
    sentence: str
    rows: tuple[dict[str, Any], ...]


def why(findings: Findings, text: str, people: People) -> Reply:
    """Say why the message that an id or business key names was processed twice, or that nothing shows it was.

    ``hints`` of a row name messages that are alike and that nothing else links.
    """
    asked, read = asked_text(text), reader(findings)
    found = works(find(asked, read), read) if asked else []
    if not found:
        if not asked:
            return Reply("why", "Nothing names no message in this data version", ())
        least = "{name} names no message in this data version; ids are found by their first {n} characters"
        return Reply("why", said(least, name=asked, n=LEAST_CHARS), ())
    clocks = _left_to_clocks(findings, found)
    rows: list[dict[str, Any]] = []
    clauses: list[str] = []
    for one in read_works(findings, found):
        work, deliveries, verdicts = one.work, one.deliveries, one.verdicts
        verdict = one.verdict or next(iter(verdicts.values()), None)
        clauses.append(message_clause(deliveries, verdict))
        rows.append(
            {
                "queue": work.hit.queue,
                "message_id": work.hit.message_id,
                "business_keys": list(work.hit.business_keys),
                "verdict": verdict["verdict"] if verdict else None,
                "sentence": message_sentence(deliveries, verdict),
                "because": [*told_of_work(verdict, verdicts.values()), *clocks.get(work.hit.key, ())]
                if verdict
                else [],
                "provisional": provisional_sentence(verdict, [verdict]) if verdict else None,
                "hints": [hint.sentence for hint in one.hints],
                "marks": marks_text(people.of(verdict["incident_id"]).of({item for _, item in work.items}))
                if verdict
                else "",
                "incident_id": verdict["incident_id"] if verdict else None,
            }
        )
    hit = [row for row in rows if row["verdict"] in AFFECTED]
    first = (hit or rows)[0]
    if not hit:
        because = said("Nothing shows that it was processed twice: {what}", what=clauses[0])
        if first["because"]:
            because = _ending_open([said("{clause}.", clause=because), *first["because"]])
    elif first["because"]:
        because = _ending_open(first["because"])
    else:
        because = clause(first["sentence"])
    if first["marks"]:
        because = said("{what}; marked: {marks}", what=because, marks=first["marks"])
    return Reply("why", because, tuple(rows))


def _left_to_clocks(findings: Findings, found: Sequence[Work]) -> dict[Key, list[str]]:
    """Return per work, by what was found of it, why its redeliveries are left open where the clocks of two hosts bear on it."""
    hits = {key: work.hit.key for work in found for key in work.items}
    where = one_of("item_id", {item for _, item in hits}) & equals("cause", "undecidable")
    told: dict[Key, list[str]] = {}
    for row in sorted(rows_of(findings.read(REDELIVERIES, where=where)), key=_in_ledger):
        if _key(row) in hits and CLOCKS_APART in (row["would_decide"] or ""):
            sentence = said(
                "{sentence}. What would decide it: {what}.",
                sentence=capitalized(clause(row["sentence"])),
                what=row["would_decide"],
            )
            told.setdefault(hits[_key(row)], []).append(sentence)
    return {key: list(dict.fromkeys(sentences)) for key, sentences in told.items()}


def _in_ledger(row: Row) -> tuple[str, int]:
    return row["item_id"], row["delivery_index"]


def _ending_open(sentences: Sequence[str]) -> str:
    """Put sentences together, the last without its full stop."""
    *before, last = sentences
    return joined([*before, clause(last)])


def still(findings: Findings, people: People, now: datetime, stale_after: timedelta, queue: str | None = None) -> Reply:
    """Say whether a fault is going on; what came after the evidence's end nobody knows, and that is said."""
    until = findings.generation.data_until_at
    ranked = [f for f in _faults(findings, people) if queue in (None, f.queue)]
    rows = [_fault_row(findings, f, people, until, n < MOST_COMPARED) for n, f in enumerate(ranked)]
    if until is None:
        return Reply("still", "Unknown: no log line was read", tuple(rows))
    ago = span_text((now - until).total_seconds() * 1000)
    ends = said("the evidence ends {at} UTC, {span} ago", at=clock_text(until)[:16], span=ago)
    running = [f for f in ranked if f.is_open(until)]
    if running:
        is_fresh = now - until <= stale_after
        when = (
            "Yes: {queue}, {headline}; {ends}"
            if is_fresh
            else "It was when anybody looked last: {queue}, {headline}; {ends}"
        )
        first, more = running[0], len(running) - 1
        headline = said("{what}, and {n} more", what=first.headline, n=more) if more else first.headline
        return Reply("still", said(when, queue=first.queue, headline=headline, ends=ends), tuple(rows))
    quiets = [q for f in ranked if not f.is_settled for i in f.incidents if (q := quiet_for(i, until)) is not None]
    for_so_long = span_text(min(quiets).total_seconds() * 1000) if quiets else None
    since = said("no repeat for {span}", span=for_so_long) if for_so_long else "no incident at all"
    if gone := next((f for f in ranked if f.state(until) == ALL_GONE), None):
        since = said("nothing is left to stop on {queue}: every message was dead-lettered or lost", queue=gone.queue)
    unchecked = _unchecked(findings, queue)
    if unchecked and not ranked:
        return Reply("still", said("Unknown: {sentence}", sentence=unchecked[0]), ())
    told = said("Not where the evidence ends: {since}; {ends}", since=since, ends=ends)
    if unchecked:
        told = said("{answer}. Besides: {sentence}", answer=told, sentence=unchecked[0])
    return Reply("still", told, tuple(rows))


def refund(findings: Findings, people: People, queue: str | None = None) -> Reply:
    """Say which works are to be refunded or checked, after what people set aside or settled, with amounts where a ledger has them."""
    told = rows_of(findings.read(MESSAGES, where=one_of("verdict", AFFECTED)))
    every = affected_works(m for m in told if queue in (None, m["queue"]))
    aside = sum(people.aside_of(w["item_ids"]) is not None for w in every)
    counting = [w for w in every if people.aside_of(w["item_ids"]) is None]
    left = [w for w in counting if not any(m.mark in SETTLES for m in _marks(people, w))]
    lines = _booked(findings, queue)
    books: dict[str, list[Line]] = {}
    for line in lines:
        for item in line.logged.item_ids if line.logged else ():
            books.setdefault(item, []).append(line)
    open_works = [w for w in left if not any(line.outcome == "cleared" for line in _of_work(w, books))]
    rows = [_refund_row(w, people, books) for w in sorted(open_works, key=_gravest)]
    seen = {item for w in every for item in w["item_ids"]}
    unlogged = [ln for ln in lines if ln.to_refund_text and not (ln.logged and seen.intersection(ln.logged.item_ids))]
    rows += [_of_books_alone(line) for line in unlogged]
    sure = sum(row["do"] == "refund" for row in rows)
    parts = [
        said("refund or undo {works}", works=counted(sure, "work")) if sure else "",
        said("check {n} by hand", n=len(rows) - sure) if len(rows) > sure else "",
        said("{count} cleared by the books", count=len(left) - len(open_works)) if len(left) > len(open_works) else "",
        said("{count} settled by people", count=len(counting) - len(left)) if len(counting) > len(left) else "",
        said("{count} set aside by people", count=aside) if aside else "",
    ]
    due = {id(line): line for w in open_works for line in _of_work(w, books)} | {id(line): line for line in unlogged}
    if amounts := book_sums(list(due.values()))["to_refund"]:
        parts.append(said("by the books {amount}", amount=amounts))
    if not any(parts) and (unchecked := _unchecked(findings, queue)):
        return Reply("refund", said("Unknown: {sentence}", sentence=unchecked[0]), ())
    do = joined(filter(None, parts), "; ") if any(parts) else "nothing: no work was done more than once"
    return Reply("refund", capitalized(do), tuple(rows))


def _unchecked(findings: Findings, queue: str | None) -> list[str]:
    return [*map(clause, logs_left_out(findings.generation)), *nothing_checked(findings, queue)]


def _faults(findings: Findings, people: People) -> list[Fault]:
    rows = standing_incidents(findings, people)
    ids = shares_works(rows)
    columns = ["incident_id", "queue_arn", "work_id", "verdict"]
    shared = rows_of(findings.read(MESSAGES, columns, one_of("incident_id", ids))) if len(ids) > 1 else []
    return faults(rows, findings.generation.data_until_at, people.messages(shared))


def _fault_row(
    findings: Findings, fault: Fault, people: People, until: datetime | None, compares: bool
) -> dict[str, Any]:
    compared = load_fault(findings, fault, people).comparison if compares else None
    return {
        "queue": fault.queue,
        "cause": fault.trigger,
        "state": fault.state(until),
        "last_at": f"{clock_text(fault.ended_at)[:19]} UTC",
        "times": len(fault.incidents),
        "repeats": interval_text(*fault.repeats),
        "since_the_change": compared.sentence if compared else None,
        "incident_id": fault.newest["incident_id"],
    }


def _marks(people: People, work: Row) -> tuple[Any, ...]:
    return people.of(work["incident_id"]).of(work["item_ids"])


def _booked(findings: Findings, queue: str | None) -> list[Line]:
    """Return what ledgers say, of every key."""
    if not has_books(findings.lake):
        return []
    return [line for lines in reconcile(findings, queue).values() for line in lines]


def _of_work(work: Row, books: Mapping[str, list[Line]]) -> list[Line]:
    return list({id(line): line for item in work["item_ids"] for line in books.get(item, ())}.values())


def _refund_row(work: Row, people: People, books: Mapping[str, list[Line]]) -> dict[str, Any]:
    mine = _of_work(work, books)
    proved = work["verdict"] == "confirmed" or any(line.outcome == "repeated" for line in mine)
    return {
        "queue": work["queue"],
        "business_keys": list(work["business_keys"] or ()),
        "message_ids": work["message_ids"],
        "do": "refund" if proved else "check",
        "repeats": interval_text(work["extra_effects_at_least"], work["extra_effects_at_most"]),
        "to_refund": "; ".join(filter(None, (line.to_refund_text for line in mine))) or None,
        "marks": marks_text(_marks(people, work)),
        "incident_id": work["incident_id"],
        "work_id": work["work_id"],
    }


def _of_books_alone(line: Line) -> dict[str, Any]:
    """Return a row of what a ledger holds twice, and no log shows."""
    return dict.fromkeys(REFUND_COLUMNS) | {
        "business_keys": [line.key],
        "message_ids": [],
        "do": "refund",
        "repeats": interval_text(max(line.at_least - 1, 0), None if line.at_most is None else max(line.at_most - 1, 0)),
        "to_refund": line.to_refund_text,
        "marks": "",
    }


def _gravest(work: Row) -> tuple[Any, ...]:
    return (AFFECTED.index(work["verdict"]), work["queue"], str(work["first_received_at"]), work["item_id"])


def _key(row: Row) -> Key:
    return row["queue_arn"], row["item_id"]
