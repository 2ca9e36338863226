"""Patterns of what is never written down, in RE2: time linear in the text, whatever the pattern."""

from collections.abc import Sequence
from typing import Any

import re2


class BadPatternError(Exception):
    """A pattern that RE2 cannot match in linear time, or that matches nothing at all everywhere."""


def compiled(patterns: Sequence[str]) -> Any:
    """Compile patterns as one; raises BadPatternError."""
    options = re2.Options()
    options.log_errors = False
    for pattern in (*patterns, "|".join(f"(?:{pattern})" for pattern in patterns)):
        try:
            found = re2.compile(pattern, options)
        except re2.error as problem:
            reason = problem.args[0] if problem.args else problem
            raise BadPatternError(reason.decode() if isinstance(reason, bytes) else str(reason)) from problem
        if found.search(""):
            raise BadPatternError("it matches an empty text, so it would be found everywhere")
    return found
