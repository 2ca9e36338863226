"""What one line says of single messages, in one shape whatever the line was."""

from collections.abc import Callable, Sequence

from forensics.body_shape import body_shape
from forensics.event_ids import is_event_id
from forensics.parsers.error_lines import is_error_line
from forensics.parsers.handle_errors import HandleError
from forensics.parsers.idempotency import says_repeat
from forensics.parsers.line import ParsedLine
from forensics.parsers.own_times import mark_of
from forensics.parsers.sqs_records import Record
from forensics.parsers.threads import thread_of
from forensics.parsers.workers import WorkerLine
from forensics.streams.model import ERROR, HIDDEN, SKIPPED, TAKEN, WHOLE, Fact
from forensics.streams.repeats import reads_as_repeat, repeat_of

_ALSO_SAYS = {
    "worker_failed": "worker_failed",
    "worker_gave_up": "worker_failed",
    "worker_timed_out": "worker_failed",
    "worker_acknowledged": "deleted",
}
"""What a framework's line says, and the role of what a pattern of the settings says of the same end."""


def facts_of(
    parsed: ParsedLine,
    at: int,
    evidence_id: str,
    key_of: Callable[[Record], str | None] = lambda record: None,
    *,
    with_bodies: bool = False,
) -> list[Fact]:
    """Return the facts a line states: of printed records, then of named ids, then of what it says by itself.

    ``at`` is the line's time in µs; ``key_of`` gives the business key of a printed record. ``with_bodies``: one that has none
    and may be one of several keeps its body.

    >>> from forensics.parsers import parse_line
    >>> [f.role for f in facts_of(parse_line("message 3f2504e0-4f89-41d3-9a0c-0305e82c3301 done"), 0, "e-1")]
    ['mention']
    """
    whole = WHOLE if parsed.is_whole_batch else None
    keeps_body = with_bodies and whole is None
    facts = [
        _record(record, at, evidence_id, key_of(record) or None, whole, keeps_body) for record in parsed.records or ()
    ]
    if len(facts) == 1 and facts[0].receive_count is None:
        facts = [facts[0]._replace(receive_count=parsed.receive_count)]
    taken = TAKEN if parsed.takes_mentioned else None
    facts += [Fact("mention", at, evidence_id, named or None, detail=taken) for named in parsed.mentions or ()]
    failed = [*(parsed.batch_item_failures or ()), *([parsed.given_back] if parsed.given_back else ())]
    facts += [Fact("failure", at, evidence_id, named or None) for named in failed]
    # "already charged k=1" matches the pattern of "charged k=1" too: a stopped repeat is no effect.
    effect = parsed.effect if parsed.guard_mark is None else None
    for role, mark in (
        ("effect", effect),
        ("started", parsed.started),
        ("deleted", parsed.deleted_mark),
        ("worker_failed", parsed.failed_mark),
        ("guard", parsed.guard_mark),
    ):
        if mark is not None:
            count = parsed.receive_count if role == "started" else None
            facts.append(Fact(role, at, evidence_id, mark.message_id or None, mark.key or None, count))
    if (hidden := parsed.visibility_mark) is not None:
        seconds = str(hidden.seconds or 0)  # a release may name none
        facts.append(Fact(HIDDEN, at, evidence_id, hidden.message_id, hidden.key, detail=seconds))
    if parsed.idempotency is not None:
        facts.append(Fact("idempotency", at, evidence_id, detail=parsed.idempotency))
    if parsed.handle_error is not None:
        facts.append(_handle_error(parsed.handle_error, parsed.mentions or [], at, evidence_id))
    if (line := parsed.worker) is not None:
        if line.visibility_s is not None and parsed.visibility_mark is None:
            facts.append(Fact(HIDDEN, at, evidence_id, line.message_id, detail=str(line.visibility_s)))
        names = (line.message_id or _only_named(line, parsed.mentions or ()), *line.more_ids)
        if line.event == "delete_failed" and (told := _delete_told_by(facts, names)) is not None:
            facts[told] = facts[told]._replace(message_id=facts[told].message_id or names[0])
        elif line.event != "visibility_set":
            for name in names:
                _add_once(facts, _worker(line, name, at, evidence_id))
    return facts


def of_line(facts: list[Fact], parsed: ParsedLine, line: str, at: int, evidence_id: str) -> list[Fact]:
    """Return a worker's facts with the thread that wrote their line and its own time's mark, as far as it says them.

    And with the receive count that the settings find in it, where it names no two messages: one worker may have a message in hand
    twice at once, and only this tells whose an end is. And that it is an error's, of each message that it names, or reads as if the
    work was not done again, of whomever it names.
    """
    is_repeat = reads_as_repeat(parsed, line)
    if not (facts or is_repeat):
        return facts
    thread, mark, count = thread_of(line), mark_of(line), parsed.receive_count
    if count is not None and len({fact.message_id for fact in facts} - {None}) < 2:
        facts = [fact._replace(receive_count=count) if fact.receive_count is None else fact for fact in facts]
    if parsed.mentions and says_repeat(line):
        facts = [fact._replace(detail=SKIPPED) if fact.role == "mention" else fact for fact in facts]
    if parsed.mentions and is_error_line(parsed, line):
        facts = [*facts, *(Fact(ERROR, facts[0].at, facts[0].evidence_id, named) for named in parsed.mentions)]
    if is_repeat:
        facts = [*facts, repeat_of(line, at, evidence_id)]
    return facts if thread is None and mark is None else [f._replace(thread=thread, line_mark=mark) for f in facts]


def _delete_told_by(facts: Sequence[Fact], names: Sequence[str | None]) -> int | None:
    """Return the place of what a line's own words say of the failed delete of the one message that a framework names or does not."""
    if len(names) > 1:
        return None
    others = (
        n
        for n, f in enumerate(facts)
        if f.is_failed_delete and (None in (f.message_id, *names) or f.message_id in names)
    )
    return next(others, None)


def _only_named(line: WorkerLine, mentions: Sequence[str]) -> str | None:
    """Return the one message that is named beside what a framework says of a message without its id, as in a field of a logger's JSON."""
    return mentions[0] if len(mentions) == 1 and line.job_id is None and line.event != "stopping" else None


def _add_once(facts: list[Fact], told: Fact) -> None:
    """Add what a framework says to what the line states. An end that a pattern of the settings tells, too, is one end."""
    for place, fact in enumerate(facts):
        is_same_message = None in (fact.message_id, told.message_id) or fact.message_id == told.message_id
        if fact.role == _ALSO_SAYS.get(told.role) and is_same_message and told.key in (None, fact.key):
            role = fact.role if fact.role == "deleted" else told.role
            facts[place] = told._replace(role=role, message_id=told.message_id or fact.message_id, key=fact.key)
            return
    facts.append(told)


def _record(record: Record, at: int, evidence_id: str, key: str | None, detail: str | None, keeps_body: bool) -> Fact:
    return Fact(
        "record",
        at,
        evidence_id,
        record.message_id or None,
        key,
        record.receive_count,
        record.position,
        record.sent_ms,
        record.first_receive_ms,
        record.group_id,
        record.deduplication_id,
        record.receipt_handle,
        record.body_md5,
        record.queue_arn,
        record.dead_letter_source_arn,
        record.sender_id,
        None if key or record.deduplication_id is None else body_shape(record.body, record.sent_ms),
        detail,
        body=record.body if keeps_body and (key is None or is_event_id(key)) else None,
    )


def _handle_error(error: HandleError, mentions: list[str], at: int, evidence_id: str) -> Fact:
    """Return what a refused call says; it is about the one message its line names."""
    message_id = mentions[0] if len(mentions) == 1 else None if mentions else error.message_id
    detail = f"{error.reason}:{error.operation or ''}"
    return Fact("handle_error", at, evidence_id, message_id or None, receipt_handle=error.handle, detail=detail)


def _worker(line: WorkerLine, message_id: str | None, at: int, evidence_id: str) -> Fact:
    """Return what a framework says. Celery's lines and Active Job's name no message: its work is known by the task or the job."""
    message_id = message_id or (line.job_id if line.format == "activejob" else None)
    key = line.job_id if line.format == "celery" and message_id is None else None
    return Fact(
        f"worker_{line.event}",
        at,
        evidence_id,
        message_id or None,
        key or None,
        line.receive_count,
        detail=line.job_id,
    )
