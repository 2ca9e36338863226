"""What an idempotency table decides of a work: which deliveries its record answered, and why it did not stop the others."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from forensics.clock import moment
from forensics.judging.evidence import united
from forensics.judging.guard_records import (
    ABOUT_MESSAGE,
    CLOCK_US,
    COMPLETED,
    IN_PROGRESS,
    UNSAID,
    GuardRecords,
    Reading,
    Record,
    span_of,
)
from forensics.judging.known import first_known, highest
from forensics.judging.works import keys_of
from forensics.streams.model import Delivery
from forensics.verdict.guard_tables import TableWord

_S = 1_000_000


def add_records(work: Sequence[Sequence[Delivery]], guards: GuardRecords) -> None:
    """Add to a work's deliveries the records that are about it, and what they tell of the work.

    Only a library's ways are known: it runs nothing while a completed record of another run holds, and completes a record
    when what it guards has returned.
    """
    deliveries = [d for item in work for d in item]
    for table in tables_of(deliveries):
        records = guards.of_work(table, deliveries)
        for item in work:
            if mine := [r.evidence_id for r in records if r.by != ABOUT_MESSAGE or r.about == item[0].message_id]:
                item[0].evidence_ids = united(item[0].evidence_ids, mine)
        for delivery in deliveries:
            if delivery.guard_table == table and is_answered(delivery, deliveries, records):
                delivery.effect, delivery.basis, delivery.effect_at = "no", "guard", None
                delivery.is_answered_by_record = True
        for delivery in deliveries:
            if delivery.guard_table == table and is_recorded(delivery, deliveries, records):
                delivery.effect, delivery.basis, delivery.effect_at = "yes", "recorded", _known_end(delivery)


def is_recorded(delivery: Delivery, deliveries: Sequence[Delivery], records: Sequence[Record]) -> bool:
    """Tell whether a delivery whose effect is not known completed the record of every function that the table guards.

    None that the same records are about may count as done already: of two, they cannot both be the one that is recorded.
    """
    mine = [r for r in records if r.is_library and _is_about(r, delivery)]
    if delivery.effect != "unknown" or not delivery.is_seen or not mine:
        return False
    if any(d.effect == "yes" and any(_is_about(r, d) for r in mine) for d in deliveries):
        return False
    written = {r.guarded for r in mine if r.state == COMPLETED and writer_of(r, deliveries) is delivery}
    return written == {r.guarded for r in mine}


def tables_of(deliveries: Iterable[Delivery]) -> list[str]:
    """Return the tables that the consumers of some deliveries ask, by name."""
    return sorted({d.guard_table for d in deliveries if d.guard_table is not None})


def is_answered(delivery: Delivery, deliveries: Sequence[Delivery], records: Sequence[Record]) -> bool:
    """Tell whether every function that the table guards had a completed record for a delivery whose effect is not known.

    The record was completed by a run that had ended before this one was received, and held until this one had ended.
    """
    ended_at = _known_end(delivery)
    mine = [r for r in records if r.is_library and (r.by != ABOUT_MESSAGE or r.about == delivery.message_id)]
    if delivery.effect != "unknown" or not delivery.is_seen or ended_at is None or not mine:
        return False
    holding = {r.guarded for r in mine if _holds(r, delivery, deliveries, ended_at)}
    return holding == {r.guarded for r in mine}


def _holds(record: Record, delivery: Delivery, deliveries: Sequence[Delivery], until: int) -> bool:
    writer = writer_of(record, deliveries)
    if record.state != COMPLETED or writer is None or writer.function_name != delivery.function_name:
        return False
    is_kept = record.expires_at is None or record.expires_at > until
    return is_kept and _ended_before(writer, delivery.received_at)


def writer_of(record: Record, deliveries: Iterable[Delivery]) -> Delivery | None:
    """Return the delivery whose run wrote a record: the one with the deadline until which the record was locked.

    None where that fits several runs, or nothing tells the deadline of a run that may have written it.
    """
    if record.locked_until_at is None:
        return None
    runs: dict[str | None, Delivery] = {}
    for d in deliveries:
        if d.run_started_at is None or d.function_timeout_s is None:
            if d.is_seen and d.effect != "no":
                return None
        elif (
            _is_about(record, d)
            and abs(d.run_started_at + d.function_timeout_s * _S - record.locked_until_at) <= CLOCK_US
        ):
            runs.setdefault(d.consumer, d)
    return next(iter(runs.values())) if len(runs) == 1 else None


def _known_end(delivery: Delivery) -> int | None:
    return delivery.run_ended_at if delivery.is_end_known else None


def _ended_before(delivery: Delivery, at: int | None) -> bool:
    ended_at = _known_end(delivery)
    return ended_at is not None and at is not None and ended_at < at


def words_of_tables(work: Sequence[Sequence[Delivery]], guards: GuardRecords) -> list[TableWord]:
    """Return what each table that a work's consumers ask tells of it, once every delivery has its effect."""
    deliveries = [d for item in work for d in item]
    tables = tables_of(deliveries)
    span = span_of(deliveries) if tables else None
    if span is None:
        return []
    found = []
    for table in tables:
        records = guards.of_work(table, deliveries)
        reading = guards.reading(table, deliveries[0].queue_arn, span[1])
        found.append(_told(deliveries, records, reading) if records else _nothing(deliveries, reading))
    return found


def _nothing(deliveries: Sequence[Delivery], reading: Reading) -> TableWord:
    """Say what it means that a table has no record of a work."""
    if reading.status is None:
        return TableWord(reading.table, gap="unread")
    if reading.whole_at is None:
        if reading.status in ("ok", "partial"):
            return TableWord(reading.table, absence="part")
        return TableWord(reading.table, gap=reading.status)
    if reading.keyed_by is None or not (reading.keyed_by == ABOUT_MESSAGE or keys_of(deliveries)):
        return TableWord(reading.table, absence="key")
    done_at = highest(d.effect_at for d in deliveries)
    is_kept = reading.keeps_expired
    if done_at is not None and reading.keeps_s is not None:
        is_kept = is_kept or done_at + reading.keeps_s * _S > reading.whole_at
    if done_at is None or not is_kept:
        return TableWord(reading.table, absence="deleted")
    if any(_may_have_failed_after(d, done_at) for d in deliveries):
        return TableWord(reading.table, absence="failed")
    return TableWord(reading.table, absence="decided", read_at=moment(reading.whole_at))


def _may_have_failed_after(delivery: Delivery, done_at: int) -> bool:
    """Tell whether a delivery may have failed when the work had been done: guards delete the record of what raised."""
    if delivery.run_status == "success" and not delivery.is_named_failure:
        return False
    ended_at = _known_end(delivery)
    return ended_at is None or ended_at >= done_at


class _Again(NamedTuple):
    """A delivery in which the work was done, received at a moment, and the one before it in which it was done."""

    first_at: int
    first: Delivery
    at: int
    second: Delivery

    def is_of(self, record: Record) -> bool:
        return _is_about(record, self.first) and _is_about(record, self.second)


def _told(deliveries: Sequence[Delivery], records: Sequence[Record], reading: Reading) -> TableWord:
    received = sorted((d.received_at, n) for n, d in enumerate(deliveries) if d.is_seen and d.received_at is not None)
    done = [(at, deliveries[n]) for at, n in received if deliveries[n].effect == "yes"]
    again = [_Again(*first, *second) for first, second in zip(done, done[1:], strict=False)]
    latest = list({r.key: r for r in records}.values())
    said = _by_ids(done, records) | (
        _expired(again, records) or _rewritten(again, records, deliveries) or _passed(again, records, deliveries)
    )
    completed = [r for r in latest if r.state == COMPLETED]
    if again and completed and not said:
        said = {"is_completed": True, "completed_until": _moment(completed[-1].expires_at)}
    for record in latest:
        if record.state == IN_PROGRESS:
            said |= _locked(record, [at for at, _ in received])
    never = any(r.expires_at is None for r in latest if r.state != IN_PROGRESS)
    keeps = bool(again) and reading.keeps_expired is True
    is_bare = bool(again) and all(r.state == UNSAID for r in records)
    return TableWord(records[0].table, never_expires=never, bears_no_status=is_bare, keeps_expired=keeps, **said)


def _locked(record: Record, received: Sequence[int]) -> dict[str, Any]:
    until = record.locked_until_at
    return {
        "is_in_progress": True,
        "is_lock_open": until is None,
        "is_lock_past": until is not None and max(received) >= until,
        "lock_until": _moment(first_known(until, record.expires_at)),
    }


def _moment(at: int | None) -> datetime | None:
    return None if at is None else moment(at)


def _is_about(record: Record, delivery: Delivery) -> bool:
    return record.by != ABOUT_MESSAGE or delivery.message_id == record.about


def _by_ids(done: Iterable[tuple[int, Delivery]], records: Iterable[Record]) -> dict[str, Any]:
    """Count the message ids under which the work was done and that have a record of their own, where they are several."""
    found = {r.about for r in records if r.by == ABOUT_MESSAGE} & {d.message_id for _, d in done}
    return {"ids_recorded": len(found)} if len(found) > 1 else {}


def _expired(again: Iterable[_Again], records: Iterable[Record]) -> dict[str, Any]:
    """Tell when a record expired between the two times that the work was done, and when the second was received."""
    for both in again:
        for record in records:
            ends_at = record.expires_at
            if record.state not in (COMPLETED, UNSAID) or ends_at is None or not both.is_of(record):
                continue
            if both.first_at < ends_at <= both.at:
                return {"expired_at": moment(ends_at), "repeat_at": moment(both.at)}
    return {}


def _rewritten(again: Iterable[_Again], records: Iterable[Record], deliveries: Sequence[Delivery]) -> dict[str, Any]:
    """Tell for how many seconds at most a record is kept, and after how many the work was done again, where that is longer.

    The repeat wrote the record: it was locked until the deadline of its run, and is kept from its receive on at most.
    """
    for both in again:
        for record in records:
            ended_at = _known_end(both.first)
            if record.is_library and record.expires_at is not None and ended_at is not None and both.is_of(record):
                kept_us, gap_us = record.expires_at - both.at, both.at - ended_at
                if writer_of(record, deliveries) is both.second and gap_us > kept_us:
                    return {"kept_s": -(-kept_us // _S), "gap_s": gap_us // _S}
    return {}


def _passed(again: Iterable[_Again], records: Iterable[Record], deliveries: Sequence[Delivery]) -> dict[str, Any]:
    """Tell until when a completed record held while the work was done again."""
    for both in again:
        done_at = highest((both.second.effect_at, both.at))
        for record in records:
            if record.state == COMPLETED and both.is_of(record):
                writer = writer_of(record, deliveries)
                was_there = record.observed_at < both.at or (writer is not None and _ended_before(writer, both.at))
                if was_there and (record.expires_at is None or record.expires_at > done_at):
                    return {"is_passed": True, "passed_until": _moment(record.expires_at)}
    return {}
