"""What redriving a dead-lettered message does, given how often its work was done."""

from forensics.sentence import said
from forensics.verdict.sentences import interval_words

REDRIVES = ("repeats", "may_repeat", "safe")
"""Worst first."""


def redrive_of(at_least: int, at_most: int | None) -> str:
    """Return ``safe`` only where the work was not done for sure; ``at_most`` None means no upper bound.

    >>> redrive_of(0, 0), redrive_of(0, 2), redrive_of(0, None), redrive_of(1, 1)
    ('safe', 'may_repeat', 'may_repeat', 'repeats')
    """
    if at_least >= 1:
        return "repeats"
    return "safe" if at_most == 0 else "may_repeat"


def redrive_sentence(at_least: int, at_most: int | None) -> str:
    """Say what redriving does.

    >>> redrive_sentence(0, 0)
    'Its work was not done in any delivery: redriving it does the work for the first time.'
    """
    redrive = redrive_of(at_least, at_most)
    if redrive == "safe":
        return "Its work was not done in any delivery: redriving it does the work for the first time."
    # A redriven message has a new message id.
    guard = "only a guard on the business key can stop that, because the redriven message has a new id"
    if redrive == "repeats":
        times = interval_words(at_least, at_most)
        return said("Its work was done {times}: redriving it does the work again; {guard}.", times=times, guard=guard)
    if at_most is None:
        phrase = "Its work was done an unknown number of times: redriving it may do the work again; {guard}."
    elif at_most == 1:
        phrase = "Its work may have been done once: redriving it may do the work again; {guard}."
    else:
        phrase = "Its work may have been done up to {n} times: redriving it may do the work again; {guard}."
    return said(phrase, n=at_most, guard=guard)
