"""Worlds that hypothesis thinks up: any that AWS and honest settings could give."""

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tests.drawing import DRAWS_THE_SAME
from tests.oracle import Plan, World
from tests.oracle.plan import BODIES, CONSUMERS, EVENT_FORMS, LOSSES, RESPONSES, RUNTIMES, TROUBLES, WORKER_TROUBLES

EXAMPLES = 450
"""Hypothesis repeats itself at first, and many small worlds deliver nothing twice: about a quarter are worth judging."""
FIRST_SEED = 100_000


_RUNTIMES = st.sampled_from(RUNTIMES)
_FORMS = {runtime: st.sampled_from(EVENT_FORMS[runtime]) for runtime in RUNTIMES}
_OTHERS = st.fixed_dictionaries(
    {
        "is_fifo": st.booleans(),
        "group_count": st.integers(1, 6),
        "message_count": st.integers(1, 20),
        "send_spread_s": st.sampled_from((1, 10, 120)),
        "visibility_s": st.sampled_from((20, 45, 300)),
        "max_receive_count": st.sampled_from((None, 1, 2, 4)),
        "body": st.sampled_from(BODIES),
        "consumer": st.sampled_from(CONSUMERS),
        "platform": st.sampled_from(("text_old", "text", "json")),
        "system_log_level": st.sampled_from(("INFO", "WARN")),
        "function_timeout_s": st.sampled_from((3, 10, 30)),
        "batch_size": st.integers(1, 10),
        "concurrency": st.integers(1, 4),
        "response": st.sampled_from((None, *RESPONSES)),
        "order": st.sampled_from(("sequential", "parallel")),
        "awaits_siblings": st.booleans(),
        "second_function": st.booleans(),
        "started_line": st.booleans(),
        "effect_line": st.sampled_from(("both", "message", "key", None)),
        "guard": st.sampled_from((None, "line", "silent", "powertools")),
        "troubles": st.frozensets(st.sampled_from(sorted({*TROUBLES, *WORKER_TROUBLES})), min_size=1, max_size=3),
        "trouble_rate": st.sampled_from((0.1, 0.3, 0.6)),
        "effect_declared": st.booleans(),
        "exhaustive_declared": st.booleans(),
        "started_declared": st.booleans(),
        "order_declared": st.booleans(),
        "idempotent_declared": st.booleans(),
        "business_key_declared": st.booleans(),
        "queue_settings_kept": st.booleans(),
        "function_settings_kept": st.booleans(),
        "mapping_kept": st.booleans(),
        "metrics_kept": st.booleans(),
        "loss": st.sampled_from(LOSSES),
    }
)


@st.composite
def plans(draw: st.DrawFn) -> Plan:
    """Any world that AWS and honest settings could give."""
    runtime = draw(_RUNTIMES)
    return Plan(runtime=runtime, event_form=draw(_FORMS[runtime]), **draw(_OTHERS)).made_fair()


def thought_up() -> list[World]:
    """Draw worlds in which something was delivered again, for one run to judge."""
    drawn: dict[Plan, World] = {}

    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        derandomize=DRAWS_THE_SAME,
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
