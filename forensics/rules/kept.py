"""How much of what was asked already is kept."""

ANSWERS_KEPT = 50
"""So many answers of the rules are kept for pairs that are alike: those of a few batches. More of them would be forgotten when they
are no longer in the processor's own memory, which costs more than to ask."""
