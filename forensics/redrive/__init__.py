"""What to do with a dead-letter queue: message by message, in group order. Doubletake itself sends nothing."""

from forensics.redrive.model import DECISION_WORDS, DECISIONS, NOT_SHOWN, Plan, Step, step_record
from forensics.redrive.plan import dead_letter_queues, plan, steps_of_queue
from forensics.redrive.script import script

__all__ = [
    "DECISIONS",
    "NOT_SHOWN",
    "DECISION_WORDS",
    "Plan",
    "Step",
    "dead_letter_queues",
    "plan",
    "script",
    "step_record",
    "steps_of_queue",
]
