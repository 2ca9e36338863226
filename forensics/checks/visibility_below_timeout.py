"""The message comes back while its run may still be going on."""

from forensics.checks.answer import CRITICAL, NO_FUNCTION_SETTINGS, NO_QUEUE_SETTINGS, NOT_HERE, Answer, fails, passes
from forensics.checks.setup import Setup


def visibility_below_timeout(setup: Setup) -> Answer:
    """The visibility timeout covers one run: the batching window and the function timeout.

    >>> visibility_below_timeout(Setup("q", "f", "lambda", visibility_timeout_s=30, function_timeout_s=60)).severity
    'critical'
    """
    if not setup.is_lambda:
        return NOT_HERE
    visibility, timeout = setup.visibility_timeout_s, setup.function_timeout_s
    if visibility is None:
        return NO_QUEUE_SETTINGS
    if timeout is None:
        return NO_FUNCTION_SETTINGS
    uses = ("visibility_timeout_s", "function_timeout_s", "batching_window_s")
    needed = timeout + setup.window_s
    plus = f" + {setup.window_s} s batching window" if setup.window_s else ""
    if visibility < needed:
        return fails(
            CRITICAL,
            f"visibility timeout {visibility} s < function timeout {timeout} s{plus}: a message can be "
            "redelivered while its first run still works on it",
            f"Raise the queue's visibility timeout to {6 * timeout + setup.window_s} s, or lower the function timeout.",
            *uses,
        )
    return passes(f"visibility timeout {visibility} s ≥ function timeout {timeout} s{plus}", *uses)
