"""What of a text may be written down: receipt handles never, bodies and whatever the settings name only if they say so."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from forensics.bodies import without_bodies
from forensics.handle_key import read_key
from forensics.patterns import compiled
from forensics.redaction import redact_handles
from forensics.settings import Settings

REDACTED = "[redacted]"
"""Stands for what a configured pattern matched. A digest could be guessed back: card numbers are few."""


@dataclass(frozen=True)
class Privacy:
    """Rules that every text passes before the first write."""

    patterns: tuple[str, ...] = ()
    keep_bodies: bool = True
    business_keys: tuple[str, ...] = ()
    handle_key: bytes | None = field(default=None, repr=False)

    @classmethod
    def of(cls, settings: Settings) -> "Privacy":
        """Return the rules of a settings file; raises SettingsError for a key file that cannot be used."""
        keys = (path for queue in settings.queues for path in queue.key_paths)
        return cls(
            settings.redact,
            settings.keep_bodies,
            tuple(dict.fromkeys(keys)),
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
def redacting(settings: Settings) -> Iterator[Privacy]:
    """Let the rules of a settings file hold for whatever is read in the block; raises SettingsError for an unusable key."""
    rules = Privacy.of(settings)
    token = _PRIVACY.set(rules)
    try:
        yield rules
    finally:
        _PRIVACY.reset(token)
