"""One receive in several runs: a poller that invokes again, and durable functions whose executions take several."""

from collections import Counter
from dataclasses import replace

import pytest

from tests.oracle import Plan, World
from tests.oracle.judge import Findings, judge
from tests.oracle.kinds import KINDS
from tests.oracle.plan import SEVERAL_RUNS
from tests.oracle.truth import INVOKED_AGAIN, Delivery
from tests.oracle.world import chance

pytestmark = pytest.mark.slow

CALM = Plan(troubles=frozenset({"slow"}), trouble_rate=0.0, batch_size=1, max_receive_count=3)
TWICE = replace(CALM, invokes_again=1.0, concurrency=4)
DURABLE = replace(CALM, is_durable=True, visibility_s=600, function_timeout_s=5)


def world_of(plan: Plan, **changed) -> World:
    return World(7, replace(plan, **changed).made_fair())


def receives(world: World) -> list[Delivery]:
    """The first handling of each receive."""
    return [delivery for known in world.truth.values() for delivery in known.receives]


def lines_of(world: World, delivery: Delivery, role: str) -> list[str]:
    """What each run of a receive printed of its message, in that role; empty for those that printed nothing."""
    return [
        "".join(ln.text for ln in world.book.lines if ln.run_id == d.run_id and ln.role == role and d in ln.names)
        for d in delivery.handlings
    ]


def statuses(world: World) -> Counter[str]:
    return Counter(run.status for function in world.functions for run in function.runs)


def test_a_poller_that_invokes_again_has_the_work_done_in_both_runs_of_one_receive():
    world = world_of(TWICE)

    assert {len(d.handlings) for d in receives(world)} == {2}
    assert {t.effects_done for t in world.truth.values()} == {2}
    assert not any(t.causes for t in world.truth.values())
    for delivery in receives(world):
        first, second = lines_of(world, delivery, "event")
        assert all(f'"receiptHandle": "{mark}' in text for text in (first, second) for mark in ("RH~",))
        assert first.partition("Records")[2] == second.partition("Records")[2] != ""


def test_of_two_runs_the_one_that_the_poller_waits_for_decides_why_the_message_comes_again():
    world = world_of(TWICE, troubles=frozenset({"error"}), trouble_rate=0.3)
    causes = [cause for known in world.truth.values() for cause in known.causes]

    assert {cause.code for cause in causes} == {"function_error"}
    assert all(cause.before.settles for cause in causes)
    assert any(not cause.before.effects_ms and any(d.effects_ms for d in cause.before.handlings) for cause in causes)


@pytest.mark.parametrize(
    ("step_lines", "effects"),
    [("inside", [True, False]), ("outside", [True, True]), ("logger", [True, False])],
)
def test_a_wait_ends_the_run_of_a_durable_function_and_the_next_prints_what_stands_outside_its_steps(
    step_lines, effects
):
    world = world_of(DURABLE, waits="after", step_lines=step_lines)

    assert statuses(world) == {"success": 2 * len(world.truth)}
    for delivery in receives(world):
        assert [len(d.effects_ms) for d in delivery.handlings] == [1, 0]
        assert [bool(text) for text in lines_of(world, delivery, "effect")] == effects
        assert all(lines_of(world, delivery, "event"))


def test_a_step_that_was_cut_off_is_done_again_in_a_further_run_of_its_receive():
    world = world_of(DURABLE, troubles=frozenset({"slow"}), trouble_rate=0.9, message_count=30)
    done = [[len(d.effects_ms) for d in delivery.handlings] for delivery in receives(world)]

    assert statuses(world)["timeout"]
    assert any(sum(runs) == 2 for runs in done)
    assert {len(runs) for runs in done} >= {1, 2}


@pytest.mark.parametrize("attempts", [1, 3])
def test_what_a_step_raises_ends_its_run_well_and_after_the_last_attempt_its_execution(attempts):
    world = world_of(DURABLE, troubles=frozenset({"error_after_effect"}), trouble_rate=0.9, step_attempts=attempts)
    runs = max(len(d.handlings) for d in receives(world))

    assert set(statuses(world)) == {"success"}
    assert runs == attempts
    assert {c.code for t in world.truth.values() for c in t.causes} == {"function_error"}
    assert any(sum(len(d.effects_ms) for d in r.handlings) == attempts for r in receives(world))


def test_an_execution_that_waits_for_too_long_times_out_and_no_run_tells():
    world = world_of(DURABLE, waits="before", execution_timeout_s=3)
    ended = {d.outcome for d in receives(world)}

    assert ended == {"timeout", "deleted"}
    assert set(statuses(world)) == {"success"}


def test_each_batch_that_a_poller_invokes_with_again_begins_an_execution_of_its_own():
    world = world_of(DURABLE, invokes_again=1.0, waits="after", concurrency=4)

    assert {t.effects_done for t in world.truth.values()} == {2}
    assert {len(d.handlings) for d in receives(world)} == {4}


def ledger_row(world: World, delivery: Delivery, number: int) -> dict:
    requests = {run.run_id: run.request_id for function in world.functions for run in function.runs}
    row = {"queue": world.queue_name, "item_id": delivery.message_id, "message_id": delivery.message_id}
    told = {"receive_count": delivery.receive_count, "request_id": requests[delivery.run_id], "basis": "marker"}
    return row | told | {"delivery_index": number, "effect": "yes"}


def test_a_further_run_of_one_receive_is_no_invented_redelivery_and_each_run_is_held_to_its_own_effect():
    world = world_of(TWICE)
    delivery = receives(world)[0]
    ledger = [ledger_row(world, d, number) for number, d in enumerate(delivery.handlings, start=1)]
    again = ledger[1] | {"cause": "undecidable"}

    problems, score = judge([world], Findings([], [again], ledger))
    delivery.handlings[1].effects_ms = []
    worse, _ = judge([world], Findings([], [again], ledger))

    assert {p.kind for p in problems} == {"missed"}
    assert score.causes == {(INVOKED_AGAIN, "undecidable"): 1}
    assert sum(p.kind == "wrong effect" for p in worse) == 1


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in ("invoked again", "durable functions")])
def test_worlds_of_the_kinds_before_stay_as_they_were(kind):
    for seed in range(20):
        drawn = KINDS[kind](chance(seed))
        assert [getattr(drawn, name) for name in SEVERAL_RUNS] == [getattr(Plan(), name) for name in SEVERAL_RUNS]
