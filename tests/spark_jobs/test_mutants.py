"""Steps that were broken on purpose: the simulated worlds must catch each."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from forensics.streams import invocations
from forensics.streams.model import Delivery, Invocation
from forensics.streams.runs import Runs, Statement
from spark_jobs import assemble
from spark_jobs.carrier import Here
from spark_jobs.runner import correlate
from spark_jobs.scan import scanned
from tests.oracle import World
from tests.oracle.bundle import fill_lake, read_findings, settings_of
from tests.oracle.judge import judge, stories
from tests.spark_jobs.seeds import reused_ids, troubled, uncounted

pytestmark = pytest.mark.slow


def _keyed_by_request_id(sound: Callable[..., Runs]) -> Callable[..., Runs]:
    def broken(statements: Sequence[Statement]) -> Runs:
        runs = sound(statements)
        merged: dict[tuple[str, int], list[Statement]] = {}
        for (request_id, _), lines in runs.lines.items():
            merged.setdefault((request_id, 1), []).extend(lines)
        return runs._replace(lines=merged)

    return broken


def _counted_as_first(sound: Callable[..., list[Delivery]]) -> Callable[..., list[Delivery]]:
    def broken(invocation: Invocation) -> list[Delivery]:
        found = sound(invocation)
        for delivery in found:
            delivery.receive_count = delivery.receive_count or 1
        return found

    return broken


def _never_parted(_: Callable[..., Any]) -> Callable[..., Any]:
    return lambda lines: [(None, lines)]


Break = tuple[Any, str, Callable[..., Any]]
BREAKS: dict[str, tuple[list[Break], list[World]]] = {
    "the request id as the only key of a run": (
        [(invocations, "runs_of", _keyed_by_request_id), (invocations, "parted_where_run_again", _never_parted)],
        reused_ids(),
    ),
    "an unknown receive count taken as 1": ([(assemble, "deliveries_of", _counted_as_first)], uncounted()),
}


def unsound(worlds: list[World], folder: Any) -> set[int]:
    """Return the seeds of the worlds of which findings say what is not true."""
    lake = fill_lake(worlds, folder)
    correlate(lake, settings_of(worlds), carrier=Here())
    problems, _ = judge(worlds, read_findings(lake))
    return {p.world.seed for p in problems if p.is_unsound}


def test_the_steps_as_they_are_keep_every_promise_in_these_worlds(many_worlds):
    problems, _ = judge(troubled(), read_findings(many_worlds.lake))
    broken = [p for p in problems if p.is_unsound]

    assert not broken, stories(broken)


@pytest.mark.parametrize(("breaks", "worlds"), BREAKS.values(), ids=BREAKS)
def test_a_broken_step_is_caught(breaks, worlds, tmp_path, monkeypatch):
    for module, name, broken in breaks:
        monkeypatch.setattr(module, name, broken(getattr(module, name)))
    monkeypatch.setattr("spark_jobs.steps.scanned", lambda *a: scanned(*a, with_vectors=False))

    assert unsound(worlds, tmp_path / "lake")
