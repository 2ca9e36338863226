"""Findings against the truth: simulated worlds that know how often each message's work was really done."""

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from spark_jobs.runner import correlate
from tests.oracle import Plan, World
from tests.oracle.bundle import fill_lake, read_findings, settings_of
from tests.oracle.judge import Problem, Score, judge, stories
from tests.oracle.plan import BODIES, CONSUMERS, EVENT_FORMS, LOSSES, RESPONSES, RUNTIMES, TROUBLES, WORKER_TROUBLES

pytestmark = pytest.mark.spark

# The goals of the product; today more is reached.
CAUSE_ACCURACY = 0.98
RECALL_WHERE_TOLD = 0.99


def judged(worlds: list[World], spark, folder: Path) -> tuple[list[Problem], Score]:
    lake = fill_lake(worlds, folder / "lake")
    correlate(lake, settings_of(worlds), spark=spark)
    return judge(worlds, read_findings(lake))


@pytest.fixture(scope="module")
def seeded(many_worlds) -> tuple[list[Problem], Score]:
    """What the judge says of all worlds."""
    worlds, lake = many_worlds
    return judge(worlds, read_findings(lake))


def test_no_finding_breaks_a_promise(seeded):
    """The truth lies inside every interval, nothing confirmed is false, nothing done twice is left out."""
    problems, _ = seeded
    unsound = [p for p in problems if p.is_unsound]

    assert not unsound, stories(unsound)


def test_the_worlds_put_the_rules_to_the_test(seeded):
    """Were hardly anything redelivered or repeated, the other tests here would prove nothing."""
    _, score = seeded

    assert score.redelivered > 200
    assert score.repeated > 50
    assert score.told > 10
    assert len({truth for truth, _ in score.causes}) >= 8


def test_work_done_twice_is_confirmed_where_every_effect_is_marked_and_logged(seeded):
    problems, score = seeded

    assert score.told_confirmed >= RECALL_WHERE_TOLD * score.told, stories([p for p in problems if p.kind == "blunt"])


def test_a_named_cause_is_the_true_one(seeded):
    problems, score = seeded

    assert score.right >= CAUSE_ACCURACY * (score.right + score.wrong), score.table() + stories(
        [p for p in problems if p.kind == "wrong cause"]
    )


# -- worlds that hypothesis thinks up --------------------------------------------------------------------------


@st.composite
def plans(draw: st.DrawFn) -> Plan:
    """Any world that AWS and honest settings could give."""
    runtime = draw(st.sampled_from(RUNTIMES))
    return Plan(
        is_fifo=draw(st.booleans()),
        group_count=draw(st.integers(1, 6)),
        message_count=draw(st.integers(1, 20)),
        send_spread_s=draw(st.sampled_from((1, 10, 120))),
        visibility_s=draw(st.sampled_from((20, 45, 300))),
        max_receive_count=draw(st.sampled_from((None, 1, 2, 4))),
        body=draw(st.sampled_from(BODIES)),
        consumer=draw(st.sampled_from(CONSUMERS)),
        runtime=runtime,
        platform=draw(st.sampled_from(("text_old", "text", "json"))),
        system_log_level=draw(st.sampled_from(("INFO", "WARN"))),
        function_timeout_s=draw(st.sampled_from((3, 10, 30))),
        batch_size=draw(st.integers(1, 10)),
        concurrency=draw(st.integers(1, 4)),
        response=draw(st.sampled_from((None, *RESPONSES))),
        order=draw(st.sampled_from(("sequential", "parallel"))),
        awaits_siblings=draw(st.booleans()),
        second_function=draw(st.booleans()),
        event_form=draw(st.sampled_from(EVENT_FORMS[runtime])),
        started_line=draw(st.booleans()),
        effect_line=draw(st.sampled_from(("both", "message", "key", None))),
        guard=draw(st.sampled_from((None, "line", "silent", "powertools"))),
        troubles=draw(st.frozensets(st.sampled_from(sorted({*TROUBLES, *WORKER_TROUBLES})), min_size=1, max_size=3)),
        trouble_rate=draw(st.sampled_from((0.1, 0.3, 0.6))),
        effect_declared=draw(st.booleans()),
        exhaustive_declared=draw(st.booleans()),
        started_declared=draw(st.booleans()),
        order_declared=draw(st.booleans()),
        idempotent_declared=draw(st.booleans()),
        business_key_declared=draw(st.booleans()),
        queue_settings_kept=draw(st.booleans()),
        function_settings_kept=draw(st.booleans()),
        mapping_kept=draw(st.booleans()),
        metrics_kept=draw(st.booleans()),
        loss=draw(st.sampled_from(LOSSES)),
    ).made_fair()


BUNDLES = st.lists(st.tuples(st.integers(0, 10**5), plans()), min_size=50, max_size=80, unique_by=lambda pair: pair[0])
"""Starting a correlation costs more than judging a world: the one example is a bundle of worlds."""


@settings(
    max_examples=1,
    deadline=None,
    derandomize=os.environ.get("CI") == "true",
    phases=(Phase.explicit, Phase.generate),
    suppress_health_check=list(HealthCheck),
    database=None,
)
@given(bundle=BUNDLES)
def test_no_world_can_make_a_finding_break_a_promise(bundle, spark, tmp_path_factory):
    worlds = [World(100_000 + seed, plan) for seed, plan in bundle]

    problems, _ = judged(worlds, spark, tmp_path_factory.mktemp("bundle"))

    unsound = [p for p in problems if p.is_unsound]
    assert not unsound, stories(unsound)
