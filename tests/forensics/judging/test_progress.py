"""How far a batch got whose run failed, were it taken one message after the other."""

import pytest

from forensics.judging import progress
from tests.forensics.judging.plain import delivery

CUT_OFF = {"run_status": "timeout"}

STARTS = {**CUT_OFF, "has_started": True}

MARKS = {**CUT_OFF, "is_exhaustive": True, "is_idempotent": False}

MAYBE_GUARDED = {**MARKS, "is_idempotent": None}

FIRST, AGAIN = {"receive_count": 1}, {"receive_count": 2}

CASES = {
    "a success": ({"run_status": "success", "batch_count": 1}, [{}], "-"),
    "alone and cut off": ({"run_status": "timeout", "batch_count": 1}, [{}], "P"),
    "alone and crashed": ({"run_status": "crash", "batch_count": 1}, [{}], "P"),
    "alone and raised": ({"run_status": "error", "batch_count": 1}, [{}], "P"),
    "alone, and the init failed": ({"run_status": "init_failed", "batch_count": 1}, [{}], "-"),
    "alone, finished, then cut off": ({"run_status": "timeout", "batch_count": 1}, [{"marker_at": 5}], "-"),
    "the first was begun": (STARTS, [{"started_at": 1}, {}, {}], "P##"),
    "the second was begun": (STARTS, [{"started_at": 1, "marker_at": 2}, {"started_at": 3}, {}], "-P#"),
    "the first had finished, the start of the next is lost": (
        STARTS,
        [{"started_at": 1, "marker_at": 2}, {}, {}],
        "-P#",
    ),
    "alone and sequential, its start lost": ({**STARTS, "batch_count": 1}, [{}], "P"),
    "alone, begun": ({**STARTS, "batch_count": 1}, [{"started_at": 1}], "P"),
    "the second was begun, nothing tells of the first": (STARTS, [{}, {"started_at": 1}, {}], "-P#"),
    "no message at all": (STARTS, [], ""),
    "finished without a start line": (STARTS, [{"marker_at": 2}, {}, {}], "-P#"),
    "nothing begun, start lines declared": (STARTS, [{}, {}], "--"),
    "nothing begun, effect lines exhaustive": (MARKS, [{}, {}], "P#"),
    "the first marked, effect lines exhaustive": (MARKS, [{"marker_at": 2}, {}, {}], "-P#"),
    "nothing begun, both declared": ({**MARKS, "has_started": True}, [{}, {}], "P#"),
    "a repeat that a silent guard may have answered": (
        MAYBE_GUARDED,
        [{"marker_at": 2, **FIRST}, AGAIN, FIRST, FIRST],
        "-P-#",
    ),
    "repeats alone": (MAYBE_GUARDED, [AGAIN, AGAIN, AGAIN], "P--"),
    "messages of which nothing tells whether they are repeats": (MAYBE_GUARDED, [{}, {}], "P-"),
    "a repeat before the one that was marked last": (
        MAYBE_GUARDED,
        [FIRST, {"marker_at": 2, **AGAIN}, FIRST, FIRST],
        "--P#",
    ),
    "received for the first time": (MAYBE_GUARDED, [FIRST, AGAIN], "P#"),
    "a repeat, and a guard that says so": ({**MAYBE_GUARDED, "has_guard": True}, [AGAIN, AGAIN], "P#"),
    "repeats that a guard stopped, as its lines say": (
        {**MAYBE_GUARDED, "has_guard": True},
        [{"guard_at": 2, **AGAIN}, {"guard_at": 0, **AGAIN}, AGAIN, AGAIN],
        "--P#",
    ),
    "a repeat that was stopped, of which no line says which": (
        {**MAYBE_GUARDED, "has_guard": True, "has_stray_guard": True},
        [AGAIN, AGAIN],
        "--",
    ),
    "the same, and start lines": (
        {**MAYBE_GUARDED, "has_started": True, "has_stray_guard": True},
        [{"started_at": 1, **AGAIN}, AGAIN],
        "P#",
    ),
    "a repeat, and start lines": ({**MAYBE_GUARDED, "has_started": True}, [AGAIN, AGAIN], "P#"),
    "a function that always does the work again": (MARKS, [AGAIN, AGAIN], "P#"),
    "begun but not marked, effect lines exhaustive": (MARKS, [{}, {"started_at": 1}, {}], "P-#"),
    "begun at the very first moment": (STARTS, [{"started_at": 0}, {}], "P#"),
    "neither start lines nor exhaustive ones": (CUT_OFF, [{"started_at": 1}, {}], "--"),
    "an effect line names nobody": ({**STARTS, **MARKS, "has_stray_mark": True}, [{"started_at": 1}, {}], "--"),
    "an error names one whose start is lost": (STARTS, [{"started_at": 1}, {"is_named_in_error": True}, {}], "P-#"),
    "an error names one beyond a lost start": (
        STARTS,
        [{"started_at": 1}, {}, {"is_named_in_error": True}, {}],
        "P--#",
    ),
    "an error names the one begun last": (STARTS, [{"started_at": 1, "is_named_in_error": True}, {}], "P#"),
    "an error names one that was begun before": (
        STARTS,
        [{"started_at": 1, "marker_at": 2, "is_named_in_error": True}, {"started_at": 3}, {}],
        "-P#",
    ),
    "an error names one, effect lines exhaustive": (MARKS, [{}, {"is_named_in_error": True}, {}], "P-#"),
    "an error names one behind which a silent guard answers no more": (
        MAYBE_GUARDED,
        [FIRST, {**AGAIN, "is_named_in_error": True}, FIRST],
        "P-#",
    ),
    "an error names one, and a silent guard may have answered any": (
        MAYBE_GUARDED,
        [AGAIN, {**AGAIN, "is_named_in_error": True}, AGAIN],
        "P--",
    ),
    "one error was caught, effect lines exhaustive": ({**MARKS, "caught_error_count": 1}, [{}, {}, {}], "P-#"),
    "two errors were caught": ({**MARKS, "caught_error_count": 2}, [{}, {}, {}, {}], "P--#"),
    "one error was caught behind a mark": (
        {**MARKS, "caught_error_count": 1},
        [{"marker_at": 2}, {}, {}, {}],
        "-P-#",
    ),
    "one error was caught, start lines tell where it was": (
        {**STARTS, "caught_error_count": 1},
        [{"started_at": 1}, {}],
        "P#",
    ),
    "one error was caught of a message that it names": (
        {**MARKS, "caught_error_count": 1},
        [{}, {"is_named_in_error": True}, {}, {}],
        "P--#",
    ),
    "one error was caught, and start lines tell that it was beyond": (
        {**STARTS, "caught_error_count": 1},
        [{"started_at": 1, "is_named_in_error": True}, {}, {}],
        "P##",
    ),
    "one error was caught, and a silent guard may have answered any": (
        {**MAYBE_GUARDED, "caught_error_count": 1},
        [AGAIN, AGAIN],
        "P-",
    ),
    "one error was caught, and a silent guard may have answered the repeats": (
        {**MAYBE_GUARDED, "caught_error_count": 1},
        [FIRST, AGAIN, FIRST, FIRST],
        "P--#",
    ),
    "one error was caught of the only one that no guard can have answered": (
        {**MAYBE_GUARDED, "caught_error_count": 1},
        [FIRST, AGAIN],
        "P-",
    ),
    "places not printed, and an error names one": (
        {**STARTS, "is_unprinted": True},
        [{"started_at": 1}, {"is_named_in_error": True}],
        "P-",
    ),
    "places not printed, the one begun last": (
        {**STARTS, "is_unprinted": True},
        [{"started_at": 1, "marker_at": 2}, {"started_at": 3}, {}],
        "-P-",
    ),
    "places not printed, the one begun last had finished": (
        {**STARTS, "is_unprinted": True},
        [{"started_at": 1}, {"started_at": 3, "marker_at": 4}],
        "--",
    ),
    "places not printed, nothing begun": ({**STARTS, "is_unprinted": True}, [{}, {}], "--"),
    "places not printed, a silent guard may have answered": ({**MAYBE_GUARDED, "is_unprinted": True}, [{}, {}], "--"),
    "places not printed, effect lines exhaustive": ({**MARKS, "is_unprinted": True}, [{}, {}], "--"),
}
"""What the run says, what is said of each message of its batch, and each one's place: P in progress, # not reached."""


def answer(of, run, messages):
    run = dict(run)
    is_unprinted = run.pop("is_unprinted", False)
    batch = [
        delivery(f"m{place}", **{"batch_count": len(messages), **run}, **facts)
        for place, facts in enumerate(messages, start=1)
    ]
    for place, one in enumerate(batch, start=1):
        one.batch_position = None if is_unprinted else place
    of.mark_progress(batch)
    return "".join("P" * d.is_in_progress + "#" * d.is_not_reached or "-" for d in batch)


@pytest.mark.parametrize(("run", "messages", "expected"), CASES.values(), ids=CASES)
def test_a_batch_is_told_apart_where_its_lines_tell(run, messages, expected):
    assert answer(progress, run, messages) == expected
