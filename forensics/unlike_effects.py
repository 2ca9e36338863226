"""Whether an effect is declared and no line is like it: then a line that is missing tells nothing of a work.

Asked is all that is stored of a consumer's lines, whatever the window: a mark that fits nothing fits nothing tomorrow. Readiness
asks counts and puts the answer into its row, which the page, the reports, the command and the trial of proposals read; judging comes
before those rows are made, and asks the same of what its parts say.
"""

from collections.abc import Callable, Iterable
from typing import TypeVar

T = TypeVar("T")


def of_consumer(of_group: Iterable[T], function: str | None, function_of: Callable[[T], str | None]) -> list[T]:
    """Return what of a log group's is a consumer's: its own where several functions write there, else all that stands in it.

    >>> of_consumer(["charge", None], "charge", lambda name: name), of_consumer(["charge", None, "mail"], "charge", lambda name: name)
    (['charge', None], ['charge'])
    """
    told = list(of_group)
    names = {function_of(one) for one in told} - {None}
    is_shared = function is not None and len(names) > 1
    return [one for one in told if not is_shared or function_of(one) == function]


def is_unlike(effect: str | None, shows_effect: bool) -> bool:
    """Tell whether an effect is declared and no line is like it.

    >>> is_unlike("charged (?P<key>.*)", shows_effect=False), is_unlike(None, shows_effect=False)
    (True, False)
    """
    return bool(effect) and not shows_effect
