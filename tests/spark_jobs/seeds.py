"""The worlds that the suite judges."""

from dataclasses import replace
from functools import cache

from tests.oracle import Plan, World

DRAWN = range(60)
DEAD_LETTERS = range(300, 340)
"""Drawn like the others; among them are enough dead letters, blocked groups and poison."""

_BUSY = Plan(is_fifo=False, group_count=0, message_count=15, send_spread_s=10, visibility_s=30, batch_size=1)
_REUSING = replace(
    _BUSY, event_form="ids", troubles=frozenset({"reused_request_id", "delete_lost"}), trouble_rate=0.6
).made_fair()
_NOT_COUNTING = replace(
    _BUSY, troubles=frozenset({"delete_lost"}), trouble_rate=0.6, runtime="node", event_form="object", loss="gap"
).made_fair()


@cache
def reused_ids() -> list[World]:
    """Return worlds whose functions are run again under a request id that they had."""
    return [World(200_000 + n, _REUSING) for n in range(3)]


@cache
def uncounted() -> list[World]:
    """Return worlds whose logs tell no receive count."""
    return [World(200_010 + n, _NOT_COUNTING) for n in range(3)]


def set_later() -> list[World]:
    """Return a world of poison whose queue's dead-letter queue is only seen after its settings were changed."""
    return [World(85_406_016, kind="settings changed later")]


def troubled() -> list[World]:
    """Return worlds that show what the broken jobs of ``test_mutants`` get wrong."""
    return [*reused_ids(), *uncounted()]
