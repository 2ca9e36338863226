"""Which run a line belongs to, how runs end, and what becomes of lines that stand in no run."""

import random
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forensics.parsers.line import NO_STATUS
from forensics.streams.business_keys import BusinessKeys
from forensics.streams.deliveries import deliveries_of
from forensics.streams.invocations import assembled, invocation_row, invocations_of
from forensics.streams.model import TAKEN, WHOLE, Fact, LogGroup, LogLine
from forensics.streams.once import statements_once
from forensics.streams.runs import Statement
from forensics.tables.findings import INVOCATIONS

GROUP = LogGroup(
    "/aws/lambda/charge", "lambda", "charge", queue_arn="arn:aws:sqs:eu-west-1:123456789012:orders", silence_ms=1_000
)
A, B = "3f2504e0-4f89-41d3-9a0c-0305e82c3301", "3f2504e0-4f89-41d3-9a0c-0305e82c3302"


class Limit:
    """Settings in force that know one function's timeout, or none."""

    def __init__(self, timeout_s=3):
        self.timeout_s = timeout_s

    def function(self, function_name, at):
        return {"timeout_s": self.timeout_s} if function_name == "charge" else None


def stream(*lines, silence_ms=1_000):
    """Lines as (ms, kind, request id or None, facts...) to statements in order.

    Of kind "answer" is one with a batch response, of kind "report of 500" one that says that its run took so many ms.
    """
    statements = []
    for number, (ms, says, request_id, *facts) in enumerate(lines):
        kind, _, took_ms = says.partition(" of ")
        at, evidence_id = ms * 1000, f"e-{number}"
        stated = [Fact(role, at, evidence_id, message_id, **more) for role, message_id, more in facts]
        said = ("app", True) if kind == "answer" else (kind, False)
        more = {"is_response": said[1], "duration_ms": float(took_ms) if took_ms else None}
        statements.append(Statement(at, number, evidence_id, said[0], request_id, facts=stated, **more))
    return statements


def mention(message_id):
    return ("mention", message_id, {})


def taken(message_id):
    return ("mention", message_id, {"detail": TAKEN})


def record(message_id, handle="h-1"):
    return ("record", message_id, {"receipt_handle": handle})


def batch(message_id, key=None):
    return ("record", message_id, {"receipt_handle": "h-1", "detail": WHOLE, "key": key})


def begun(message_id):
    return ("started", message_id, {})


def effect(message_id, key=None):
    return ("effect", message_id, {"key": key})


def by_key(key):
    return ("effect", None, {"key": key})


def runs(*lines, silence_ms=1_000):
    """What was made of the lines: request id and index of each run to the messages or keys it names."""
    found = assembled(stream(*lines), "s", replace(GROUP, silence_ms=silence_ms), Limit())
    return {(i.request_id, i.start_index): [f.item_id for f in i.facts] for i in found}


WHERE = {
    "after its START, without a request id": (
        [(1, "start", A), (2, "app", None, mention("m"))],
        {(A, 1): ["m"]},
    ),
    "by its request id, whichever run is open": (
        [
            (1, "start", A),
            (2, "report", A),
            (3, "start", B),
            (4, "app", A, mention("late")),
            (5, "app", B, mention("m")),
        ],
        {(A, 1): ["late"], (B, 1): ["m"]},
    ),
    "before its START": (
        [(1, "app", A, mention("early")), (2, "start", A), (3, "app", None, mention("m"))],
        {(A, 1): ["early", "m"]},
    ),
    "after its REPORT, with its request id": (
        [(1, "start", A), (2, "report", A), (3, "app", A, mention("late"))],
        {(A, 1): ["late"]},
    ),
    "of a run whose START is missing": (
        [(1, "app", A, mention("m")), (2, "report", A)],
        {(A, 0): ["m"]},
    ),
    "of the second attempt under the same request id": (
        [(1, "start", A), (2, "app", A, mention("m")), (3, "start", A), (4, "app", A, mention("m")), (5, "app", None)],
        {(A, 1): ["m"], (A, 2): ["m"]},
    ),
    "late, after two attempts and another run: the first": (
        [(1, "start", A), (2, "start", A), (3, "start", B), (4, "app", A, mention("m"))],
        {(A, 1): ["m"], (A, 2): [], (B, 1): []},
    ),
    "of another attempt whose START is missing: what was closed is closed again later": (
        [
            (1, "start", A),
            (2, "app", A, mention("m")),
            (3, "end", A),
            (3, "report", A),
            (8, "app", A, mention("m")),
            (9, "end", A),
            (9, "report", A),
        ],
        {(A, 1): ["m"], (A, 0): ["m"]},
    ),
    "of another attempt whose START is missing, as is the REPORT of the first": (
        [
            (1, "start", A),
            (2, "app", A, mention("m")),
            (3, "end", A),
            (8, "app", A, mention("n")),
            (9, "end", A),
            (9, "report", A),
        ],
        {(A, 1): ["m"], (A, 0): ["n"]},
    ),
    "without a START that speaks next and names a message of the batch": (
        [(1, "app", None, record("m"), record("n")), (1_001, "app", A, begun("n")), (1_002, "app", A, begun("m"))],
        {(A, 0): ["m", "n", "n", "m"]},
    ),
    "that was on by what its REPORT says it took, where its START is missing and the REPORT of the run before it": (
        [
            *((1, "start", A), (2, "app", None, mention("m")), (99, "app", None, mention("n"))),
            *((100, "app", None, mention("m")), (600, "report of 500", B)),
        ],
        {(A, 1): ["m", "n"], (B, 0): ["m"]},
    ),
    "that was on by its own end, where what it says of itself comes first": (
        [
            *((1, "start", A), (2, "app", None, begun("m")), (200, "app", None, begun("m"))),
            *((600, "runtime_done of 500", B), (601, "report of 500", B)),
        ],
        {(A, 1): ["m"], (B, 0): ["m"]},
    ),
    "that was on so, with the batch that it printed up to a moment before": (
        [
            *((1, "start", A), (2, "app", None, batch("m")), (3, "app", None, batch("m"))),
            *((1_000, "app", None, begun("m")), (1_503, "report of 500", B)),
        ],
        {(A, 1): ["m"], (B, 0): ["m", "m"]},
    ),
    "before it, where a batch was printed earlier than that": (
        [
            *((1, "start", A), (2, "app", None, batch("m")), (3, "app", None, batch("n"))),
            *((1_004, "app", None, begun("m")), (1_504, "report of 500", B)),
        ],
        {(A, 1): ["m", "n"], (B, 0): ["m"]},
    ),
    "before it, where that has named nothing and prints its batch so late": (
        [(1, "start", A), (2, "app", None, batch("m")), (9, "app", None, begun("m")), (508, "report of 499", B)],
        {(A, 1): ["m"], (B, 0): ["m"]},
    ),
    "before it by its request id, however late": (
        [(1, "start", A), (700, "app", A, mention("m")), (900, "report of 500", B)],
        {(A, 1): ["m"], (B, 0): []},
    ),
    "that is closed next, where the one before it is over": (
        [(1, "start", A), (2, "end", A), (700, "app", None, mention("m")), (900, "report of 500", B)],
        {(A, 1): [], (B, 0): ["m"]},
    ),
    "that is closed next, where the one before it is over without its REPORT": (
        [
            *((1, "start", A), (2, "app", None, batch("m")), (3, "end", A)),
            *(
                (700, "app", None, batch("m")),
                (701, "app", None, effect("m")),
                (900, "end", B),
                (901, "report of 201", B),
            ),
        ],
        {(A, 1): ["m"], (B, 0): ["m", "m"]},
    ),
    "before it, which is over, if the other had not begun": (
        [(1, "start", A), (2, "end", A), (399, "app", None, mention("m")), (900, "report of 500", B)],
        {(A, 1): ["m"], (B, 0): []},
    ),
    "before it, where the other has a START elsewhere": (
        [(1, "start", A), (700, "app", None, mention("m")), (900, "report of 500", B), (901, "start", B)],
        {(A, 1): ["m"], (B, 1): []},
    ),
    "that is on, where another was on with it": (
        [
            *((1, "start", B), (2, "start", A), (700, "app", None, mention("m"))),
            *((900, "report of 500", "3f2504e0-4f89-41d3-9a0c-0305e82c3303"), (901, "report", B)),
        ],
        {(B, 1): [], (A, 1): ["m"], ("3f2504e0-4f89-41d3-9a0c-0305e82c3303", 0): []},
    ),
    "of nobody, where a batch is printed, and who speaks next names another message": (
        [(1, "app", None, record("m")), (2, "app", A, begun("n"))],
        {(A, 0): ["n"], ("?0.1", 0): ["m"]},
    ),
    "of nobody, where he speaks a second later": (
        [(1, "app", None, record("m")), (1_002, "app", A, begun("m"))],
        {(A, 0): ["m"], ("?0.1", 0): ["m"]},
    ),
    "of nobody, where he prints a batch of his own": (
        [(1, "app", None, record("m")), (2, "app", A, record("m"))],
        {(A, 0): ["m"], ("?0.1", 0): ["m"]},
    ),
    "of nobody, where he has spoken before": (
        [(1, "app", A, mention("m")), (2, "app", None, record("m")), (3, "app", A, begun("m"))],
        {(A, 0): ["m", "m"], ("?0.2", 0): ["m"]},
    ),
    "of nobody, where he has a START": (
        [(1, "app", None, record("m")), (2, "start", A), (3, "app", A, begun("m"))],
        {(A, 1): ["m"], ("?0.1", 0): ["m"]},
    ),
    "of nobody, where nobody speaks behind it": (
        [(1, "app", A, begun("m")), (2, "app", None, record("m"))],
        {(A, 0): ["m"], ("?0.2", 0): ["m"]},
    ),
    "of nobody, where its batch is printed long behind an END without its REPORT": (
        [
            *((1, "start", A), (2, "app", None, mention("m")), (3, "end", A)),
            *((1_004, "app", None, batch("n")), (1_005, "app", None, begun("n"))),
        ],
        {(A, 1): ["m"], ("?1.1004", 0): ["n", "n"]},
    ),
    "that has ended, where its batch is printed within a moment of the END, or its REPORT comes behind": (
        [
            *((1, "start", A), (3, "end", A), (1_003, "app", None, batch("m"))),
            *((2_000, "start", B), (2_001, "end", B), (3_900, "app", None, batch("n")), (3_901, "report", B)),
        ],
        {(A, 1): ["m"], (B, 1): ["n"]},
    ),
    "that has ended, where another line stands behind the END": (
        [(1, "start", A), (3, "end", A), (1_500, "app", None, mention("m"))],
        {(A, 1): ["m"]},
    ),
    "that is closed, whose END is written behind its REPORT": (
        [(1, "start", A), (2, "app", A, mention("m")), (3, "report", A), (4, "app", A, mention("n")), (5, "end", A)],
        {(A, 1): ["m", "n"]},
    ),
    "that is closed twice with nothing between: nothing else was run": (
        [(1, "start", A), (2, "app", A, mention("m")), (3, "report", A), (9, "report", A)],
        {(A, 1): ["m"]},
    ),
    "of two that are on at once, without a request id: the one that has named the message": (
        [
            (1, "start", A),
            (2, "app", None, mention("m")),
            (3, "start", B),
            (4, "app", None, mention("m")),
            (5, "app", None, mention("n")),
            (6, "report", A),
            (7, "report", B),
        ],
        {(A, 1): ["m", "m"], (B, 1): ["n"]},
    ),
    "of two that are on at once, a message that the first has begun already: the last, which has named none": (
        [
            (1, "start", A),
            (2, "app", None, begun("m")),
            (3, "start", B),
            (4, "app", None, begun("m")),
            (5, "app", None, mention("n")),
            (6, "report", A),
            (7, "report", B),
        ],
        {(A, 1): ["m"], (B, 1): ["m", "n"]},
    ),
    "of two that are on at once, a message that the first has begun already: that one, where the last has named its own": (
        [
            (1, "start", A),
            (2, "app", None, begun("m")),
            (3, "start", B),
            (4, "app", None, begun("n")),
            (5, "app", None, begun("m")),
            (6, "report", A),
            (7, "report", B),
        ],
        {(A, 1): ["m", "m"], (B, 1): ["n"]},
    ),
    "of two that are on at once, messages that the first has taken already: the last, which was handed the same batch": (
        [
            (1, "start", A),
            (2, "app", None, taken("m")),
            (2, "app", None, taken("n")),
            (3, "start", B),
            (4, "app", None, taken("m")),
            (4, "app", None, taken("n")),
            (5, "report", A),
            (6, "report", B),
        ],
        {(A, 1): ["m", "n"], (B, 1): ["m", "n"]},
    ),
    "of two that are on at once, a message that the first has only named: that one": (
        [
            (1, "start", A),
            (2, "app", None, mention("m")),
            (3, "start", B),
            (4, "app", None, begun("m")),
            (5, "report", A),
            (6, "report", B),
        ],
        {(A, 1): ["m", "m"], (B, 1): []},
    ),
    "of two that are on at once, an error without a request id: the one that is closed next": (
        [
            (1, "start", A),
            (2, "start", B),
            (3, "unhandled_error", None, mention("m")),
            (4, "end", A),
            (4, "report", A),
            (5, "logged_error", None, mention("n")),
            (6, "report", B),
        ],
        {(A, 1): ["m"], (B, 1): ["n"]},
    ),
    "of two, where no end of the first is seen: the last": (
        [
            (1, "start", A),
            (2, "app", None, mention("m")),
            (3, "start", B),
            (4, "app", None, mention("m")),
            (5, "report", B),
        ],
        {(A, 1): ["m"], (B, 1): ["m"]},
    ),
    "of two that are on at once, a printed event: the last, whoever named its messages before": (
        [
            (1, "start", A),
            (2, "app", None, mention("m")),
            (3, "start", B),
            (4, "app", None, record("m")),
            (5, "report", A),
            (6, "report", B),
        ],
        {(A, 1): ["m"], (B, 1): ["m"]},
    ),
    "of two that are on at once, a printed batch: the other, where the last printed its own": (
        [
            (1, "start", A),
            (2, "start", B),
            (3, "app", None, batch("m")),
            (4, "app", None, batch("n")),
            (5, "report", B),
            (6, "report", A),
        ],
        {(A, 1): ["n"], (B, 1): ["m"]},
    ),
    "of two that are on at once, a printed batch: the last, where that only named its message": (
        [
            (1, "start", A),
            (2, "start", B),
            (3, "app", None, mention("m")),
            (4, "app", None, batch("m")),
            (5, "report", B),
            (6, "report", A),
        ],
        {(A, 1): [], (B, 1): ["m", "m"]},
    ),
    "of two that are on at once, with a business key alone: the one whose batch has it": (
        [
            (1, "start", A),
            (2, "app", None, batch("m", "k")),
            (3, "start", B),
            (4, "app", None, batch("n", "l")),
            (5, "app", None, by_key("k")),
            (6, "report", A),
            (7, "report", B),
        ],
        {(A, 1): ["m", "key:k"], (B, 1): ["n"]},
    ),
    "after a REPORT, without a request id: in no run": (
        [(1, "start", A), (2, "report", A), (3, "app", None, mention("m"))],
        {(A, 1): [], ("?2.3", 0): ["m"]},
    ),
    "before anything began: in no run": (
        [(3, "app", None, mention("m")), (4, "start", A)],
        {("?0.3", 0): ["m"], (A, 1): []},
    ),
    "the request's own id names no message": (
        [(1, "start", A), (2, "app", None, mention(A)), (3, "app", None, mention("m"))],
        {(A, 1): ["m"]},
    ),
    "in which it was printed, although it answers for a run elsewhere": (
        [(1, "start", A), (2, "timeout_answer", B, mention("m")), (3, "report", A)],
        {(A, 1): ["m"]},
    ),
    "for which it answers": (
        [(1, "start", A), (2, "report", A), (3, "start", B), (4, "timeout_answer", A, mention("m"))],
        {(A, 1): ["m"], (B, 1): []},
    ),
    "in no run, and saying nothing: nothing": ([(1, "app", None), (2, "init_start", None)], {}),
}


@pytest.mark.parametrize(("lines", "expected"), WHERE.values(), ids=WHERE)
def test_a_line_belongs_to_the_run(lines, expected):
    assert runs(*lines) == expected


PARTED = {
    "a message that is spoken of all the time": (
        [(0, "app", None, mention("m")), (900, "app", None, mention("m")), (1_900, "app", None, mention("m"))],
        {"?0.0": ["m", "m", "m"]},
    ),
    "a message that was silent for longer than a run can take": (
        [(0, "app", None, mention("m")), (1_000, "app", None, mention("m")), (2_001, "app", None, mention("m"))],
        {"?0.0": ["m", "m"], "?0.2001": ["m"]},
    ),
    "a message printed again under the same receipt handle": (
        [(0, "app", None, record("m")), (5, "app", None, record("m"))],
        {"?0.0": ["m", "m"]},
    ),
    "a message printed under another receipt handle": (
        [(0, "app", None, record("m")), (5, "app", None, record("m", "h-2")), (6, "app", None, mention("m"))],
        {"?0.0": ["m"], "?0.5": ["m", "m"]},
    ),
    "a message printed twice without a receipt handle": (
        [(0, "app", None, record("m", None)), (5, "app", None, record("m", None))],
        {"?0.0": ["m"], "?0.5": ["m"]},
    ),
    "a message named before it is printed": (
        [(0, "app", None, mention("m")), (5, "app", None, record("m"))],
        {"?0.0": ["m"], "?0.5": ["m"]},
    ),
    "a batch, printed at once": (
        [(0, "app", None, record("m"), record("n")), (5, "app", None, mention("n")), (6, "app", None, mention("m"))],
        {"?0.0": ["m", "n", "n", "m"]},
    ),
    "a message whose work is told once more, more than a moment later: taken by another run, perhaps": (
        [*((at, "app", None, effect("m")) for at in (0, 1_000, 2_001)), (2_002, "app", None, mention("m"))],
        {"?0.0": ["m", "m"], "?0.2001": ["m", "m"]},
    ),
    "a message begun once more, more than a moment later: taken by another run, perhaps": (
        [*((at, "app", None, begun("m")) for at in (0, 1_000, 2_001)), (2_002, "app", None, mention("m"))],
        {"?0.0": ["m", "m"], "?0.2001": ["m", "m"]},
    ),
    "a message begun by one line, and done by another so much later: of the same run": (
        [(0, "app", None, begun("m")), (900, "app", None, mention("m")), (1_800, "app", None, effect("m"))],
        {"?0.0": ["m", "m", "m"]},
    ),
    "a message whose work is told once more with another key, or by another line: of the same run": (
        [
            *(
                (0, "app", None, effect("m", "k")),
                (900, "app", None, begun("m")),
                (1_001, "app", None, effect("m", "l")),
            ),
            *((1_002, "app", None, mention("m")), (1_800, "app", None, begun("m"))),
        ],
        {"?0.0": ["m"] * 5},
    ),
    "a message whose work is told once more after another has opened a part": (
        [
            *((0, "app", None, effect("m")), (500, "app", None, record("m")), (1_002, "app", None, effect("m"))),
            *((1_900, "app", None, mention("m")), (2_003, "app", None, effect("m"))),
        ],
        {"?0.0": ["m"], "?0.500": ["m", "m", "m"], "?0.2003": ["m"]},
    ),
    "a key: with the records printed last": (
        [(0, "app", None, record("m")), (5, "app", None, record("n")), (6, "app", None, by_key("k"))],
        {"?0.0": ["m"], "?0.5": ["n", "key:k"]},
    ),
    "a key, where a message was begun since whose record is lost: in a part of its own": (
        [(0, "app", None, record("m")), (5, "app", None, begun("n")), (6, "app", None, by_key("k"))],
        {"?0.0": ["m"], "?0.5": ["n"], "?0.6.unnamed": ["key:k"]},
    ),
    "keys between messages begun of which none is printed: in one part": (
        [
            (0, "app", None, begun("m")),
            (1, "app", None, by_key("k")),
            (2, "app", None, begun("n")),
            (3, "app", None, by_key("l")),
        ],
        {"?0.0": ["m"], "?0.1.unnamed": ["key:k", "key:l"], "?0.2": ["n"]},
    ),
    "a key that is told of again longer after than a run can take, others all the while: apart": (
        [
            (at, "app", None, by_key(key))
            for at, key in ((0, "k"), (700, "l"), (1_001, "k"), (1_400, "l"), (1_702, "l"))
        ],
        {"?0.0.unnamed": ["key:k", "key:l"], "?0.1001.unnamed": ["key:k", "key:l", "key:l"]},
    ),
    "a key that is told of again as soon as a run can take, or otherwise: together": (
        [
            *((0, "app", None, ("started", None, {"key": "k"})), (600, "app", None, by_key("k"))),
            *((1_500, "app", None, by_key("k")), (1_600, "app", None, by_key("k"))),
        ],
        {"?0.0.unnamed": ["key:k"] * 4},
    ),
    "a key that is told of again with records printed since: with them": (
        [(0, "app", None, by_key("k")), (900, "app", None, record("m")), (1_100, "app", None, by_key("k"))],
        {"?0.0.unnamed": ["key:k"], "?0.900": ["m", "key:k"]},
    ),
    "a key, where one of those printed last was begun since: with them": (
        [(0, "app", None, record("m"), record("n")), (5, "app", None, begun("n")), (6, "app", None, by_key("k"))],
        {"?0.0": ["m", "n", "n", "key:k"]},
    ),
    "a key, where another message was only named since: with the records printed last": (
        [(0, "app", None, record("m")), (5, "app", None, mention("n")), (6, "app", None, by_key("k"))],
        {"?0.0": ["m", "key:k"], "?0.5": ["n"]},
    ),
    "a key: with the record on its own line": (
        [(0, "app", None, record("m")), (5, "app", None, record("n"), by_key("k"))],
        {"?0.0": ["m"], "?0.5": ["n", "key:k"]},
    ),
    "keys where no record was printed: in a part of their own": (
        [(0, "app", None, by_key("k")), (1, "app", None, mention("m")), (2, "app", None, by_key("l"))],
        {"?0.0.unnamed": ["key:k", "key:l"], "?0.1": ["m"]},
    ),
    "a key after a long silence: not with records of before": (
        [(0, "app", None, record("m")), (1_000, "app", None, by_key("k")), (2_001, "app", None, by_key("l"))],
        {"?0.0": ["m", "key:k"], "?0.2001.unnamed": ["key:l"]},
    ),
    "an error that nobody's end explains: nothing": (
        [(0, "app", None, ("error", None, {"detail": "timed out"})), (5, "app", None, mention("m"))],
        {"?0.5": ["m"]},
    ),
    "an error alone: nothing": ([(0, "app", None, ("error", None, {})), (5, "app", None)], {}),
    "lines of one instant: together": (
        [(0, "app", None, mention("m"), by_key("k")), (0, "app", None, record("m"))],
        {"?0.0": ["m", "key:k", "m"]},
    ),
    "what follows another run: apart": (
        [(0, "app", None, mention("m")), (1, "report", A), (2, "app", None, mention("m"))],
        {"?0.0": ["m"], "?1.2": ["m"], A: []},
    ),
}


@pytest.mark.parametrize(("lines", "expected"), PARTED.values(), ids=PARTED)
def test_lines_in_no_run_are_parted(lines, expected):
    assert {request_id: items for (request_id, _), items in runs(*lines).items()} == expected


@pytest.mark.parametrize(("told", "key"), [(effect("m", "k"), "k"), (begun("m"), None)])
def test_work_begun_or_done_once_more_in_no_run_counts_as_taken(told, key):
    lines = [(0, "app", None, told), (1_001, "app", None, told)]

    once, again = (
        fact for i in assembled(stream(*lines), "s", replace(GROUP, silence_ms=2_000), Limit()) for fact in i.facts
    )

    assert (once.role, again.role, again.detail, again.key) == (told[0], "mention", TAKEN, key)


ANSWERED = {
    "a message taken again more than a moment behind a response: apart": (
        [(0, "app", None, taken("m")), (100, "answer", None), (1_101, "app", None, taken("m"))],
        {"?0.0": ["m"], "?0.1101": ["m"]},
    ),
    "a message taken again within a moment of a response: together": (
        [(0, "app", None, taken("m")), (100, "answer", None), (900, "app", None, taken("m"))],
        {"?0.0": ["m", "m"]},
    ),
    "a message that failed again in another response: apart": (
        [
            (0, "answer", None, ("failure", "m", {})),
            (1_000, "app", None, by_key("k")),
            (1_001, "answer", None, ("failure", "m", {})),
        ],
        {"?0.0": ["m"], "?0.1000.unnamed": ["key:k"], "?0.1001": ["m"]},
    ),
    "what a run left behind goes on behind its response: together": (
        [
            (0, "app", None, taken("m")),
            (100, "answer", None),
            (2_000, "app", None, mention("m")),
            (2_050, "app", None, ("effect", "m", {})),
        ],
        {"?0.0": ["m", "m", "m"]},
    ),
}


@pytest.mark.parametrize(("lines", "expected"), ANSWERED.values(), ids=ANSWERED)
def test_a_run_without_a_start_answers_once(lines, expected):
    found = runs(*lines, silence_ms=9_000)

    assert {request_id: items for (request_id, _), items in found.items()} == expected


def ended(*said, timeout_s=3, function="charge"):
    """How a run ends of which lines say (kind, duration, status, error type)."""
    lines = [Statement(0, 0, "e-0", "start", A)]
    lines += [
        Statement(n, 0, f"e-{n}", kind, A, ms, status, error) for n, (kind, ms, status, error) in enumerate(said, 1)
    ]
    (invocation,) = assembled(lines, "s", LogGroup("app", "lambda", function), Limit(timeout_s))
    return invocation.end_status, invocation.error_type


ENDS = {
    "no end in evidence": ([("end", None, None, None)], ("unknown", None)),
    "a REPORT below the timeout": ([("report", 2_999.99, None, None)], ("success", None)),
    "a REPORT of exactly the timeout": ([("report", 3_000.0, None, None)], ("unknown", None)),
    "a REPORT above the timeout": ([("report", 3_000.01, None, None)], ("timeout", None)),
    "a REPORT whose duration was cut off": ([("report", None, None, None)], ("success", None)),
    "a timeout line beside a success": (
        [("timeout", None, None, None), ("report", 3_000.0, "success", None)],
        ("timeout", None),
    ),
    "an answer that says timeout": (
        [("timeout_answer", None, None, None), ("report", 3_000.0, None, None)],
        ("timeout", None),
    ),
    "a REPORT that says timeout": ([("report", 3_000.0, "timeout", None)], ("timeout", None)),
    "an init that timed out": (
        [("init_report", None, "timeout", None), ("report", 5.0, None, None)],
        ("timeout", None),
    ),
    "a runtime that exited": (
        [("runtime_error", None, None, "Runtime.ExitError"), ("report", 5.0, None, None)],
        ("crash", "Runtime.ExitError"),
    ),
    "a REPORT that says error": ([("report", 5.0, "error", "Runtime.ExitError")], ("crash", "Runtime.ExitError")),
    "a REPORT that says error without a type": ([("report", 5.0, "error", None)], ("crash", None)),
    "a REPORT that says the handler raised": (
        [("report", 5.0, "error", "Function.Unhandled")],
        ("error", "Function.Unhandled"),
    ),
    **{
        f"a report of {status} by {error}": ([("report", 5.0, status, error)], (end, error))
        for status in ("error", "failure")
        for error, end in {
            "PostingRejected": "error",
            "KeyError": "error",
            "Function.ResponseSizeTooLarge": "error",
            "Lambda.Charge.CardDeclined": "error",
            "RuntimeError": "error",
            "Runtime.OutOfMemory": "crash",
            "Runtime.ExitError": "crash",
            "Sandbox.Failure": "crash",
            "Extension.Crash": "crash",
            "Lambda.Unknown": "crash",
        }.items()
    },
    "a report of error by the sandbox's timeout": (
        [("report", 5.0, "error", "Sandbox.Timedout")],
        ("timeout", None),
    ),
    "a report of failure without a type": ([("report", 5.0, "failure", None)], ("error", None)),
    "a report of error without a type, beside the handler's exception": (
        [("unhandled_error", None, None, "KeyError"), ("report", 5.0, "error", None)],
        ("error", "KeyError"),
    ),
    "an uncaught error of the runtime's own": (
        [("unhandled_error", None, None, "Runtime.MarshalError"), ("report", 5.0, None, None)],
        ("crash", "Runtime.MarshalError"),
    ),
    "a runtime that says failure": ([("runtime_done", 5.0, "failure", "KeyError")], ("error", "KeyError")),
    "an error that was logged and not caught": (
        [("unhandled_error", None, None, "KeyError"), ("report", 5.0, None, None)],
        ("error", "KeyError"),
    ),
    "an error that was not caught, and a platform that says success of it": (
        [("unhandled_error", None, None, "KeyError"), ("runtime_done", 5.0, "success", None)],
        ("error", "KeyError"),
    ),
    "a runtime that exited after its success was reported": (
        [("runtime_done", 5.0, "success", None), ("runtime_error", None, None, "Runtime.ExitError")],
        ("crash", "Runtime.ExitError"),
    ),
    "an error that the application may have logged, and an explicit success": (
        [("logged_error", None, None, "KeyError"), ("report", 5.0, "success", None)],
        ("unknown", None),
    ),
    "an error that the application may have logged, and a REPORT": (
        [("logged_error", None, None, "KeyError"), ("report", 5.0, None, None)],
        ("error", "KeyError"),
    ),
    "an error that the application may have logged, and nothing more": (
        [("logged_error", None, None, "KeyError")],
        ("unknown", "KeyError"),
    ),
    "a handler that could not be imported": (
        [("runtime_error", None, None, "Runtime.ImportModuleError")],
        ("init_failed", "Runtime.ImportModuleError"),
    ),
    "a platform's report that bears no status": ([("report", 5.0, NO_STATUS, None)], ("unknown", None)),
    "that, beside a runtime event that says success": (
        [("runtime_done", 5.0, "success", None), ("report", 5.0, NO_STATUS, None)],
        ("success", None),
    ),
    "that, beside an error that was not caught": (
        [("unhandled_error", None, None, "KeyError"), ("report", 5.0, NO_STATUS, None)],
        ("error", "KeyError"),
    ),
    "a runtime event without a status": ([("runtime_done", 5.0, None, None)], ("unknown", None)),
}


@pytest.mark.parametrize(("said", "expected"), ENDS.values(), ids=ENDS)
def test_a_run_ends_as_its_lines_say(said, expected):
    assert ended(*said) == expected


@pytest.mark.parametrize("unknown", [{"timeout_s": None}, {"function": "other"}], ids=["value", "function"])
def test_a_plain_report_is_a_success_where_no_timeout_is_known(unknown):
    assert ended(("report", 900_000.0, None, None), **unknown) == ("success", None)


@pytest.mark.parametrize(("is_after", "expected"), [(True, "success"), (False, "unknown")], ids=["after", "before"])
def test_a_response_printed_after_a_logged_error_shows_that_it_was_caught(is_after, expected):
    lines = [Statement(1, 1, "e-1", "logged_error", A), Statement(2, 2, "e-2", "app", A, is_response=True)]
    at = [1, 2] if is_after else [2, 1]
    lines = [line._replace(at=t) for line, t in zip(lines, at, strict=True)]

    assert only(*lines, Statement(3, 3, "e-3", "report", A, 5.0, "success")).end_status == expected


HIDING = {
    "Python at INFO": ("INFO", "python3.12", "success"),
    "Python at WARN": ("WARN", "python3.12", "unknown"),
    "Python at ERROR": ("ERROR", "python3.12", "unknown"),
    "Node at ERROR": ("ERROR", "nodejs22.x", "success"),
    "Node at FATAL": ("FATAL", "nodejs22.x", "unknown"),
    "the text format": (None, "python3.12", "success"),
}


ERROR = Statement(2, 2, "e-2", "unhandled_error", None, error_type="ValueError")
REPORT = Statement(3, 3, "e-3", "report", A, 5.0)
LONELY = {
    "before the end of a run whose START is missing": ([ERROR, REPORT], {A: "error"}),
    "between its lines": ([Statement(1, 1, "e-1", "app", A), ERROR, REPORT], {A: "error"}),
    "after the run before it": ([Statement(1, 1, "e-1", "report", B, 5.0), ERROR, REPORT], {B: "success", A: "error"}),
    "after the run before it, whose REPORT is missing": (
        [Statement(0, 0, "e-0", "start", B), Statement(1, 1, "e-1", "end", B), ERROR, REPORT],
        {B: "unknown", A: "error"},
    ),
    "inside a run whose request id came before": (
        [
            Statement(0, 0, "e-0", "start", A),
            Statement(1, 1, "e-1", "end", A),
            Statement(2, 2, "e-s", "start", A),
            ERROR._replace(at=3),
            REPORT._replace(at=4),
        ],
        {A: "error"},
    ),
    "before the START of the next": (
        [ERROR, Statement(3, 3, "e-3", "start", A), REPORT._replace(at=4)],
        {A: "success"},
    ),
    "before another's START, and its end later": (
        [ERROR, Statement(3, 3, "e-3", "start", B), Statement(4, 4, "e-4", "report", B, 5.0), REPORT._replace(at=5)],
        {B: "success", A: "success"},
    ),
    "after the end": ([REPORT._replace(at=1), ERROR], {A: "success"}),
}


@pytest.mark.parametrize(("lines", "expected"), LONELY.values(), ids=LONELY)
def test_an_error_that_stands_in_no_run_is_of_the_run_that_ends_next_without_a_start(lines, expected):
    found = assembled(lines, "s", GROUP, Limit())

    assert {i.request_id: i.end_status for i in found} == expected


@pytest.mark.parametrize(("level", "runtime", "expected"), HIDING.values(), ids=HIDING)
def test_a_reported_success_tells_nothing_where_the_log_level_hides_exceptions(level, runtime, expected):
    class Levels:
        def function(self, function_name, at):
            return {"timeout_s": 3, "application_log_level": level, "runtime": runtime}

    (run,) = assembled([Statement(1, 1, "e-1", "report", A, 5.0, "success")], "s", GROUP, Levels())

    assert run.end_status == expected


def only(*statements, group=GROUP):
    (invocation,) = assembled(statements, "s", group, Limit())
    return invocation


def test_a_run_ends_with_the_last_line_that_closes_it():
    run = only(*stream((1, "start", A), (2, "runtime_done", A), (3, "end", A), (4, "report", A), (9, "app", A)))

    assert (run.start_at, run.ended_at, run.last_line_at) == (1_000, 4_000, 9_000)
    assert only(*stream((1, "start", A), (9, "app", A))).ended_at is None


BESIDE = {
    "one after the other": (((1, "start", A), (2, "report", A), (2, "start", B), (3, "report", B)), [False, False]),
    "the one in the other": (((1, "start", A), (2, "start", B), (3, "report", B), (4, "report", A)), [True, True]),
    "of the first no end is known": (((1, "start", A), (2, "start", B), (3, "report", B)), [False, False]),
}


@pytest.mark.parametrize(("lines", "expected"), BESIDE.values(), ids=BESIDE)
def test_runs_that_were_on_at_once_in_one_environment_are_known(lines, expected):
    runs = assembled(stream(*lines), "s", GROUP, Limit())

    assert [run.is_beside_others for run in sorted(runs, key=lambda run: run.request_id)] == expected


RIVALS = {
    "of two that had printed nothing: of either": (
        [(3, "app", None, batch("m")), (4, "app", None, batch("n"))],
        "success",
        {A: "unknown", B: "unknown"},
    ),
    "of two that had printed nothing, and ended alike: as both did": (
        [(3, "app", None, batch("m")), (4, "app", None, batch("n"))],
        "timeout",
        {A: "timeout", B: "timeout"},
    ),
    "of one that named its messages before: of the other": (
        [(3, "app", A, mention("n")), (4, "app", None, batch("m"))],
        "success",
        {A: "timeout", B: "success"},
    ),
}


@pytest.mark.parametrize(("lines", "status", "expected"), RIVALS.values(), ids=RIVALS)
def test_runs_of_which_one_had_a_batch_ended_as_all_of_them_did(lines, status, expected):
    told = stream((1, "start", A), (2, "start", B), *lines, (5, "report", B), (6, "report", A))
    ends = {(B, "report"): status, (A, "report"): "timeout"}
    found = assembled([s._replace(status=ends.get((s.request_id, s.kind))) for s in told], "s", GROUP, Limit())

    assert {run.request_id: run.end_status for run in found} == expected
    assert all(run.ended_at is None for run in found if run.end_status == "unknown")


MAYBE_BEGUN = {
    "neither has named it": ([(3, "app", None, begun("m"))], "success", {A: "timeout", B: "unknown"}),
    "neither has, and it is said to be in hand": (
        [(3, "app", None, taken("m"))],
        "success",
        {A: "timeout", B: "unknown"},
    ),
    "neither has, and it is spoken of": ([(3, "app", None, mention("m"))], "success", {A: "timeout", B: "success"}),
    "neither has, and both failed": ([(3, "app", None, begun("m"))], "timeout", {A: "timeout", B: "timeout"}),
    "its own has": (
        [(3, "app", B, mention("m")), (4, "app", None, begun("m"))],
        "success",
        {A: "timeout", B: "success"},
    ),
    "the other has printed its own batch": (
        [(3, "app", A, batch("n")), (4, "app", None, begun("m"))],
        "success",
        {A: "timeout", B: "success"},
    ),
    "its line tells its request": ([(3, "app", B, begun("m"))], "success", {A: "timeout", B: "success"}),
}


@pytest.mark.parametrize(("lines", "status", "expected"), MAYBE_BEGUN.values(), ids=MAYBE_BEGUN)
def test_a_run_did_not_succeed_for_sure_with_a_message_that_one_beside_it_may_have_had(lines, status, expected):
    told = stream((1, "start", A), (2, "start", B), *lines, (5, "report", B), (6, "report", A))
    ends = {(B, "report"): status, (A, "report"): "timeout"}
    found = assembled([s._replace(status=ends.get((s.request_id, s.kind))) for s in told], "s", GROUP, Limit())

    assert {run.request_id: run.end_status for run in found} == expected


STRAYS = {
    "another has it": ([(4, "app", None, by_key("k"))], True),
    "another has it, by its request id": ([(4, "app", B, by_key("k"))], False),
    "another has it, whose batch has its key": ([(4, "app", None, by_key("l"))], False),
}


@pytest.mark.parametrize(("lines", "expected"), STRAYS.values(), ids=STRAYS)
def test_a_run_may_lack_a_line_of_work_that_names_neither_request_nor_message(lines, expected):
    told = [(1, "start", A), (2, "app", None, batch("m", "j")), (3, "start", B), (3, "app", None, batch("n", "l"))]
    run, _ = assembled(stream(*told, *lines, (5, "report", B), (6, "report", A)), "s", GROUP, Limit())

    assert [(d.item_id, d.has_stray_mark) for d in deliveries_of(run)] == [("m", expected)]


SHARED = {
    "an effect line of a message that both were handed": ([(4, "app", None, effect("m"))], [True, False]),
    "the same, by the other's request id": ([(4, "app", B, effect("m"))], [False, False]),
    "an effect line of a message that the other alone has named": (
        [(4, "app", B, mention("n")), (5, "app", None, effect("n"))],
        [False, False],
    ),
    "a line that begins it": ([(4, "app", None, begun("m"))], [False, False]),
}


@pytest.mark.parametrize(("lines", "expected"), SHARED.values(), ids=SHARED)
def test_a_run_may_lack_a_line_of_a_message_that_another_run_was_handed_too(lines, expected):
    told = [(1, "start", A), (2, "app", None, batch("m")), (3, "start", B), (3, "app", None, batch("m"))]
    runs = assembled(stream(*told, *lines, (6, "report", B), (7, "report", A)), "s", GROUP, Limit())
    deliveries = [d for run in sorted(runs, key=lambda run: run.request_id) for d in deliveries_of(run)]

    assert [d.has_stray_mark for d in deliveries if d.item_id == "m"] == expected


NAMES = {
    "as its lines say": ("/aws/lambda/charge", "declared", "said", "said"),
    "else as declared of its log group": ("/aws/lambda/charge", "declared", None, "declared"),
    "else not at all": ("charges", None, None, None),
}


@pytest.mark.parametrize(("log_group", "declared", "said", "expected"), NAMES.values(), ids=NAMES)
def test_a_function_is_named(log_group, declared, said, expected):
    lines = (Statement(0, 0, "e-0", "start", A), Statement(1, 0, "e-1", "app", A, function_name=said))

    assert only(*lines, group=LogGroup(log_group, "lambda", declared)).function_name == expected


def test_lines_of_text_become_a_row_of_the_table():
    message = "861bec95-b670-4f2a-acf9-19d5bdd7cbe5"
    texts = (
        f"START RequestId: {A} Version: $LATEST",
        f"handled message {message}",
        '{"batchItemFailures": []}',
        f"END RequestId: {A}",
        f"REPORT RequestId: {A}\tDuration: 812.50 ms\tBilled Duration: 813 ms",
    )
    lines = [LogLine(1_000_000 + n, 0, f"e-{9 - n}", text) for n, text in enumerate(texts)]
    (invocation,) = invocations_of(reversed(lines), "s", GROUP, Limit(), BusinessKeys([]))

    assert invocation.has_response
    assert invocation_row(invocation, GROUP) == {
        "invocation_id": f"/aws/lambda/charge|s|{A}|1000",
        "log_group": "/aws/lambda/charge",
        "log_stream": "s",
        "request_id": A,
        "start_index": 1,
        "function_name": "charge",
        "queue_arn": GROUP.queue_arn,
        "started_at": 1_000_000,
        "ended_at": 1_000_004,
        "duration_ms": 812,
        "end_status": "success",
        "error_type": None,
        "has_start": True,
        "message_count": 1,
        "evidence_ids": ["e-5", "e-6", "e-9"],
    }
    assert list(invocation_row(invocation, GROUP)) == list(INVOCATIONS.column_names)


EVIDENCE = {
    "its platform lines": ([(0, "start", A), (1, "app", A, mention("m"))], ["e-0"]),
    "else the lines of its messages": ([(0, "app", A), (1, "app", A, mention("m"), mention("n"))], ["e-1"]),
    "else a line that names it": ([(0, "app", A), (1, "other", A)], ["e-0"]),
}


@pytest.mark.parametrize(("lines", "expected"), EVIDENCE.values(), ids=EVIDENCE)
def test_a_row_rests_on(lines, expected):
    assert invocation_row(only(*stream(*lines)), GROUP)["evidence_ids"] == expected


ROLES = st.sampled_from(["record", "mention", "started", "effect", "failure", "handle_error"])
FACTS = st.tuples(ROLES, st.sampled_from(["m", "n", None]), st.sampled_from(["h-1", "h-2", None]))
KINDS = ("start", "end", "report", "app", "timeout", "runtime_done")
LINES = st.tuples(
    st.integers(0, 6_000), st.sampled_from(KINDS), st.sampled_from([A, B, None]), st.lists(FACTS, max_size=3)
)


BEGAN = {
    "with its START": ([(5, "start", A), (6, "app", A, mention("m")), (9, "report of 2", A)], 5),
    "so long before its end as it took, where its START is lost": (
        [(300, "app", A, mention("m")), (500, "report of 450", A)],
        50,
    ),
    "with its first line, if that is earlier": ([(3, "app", A, mention("m")), (500, "report of 450", A)], 3),
    "with its first line, where nothing tells how long it took": (
        [(300, "app", A, mention("m")), (500, "report", A)],
        300,
    ),
    "with its first line, where nothing tells its end": ([(300, "app", A, mention("m"))], 300),
}


@pytest.mark.parametrize(("lines", "expected_ms"), BEGAN.values(), ids=BEGAN)
def test_a_run_began(lines, expected_ms):
    (invocation,) = assembled(stream(*lines), "s", GROUP, Limit())

    assert invocation.started_at == expected_ms * 1000
    assert invocation_row(invocation, GROUP)["started_at"] == expected_ms * 1000


RUN_AGAIN = {
    "where a batch is printed after its run was closed": (
        [(1, "app", A, record("m")), (30, "report", A), (40, "app", A, record("m"), record("n")), (41, "app", A)],
        [("0", ["m"]), ("40", ["m", "n"])],
    ),
    "where a batch is printed more than a moment after its run had raised": (
        [(1, "app", A), (30, "unhandled_error", A), (1_031, "app", A, record("m")), (1_040, "app", A, mention("m"))],
        [("0", []), ("1031", ["m", "m"])],
    ),
    "not in that moment": (
        [(1, "app", A), (30, "unhandled_error", A), (1_030, "app", A, record("m"))],
        [("0", ["m"])],
    ),
    "from the line behind the close on": (
        [
            (1, "app", A, record("m")),
            (30, "report", A),
            (39, "app", A, mention("m")),
            (40, "app", A, record("m", "h-2")),
        ],
        [("0", ["m"]), ("40", ["m", "m"])],
    ),
    "where a message was received anew, although nothing closed its run": (
        [
            (1, "app", A, record("m")),
            (2, "app", A, mention("m")),
            (40, "app", A, record("m", "h-2")),
            (50, "report", A),
        ],
        [("0", ["m", "m"]), ("40", ["m"])],
    ),
    "after a run that has its START": (
        [(1, "start", A), (2, "app", A, record("m")), (30, "report", A), (40, "app", A, record("m", "h-2"))],
        [("1", ["m"]), ("40", ["m"])],
    ),
    "where a message is begun once more after its run was closed": (
        [(1, "app", A, begun("m")), (30, "report", A), (39, "app", A, mention("m")), (40, "app", A, begun("m"))],
        [("0", ["m"]), ("40", ["m", "m"])],
    ),
    "where that was begun in a run that only its close shows": (
        [
            (1, "app", A, begun("n")),
            (30, "report", A),
            (40, "app", A, begun("m")),
            (70, "report", A),
            (80, "app", A, begun("m")),
        ],
        [("0", ["n"]), ("40", ["m"]), ("80", ["m"])],
    ),
    "where it still speaks a second after its process was stopped": (
        [(1, "app", A, mention("m")), (30, "timeout", A), (30, "report", A), (1_031, "app", A, mention("m"))],
        [("0", ["m"]), ("1031", ["m"])],
    ),
    "not where it speaks within a second of that": (
        [(1, "app", A, mention("m")), (30, "timeout", A), (30, "report", A), (1_030, "app", A, mention("m"))],
        [("0", ["m", "m"])],
    ),
    "nor where its process went on": (
        [(1, "app", A, mention("m")), (30, "report", A), (5_000, "app", A, mention("m"))],
        [("0", ["m", "m"])],
    ),
    "nor where only its platform speaks then": (
        [(1, "app", A, mention("m")), (30, "timeout", A), (30, "end", A), (1_031, "report", A)],
        [("0", ["m"])],
    ),
    "nor where another message is begun": (
        [(1, "app", A, begun("m")), (30, "report", A), (40, "app", A, begun("n"))],
        [("0", ["m", "n"])],
    ),
    "where a message is begun once more, more than a second after the response": (
        [
            (1, "app", A, begun("m")),
            (30, "answer", A),
            (1_031, "app", A, mention("m")),
            (1_031, "app", A, begun("m")),
        ],
        [("0", ["m"]), ("1031", ["m", "m"])],
    ),
    "where that was begun in a run that only its response shows": (
        [
            (1, "app", A, begun("n")),
            (30, "answer", A),
            (2_000, "app", A, begun("n")),
            (2_030, "answer", A),
            (4_000, "app", A, begun("n")),
        ],
        [("0", ["n"]), ("2000", ["n"]), ("4000", ["n"])],
    ),
    "not within a second of the response": (
        [(1, "app", A, begun("m")), (30, "answer", A), (1_030, "app", A, begun("m"))],
        [("0", ["m", "m"])],
    ),
    "nor where another message is begun behind it": (
        [(1, "app", A, begun("m")), (30, "answer", A), (2_000, "app", A, begun("n"))],
        [("0", ["m", "n"])],
    ),
    "where a message is taken or printed once more behind a response": (
        [
            (1, "app", A, mention("m"), taken("n")),
            (30, "answer", A),
            (1_031, "app", A, mention("m")),
            (1_040, "app", A, taken("n")),
            (1_050, "answer", A),
            (2_051, "app", A, record("n")),
        ],
        [("0", ["m", "n"]), ("1031", ["m", "n"]), ("2051", ["n"])],
    ),
    "not where another message is taken then": (
        [(1, "app", A, taken("m")), (30, "answer", A), (2_000, "app", A, taken("n")), (2_001, "app", A, taken("n"))],
        [("0", ["m", "n", "n"])],
    ),
    "nor where its run has a START": (
        [(1, "start", A), (2, "app", A, taken("m")), (30, "answer", A), (2_000, "app", A, taken("m"))],
        [("1", ["m", "m"])],
    ),
    "where a message is named once more before another response": (
        [
            (1, "app", A, taken("m")),
            (30, "answer", A),
            (1_030, "app", A, mention("m")),
            (1_031, "app", A, mention("m")),
            (1_040, "answer", A),
            (2_041, "app", A, mention("m")),
            (2_050, "answer", A),
        ],
        [("0", ["m", "m"]), ("1031", ["m"]), ("2041", ["m"])],
    ),
    "not where a response is told again a second later, nor where another message is named before it": (
        [
            (1, "app", A, taken("m")),
            (30, "answer", A),
            (1_031, "app", A, mention("n")),
            (1_032, "answer", A, ("failure", "m", {})),
            (1_033, "app", A, mention("m")),
        ],
        [("0", ["m", "n", "m", "m"])],
    ),
    "where its START stands more than a second behind other lines": (
        [(1, "app", A, mention("m")), (30, "end", A), (1_002, "start", A), (1_003, "app", A, mention("m"))],
        [("0", ["m"]), ("1002", ["m"])],
    ),
    "where that START stands behind two runs without one": (
        [
            *((1, "app", A, begun("m")), (30, "report", A), (40, "app", A, begun("m"))),
            *((2_000, "start", A), (2_001, "app", A, begun("m"))),
        ],
        [("0", ["m"]), ("40", ["m"]), ("2000", ["m"])],
    ),
    "not where a line stands within a second before its START": (
        [(1, "app", A, mention("m")), (1_001, "start", A), (1_003, "app", A, mention("m"))],
        [("1001", ["m", "m"])],
    ),
    "not where a batch is printed twice": (
        [(1, "app", A, record("m")), (2, "app", A, record("m")), (30, "report", A), (31, "app", A, mention("m"))],
        [("0", ["m", "m", "m"])],
    ),
    "nor where a handle is cut short": (
        [(1, "app", A, record("m", "RH~" + "x" * 40)), (2, "app", A, record("m", "RH~" + "x" * 24))],
        [("0", ["m", "m"])],
    ),
    "nor where it is printed record by record": (
        [(1, "app", A, record("m")), (2, "app", A, record("n", "h-2")), (30, "report", A)],
        [("0", ["m", "n"])],
    ),
}


@pytest.mark.parametrize(("lines", "expected"), RUN_AGAIN.values(), ids=RUN_AGAIN)
def test_a_request_id_is_run_again_without_a_start(lines, expected):
    found = assembled(stream(*lines), "s", GROUP, Limit())

    assert [(i.invocation_id.rpartition("|")[2], [f.item_id for f in i.facts]) for i in found] == expected
    assert len({i.invocation_id for i in found}) == len(found)


@st.composite
def streams(draw):
    lines = draw(st.lists(LINES, max_size=12))
    return stream(
        *[(ms, kind, rid, *[(r, m, {"receipt_handle": h}) for r, m, h in facts]) for ms, kind, rid, facts in lines]
    )


@given(streams(), st.randoms(use_true_random=False))
def test_invocations_do_not_depend_on_the_order_in_which_lines_come(statements, chance: random.Random):
    shuffled = list(statements)
    chance.shuffle(shuffled)

    assert assembled(shuffled, "s", GROUP, Limit()) == assembled(statements, "s", GROUP, Limit())


def _but_for_its_role(fact):
    """What begins or does work once more counts as taken."""
    return repr(fact._replace(role=None, detail=None))


@given(streams())
def test_every_fact_is_in_one_invocation_and_no_two_are_one(statements):
    found = assembled(statements, "s", GROUP, Limit())
    stated = [fact for statement in statements_once(sorted(statements)) for fact in statement.facts]
    placed = [fact for invocation in found for fact in invocation.facts]

    assert sorted(map(_but_for_its_role, stated)) == sorted(map(_but_for_its_role, placed))
    assert len({invocation.invocation_id for invocation in found}) == len(found)


@given(streams())
def test_an_invocation_without_a_start_is_one_of_which_no_start_is_in_evidence(statements):
    started = {s.request_id for s in statements if s.kind == "start"}

    for invocation in assembled(statements, "s", GROUP, Limit()):
        assert (invocation.start_index == 0) == (invocation.start_at is None)
        assert invocation.start_index == 0 or invocation.request_id in started


@given(streams(), st.integers(1, 20))
def test_older_lines_of_other_runs_rename_no_invocation_that_has_a_start(statements, many):
    older = [Statement(-n, 0, f"old-{n}", "start", f"{n}") for n in range(1, many)]
    before = {i.invocation_id for i in assembled(statements, "s", GROUP, Limit()) if i.start_index}
    after = {i.invocation_id for i in assembled([*older, *statements], "s", GROUP, Limit())}

    assert before <= after


@given(streams())
def test_no_part_outside_runs_goes_on_after_a_long_silence(statements):
    for invocation in assembled(statements, "s", GROUP, Limit()):
        if invocation.request_id.startswith("?"):
            times = [fact.at for fact in invocation.facts]
            assert max((b - a for a, b in zip(times, times[1:], strict=False)), default=0) <= GROUP.silence_ms * 1000


BEHIND = {
    "behind the last line of the one before it": ([(0, "app", A), (50, "app", A), (70, "app", B)], {A: None, B: 50}),
    "not where that was on still": ([(0, "app", A), (50, "app", B), (70, "app", A)], {A: None, B: None}),
    "nor in the same moment": ([(0, "app", A), (50, "app", A), (50, "app", B)], {A: None, B: None}),
    "nor where its START tells": ([(0, "app", A), (70, "start", B)], {A: None, B: None}),
    "behind one whose START tells": ([(0, "start", A), (40, "report", A), (70, "app", B)], {A: None, B: 40}),
}
"""Lines of a stream, as time in ms, kind and request id, and behind which moment each run began."""


@pytest.mark.parametrize(("lines", "expected"), BEHIND.values(), ids=BEHIND)
def test_a_run_without_a_start_began_behind_the_one_before_it(lines, expected):
    said = [Statement(ms * 1000, n, f"e-{n}", kind, request_id) for n, (ms, kind, request_id) in enumerate(lines)]
    found = assembled(said, "s", LogGroup("app", "lambda", "charge"), Limit(3))

    assert {run.request_id: run.behind_at and run.behind_at // 1000 for run in found} == expected


WAS_ON = {
    "while its environment may have come up": (49_000, "report of 100", "error"),
    "before that": (48_999, "report of 100", "success"),
    "whenever it began": (48_999, "report", "error"),
}
"""When an error stands in no run, what the next REPORT says of a run without a START, and how that ended."""


@pytest.mark.parametrize(("at_ms", "report", "expected"), WAS_ON.values(), ids=WAS_ON)
def test_an_error_that_names_no_request_is_of_the_run_that_is_closed_next_if_that_may_have_been_on(
    at_ms, report, expected
):
    lines = [(0, "start", A), (1, "end", A), (1, "report", A), (at_ms, "unhandled_error", None, mention("x"))]
    lines += [(60_000, "app", B, mention("m")), (60_100, "end", B), (60_100, report, B)]
    found = {run.request_id: run for run in assembled(stream(*lines), "s", GROUP, Limit())}

    assert found[B].end_status == expected
    assert [f.message_id for f in found[B].facts] == (["x", "m"] if expected == "error" else ["m"])
    assert len(found) == (2 if expected == "error" else 3)
