"""The simulated functions and workers, and what a world gives away of itself."""

import re
from collections import Counter
from dataclasses import replace

import pytest

from forensics.settings import Settings
from forensics.tables import BY_NAME
from tests.oracle import Plan, World
from tests.oracle.bundle import TABLES
from tests.oracle.evidence import Kept, told_apart

pytestmark = pytest.mark.slow

CALM = Plan(troubles=frozenset({"slow"}), trouble_rate=0.0)


def world_with(troubles: str, seed: int = 1, **kwargs) -> World:
    defaults = {"trouble_rate": 0.3, "send_spread_s": 1, "max_receive_count": None}
    return World(seed, replace(Plan(troubles=frozenset(troubles.split())), **{**defaults, **kwargs}).made_fair())


def test_one_seed_gives_one_world():
    first, again = World(11), World(11)

    assert first.rows("log_events") == again.rows("log_events")
    assert first.settings_text() == again.settings_text()
    assert World(12).rows("log_events") != first.rows("log_events")


def test_a_calm_world_does_every_work_once():
    world = World(1, CALM)

    assert {t.effects_done for t in world.truth.values()} == {1}
    assert not any(t.causes for t in world.truth.values())


@pytest.mark.parametrize("seed", range(40))
def test_every_drawn_world_gives_rows_of_the_declared_tables_and_settings_that_parse(seed):
    world = World(seed)

    Settings.parse(world.settings_text())
    for table in TABLES:
        names = set(BY_NAME[table].column_names)
        for row in world.rows(table):
            assert set(row) == names
    ids = [row["evidence_id"] for table in TABLES for row in world.rows(table)]
    assert len(ids) == len(set(ids))


def test_no_receipt_handle_reaches_the_rows():
    for seed in range(20):
        for row in World(seed).rows("log_events"):
            assert not re.search(r"AQEB[A-Za-z0-9+/]{40}", row["line"])


@pytest.mark.parametrize(
    ("platform", "says"),
    [
        ("text_old", r"Task timed out after 20\.01 seconds"),
        ("text", r"Duration: 20000\.00 ms.*Status: timeout"),
        ("json", r'"type":"platform\.report".*"status":"timeout"'),
    ],
    ids=["the old line", "REPORT with a status", "platform events"],
)
def test_a_timeout_is_logged_in_the_form_of_its_platform(platform, says):
    world = world_with("slow", platform=platform)

    lines = [line.text for line in world.evidence.lines]
    assert sum(bool(re.search(says, text)) for text in lines) == sum(
        run.status == "timeout" for run in world.functions[0].runs
    )
    assert any(re.search(says, text) for text in lines)


def test_items_finished_before_a_timeout_come_again_as_collateral_and_the_cut_one_does_not():
    world = world_with("slow", seed=3)
    codes = Counter(cause.code for t in world.truth.values() for cause in t.causes)

    assert codes["batch_collateral"] and codes["function_timeout"]
    for known in world.truth.values():
        for before, cause in zip(known.deliveries, known.causes, strict=False):
            assert (cause.code == "batch_collateral") == before.is_finished


def test_an_effect_may_fall_between_the_work_and_its_line():
    worlds = [world_with("slow crash", seed=seed) for seed in range(30)]

    unmarked = [d for w in worlds for t in w.truth.values() for d in t.deliveries if d.effects_ms and not d.is_marked]
    assert unmarked


def test_frozen_siblings_go_on_in_the_next_run_under_its_request_id():
    found = 0
    for seed in range(30):
        world = world_with("error", seed, order="parallel", awaits_siblings=False, runtime="node", send_spread_s=10)
        batches = {run.run_id: {i.delivery.message_id for i in run.items} for f in world.functions for run in f.runs}
        for line in world.book.lines:
            found += line.role == "effect" and line.names[0].message_id not in batches[line.run_id]

    assert found


def test_a_throttled_batch_rises_in_count_without_a_run():
    world = world_with("throttle", seed=2, send_spread_s=60, visibility_s=30)
    throttled = [c for t in world.truth.values() for c in t.causes if c.code == "throttled"]

    assert throttled
    for cause in throttled:
        before = world.truth[cause.message_id].deliveries[cause.receive_count - 2]
        assert before.run_id is None
        assert not before.effects_ms
    assert any(row["metric"] == "Throttles" for row in world.rows("metric_points"))


def test_a_response_lambda_cannot_read_returns_the_whole_batch():
    world = world_with("error", response="wrong_id")
    returned = [d for t in world.truth.values() for d in t.deliveries if d.outcome == "malformed_response"]

    assert any(d.effects_ms for d in returned)
    assert any(not d.effects_ms for d in returned)


def test_a_guard_keeps_the_work_at_one_but_not_across_the_functions_deadline():
    failing = world_with("error", guard="line", message_count=60, exhaustive_declared=False)
    cut_off = [world_with("slow", seed, guard="line", message_count=60) for seed in range(20)]

    assert {t.effects_done for t in failing.truth.values()} == {1}
    assert any(line.role == "guard" for line in failing.evidence.lines)
    assert any(t.effects_done > 1 for world in cut_off for t in world.truth.values())


def test_a_laravel_worker_slower_than_its_visibility_timeout_is_refused_its_delete():
    world = world_with("slow", consumer="laravel", visibility_s=30, platform="json")
    refused = [d for t in world.truth.values() for d in t.deliveries if d.outcome == "delete_refused"]

    assert refused
    assert any("receipt handle has expired" in line.text for line in world.evidence.lines)
    assert any(t.effects_done > 1 for t in world.truth.values())


def test_the_truth_ends_where_the_evidence_ends():
    world = world_with("slow", loss="tail")
    whole = world_with("slow")

    def done(some: World) -> int:
        return sum(t.effects_done for t in some.truth.values())

    assert done(world) < done(whole)
    assert all(line.at_ms < world.evidence.end_ms for line in world.evidence.lines)


@pytest.mark.parametrize("loss", ["lines", "gap", "late", "head", "denied"])
def test_lost_lines_do_not_change_the_truth_behind_them(loss):
    lossy = world_with("slow error", seed=5, loss=loss, second_function=True, exhaustive_declared=False)

    assert len(lossy.evidence.lines) < len(lossy.book.lines)
    status = {row["status"] for row in lossy.rows("coverage")}
    assert status == {"gap": {"ok", "failed"}, "denied": {"ok", "denied"}}.get(loss, {"ok"})


def test_a_world_that_wrote_no_line_has_no_gap_in_its_lines():
    world = World(1, replace(Plan(), loss="gap").made_fair())
    world.book.lines.clear()

    assert Kept(world).gap is None


APART = {
    "one handling": ({"1": {("s", "event"), ("s", "effect")}}, {"1"}),
    "two that both print the message": ({"1": {("s", "event")}, "2": {("s", "event"), ("s", "started")}}, {"1", "2"}),
    "one whose start is the next one's only line": ({"1": {("s", "event")}, "2": {("s", "started")}}, {"1"}),
    "in another stream": ({"1": {("s", "event")}, "2": {("t", "started")}}, {"1", "2"}),
    "behind an effect": ({"1": {("s", "event"), ("s", "effect")}, "2": {("s", "started")}}, {"1", "2"}),
    "an effect alone behind an effect": (
        {"1": {("s", "started"), ("s", "effect")}, "2": {("s", "effect")}},
        {"1"},
    ),
    "an effect alone behind an end": (
        {"1": {("s", "effect"), ("s", "delete_error")}, "2": {("s", "effect")}},
        {"1", "2"},
    ),
    "a message printed behind its effect": ({"1": {("s", "effect")}, "2": {("s", "event")}}, {"1"}),
    "a third that starts as the second did": (
        {"1": {("s", "event")}, "2": {("s", "started")}, "3": {("s", "started")}},
        {"1", "3"},
    ),
}


@pytest.mark.parametrize(("runs", "expected"), APART.values(), ids=APART)
def test_handlings_of_workers_are_known_apart_by_their_lines_alone(runs, expected):
    assert told_apart(runs) == expected
