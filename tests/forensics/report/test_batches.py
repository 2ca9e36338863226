from datetime import UTC, datetime, timedelta

import pytest

from forensics.language import Language
from forensics.report.batches import batches_at_end, state_of
from forensics.report.case import load_case
from tests.forensics.report import world

STATES = {
    "an effect line is there": ("yes", "marker", "finished"),
    "it was being handled": ("unknown", "in_progress", "in progress"),
    "an earlier item was still in progress": ("no", "not_reached", "not started"),
    "the run never started": ("no", "never_started", "not started"),
    "a guard stopped it": ("no", "guard", "stopped by a guard"),
    "siblings may have run beside it": ("unknown", "parallel", "unknown"),
    "nothing tells": ("unknown", "no_item_lines", "unknown"),
}


@pytest.mark.parametrize(("effect", "basis", "state"), STATES.values(), ids=STATES)
def test_how_far_an_item_got_follows_from_its_effect(effect, basis, state):
    assert state_of({"effect": effect, "basis": basis}) == state


def test_the_batch_at_the_kill_says_what_was_finished_in_progress_and_not_started(case):
    (batch,) = case.batches

    assert batch.sentence == (
        "charge-card was stopped at its timeout with 3 messages: 1 finished, 1 in progress, 1 not started."
    )
    assert [(i.position, i.state, i.came_again) for i in batch.items] == [
        (1, "finished", True),
        (2, "in progress", True),
        (3, "not started", True),
    ]
    assert (batch.items[0].started_ms, batch.items[0].finished_ms) == (0, 1000)
    assert batch.items[1].finished_ms is None
    assert set(batch.evidence_ids) <= {line.evidence_id for line in case.evidence}


def test_a_run_that_ended_well_is_no_batch_that_was_cut_off():
    calm = [d | {"run_status": "success"} for d in world.deliveries()]

    assert batches_at_end(calm, set(world.IDS)) == ()


def test_a_run_that_held_no_affected_message_is_left_out():
    assert batches_at_end(world.deliveries(), set()) == ()


def test_siblings_that_never_came_again_are_counted():
    rows = [d | {"batch_count": 10} for d in world.deliveries()]
    (batch,) = batches_at_end(rows, set(world.IDS))

    assert batch.sentence.endswith(
        "with 10 messages: 1 finished, 1 in progress, 1 not started; 7 more not redelivered."
    )


def test_of_a_batch_that_was_not_printed_lines_may_name_a_part():
    rows = [d | {"batch_position": None} for d in world.deliveries()]
    (batch,) = batches_at_end(rows, set(world.IDS))
    (of_worker,) = batches_at_end([d | {"consumer_kind": "worker"} for d in rows], set(world.IDS))

    assert " with at least 3 messages: " in batch.sentence
    assert " with 3 messages: " in of_worker.sentence
    assert Language("ja").sentence(batch.sentence).count("3 件以上のバッチ") == 1


def test_runs_without_a_known_end_come_last():
    early = datetime(2026, 11, 20, tzinfo=UTC)
    rows = [
        world.deliveries()[0] | {"consumer": name, "run_ended_at": at}
        for name, at in (("b", None), ("c", early + timedelta(1)), ("a", early))
    ]
    found = batches_at_end(rows, set(world.IDS))

    assert [b.ended_at for b in found] == [early, early + timedelta(1), None]


def test_a_run_of_one_message_is_no_batch(lake):
    found = load_case(lake.findings(), world.INCIDENT)
    alone = [d | {"batch_count": 1, "consumer": f"{d['consumer']}-{d['item_id']}"} for d in found.deliveries]

    assert batches_at_end(found.deliveries, {world.IDS[0]})
    assert batches_at_end(alone, {world.IDS[0]}) == ()
