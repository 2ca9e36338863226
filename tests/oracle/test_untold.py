"""What no line tells: another world writes and keeps the very same, and its truth is the other one."""

from dataclasses import replace

import pytest

from tests.oracle import Plan, World
from tests.oracle.bundle import TABLES
from tests.oracle.truth import Delivery
from tests.oracle.untold import Untold

SEED = 77
RAISES = Plan(batch_size=1, troubles=frozenset({"error"}), trouble_rate=0.4, message_count=12).made_fair()
RAISES_LATE = replace(RAISES, troubles=frozenset({"error_after_effect"}))
IN_BATCHES = replace(RAISES, batch_size=10, trouble_rate=0.9, idempotent_declared=True)
TIMES_OUT = replace(RAISES, troubles=frozenset({"slow"}))
CRASHES = replace(RAISES, troubles=frozenset({"crash", "slow"}))
KILLED = replace(RAISES, consumer="lines", troubles=frozenset({"killed", "slow"}), visibility_s=30).made_fair()
SILENT = replace(RAISES, effect_line=None).made_fair()
GIVES_BACK = replace(SILENT, response="right")
HIDES_FATE = [RAISES, RAISES_LATE, IN_BATCHES, TIMES_OUT, CRASHES, KILLED, SILENT, GIVES_BACK]


class Otherwise(World):
    """The same world, but that the handler did the work of one delivery where it did not, or the other way round."""

    def __init__(self, plan: Plan, other: Delivery) -> None:
        self.other = other
        super().__init__(SEED, plan)

    def _fate(self, known):
        fate, other = super()._fate(known), self.other
        if (known.message_id, known.deliveries[-1].receive_count) == (other.message_id, other.receive_count):
            if fate.fails:
                fate.fails = "before" if other.effects_ms else "after"
                if other.effects_ms:
                    fate.before_ms, fate.gap_ms = fate.before_ms + fate.gap_ms, 0
                else:
                    fate.before_ms, fate.gap_ms = 0, fate.before_ms
            elif other.effects_ms:
                fate.before_ms, fate.gap_ms = fate.before_ms + fate.gap_ms + fate.after_ms + 1_000_000, 0
            else:
                fate.before_ms, fate.gap_ms = 0, fate.before_ms + fate.gap_ms
        return fate


def of(world: World, delivery: Delivery) -> Delivery:
    mine = world.truth[delivery.message_id].deliveries
    return next(d for d in mine if d.receive_count == delivery.receive_count)


def kept(world: World) -> dict[str, list[dict]]:
    return {table: world.rows(table) for table in TABLES}


def untold(world: World) -> list[Delivery]:
    tells = Untold(world).tells
    deliveries = [(d, known) for known in world.truth.values() for d in known.deliveries]
    return [d for d, known in deliveries if not tells(d, known.business_key)]


@pytest.mark.slow
@pytest.mark.parametrize(
    "plan",
    HIDES_FATE,
    ids=[
        "raised before the effect",
        "raised after it",
        "raised in a batch",
        "a run that timed out",
        "a run that crashed",
        "a worker that was killed",
        "a handler that prints nothing",
        "given back by a response that nobody prints",
    ],
)
def test_another_world_keeps_the_very_same_and_its_truth_is_the_other_one(plan):
    world = World(SEED, plan)
    found = [d for d in untold(world) if not d.is_finished]

    assert found
    for delivery in found[:6]:
        other = Otherwise(plan, delivery)

        assert kept(other) == kept(world)
        assert bool(of(other, delivery).effects_ms) is not bool(delivery.effects_ms)


RETURNS = Plan(batch_size=1, troubles=frozenset({"delete_lost"}), trouble_rate=0.5, message_count=12).made_fair()
BARE = replace(RETURNS, effect_line=None).made_fair()
GUARDED = replace(BARE, guard="silent").made_fair()
BATCHES = replace(TIMES_OUT, batch_size=10, trouble_rate=0.9, send_spread_s=1)
TOLD = {
    "a mark": (RETURNS, "success", {True}),
    "no mark where not each effect has one": (
        replace(RETURNS, exhaustive_declared=False, guard="silent").made_fair(),
        "success",
        {True, False},
    ),
    "no mark where each effect has one": (replace(RETURNS, guard="silent").made_fair(), "success", {True}),
    "a run that returned, and one that may have done it again": (BARE, "success", {True, False}),
    "the same, of a function that always does it again": (replace(BARE, idempotent_declared=True), "success", {True}),
    "a run that returned, of a mapping that nobody knows": (replace(BARE, mapping_kept=False), "success", {False}),
    "a repeat that a silent guard may have answered": (GUARDED, "success", {True, False}),
    "a handler that raised": (RAISES, "error", {False}),
    "a batch in order that timed out: what was done, at hand and not reached": (BATCHES, "timeout", {True, False}),
    "the same in an order that nobody declared": (
        replace(BATCHES, order_declared=False, effect_line=None).made_fair(),
        "timeout",
        {False},
    ),
}


def told(plan: Plan, status: str) -> set[bool]:
    """What is told of the deliveries in runs that ended so; of a message's later ones once the first is told as done."""
    world = World(SEED, plan)
    tells, runs = Untold(world).tells, {run.run_id: run for f in world.functions for run in f.runs}
    found = set()
    for known in world.truth.values():
        is_done = False
        for delivery in known.deliveries:
            is_told = tells(delivery, known.business_key, is_done)
            is_done = is_done or (is_told and bool(delivery.effects_ms))
            if delivery.run_id in runs and runs[delivery.run_id].status == status:
                found.add(is_told)
    return found


@pytest.mark.parametrize(("plan", "status", "expected"), TOLD.values(), ids=TOLD)
def test_what_lines_tell_counts_against_the_findings(plan, status, expected):
    assert told(plan, status) == expected


def test_of_a_work_each_delivery_that_lines_show_counts_once():
    world = World(SEED, RAISES)
    of_world = Untold(world)
    single = sum(of_world.count([known]) for known in world.truth.values())

    assert single == len([d for d in untold(world) if d.run_id is not None]) > 0
