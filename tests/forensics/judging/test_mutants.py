"""A way of judging that was broken on purpose must not pass its border cases."""

import ast
import importlib
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

from tests.forensics.judging import (
    test_bounds,
    test_dead_letters,
    test_effect,
    test_ending,
    test_given_back,
    test_guard_tables,
    test_guards,
    test_late_output,
    test_ledger,
    test_marks_beside,
    test_messages,
    test_pairs,
    test_passing,
    test_progress,
    test_provisional,
    test_same_receive,
    test_unlogged,
    test_works,
)
from tests.forensics.mutants import mutants, mutants_of_conditions

pytestmark = pytest.mark.slow

ASKED = {
    "bounds": [
        (test_bounds.before, test_bounds.BEFORE),
        (test_bounds.throttled_for, test_bounds.THROTTLED_FOR),
        (test_bounds.after, test_bounds.AFTER),
        (test_bounds.unnamed, test_bounds.UNNAMED),
        (test_bounds.between, test_bounds.BETWEEN),
        (test_bounds.counted, test_bounds.COUNTED),
        (test_bounds.unseen_runs, test_bounds.UNSEEN_RUNS),
        (test_bounds.outlived, test_bounds.OUTLIVED),
        (test_bounds.unread, test_bounds.UNREAD),
        (test_bounds.kept, test_bounds.KEPT),
        (test_bounds.of_two, test_bounds.OF_TWO),
        (test_bounds.late_delete, test_bounds.LATE_DELETE),
        (test_bounds.room, test_bounds.ROOM),
    ],
    "effect": [
        (test_effect.answer, test_effect.CASES),
        (test_effect.finished, test_effect.FINISHED),
        (test_effect.idle, test_effect.IDLE),
        (test_effect.counted, test_effect.ONCE),
    ],
    "ending": [
        (test_ending.answer, test_ending.CASES),
        (test_ending.last_under, test_ending.UNDER),
        (test_ending.last_under, test_ending.LEFT_TO_DELETE),
        (test_ending.left_for_sure, test_ending.LEFT_FOR_SURE),
        (test_ending.status, test_ending.STATUSES),
        (test_ending.sign, test_ending.SIGNS),
        (test_ending.across, test_ending.ACROSS),
        (test_ending.cited, test_ending.CITED),
        (test_ending.hidden, test_ending.HIDDEN_FOR_SURE),
        (test_ending.heard, test_ending.HEARD),
        (test_ending.ends_another, test_ending.ENDS_ANOTHER),
        (test_ending.of_one, test_ending.OF_ONE),
        (test_ending.sure, test_ending.SURE),
        (test_ending.moved, test_ending.MOVED),
    ],
    "given_back": [(test_given_back.answer, test_given_back.GIVEN_BACK)],
    "guards": [
        (test_guards.answer, test_guards.WORKS),
        (test_guards.kind, test_guards.KINDS),
        (test_guards.lock, test_guards.LOCKS),
        (test_guards.overlap, test_guards.OVERLAPS),
        (test_guards.missed, test_guards.MISSED),
    ],
    "late_output": [
        (test_late_output.answer, test_late_output.CASES),
        (test_late_output.given, test_late_output.GIVEN),
        (test_late_output.shared, test_late_output.SHARED),
    ],
    "dead_letters": [
        (test_dead_letters.counted, test_dead_letters.COUNTED),
        (test_dead_letters.consumed_by, test_dead_letters.CONSUMED),
        (test_dead_letters.cited, test_dead_letters.MADE),
        (test_dead_letters.sources, test_dead_letters.QUEUES),
        (test_dead_letters.has_fifo, test_dead_letters.FIFO),
    ],
    "ledger": [(test_ledger.answer, test_ledger.CASES)],
    "messages": [
        (test_messages.interval, test_messages.INTERVALS),
        (test_messages.why_open, test_messages.WHY_OPEN),
        (test_messages.of_key, test_messages.OF_A_KEY),
        (test_messages.shown, test_messages.SHOWN),
        (test_messages.unrun, test_messages.UNRUN),
        (test_messages.dead_letters, test_messages.DEAD_LETTERS),
        (test_messages.beside, test_messages.BESIDE),
        (test_messages.alone, test_messages.ALONE),
        (test_messages.tried, test_messages.TRIED),
        (test_messages.of_two, test_messages.OF_TWO),
        (test_messages.of_its_key, test_messages.OF_ITS_KEY),
        (test_messages.repeat_shown, test_messages.REPEATS),
        (test_messages.maybe, test_messages.MAYBE),
        (test_messages.ends, test_messages.ENDS),
        (test_messages.final, {name: (case[0], case[1:]) for name, case in test_messages.FINAL.items()}),
    ],
    "marks_beside": [
        (test_marks_beside.counted, test_marks_beside.COUNTED),
        (test_marks_beside.beyond, test_marks_beside.LINES),
        (test_marks_beside.home, test_marks_beside.HOMES),
    ],
    "passing": [(test_passing.answer, test_passing.CASES), (test_passing.answer_of_runs, test_passing.RUNS)],
    "pairs": [
        (test_pairs.held, test_pairs.RECEIVES),
        (test_pairs.late_lines, test_pairs.LATE_LINES),
        (test_pairs.outlived, test_pairs.OUTLIVED),
        (
            test_pairs.clocks,
            {name: (*case[:2], case[2][1], case[2]) for name, case in test_pairs.CLOCKS.items()},
        ),
        (test_pairs.held_from, test_pairs.HELD),
        (test_pairs.name, test_pairs.NAMES),
        (test_pairs.durations, test_pairs.DURATIONS),
        (test_pairs.finished, test_pairs.FINISHES),
        (test_pairs.spans, test_pairs.SPANS),
        (test_pairs.hidden, test_pairs.HIDDEN),
        (test_pairs.deleted, test_pairs.DELETED),
        (test_pairs.timed_out, test_pairs.ENDED_WELL),
        (test_pairs.by_one_receive, test_pairs.ONE_RECEIVE),
        (test_pairs.at_once, test_pairs.AT_ONCE),
        (test_pairs.again_at, test_pairs.AGAIN_AT),
        (test_pairs.printed, test_pairs.PRINTED),
        (test_pairs.begun, test_pairs.BEGUN),
        (test_pairs.raised, test_pairs.RAISED),
        (test_pairs.printed_by_worker, test_pairs.PRINTED_BY_WORKERS),
        (test_pairs.provisional, test_pairs.PROVISIONAL),
    ],
    "progress": [(test_progress.answer, test_progress.CASES)],
    "provisional": [
        (test_provisional.effect, test_provisional.BASES),
        (test_provisional.bound, test_provisional.BOUNDS),
        (test_provisional.spanned, test_provisional.SPANS),
        (test_provisional.cause, test_provisional.CAUSES),
    ],
    "guard_tables": [
        (test_guard_tables.answered, test_guard_tables.ANSWERED),
        (test_guard_tables.recorded, test_guard_tables.RECORDED),
        (test_guard_tables.cited, test_guard_tables.CITED),
        (test_guard_tables.told, test_guard_tables.TOLD),
        (test_guard_tables.absent, test_guard_tables.ABSENT),
    ],
    "same_receive": [
        (test_same_receive.answer, test_same_receive.CASES),
        (test_same_receive.received, test_same_receive.SHIPPED),
        (test_same_receive.after_each_other, test_same_receive.AFTER_EACH_OTHER),
        (test_same_receive.begun_twice, test_same_receive.BEGUN_TWICE),
        (
            test_same_receive.standing,
            {name: (runs, *of, expected) for name, (runs, expected, *of) in test_same_receive.STANDING.items()},
        ),
        (
            test_same_receive.answer_kept,
            {name: (*case, case[-1]) for name, case in test_same_receive.SAID.items()},
        ),
    ],
    "unlogged": [
        (test_unlogged.answer, test_unlogged.CASES),
        (test_unlogged.spans, test_unlogged.SPANS),
        (test_unlogged.of_queue, test_unlogged.OF_QUEUES),
        (test_unlogged.kind, test_unlogged.WATCHED),
        (test_unlogged.cited, test_unlogged.CITED),
    ],
    "works": [
        (test_works.answer, test_works.CASES),
        (test_works.answer, test_works.IN_AN_UNKNOWN_QUEUE),
        (test_works.of_a_body, test_works.OF_A_BODY),
        (test_works.redriven, test_works.REDRIVEN),
        (test_works.named, test_works.BESIDE_A_KEY),
    ],
}
"""Per module what its border cases ask; a case ends in what must be answered."""

THE_SAME = {
    "low < count <= high -> low <= count <= high",
    "c < count -> c <= count",
    "c > count -> c >= count",
    "count > first_dead -> count >= first_dead",
}
"""Broken in writing only: a count that is missing is none that was logged."""


def is_caught(name: str, broken: ModuleType) -> bool:
    """Tell whether any border case comes out otherwise."""
    try:
        return any(ask(broken, *case) != expected for ask, cases in ASKED[name] for *case, expected in cases.values())
    except (AssertionError, AttributeError, IndexError, KeyError, NameError, TypeError, ValueError):
        return True


def survivors(name: str, ways: Callable) -> list[str]:
    sound = importlib.import_module(f"forensics.judging.{name}")
    source = Path(sound.__file__ or "").read_text(encoding="utf-8")
    left = []
    for what, mutant in ways(ast.parse(source)):
        broken = ModuleType(sound.__name__)
        exec(compile(mutant, name, "exec"), broken.__dict__)
        if not is_caught(name, broken) and what.partition(": ")[2] not in THE_SAME:
            left.append(what)
    return left


@pytest.mark.parametrize("name", ASKED)
def test_nothing_is_caught_that_is_sound(name):
    assert not is_caught(name, importlib.import_module(f"forensics.judging.{name}"))


@pytest.mark.parametrize("ways", [mutants, mutants_of_conditions], ids=["comparisons", "conditions"])
@pytest.mark.parametrize("name", ASKED)
def test_every_way_to_break_it_is_caught_at_its_borders(name, ways):
    assert survivors(name, ways) == []
