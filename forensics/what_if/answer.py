"""The question put to the replay: as it was, as asked, and a small grid of other settings beside them."""

import gc
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from itertools import product
from typing import Any

from forensics.errors import ForensicsError
from forensics.identity import is_fifo_name
from forensics.lake import Findings
from forensics.limits import LARGEST_BATCH, LARGEST_FIFO_BATCH, LONGEST_FUNCTION_TIMEOUT_S, LONGEST_VISIBILITY_S
from forensics.sentence import counted, joined, said
from forensics.what_if.model import Outcome, Setup
from forensics.what_if.observed import Observation, observation
from forensics.what_if.replay import MESSAGE, MOMENT, Replay

_COMPARED = {
    "redelivered": "redelivered {n}",
    "repeats": "repeats {n}",
    "failed_runs": "failed runs {n}",
    "blocked_s": "blocked {n} s",
    "wait_p50_s": "median wait {n} s",
    "wait_p95_s": "p95 wait {n} s",
    "runs": "runs {n}",
}
"""Numbers that the replay of what was is held against, and how each is told."""
_PARTIAL = {True: "partial batch responses", False: "no partial batch responses"}
_SETTINGS = {"visibility_s": "visibility timeout {n} s", "batch_size": "batch size {n}"}
_MOST_OF_GRID = 3
FIELDS = tuple(f.name for f in fields(Setup))


class SetupImpossibleError(ForensicsError):
    """AWS takes no such setting."""


@dataclass(frozen=True)
class Row:
    """One setup and what came of it: ``low`` and ``high`` per number, for the two ways slowness may go."""

    name: str
    setup: Setup
    low: Mapping[str, float | None]
    high: Mapping[str, float | None]

    def span(self, key: str) -> str:
        """Return a number in words, with both ends where they differ.

        >>> Row("x", Setup(30), {"repeats": 11}, {"repeats": 24}).span("repeats")
        '11 to 24'
        """
        low, high = self.low[key], self.high[key]
        if low is None or high is None:
            return "-"
        return f"{low:,.10g}" if low == high else f"{low:,.10g} to {high:,.10g}"


@dataclass(frozen=True)
class Answer:
    """What was observed, the replay of the same, what was asked, and the best of the grid; sentences say what it rests on.

    ``beside`` says which of the repeats no setting bears on; empty where there are none.
    """

    queue: str
    rows: tuple[Row, ...]
    faithful: str
    is_faithful: bool
    assumptions: tuple[str, ...]
    warnings: tuple[str, ...]
    beside: str = ""


def ask(findings: Findings, queue: str, changes: Mapping[str, Any]) -> Answer:
    """Replay a queue's messages with some settings changed (names of ``Setup``); raises SetupImpossibleError."""
    seen = observation(findings, queue)
    asked = replace(seen.setup, **changes)
    _check_consumer(seen, changes)
    check(asked, LARGEST_BATCH if seen.is_lambda and not _is_fifo(seen) else LARGEST_FIFO_BATCH, changes)
    observed = seen.outcome.numbers()
    same = _row("replayed as it was", seen, seen.setup)
    rows = [Row("observed", seen.setup, observed, observed), same]
    if asked != seen.setup:
        rows.append(_row("as asked", seen, asked))
    rows += _best(seen, same, {row.setup for row in rows})
    is_faithful, faithful = _faithful(seen.outcome, same)
    warnings = tuple(_warnings(asked, seen))
    return Answer(seen.queue, tuple(rows), faithful, is_faithful, tuple(_assumptions(seen)), warnings, _beside(seen))


def _is_fifo(seen: Observation) -> bool:
    return is_fifo_name(seen.queue)


def _check_consumer(seen: Observation, changes: Mapping[str, Any]) -> None:
    """Raise SetupImpossibleError for a setting that only functions have, of a queue that none consumes."""
    if seen.is_lambda or seen.setup.timeout_s is not None or not {"timeout_s", "partial_responses"} & set(changes):
        return
    raise SetupImpossibleError(
        said(
            "{queue} is consumed by workers, which have no function timeout and no partial batch responses",
            queue=repr(seen.queue),
        ),
        "Ask for another visibility timeout, batch size, maxReceiveCount or concurrency.",
    )


def check(setup: Setup, largest_batch: int = LARGEST_BATCH, changes: Collection[str] = FIELDS) -> None:
    """Raise SetupImpossibleError for a value that AWS refuses, of the settings that are changed.

    >>> check(Setup(visibility_s=-1))
    Traceback (most recent call last):
    forensics.what_if.answer.SetupImpossibleError: a visibility timeout of -1 s is not possible
    """
    limits = (
        ("visibility_s", 0, LONGEST_VISIBILITY_S, "a visibility timeout of {n} s is not possible"),
        ("batch_size", 1, largest_batch, "a batch size of {n} is not possible"),
        ("timeout_s", 1, LONGEST_FUNCTION_TIMEOUT_S, "a function timeout of {n} s is not possible"),
        ("max_receives", 1, 1_000, "a maxReceiveCount of {n} is not possible"),
        ("concurrency", 1, 10_000, "a concurrency of {n} is not possible"),
    )
    for name, low, high, phrase in limits:
        value = getattr(setup, name)
        if name in changes and value is not None and not low <= value <= high:
            raise SetupImpossibleError(
                said(phrase, n=str(value)), said("AWS takes {least} to {most}.", least=low, most=high)
            )


def _row(name: str, seen: Observation, setup: Setup) -> Row:
    with _no_garbage():
        told = [Replay(seen.messages, setup, mode, seen.overhead_s).run().numbers() for mode in (MESSAGE, MOMENT)]
    told = [{**numbers, "repeats": (numbers["repeats"] or 0) + seen.beside} for numbers in told]
    low = {key: _least([numbers[key] for numbers in told]) for key in told[0]}
    high = {key: _least([numbers[key] for numbers in told], -1) for key in told[0]}
    return Row(name, setup, low, high)


@contextmanager
def _no_garbage() -> Iterator[None]:
    """Look for no garbage meanwhile: a replay makes little, and half of its time went into looking through what was observed."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _least(values: list[float | None], sign: int = 1) -> float | None:
    known = [value for value in values if value is not None]
    return min(known, key=lambda value: sign * value, default=None)


def _best(seen: Observation, same: Row, taken: set[Setup]) -> list[Row]:
    """Return the setups of a small grid that no other beats in repeats, blocked seconds and runs at once, best first.

    The settings in force are among the others: what gives the same as they do, or worse, is none. No visibility timeout is tried but
    that in force and the one that is advised.
    """
    setup = seen.setup
    visibilities = sorted({setup.visibility_s, float(seen.advised_visibility_s or setup.visibility_s)})
    sizes = sorted({setup.batch_size, 1, max(1, setup.batch_size // 2)})
    partial = {setup.partial_responses, True} if seen.is_lambda else {setup.partial_responses}
    rows = []
    for visibility, size, answers in product(visibilities, sizes, sorted(partial)):
        if size == 1 and answers != setup.partial_responses:
            continue  # nothing is left of a batch of one
        candidate = replace(setup, visibility_s=visibility, batch_size=size, partial_responses=answers)
        if candidate not in taken:
            rows.append(_row(_named(candidate, setup), seen, candidate))
    rows.sort(key=lambda row: (_changes(row.setup, setup), row.name))
    by_price: dict[tuple[float, ...], Row] = {_price(same): same}
    for row in rows:  # of several that give the same, the one that changes least
        by_price.setdefault(_price(row), row)
    unbeaten = [row for row in by_price.values() if not any(_beats(other, row) for other in (same, *rows))]
    return sorted((row for row in unbeaten if row is not same), key=_price)[:_MOST_OF_GRID]


def _changes(setup: Setup, before: Setup) -> int:
    return sum(getattr(setup, f.name) != getattr(before, f.name) for f in fields(Setup))


def _price(row: Row) -> tuple[float, ...]:
    return tuple(
        row.high[key] or 0.0 for key in ("repeats", "dead_lettered", "unfinished", "blocked_s", "wait_p95_s", "runs")
    )


def _beats(one: Row, other: Row) -> bool:
    mine, theirs = _price(one), _price(other)
    return all(a <= b for a, b in zip(mine, theirs, strict=True)) and mine != theirs


def _named(setup: Setup, before: Setup) -> str:
    changed = [f.name for f in fields(Setup) if getattr(setup, f.name) != getattr(before, f.name)]
    told = [
        said(_SETTINGS[name], n=f"{getattr(setup, name):g}") if name in _SETTINGS else _PARTIAL[setup.partial_responses]
        for name in changed
    ]
    return joined(told, ", ") if told else "as it was"


def _faithful(observed: Outcome, same: Row) -> tuple[bool, str]:
    """Say how well the replay under the settings in force gives what was observed."""
    told, off = observed.numbers(), []
    for name, phrase in _COMPARED.items():
        value, low, high = told[name], same.low[name], same.high[name]
        if value is None or low is None or high is None:
            continue
        slack = max(0.1 * abs(value), 0.1 if name.endswith("_s") else 0.0)
        if not low - slack <= value <= high + slack:
            replayed = said(phrase, n=same.span(name))
            off.append(said("{told} instead of {n}", told=replayed, n=f"{value:,.10g}"))
    if off:
        otherwise = "Under the settings in force the replay does not give what was observed: {numbers}."
        return False, said(otherwise, numbers=joined(off, ", "))
    alike = "Under the settings in force the replay gives what was observed, each number within a tenth or by 0.1 s: {numbers}."
    seen = [said(phrase, n=f"{told[name]:,.10g}") for name, phrase in _COMPARED.items() if told[name] is not None]
    return True, said(alike, numbers=joined(seen, ", "))


def _assumptions(seen: Observation) -> Iterator[str]:
    yield (
        "Messages arrive when they were sent, and their work takes what it took. Ranges: whether slowness goes with the "
        "message, or with the moment."
    )
    if seen.guessed:
        yield said(
            "What {n} deliveries would have taken had their run gone on is not known: as long as the others of their run.",
            n=seen.guessed,
        )
    yield "A batch is of one message group and is handled one after the other; what is in a run's way takes no time."
    yield said(
        "At most {runs} at once, as observed; a delete after the visibility timeout does nothing.",
        runs=said("{n} run", n=str(seen.setup.concurrency))
        if seen.setup.concurrency == 1
        else said("{n} runs", n=str(seen.setup.concurrency)),
    )
    yield "A repeat counts where work is done again; a guard that would stop it is not looked at."
    if seen.left_out:
        yield said("{n} deliveries were left out: nothing tells their times, or there are too many.", n=seen.left_out)


def _beside(seen: Observation) -> str:
    if not seen.beside:
        return ""
    of_others = (
        "Every row counts {repeats} of work that was sent again under another message id, or of deliveries that were left out: no "
        "setting here bears on them."
    )
    return said(of_others, repeats=counted(seen.beside, "repeat"))


def _warnings(asked: Setup, seen: Observation) -> Iterator[str]:
    if seen.is_lambda and asked.batch_size > LARGEST_FIFO_BATCH >= seen.setup.batch_size:
        yield said(
            "A batch size above {n} needs a batching window of 1 s or more, which the replay leaves out.",
            n=LARGEST_FIFO_BATCH,
        )
    if asked.timeout_s and asked.visibility_s < asked.timeout_s:
        yield said(
            "A visibility timeout of {hidden} s is shorter than the function timeout of {limit} s: Lambda refuses such a mapping, "
            "and runs overlap.",
            hidden=f"{asked.visibility_s:g}",
            limit=f"{asked.timeout_s:g}",
        )
