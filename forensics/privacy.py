"""What of a text may be written down: receipt handles never, bodies and whatever the settings name only if they say so."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import re2

from forensics.bodies import without_bodies
from forensics.handle_key import read_key
from forensics.redaction import redact_handles

if TYPE_CHECKING:
    from forensics.settings import Settings

REDACTED = "[redacted]"
"""Stands for what a configured pattern matched. A digest could be guessed back: card numbers are few."""


class BadPatternError(Exception):
    """A pattern that RE2 cannot match in linear time, or that matches nothing at all everywhere."""


@dataclass(frozen=True)
class Privacy:
    """Rules that every text passes before the first write."""

    patterns: tuple[str, ...] = ()
    keep_bodies: bool = True
    business_keys: tuple[str, ...] = ()
    handle_key: bytes | None = field(default=None, repr=False)

    @classmethod
    def of(cls, settings: "Settings") -> "Privacy":
        """Return the rules of a settings file; raises SettingsError for a key file that cannot be used."""
        keys = (queue.business_key for queue in settings.queues)
        return cls(
            settings.redact,
            settings.keep_bodies,
            tuple(dict.fromkeys(key for key in keys if key)),
            read_key(settings.handle_key_file) if settings.handle_key_file else None,
        )

    def clean(self, text: str) -> str:
        """Return what may be written: first handles, then bodies, then patterns."""
        text = redact_handles(text, self.handle_key)
        if not self.keep_bodies:
            text = without_bodies(text, self.business_keys)
        if self._matcher is None:
            return text
        if not text.isascii():
            text = text.encode("utf-8", "backslashreplace").decode()  # half a surrogate pair has no UTF-8
        return str(self._matcher.sub(REDACTED, text))

    @cached_property
    def _matcher(self) -> Any:
        return compiled(self.patterns) if self.patterns else None


_PRIVACY: ContextVar[Privacy] = ContextVar("privacy", default=Privacy())  # noqa: B039 (it is frozen)


def redact(text: str) -> str:
    """Return what of a text may be written under the rules in force: the settings' inside ``redacting``."""
    return _PRIVACY.get().clean(text)


@contextmanager
def redacting(settings: "Settings") -> Iterator[Privacy]:
    """Let the rules of a settings file hold for whatever is read in the block; raises SettingsError for an unusable key."""
    rules = Privacy.of(settings)
    token = _PRIVACY.set(rules)
    try:
        yield rules
    finally:
        _PRIVACY.reset(token)


def compiled(patterns: Sequence[str]) -> Any:
    """Compile patterns as one; raises BadPatternError. RE2 takes time linear in the text, whatever the pattern."""
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
