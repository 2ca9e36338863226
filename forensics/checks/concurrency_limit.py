"""Reserved concurrency throttles the poller; maximum concurrency makes it wait."""

from forensics.checks.answer import CRITICAL, NO_MAPPING, NOT_HERE, WARNING, Answer, fails, passes, unknown
from forensics.checks.setup import Setup
from forensics.limits import LEAST_MAXIMUM_CONCURRENCY
from forensics.sentence import counted, said


def concurrency_limit(setup: Setup) -> Answer:
    """A function with reserved concurrency has a mapping whose maximum concurrency fits into it.

    >>> concurrency_limit(Setup("q", "f", "lambda", batch_size=1, reserved_concurrency=5)).severity
    'warning'
    """
    if not setup.is_lambda:
        return NOT_HERE
    if setup.batch_size is None:
        return NO_MAPPING
    reserved, most = setup.reserved_concurrency, setup.maximum_concurrency
    uses = ("reserved_concurrency", "maximum_concurrency", "throttle_count")
    if reserved and setup.is_fifo and setup.has_one_group:
        return _of_one_group(setup, reserved, uses)
    advice = _advice(reserved)
    seen = setup.throttle_count or 0
    severity = CRITICAL if seen else WARNING
    throttles = counted(seen, "throttle")
    hurt = said("; {throttles} in the last 7 days", throttles=throttles) if seen else ""
    if reserved is not None and most is None:
        return fails(
            severity,
            said(
                "reserved concurrency {n} without a maximum concurrency in the mapping: polls beyond it are throttled, and each "
                "counts as a receive{seen}",
                n=reserved,
                seen=hurt,
            ),
            advice,
            *uses,
        )
    if reserved is not None and most is not None and most > reserved:
        return fails(
            severity,
            said(
                "maximum concurrency {most} > reserved concurrency {n}: what exceeds it is throttled{seen}",
                most=most,
                n=reserved,
                seen=hurt,
            ),
            advice,
            *uses,
        )
    if reserved is None and seen:
        return unknown(
            said("{throttles} in the last 7 days, and no reserved concurrency was read", throttles=throttles),
            "GetFunctionConcurrency of the function, or the account's concurrency limit",
            *uses,
        )
    if reserved is None and setup.throttle_count is None:
        return unknown(
            "neither reserved concurrency nor throttles were read",
            "GetFunctionConcurrency of the function, or its Throttles metric",
            *uses,
        )
    if reserved is None:
        return passes("no reserved concurrency was read and no throttle was seen", *uses)
    fits = said(
        "maximum concurrency {most} fits into the reserved concurrency {reserved}", most=most, reserved=reserved
    )
    return passes(fits, *uses)


def _advice(reserved: int | None) -> str:
    if not reserved or reserved < LEAST_MAXIMUM_CONCURRENCY:
        return "Raise the reserved concurrency to 2 or more, and set the mapping's maximum concurrency to it."
    n = said("{n} or less", n=reserved) if reserved > LEAST_MAXIMUM_CONCURRENCY else reserved
    return said("Set the mapping's maximum concurrency to {n}.", n=n)


def _of_one_group(setup: Setup, reserved: int, uses: tuple[str, ...]) -> Answer:
    """A message group is handed to one run at a time: no maximum concurrency would make it fewer."""
    uses = (*uses, "has_one_group")
    if not setup.throttle_count:
        told = "one message group asks for one run at a time, which the reserved concurrency {n} has room for"
        return passes(said(told, n=reserved), *uses)
    told = "one message group asks for one run at a time, and {throttles} were seen in the last 7 days: others use up the reserved concurrency {n}"
    return fails(
        CRITICAL,
        said(told, throttles=counted(setup.throttle_count, "throttle"), n=reserved),
        "Find who else calls the function, and raise its reserved concurrency or give the queue a function of its own.",
        *uses,
    )
