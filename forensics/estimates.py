"""Shares and percentiles of what was counted, each with its interval: what was seen is a sample of what may be."""

from collections.abc import Sequence
from math import ceil, inf, sqrt

CONFIDENCE = 0.95
_Z = 1.959963984540054
"""The normal distribution's quantile for two-sided 95 %."""


def share_interval(hits: int, of: int) -> tuple[float, float]:
    """Return Clopper and Pearson's two-sided 95 % interval of a share: exact, if the trials are independent and alike.

    Nothing counted tells nothing. Raises ValueError where more hits than trials are given.

    >>> [round(x, 4) for x in share_interval(0, 300)], share_interval(0, 0)
    ([0.0, 0.0122], (0.0, 1.0))
    """
    if not 0 <= hits <= of:
        raise ValueError(f"{hits} of {of}")
    tail = (1 - CONFIDENCE) / 2
    low = 0.0 if hits == 0 else _beta_quantile(hits, of - hits + 1, tail)
    high = 1.0 if hits == of else _beta_quantile(hits + 1, of - hits, 1 - tail)
    return low, high


def share_upper(hits: int, of: int, sure: float = CONFIDENCE) -> float:
    """Return the one-sided upper bound of a share, 95 % sure: with no hit in ``of`` trials about 3 / ``of``.

    >>> round(share_upper(0, 100), 4)
    0.0295
    """
    if not 0 <= hits <= of:
        raise ValueError(f"{hits} of {of}")
    return 1.0 if hits == of else _beta_quantile(hits + 1, of - hits, sure)


def percentile(values: Sequence[float], share: float) -> float:
    """Return the smallest value that at least this share of the values does not exceed; ValueError for no value.

    >>> percentile([1, 2, 3, 4], 0.5), percentile([1, 2, 3, 4], 0.95)
    (2, 4)
    """
    if not values:
        raise ValueError("no value has no percentile")
    return sorted(values)[max(ceil(share * len(values)) - 1, 0)]


def percentile_interval(values: Sequence[float], share: float) -> tuple[float, float]:
    """Return the 95 % interval of a percentile by order statistics: free of any distribution, if values are independent.

    An end that so few values cannot tell is infinite.

    >>> percentile_interval(range(1, 101), 0.5), percentile_interval([5.0], 0.95)
    ((40, 61), (-inf, inf))
    """
    ranked = sorted(values)
    n = len(ranked)
    spread = _Z * sqrt(n * share * (1 - share))
    low, high = int(n * share - spread), ceil(n * share + spread) + 1
    return (ranked[low - 1] if low >= 1 else -inf), (ranked[high - 1] if high <= n else inf)


def _beta_quantile(a: int, b: int, share: float) -> float:
    from scipy.special import betaincinv  # loads only where something is estimated

    return float(betaincinv(a, b, share))
