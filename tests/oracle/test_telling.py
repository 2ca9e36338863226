"""Where a line could tell why a message came back: what says how the earlier delivery ended must have been written and kept."""

from dataclasses import replace

import pytest

from tests.oracle import Plan, World
from tests.oracle.telling import Telling

RAISES = Plan(batch_size=1, troubles=frozenset({"error"}), trouble_rate=0.4, message_count=12).made_fair()
RETURNS = replace(RAISES, response="right", is_fifo=False, group_count=0).made_fair()
LOSES = replace(RAISES, troubles=frozenset({"delete_lost"})).made_fair()
AT_ONCE = replace(
    RAISES, troubles=frozenset({"slow"}), function_timeout_s=30, visibility_s=30, send_spread_s=1, concurrency=4
)
KILLED = replace(RAISES, consumer="lines", troubles=frozenset({"killed"})).made_fair()


def told(plan: Plan) -> dict[str, set[bool]]:
    world = World(77, plan)
    telling, found = Telling(world), {}
    for known in world.truth.values():
        for cause in known.causes:
            found.setdefault(cause.code, set()).add(telling.could_tell(cause))
    return found


@pytest.mark.parametrize(
    ("plan", "code", "expected"),
    [
        (RAISES, "function_error", {True}),
        (RETURNS, "partial_response", {False}),
        (replace(RETURNS, response="right_logged"), "partial_response", {True}),
        (replace(RETURNS, counts_events=True, metrics_kept=True), "partial_response", {True}),
        (LOSES, "delete_ineffective", {True}),
        (replace(LOSES, mapping_kept=False), "delete_ineffective", {False}),
        (AT_ONCE, "function_timeout", {True}),
        (replace(AT_ONCE, queue_settings_kept=False), "function_timeout", {False}),
        (replace(AT_ONCE, queue_settings_kept=False, visibility_s=60), "function_timeout", {True}),
        (KILLED, "worker_killed", {True, False}),
        (replace(KILLED, task_events=True), "worker_killed", {True}),
    ],
    ids=[
        "a run that raised",
        "a response that nobody prints",
        "one that is printed",
        "one that the mapping counts",
        "a delete that was lost, where nothing can be returned",
        "the same, where it could have been",
        "a timeout, received again as it ended",
        "the same, where the visibility timeout is not known",
        "nor is it, and it came back long after the run",
        "a worker that was killed, with a word or without",
        "one of whose end an event tells",
    ],
)
def test_what_says_how_the_earlier_delivery_ended_was_kept_or_not(plan, code, expected):
    assert told(plan)[code] == expected
