"""The visibility timeout that is advised: the same wherever it is told."""

import pytest

from forensics.advised_visibility import advised_visibility_s
from forensics.limits import LONGEST_VISIBILITY_S

CASES = {
    "six function timeouts, however long runs took": ((60, 0, 40_200), 360),
    "and the batching window": ((60, 20, None), 380),
    "three times a worker's slowest handling, in whole minutes": ((None, 0, 46_330), 180),
    "whole minutes are not rounded further": ((None, 0, 20_000), 60),
    "a handling of a moment": ((None, 0, 1), 60),
    "no more than SQS hides": ((None, 0, 20_000_000), LONGEST_VISIBILITY_S),
    "nothing tells": ((None, 0, None), None),
}


@pytest.mark.parametrize(("told", "advised"), CASES.values(), ids=CASES)
def test_what_is_advised_rests_on_the_function_timeout_or_else_on_the_slowest_handling(told, advised):
    assert advised_visibility_s(*told) == advised
