"""What may not leave the house, taken out of an export: cards, tokens, e-mail addresses, or a pattern of one's own.

Each value gets a name of its own that is the same wherever it stands, so that what joins by it joins still: one "[redacted]" for
all would make one work out of many, and repeats out of none. The names come from a key that is thrown away.
"""

import hmac
import re
import secrets
from collections.abc import Callable, Iterable
from typing import Any

from forensics.errors import ForensicsError
from forensics.patterns import BadPatternError, compiled
from forensics.sentence import said

_UUID = re.compile(r"(?i)[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_CARD = re.compile(r"(?<![0-9A-Za-z._-])[3-6]\d{3}(?:[ -]?\d){9,15}(?![0-9A-Za-z_-])")
_EMAIL = re.compile(r"(?i)[a-z0-9._%+-]{1,64}@(?:[a-z0-9-]{1,63}\.){1,8}[a-z]{2,24}")
_TOKEN = re.compile(
    r"""(?x)
    eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*        # a JSON web token
    | (?:AKIA|ASIA)[A-Z0-9]{16}                                    # an AWS access key
    | (?:sk|pk|rk|whsec|ghp|gho|xox[abp])[_-][A-Za-z0-9_-]{16,}    # keys of payment providers, GitHub, Slack
    | (?i:(?<=bearer\ )|(?<=basic\ ))[A-Za-z0-9._~+/=-]{16,}       # an Authorization header
    | (?i:(?<=password=)|(?<=secret=)|(?<=token=)|(?<=api_key=))[^\s&"',;]{4,}
    """
)


class RedactionError(ForensicsError):
    """A redaction that is neither a preset nor a pattern."""


def _is_card(text: str) -> bool:
    """Tell by Luhn's check whether digits can be a card's number."""
    digits = [int(c) for c in text if c.isdigit()]
    doubled = [n * 2 - 9 * (n > 4) if place % 2 else n for place, n in enumerate(reversed(digits))]
    return 13 <= len(digits) <= 19 and sum(doubled) % 10 == 0


Find = Callable[[str], Iterable[tuple[int, int]]]


def _cards(text: str) -> Iterable[tuple[int, int]]:
    ids = [found.span() for found in _UUID.finditer(text)]
    for found in _CARD.finditer(text):
        inside_id = any(start < found.end() and found.start() < end for start, end in ids)
        if not inside_id and _is_card(found[0]):
            yield found.span()


def _all(pattern: Any) -> Find:
    return lambda text: (found.span() for found in pattern.finditer(text) if found.end() > found.start())


PRESETS: dict[str, Find] = {"cards": _cards, "emails": _all(_EMAIL), "tokens": _all(_TOKEN)}


class Pseudonyms:
    """Replaces what presets and patterns find; one value has one name for as long as this lives."""

    def __init__(self, asked: Iterable[str], key: bytes | None = None) -> None:
        self.asked = tuple(dict.fromkeys(asked))
        self._key = key or secrets.token_bytes(32)
        self._finds: list[tuple[str, Find]] = []
        for text in self.asked:
            if text in PRESETS:
                self._finds.append((text.removesuffix("s"), PRESETS[text]))
                continue
            try:
                self._finds.append(("text", _all(compiled((text,)))))
            except BadPatternError as problem:
                raise RedactionError(
                    said("--redact {text} cannot be used: {problem}", text=repr(text), problem=problem),
                    said(
                        "Name a preset ({names}) or an RE2 pattern: no lookaround, no back-references.",
                        names=", ".join(PRESETS),
                    ),
                ) from problem

    def __call__(self, text: str) -> str:
        """Return a text without what was asked to be left out."""
        for kind, find in self._finds:
            parts, at = [], 0
            for start, end in find(text):
                parts += [text[at:start], self._name(kind, text[start:end])]
                at = end
            text = "".join([*parts, text[at:]])
        return text

    def _name(self, kind: str, value: str) -> str:
        digest = hmac.new(self._key, value.encode("utf-8", "surrogatepass"), "sha256").hexdigest()
        return f"redacted-{kind}-{digest[:12]}"
