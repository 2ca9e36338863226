"""AWS's own advice for the visibility timeout of a queue in front of a function."""

from forensics.advised_visibility import of_function_s
from forensics.checks.answer import (
    NO_FUNCTION_SETTINGS,
    NO_QUEUE_SETTINGS,
    NOT_HERE,
    WARNING,
    Answer,
    fails,
    passes,
)
from forensics.checks.setup import Setup
from forensics.sentence import said


def visibility_below_advice(setup: Setup) -> Answer:
    """The visibility timeout is at least six function timeouts plus the batching window.

    Where it does not even cover one run, ``visibility_below_timeout`` says so and this check is silent.

    >>> visibility_below_advice(Setup("q", "f", "lambda", visibility_timeout_s=60, function_timeout_s=30)).severity
    'warning'
    """
    if not setup.is_lambda:
        return NOT_HERE
    visibility, timeout = setup.visibility_timeout_s, setup.function_timeout_s
    if visibility is None:
        return NO_QUEUE_SETTINGS
    if timeout is None:
        return NO_FUNCTION_SETTINGS
    if visibility < timeout + setup.window_s:
        return NOT_HERE
    uses = ("visibility_timeout_s", "function_timeout_s", "batching_window_s")
    advised = of_function_s(timeout, setup.window_s)
    told = {
        "visibility": f"{visibility} s",
        "advised": f"{advised} s",
        "timeout": f"{timeout} s",
        "plus": said(" + {n} s batching window", n=setup.window_s) if setup.window_s else "",
    }
    if visibility < advised:
        return fails(
            WARNING,
            said(
                "visibility timeout {visibility} < {advised}, six times the function timeout {timeout}{plus}: while the function is "
                "throttled, messages are redelivered before their run began",
                **told,
            ),
            said(
                "Raise the queue's visibility timeout to {advised}. A batch that times out is redelivered "
                "whatever the visibility timeout is.",
                advised=f"{advised} s",
            ),
            *uses,
        )
    return passes(
        said("visibility timeout {visibility} ≥ {advised}, six times the function timeout{plus}", **told), *uses
    )
