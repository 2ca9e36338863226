"""Which run of a function each line of a stream belongs to."""

from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from operator import itemgetter
from typing import NamedTuple

from forensics.identity import KEY_ITEM, handle_prefix
from forensics.parsers.line import TIMEOUT_ANSWER
from forensics.streams.model import WHOLE, Fact

ENDS = frozenset({"report", "runtime_done"})
CLOSES = ENDS | {"end"}
_ERRORS = frozenset({"runtime_error", "unhandled_error", "logged_error"})
MARKS = CLOSES | {"start", "timeout", TIMEOUT_ANSWER, "runtime_error", "unhandled_error", "logged_error"}

_DONE = frozenset({"effect", "guard", "idempotency"})
_OF_WORK = _DONE | {"started"}

_MOMENT_US = 1_000_000
"""So far apart may be the times that a process and its platform write."""
_LONGEST_INIT_US = 10_000_000
"""An environment comes up for so long at most before its run begins, and may fail then."""


class Statement(NamedTuple):
    """What one line says of its invocation; ``at`` in µs. ``is_response``: it prints a batch response.

    ``kind`` is a kind of ``ParsedLine``; of a line that says nothing only its place in the stream counts.
    ``init_ms``: for so long a REPORT says that the environment came up before its run.
    """

    at: int
    order_in_ms: int
    evidence_id: str
    kind: str
    request_id: str | None = None
    duration_ms: float | None = None
    status: str | None = None
    error_type: str | None = None
    function_name: str | None = None
    is_response: bool = False
    init_ms: float | None = None
    facts: Sequence[Fact] = ()


IN_ORDER = itemgetter(slice(0, 3))


class Runs(NamedTuple):
    """The lines of a stream by run, as request id and which START of that id, and by gap those that stand in none.

    ``rivals``: by request id the requests whose batch the printed one may as well be. ``astray``: requests that were on when a line
    that named no request, and no message or one of theirs, was given to another. ``maybe_begun``: by request id the requests that may
    as well have had a message which a line without a request id begins.
    """

    lines: dict[tuple[str, int], list[Statement]]
    gaps: dict[int, list[Statement]]
    rivals: dict[str, set[str]]
    astray: set[str]
    maybe_begun: dict[str, set[str]]


def runs_of(statements: Sequence[Statement]) -> Runs:
    """Give each statement its run.

    A line with a request id belongs to that request's run; one without belongs to the run that is open: after its
    START, before its REPORT, the last of those that are; where several are seen to be on at once, to the one that has
    named its message, else to the last; a printed batch was handed to the last, unless another printed its own, and that one
    not; where several had named nothing when it was printed, it may be of any of them; a message that another has
    begun before was handed to the last, where that has named none; an error is that of the one closed next. A line that stands outside
    its run goes back to it: to the first START of its request id, 0 where no START is in evidence. Lines outside any
    open run, which means that lines are missing, belong to no neighbour: they are in gaps, by the time (ms) of the
    START or REPORT before them, 0 for none. So do a batch that is printed more than a moment behind an END without its REPORT, and
    what follows it. But an error there is that of the run that is closed next, if its START is missing, and it may have been on by then: it may have failed. So is
    one behind a run's END, whose REPORT is missing. How long a run took tells which lines are its own where its START is missing, and
    the REPORT of the run before it, too.
    """
    started = {s.request_id for s in statements if s.kind == "start"}
    starts: dict[str, int] = {}
    runs: dict[tuple[str, int], list[Statement]] = {}
    gaps: dict[int, list[Statement]] = {}
    last_started = open_id = ended_id = None
    border_ms = ended_at = 0
    errors: list[tuple[int, Statement]] = []
    given: dict[str, list[tuple[int, Statement]]] = {}
    on: dict[str, _Said] = {}
    rivals: dict[str, set[str]] = {}
    maybe_begun: dict[str, set[str]] = {}
    astray: set[str] = set()
    closes = [(place, s.request_id) for place, s in enumerate(statements) if s.kind in CLOSES]
    closed_at = {request_id: place for place, request_id in closes}
    for place, statement in enumerate(statements):
        request_id = statement.request_id
        took_ms = statement.duration_ms if statement.kind in ENDS and request_id not in started else None
        if took_ms is not None and request_id and open_id and not on:
            unclosed = runs.get((open_id, starts[open_id]), [])
            runs.setdefault((request_id, 0), []).extend(_spoken_since(statement.at - int(took_ms * 1000), unclosed))
        if (
            statement.kind == TIMEOUT_ANSWER and request_id not in started
        ):  # of a run that the open one invoked elsewhere
            statement, request_id = statement._replace(kind="app", request_id=None), None
        if request_id is None:
            is_over = open_id == ended_id and closed_at.get(open_id or "", place) < place
            if is_over and statement.at - ended_at > _MOMENT_US and _prints_batch(statement):
                open_id = None
            request_id = None if statement.kind in _ERRORS and open_id == ended_id else open_id
            if len(on) > 1 and statement.kind in _ERRORS:
                request_id = closes[bisect_left(closes, (place,))][1]
            elif len(on) > 1 and open_id in on and _prints_batch(statement):
                able = [o for o, said in on.items() if not said.has_printed and (o == open_id or not said.named)]
                request_id = able[-1] if able else open_id
                for other in able if len(able) > 1 else ():
                    rivals.setdefault(other, set()).update(able)
            elif len(on) > 1:
                at_it = _already_at(statement, on, open_id)
                if at_it is None:
                    if request_id is not None and _begun_by(statement):
                        maybe_begun.setdefault(request_id, set()).update(o for o in on if not on[o].has_printed)
                    astray.update(o for o, said in on.items() if o != request_id and _may_be_of(statement, said))
                request_id = at_it or request_id
        elif statement.kind == "start":
            starts[request_id] = starts.get(request_id, 0) + 1
            last_started = open_id = request_id
            if closed_at.get(request_id, -1) > place:
                on[request_id] = _Said()
            ended_id = None
            border_ms = statement.at // 1000
        elif statement.kind == "report":
            open_id = next((other for other in reversed(on) if other != request_id), None)
            border_ms = statement.at // 1000
        if request_id in on:
            if closed_at[request_id] == place:
                del on[request_id]
            else:
                on[request_id].hear(statement)
        if statement.kind == "end":
            ended_id, ended_at = request_id, statement.at
        if statement.kind in CLOSES or statement.kind == "start":
            if errors and request_id is not None and request_id not in started:
                for before_ms, error in errors:
                    gaps[before_ms].remove(error)
                lines = runs.get((request_id, 0), []) + [error for _, error in errors]
                runs[request_id, 0] = sorted(lines, key=IN_ORDER)
                given.setdefault(request_id, []).extend(errors)
            errors = []
        if took_ms is not None and request_id in given:
            since = statement.at - int(took_ms * 1000) - _LONGEST_INIT_US - _MOMENT_US
            for before_ms, error in given.pop(request_id):
                if error.at < since:
                    runs[request_id, 0].remove(error)
                    gaps[before_ms].append(error)
        if request_id is None:
            errors += [(border_ms, statement)] if statement.kind in _ERRORS else []
            gaps.setdefault(border_ms, []).append(statement)
            continue
        earlier = 1 if request_id in started else 0
        start_index = starts[request_id] if request_id == last_started else earlier
        runs.setdefault((request_id, start_index), []).append(statement)
    _give_cut_batches(statements, runs, gaps)
    return Runs(runs, gaps, rivals, astray, maybe_begun)


def _spoken_since(began_at: int, before: list[Statement]) -> list[Statement]:
    """Take what was said without a request id since another run began from the run before it, and return it.

    The platform writes how long a run took up to a moment behind its end: a batch that was printed so long before is the other's, too,
    if the run before had named its messages.
    """
    place = len(before)
    while place and before[place - 1].request_id is None and before[place - 1].at >= began_at - _MOMENT_US:
        place -= 1
    printed = [n for n in range(place, len(before)) if _prints_batch(before[n])]
    if printed and any(s.facts for s in before[: printed[-1]]):
        place = printed[-1]
    else:
        place = next((n for n in range(place, len(before)) if before[n].at >= began_at), len(before))
    return _taken_from(before, place)


def _give_cut_batches(
    statements: Sequence[Statement],
    runs: dict[tuple[str, int], list[Statement]],
    gaps: Mapping[int, list[Statement]],
) -> None:
    """Give a batch that stands in no run to the run without a START that speaks next, names a message of it and prints none itself.

    Its line was cut, and its request id with it.
    """
    for lines in gaps.values():
        for batch in [s for s in lines if _messages(s, "record")]:
            place = bisect_right(statements, IN_ORDER(batch), key=IN_ORDER)
            mine = runs.get((statements[place].request_id or "", 0), []) if place < len(statements) else []
            if not mine or mine[0] is not statements[place] or mine[0].at - batch.at > _MOMENT_US:
                continue
            names_mine = not _messages(batch).isdisjoint(set().union(*map(_messages, mine)))
            if names_mine and not any(_messages(s, "record") for s in mine):
                lines.remove(batch)
                mine.insert(0, batch)


def _prints_batch(statement: Statement) -> bool:
    return any(fact.role == "record" and fact.detail == WHOLE for fact in statement.facts)


class _Said:
    """Which messages and keys the lines of a run that is on have named so far, which messages they have begun, and whether they printed its batch."""

    def __init__(self) -> None:
        self.named: set[str] = set()
        self.begun: set[str] = set()
        self.has_printed = False

    def hear(self, statement: Statement) -> None:
        if messages := _messages(statement):
            self.named |= messages | _keys(statement)
            self.begun |= _begun_by(statement)
            self.has_printed = self.has_printed or _prints_batch(statement)


def _may_be_of(statement: Statement, said: _Said) -> bool:
    """Tell whether a line may speak of the work of a run that is on: it names no message, or it ends one that the run has named."""
    return any(
        fact.role in _OF_WORK if fact.message_id is None else fact.role in _DONE and fact.message_id in said.named
        for fact in statement.facts
    )


def _already_at(statement: Statement, on: Mapping[str, _Said], last: str | None) -> str | None:
    """Return the only run of several that are on whose lines have named a message of this one, which prints no event.

    A run begins each of its messages once: one that is begun again may be the ``last`` run's, if that has named none so far but others
    of the same run: it may have been handed the same batch.
    """
    if any(fact.role == "record" for fact in statement.facts):
        return None
    ids = _messages(statement) or _keys(statement)
    runs = [request_id for request_id, said in on.items() if not ids.isdisjoint(said.named)]
    if len(runs) != 1:
        return None
    of_last = on.get(last or "")
    said = on[runs[0]]
    is_begun_again = not said.begun.isdisjoint(_begun_by(statement))
    return None if is_begun_again and of_last is not None and of_last.named <= said.named else runs[0]


def _messages(statement: Statement, role: str | None = None) -> set[str]:
    """Return the messages that a line names, in any role or in one."""
    return {f.message_id for f in statement.facts if f.message_id is not None and (role is None or f.role == role)}


def _begun_by(statement: Statement) -> set[str]:
    """Return the messages that a line says to be begun or taken, and does not print."""
    return {f.message_id for f in statement.facts if f.is_of_hand and f.role != "record" and f.message_id is not None}


def _in_hand(statement: Statement) -> set[str]:
    """Return the messages that a line prints, or says to be begun or taken."""
    return {f.message_id for f in statement.facts if f.is_of_hand and f.message_id is not None}


def _keys(statement: Statement) -> set[str]:
    """Return the business keys that a line names, beside what it says of messages or alone."""
    return {f"{KEY_ITEM}{f.key}" for f in statement.facts if f.key is not None}


def parted_where_run_again(lines: Sequence[Statement]) -> list[tuple[int | None, list[Statement]]]:
    """Part the lines of one request id where it was run again and no START says so; with when each run but the first began."""
    parts: list[tuple[int | None, list[Statement]]] = []
    for piece in [lines] if any(statement.kind == "start" for statement in lines) else _by_answers(lines):
        (_, first), *others = _parted(piece)
        parts += [(piece[0].at if parts else None, first), *others]
    return parts


def _by_answers(lines: Sequence[Statement]) -> list[list[Statement]]:
    """Part the lines of one request id, of which no START says when it began, by batch responses: a run answers once.

    Another run speaks more than a moment behind the response where it says anew that a message is in hand, or names one, and answers, too.
    """
    pieces: list[list[Statement]] = [[]]
    answered_at = None
    named: set[str] = set()
    answered: set[str] = set()
    named_late: set[str] = set()
    behind = 0
    for statement in lines:
        if answered_at is not None and statement.at - answered_at > _MOMENT_US:
            if not answered.isdisjoint(named_late if statement.is_response else _in_hand(statement)):
                pieces.append(_taken_from(pieces[-1], behind))
                answered_at, named, named_late = None, named_late, set()
            named_late = named_late | _messages(statement)
        else:
            behind = len(pieces[-1]) + 1
        pieces[-1].append(statement)
        named |= _messages(statement)
        if statement.is_response:
            answered_at, answered, named_late, behind = statement.at, {*named}, set(), len(pieces[-1])
    return pieces


def _parted(lines: Sequence[Statement]) -> list[tuple[int | None, list[Statement]]]:
    """Part lines by what is printed, begun and closed.

    A run has one batch, and is closed once. Another is printed where the run before was closed, or had raised more than a moment before, or where a message of that one
    stands under another receipt handle or count; behind a close another has begun where a message is begun once more, or where a
    process still speaks that was stopped more than a moment before; and what stands between a close and the next of its kind at
    a later time is another run's. What stands behind the close is of the new run, which began when its batch was printed, else
    with its first line. So is, more than a moment behind the response, what begins a message once more; and what stands more than a
    moment before the START, and is of a run whose own START is lost.
    """
    started = next((n for n, statement in enumerate(lines, 1) if statement.kind == "start"), 0)
    began_at = lines[started - 1].at if started else lines[0].at
    before = sum(statement.at < began_at - _MOMENT_US for statement in lines[:started])
    parts = parted_where_run_again(lines[:before]) if before else []
    parts.append((None, [*lines[before:started]]))  # what stands just before its START is of that run, too
    shown = {f.message_id: f for statement in lines[before:started] for f in statement.facts if f.role == "record"}
    closed = answered = 0
    answered_at = began_at
    closed_by: dict[str, tuple[int, int]] = {}
    begun: set[str] = set()
    stopped_at = raised_at = None
    for statement in lines[started:]:
        records = [f for f in statement.facts if f.role == "record"]
        part = parts[-1][1]
        is_printed_anew = any(_is_received_anew(f, shown.get(f.message_id)) for f in records)
        begins = _messages(statement, "started")
        is_of_other = not begun.isdisjoint(begins) or (
            stopped_at is not None and statement.at - stopped_at > _MOMENT_US and statement.kind not in MARKS
        )
        is_after_raise = bool(records) and raised_at is not None and statement.at - raised_at > _MOMENT_US
        is_after_answer = answered and statement.at - answered_at > _MOMENT_US and not begun.isdisjoint(begins)
        is_anew = is_after_raise or (bool(records and shown) and bool(closed or is_printed_anew))
        if is_anew or (closed and is_of_other) or is_after_answer:
            raised_at = None
            parts.append((statement.at, _taken_from(part, closed or answered or len(part))))
            shown, closed, closed_by, begun, stopped_at = {}, 0, {}, _begun_in(parts[-1][1]), None
            answered = 0
        elif statement.at > closed_by.get(statement.kind, (statement.at, 0))[0]:
            behind = max(place for _, place in closed_by.values())
            if behind < len(part):
                parts.append((part[behind].at, _taken_from(part, behind)))
                shown, closed_by, begun, stopped_at = {}, {}, _begun_in(parts[-1][1]), None
                answered = max(0, answered - behind)
        shown.update((f.message_id, f) for f in records)
        begun |= begins
        stopped_at = statement.at if _stops(statement) else stopped_at
        part = parts[-1][1]
        part.append(statement)
        if statement.is_response:
            answered, answered_at = len(part), statement.at
        raised_at = statement.at if statement.kind == "unhandled_error" else raised_at
        if statement.kind in CLOSES or (closed and statement.kind in MARKS):
            closed = len(part)
        if statement.kind in CLOSES:
            closed_by[statement.kind] = statement.at, closed
    return parts


def _begun_in(part: Sequence[Statement]) -> set[str]:
    return set().union(*(_messages(statement, "started") for statement in part))


def _stops(statement: Statement) -> bool:
    """Tell whether a line says that the process was stopped: what it began is not gone on with."""
    return statement.kind in ("timeout", "runtime_error") or statement.status == "timeout"


def _taken_from(part: list[Statement], place: int) -> list[Statement]:
    left = part[place:]
    del part[place:]
    return left


def _is_received_anew(record: Fact, before: Fact | None) -> bool:
    """Tell whether a message was printed of another receive than before."""
    if before is None:
        return False
    handles = (record.receipt_handle, before.receipt_handle)
    counts = {record.receive_count, before.receive_count} - {None}
    return len(counts) > 1 or (None not in handles and len({handle_prefix(h) for h in handles if h}) > 1)
