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
IN_BATCHES = replace(RAISES, batch_size=10, trouble_rate=0.9)
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
