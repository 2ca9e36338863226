"""The verdict is the interval of effects, nothing else."""

VERDICTS = ("confirmed", "probable", "possible", "absorbed", "harmless")
"""Worst first."""
AFFECTED = ("confirmed", "probable", "possible")
"""Verdicts of messages whose work may have been done more than once."""
CERTAINTIES = ("proved", "inferred")


def verdict_of(at_least: int, at_most: int | None, was_guarded: bool) -> str:
    """Return the verdict for an interval; ``at_most`` None means no upper bound and counts as 2 or more.

    >>> verdict_of(2, 2, False), verdict_of(1, None, False), verdict_of(0, 3, True), verdict_of(1, 1, True)
    ('confirmed', 'probable', 'possible', 'absorbed')
    >>> verdict_of(0, 1, False)
    'harmless'
    """
    if at_most is not None and at_most < at_least:
        raise ValueError(f"the interval {at_least} to {at_most} is empty")
    if at_least >= 2:
        return "confirmed"
    if at_most is None or at_most >= 2:
        return "probable" if at_least == 1 else "possible"
    return "absorbed" if was_guarded else "harmless"
