"""Lines of one log stream to invocations: which run each line belongs to, and what a run's lines say together."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

from forensics.parsers import parse_line
from forensics.parsers.error_lines import is_error_line
from forensics.parsers.grammar import Pattern
from forensics.parsers.line import TIMEOUT_ANSWER, ParsedLine
from forensics.settings import Consumer
from forensics.streams.beside import leave_open, mark_behind, mark_beside_others
from forensics.streams.business_keys import BusinessKeys
from forensics.streams.deliveries import prints_whole_batch
from forensics.streams.facts import facts_of
from forensics.streams.gap_parts import parts_of
from forensics.streams.groups import LAMBDA_STREAM
from forensics.streams.model import ERROR, LONGEST_DETAIL, REPEAT, Fact, Invocation, LogGroup, LogLine
from forensics.streams.once import statements_once
from forensics.streams.repeats import is_asked, reads_as_repeat, repeat_of
from forensics.streams.runs import CLOSES, ENDS, IN_ORDER, MARKS, Statement, parted_where_run_again, runs_of

INIT_ERRORS = (
    "Runtime.ImportModuleError",
    "Runtime.HandlerNotFound",
    "Runtime.InvalidEntrypoint",
    "Runtime.BadFunctionCode",
    "Runtime.UserCodeSyntaxError",
)
"""Error types of a run whose handler never began."""

_PLATFORM_ERROR = Pattern("platform_error", r"^(?:Runtime|Sandbox|Extension|Lambda)\.[A-Z][A-Za-z0-9]*+(?![\s\S])")
"""Error types of Lambda itself: the runtime died. Any other is the handler's own, with or without Function. in front."""

_TIMEOUT, _CRASH, _ERROR, _UNNAMED_ERROR, _SUCCESS, _LOGGED_ERROR, _PLAIN_REPORT, _NOTHING = range(7, -1, -1)
"""How much a line says of the run's end; the highest decides, and what is said of failure comes first: a platform event
says success of an exception that the runtime caught and reported. An error line that an application may have written is
less than a success, yet leaves it open (``_end_status``). A timeout line can stand beside any of them."""


UNSAID = "unsaid"
"""The order of a consumer of which nobody declares one."""


class FunctionsInForce(Protocol):
    """What ``SettingsInForce`` answers about functions."""

    def function(self, function_name: str | None, at: int | None) -> Mapping[str, Any] | None:
        """Return a function's settings in force at a moment (µs)."""


def invocations_of(
    lines: Iterable[LogLine], log_stream: str, group: LogGroup, in_force: FunctionsInForce, keys: BusinessKeys
) -> list[Invocation]:
    """Return the invocations that the lines of one stream of a Lambda function tell of."""
    return assembled(statements_of(lines, group, keys), log_stream, group, in_force)


def statements_of(lines: Iterable[LogLine], group: LogGroup, keys: BusinessKeys) -> list[Statement]:
    """Read each line."""
    key_of, asks_repeats = keys.in_group(group.queue_name), is_asked(group.consumer)
    statements = []
    for line in lines:
        said = parse_line(line.line, group.consumer, group.name)
        facts = facts_of(said, line.at, line.evidence_id, key_of, with_bodies=True)
        if said.kind == "unhandled_error" or is_error_line(said, line.line):
            facts.append(Fact(ERROR, line.at, line.evidence_id, detail=line.line[:LONGEST_DETAIL]))
        if asks_repeats and reads_as_repeat(said, line.line):
            facts.append(repeat_of(line.line, line.at, line.evidence_id))
        statements.append(
            Statement(
                line.at,
                line.order_in_ms,
                line.evidence_id,
                said.kind,
                said.request_id,
                said.duration_ms,
                said.status,
                said.error_type,
                said.function_name,
                said.batch_item_failures is not None,
                said.init_ms,
                facts,
            )
        )
    return statements


def assembled(
    statements: Iterable[Statement], log_stream: str, group: LogGroup, in_force: FunctionsInForce
) -> list[Invocation]:
    """Fold the statements of one stream, in whatever order they come, to its invocations.

    Lines in no run that say nothing of a message make none.
    """
    runs = runs_of(statements_once(sorted(statements, key=IN_ORDER)))
    maker = _Maker(log_stream, group, in_force)
    found = []
    for (request_id, start_index), lines in runs.lines.items():
        for began_at, part in parted_where_run_again(lines):
            has_start = any(s.kind == "start" and s.request_id for s in part)
            found.append(maker.run(request_id, start_index if has_start else 0, part, began_at))
    same: dict[str, int] = {}
    for invocation in found:  # one request id begun twice in one ms
        name = invocation.invocation_id
        same[name] = same.get(name, 0) + 1
        if same[name] > 1:
            invocation.invocation_id = f"{name}.{same[name]}"
    mark_beside_others(found)
    mark_behind(found)
    leave_open(found, runs.rivals, runs.astray, runs.maybe_begun)
    for border_ms, lines in runs.gaps.items():
        found += _of_gap(border_ms, lines, group.silence_ms, maker) if lines else []
    return found


class _Maker:
    """Makes the invocations of one stream."""

    def __init__(self, log_stream: str, group: LogGroup, in_force: FunctionsInForce) -> None:
        self._log_stream, self._group, self._in_force = log_stream, group, in_force
        self._function_name = group.function_name
        self._is_named = LAMBDA_STREAM.compiled.search(log_stream) is not None and self._function_name is not None

    def run(
        self, request_id: str, start_index: int, lines: Sequence[Statement], began_at: int | None = None
    ) -> Invocation:
        """Return what a run's lines, in order, say together; ``began_at`` names one of which only its batch shows that it began."""
        starts = [s.at for s in lines if s.kind == "start" and s.request_id]
        closed = [s.at for s in lines if s.kind in CLOSES]
        durations = [s.duration_ms for s in lines if s.kind == "report" and s.duration_ms is not None]
        names = [s.function_name for s in lines if s.function_name is not None]
        ends = [(end_said(s), s.error_type) for s in lines if s.kind in MARKS or s.status is not None]
        said = max([said for said, _ in ends], default=_NOTHING)
        errors = [error for how, error in ends if how == said and error is not None and how in _FAILURES]
        invocation = self._invocation(
            request_id, start_index, lines[0].at, lines[-1].at, starts[0] if starts else None, began_at
        )
        if not self._is_named:  # lines may speak of other functions
            invocation.function_name = max(names, default=self._function_name)
        invocation.duration_ms = max(durations, default=None)
        reports = [s.init_ms or 0.0 for s in lines if s.kind == "report"]
        invocation.init_ms = int(max(reports)) if reports else None
        invocation.ended_at = closed[-1] if closed else None
        invocation.error_type = max(errors, default=None)
        invocation.has_response = any(s.is_response for s in lines)
        invocation.any_line_id = min(s.evidence_id for s in lines)
        own = request_id.lower()  # "record 1f2e…": whoever prints the request's id names no message
        invocation.facts = [f for s in lines if s.facts for f in s.facts if f.role != "mention" or f.message_id != own]
        invocation.mark_ids = [s.evidence_id for s in lines if s.kind in MARKS]
        invocation.end_status = self._end_status(invocation, said, _may_have_raised(lines))
        if invocation.end_status == "init_failed":  # in vain: its REPORT tells of none
            invocation.init_ms = None
        return invocation

    def part(self, request_id: str, facts: list[Fact]) -> Invocation:
        """Return facts that stand in no run as an invocation of which nothing else is known."""
        times = [fact.at for fact in facts]
        invocation = self._invocation(request_id, 0, min(times), max(times))
        invocation.any_line_id = min(fact.evidence_id for fact in facts)
        invocation.facts = facts
        return invocation

    def _invocation(
        self,
        request_id: str,
        start_index: int,
        first_line_at: int,
        last_line_at: int,
        start_at: int | None = None,
        began_at: int | None = None,
    ) -> Invocation:
        named_at = (began_at or 0) if start_at is None else start_at
        return Invocation(
            invocation_id=f"{self._group.name}|{self._log_stream}|{request_id}|{named_at // 1000}",
            log_group=self._group.name,
            log_stream=self._log_stream,
            request_id=request_id,
            start_index=start_index,
            function_name=self._function_name,
            start_at=start_at,
            first_line_at=first_line_at,
            last_line_at=last_line_at,
            ended_at=None,
            duration_ms=None,
            end_status="unknown",
            error_type=None,
            has_response=False,
            any_line_id="",
            order=self._group.consumer.order,
        )

    def _end_status(self, invocation: Invocation, said: int, is_doubtful: bool) -> str:
        """Return how a run ended: success, timeout, error, crash, init_failed or unknown.

        A REPORT without status is a success only below the function's timeout: older functions overran it, and a run that
        took exactly that long may have lost its timeout line. A success that a platform event reports is one unless a line
        may be the runtime's own exception (``is_doubtful``), or that line would not be in the log.
        """
        if said == _CRASH and invocation.error_type in INIT_ERRORS:
            return "init_failed"
        if said in (_SUCCESS, _PLAIN_REPORT):
            settings = self._in_force.function(invocation.function_name, invocation.started_at) or {}
            if said == _SUCCESS:
                return "unknown" if is_doubtful or _hides_exceptions(settings) else "success"
            timeout_s = settings.get("timeout_s")
            if timeout_s is None or invocation.duration_ms is None or invocation.duration_ms < timeout_s * 1000:
                return "success"
            return "timeout" if invocation.duration_ms > timeout_s * 1000 else "unknown"
        if said == _LOGGED_ERROR and invocation.duration_ms is None:
            return "unknown"
        return ENDED[said]


def _may_have_raised(lines: Sequence[Statement]) -> bool:
    """Tell whether a line may be the runtime's own exception; a handler that printed its response after it went on."""
    answered = max((place for place, s in enumerate(lines) if s.is_response), default=-1)
    return any(s.kind == "logged_error" for s in lines[answered + 1 :])


def _hides_exceptions(settings: Mapping[str, Any]) -> bool:
    """Tell whether a function's log level keeps the runtime's own exception lines out of its log.

    Python's was written without the level by which lines are let through: any level above INFO may drop it.
    """
    level = settings.get("application_log_level")
    if level == "FATAL":
        return True
    return level in ("WARN", "ERROR") and str(settings.get("runtime")).startswith("python")


_FAILURES = frozenset({_CRASH, _ERROR, _UNNAMED_ERROR, _LOGGED_ERROR})
ENDED = {
    _TIMEOUT: "timeout",
    _CRASH: "crash",
    _ERROR: "error",
    _UNNAMED_ERROR: "crash",
    _LOGGED_ERROR: "error",
    _NOTHING: "unknown",
}


def end_said(statement: Statement | ParsedLine) -> int:
    """Return how much a line says of its run's end; of a run's lines the highest decides, as ``ENDED`` says."""
    kind, status = statement.kind, statement.status
    if kind in ("timeout", TIMEOUT_ANSWER) or status == "timeout":
        return _TIMEOUT
    if kind == "runtime_error":
        return _CRASH
    if status == "error" and statement.error_type == "Sandbox.Timedout":
        return _TIMEOUT
    is_platforms = _PLATFORM_ERROR.compiled.search(statement.error_type or "") is not None
    if kind == "unhandled_error":
        return _CRASH if is_platforms else _ERROR
    if kind == "logged_error":
        return _LOGGED_ERROR
    if kind not in ENDS:
        return _NOTHING
    if status in ("error", "failure"):
        if is_platforms:
            return _CRASH
        return _UNNAMED_ERROR if status == "error" and statement.error_type is None else _ERROR
    if status is None:
        return _PLAIN_REPORT if kind == "report" else _NOTHING
    return _SUCCESS if status == "success" else _NOTHING


def _of_gap(border_ms: int, lines: Sequence[Statement], silence_ms: int, maker: _Maker) -> list[Invocation]:
    """Part lines that stand in no run: who printed no START (log level WARN) would else seem to have run once.

    How such a run ended nothing tells, and so nothing what an error in it meant, or words for a repeat.
    """
    lines = [s._replace(facts=[f for f in s.facts if f.role not in (ERROR, REPEAT)]) for s in lines]
    if not any(s.facts for s in lines):
        return []
    if lines[0].at == lines[-1].at:
        return [maker.run(f"?{border_ms}.{lines[0].at // 1000}", 0, lines)]
    parts = parts_of(lines, silence_ms)
    return [maker.part(f"?{border_ms}.{opened}", facts) for opened, facts in parts.items()]


def invocation_row(invocation: Invocation, group: LogGroup) -> dict[str, Any]:
    """Return the row of the invocations table; times in µs.

    It rests on its platform lines; where there are none on those its messages were found in, else on one that names it.
    """
    facts = invocation.facts
    named = {f.message_id for f in facts if f.message_id is not None and f.role != "failure"}
    printed_arn = next((f.queue_arn for f in facts if f.queue_arn is not None), None)
    evidence = invocation.mark_ids or {f.evidence_id for f in facts} or [invocation.any_line_id]
    return {
        "invocation_id": invocation.invocation_id,
        "log_group": invocation.log_group,
        "log_stream": invocation.log_stream,
        "request_id": invocation.request_id,
        "start_index": invocation.start_index,
        "function_name": invocation.function_name,
        "queue_arn": printed_arn or group.queue_arn,
        "started_at": invocation.started_at,
        "ended_at": invocation.ended_at,
        "duration_ms": None if invocation.duration_ms is None else int(invocation.duration_ms),
        "end_status": invocation.end_status,
        "error_type": invocation.error_type,
        "has_start": invocation.start_at is not None,
        "message_count": len(named),
        "evidence_ids": sorted(evidence),
    }


def lines_row(invocation: Invocation, group: LogGroup) -> dict[str, Any]:
    """Return what the lines of an invocation show of its messages, for what is counted of its log; times in µs.

    ``in_hand_count``: so many messages its lines say it had; ``order_if_all_shown``: see ``order_if_all_work_is_shown``.
    """
    facts = invocation.facts
    roles = {fact.role for fact in facts}
    return {
        "names_items": any(f.role != "failure" and f.item_id is not None for f in facts),
        "shows_records": "record" in roles,
        "shows_batch": prints_whole_batch(facts),
        "in_hand_count": len({f.message_id for f in facts if f.is_of_hand} - {None}),
        "order_if_all_shown": _order_if_all_work_is_shown(invocation, group.consumer),
        "shows_counts": any(f.receive_count is not None for f in facts),
        "shows_starts": "started" in roles,
        "begins_items": any(f.role == "started" and f.message_id is not None for f in facts),
        "shows_effects": "effect" in roles,
        "has_response": invocation.has_response,
        "has_guard_line": "idempotency" in roles,
        "first_mark_id": next(iter(invocation.mark_ids), None),
        "first_line_at": invocation.first_line_at,
        "last_line_at": invocation.last_line_at,
    }


def _order_if_all_work_is_shown(invocation: Invocation, consumer: Consumer) -> str | None:
    """Return ``order_if_all_work_is_shown`` of an invocation that does not print its batch, which would tell more.

    An effect line that names only a key may be any message's, and an error may stand in place of one.
    """
    facts = invocation.facts
    if invocation.end_status != "success" or prints_whole_batch(facts):
        return None
    if any(fact.role == ERROR or (fact.role == "effect" and fact.message_id is None) for fact in facts):
        return None
    return order_if_all_work_is_shown(consumer)


def order_if_all_work_is_shown(consumer: Consumer) -> str | None:
    """Return the order of a consumer whose runs that succeed print every effect, UNSAID if it is not declared; None of any other.

    What such a run does not name, it did not do: but where it takes its batch side by side work may go on behind its end.
    """
    if not consumer.effect or not consumer.effect_is_exhaustive or consumer.order == "parallel":
        return None
    return consumer.order or UNSAID
