"""Worlds that hypothesis thinks up: any that AWS and honest settings could give."""

import os

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tests.oracle import Plan, World
from tests.oracle.plan import BODIES, CONSUMERS, EVENT_FORMS, LOSSES, RESPONSES, RUNTIMES, TROUBLES, WORKER_TROUBLES

EXAMPLES = 450
"""Hypothesis repeats itself at first, and many small worlds deliver nothing twice: about a quarter are worth judging."""
FIRST_SEED = 100_000


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


def thought_up() -> list[World]:
    """Draw worlds in which something was delivered again, for one run to judge; other ones every time, the same in CI."""
    drawn: dict[Plan, World] = {}

    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        derandomize=os.environ.get("CI") == "true",
        phases=(Phase.generate,),
        suppress_health_check=list(HealthCheck),
        database=None,
    )
    @given(plan=plans())
    def take(plan: Plan) -> None:
        world = World(FIRST_SEED + len(drawn), plan)
        if any(len(truth.deliveries) > 1 for truth in world.truth.values()):
            drawn.setdefault(plan, world)

    take()
    return list(drawn.values())
