"""Simulated queues, functions and workers that know what really happened.

A :class:`~tests.oracle.world.World` plays one queue and its consumers in simulated time, keeps the truth (how often the
work of each message was done, why each redelivery happened) and emits only the evidence AWS would have kept of it.
Nothing in it imports the rules, the verdict or the Spark jobs: that is what makes it a judge of them. Only its
:mod:`~tests.oracle.trial` calls them, to be judged.
"""

from tests.oracle.plan import Plan
from tests.oracle.world import World

__all__ = ["Plan", "World"]
