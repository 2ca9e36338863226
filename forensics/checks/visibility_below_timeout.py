"""The message comes back while its run may still be going on."""

from forensics.advised_visibility import of_function_s
from forensics.checks.answer import (
    CRITICAL,
    NO_FUNCTION_SETTINGS,
    NO_QUEUE_SETTINGS,
    NOT_HERE,
    Answer,
    either,
    fails,
    passes,
)
from forensics.checks.setup import Setup
from forensics.sentence import said


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
    told = {
        "visibility": f"{visibility} s",
        "limit": f"{timeout} s",
        "plus": said(" + {n} s batching window", n=setup.window_s) if setup.window_s else "",
    }
    if visibility < needed:
        return fails(
            CRITICAL,
            said(
                "visibility timeout {visibility} < function timeout {limit}{plus}: a message can be redelivered while its first run "
                "still works on it",
                **told,
            ),
            _advice(setup, timeout, visibility - setup.window_s),
            *uses,
            "run_max_ms",
        )
    return passes(said("visibility timeout {visibility} ≥ function timeout {limit}{plus}", **told), *uses)


def _advice(setup: Setup, timeout_s: int, fits_s: int) -> str:
    """Advise a shorter function timeout only where it leaves runs the time that they take."""
    advised_s = of_function_s(timeout_s, setup.window_s)
    ways = [said("raise the queue's visibility timeout to {n}", n=f"{advised_s} s")]
    if fits_s >= 1 and (setup.run_max_ms or 0) < 1000 * fits_s:
        ways.append(said("lower the function timeout to {n} or less", n=f"{fits_s} s"))
    return either(*ways)
