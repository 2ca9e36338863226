r"""Message bodies and message attributes in log text, taken out before anything is written: for ``keep_bodies = false``.

Recognised: the value of a key such as ``body`` or ``stringValue``, quoted in JSON, JSON inside JSON, Python, Node, PHP or
HTML form, printed as an object, or bare. Of a body only the configured business keys stay, for refunds need them, and the id that SNS or EventBridge gave the event.
A body that is printed without its key cannot be told from other text: that is what ``redact`` patterns are for.

Time is linear in the length of the line: every character is passed over once per key that stands before it, and the
search goes on behind the value.
"""

import html
import json
import re
from collections.abc import Sequence
from typing import Any

from forensics.event_ids import may_hold_event_id, without_event
from forensics.json_path import steps_of, value_at

REMOVED = "[body removed]"
MOST_KEY_CHARS = 256
"""A business key longer than this is no key."""

_NAMES = r"(?:[bB]ody|(?:[mM]essage|raw)_?[bB]ody|(?:string|binary|String|Binary)Value|(?:string|binary)_value)"
_QUOTE = r"\\{0,15}[\"'`]|\\{1,15}u002[27]|&(?:amp;){0,3}(?:quot|apos|#0?3[49]|#x2[27]);"
_KEY = re.compile(
    rf"(?:(?<![A-Za-z0-9_])|(?<=u002[27])|(?<=\\[nrt])){_NAMES}(?:{_QUOTE})?\]?\s{{0,8}}(?:=&gt;|[=-]>|[:=])\s{{0,8}}(?:string\(\d{{1,7}}\) )?b?"
    rf"(?P<quote>{_QUOTE})?"
)
_AFTER_VALUE = re.compile(r"\s*(?:[,}\])]|$)")
_DOUBLE = ('"', "u0022", "&quot;", "&#34;", "&#034;", "&#x22;")
_DOUBLE_QUOTED = re.compile(r'(\\*)"')
_ESCAPED_CHAR = re.compile(r"\\(.)", re.DOTALL)
_CONTINUED = re.compile(rf"\s{{0,8}}\+\s{{0,80}}({_QUOTE})")
_AFTER_BARE = re.compile(r", ?[A-Za-z][A-Za-z0-9_]{0,60}[:=]|[)}\]>\n]")


def without_bodies(line: str, business_keys: Sequence[str] = ()) -> str:
    """Return the line without the bodies and attribute values it prints.

    ``business_keys`` are JSON paths (``$.payment_id``) whose values stay, in a body that holds nothing else.

    >>> without_bodies('{"messageId": "m", "body": "{\\\\"payment_id\\\\": 7, \\\\"card\\\\": 4111}"}', ["$.payment_id"])
    '{"messageId": "m", "body": "{\\\\"payment_id\\\\": 7}"}'
    """
    if "ody" not in line and "Value" not in line and "_value" not in line:
        return line
    parts, at = [], 0
    while found := _KEY.search(line, at):
        parts.append(line[at : found.end()])
        quote = found["quote"]
        if quote:
            end, inside = _end_of_quoted(line, found.end(), quote)
            parts.append(_rewritten(inside, quote, business_keys))
        else:
            end = _end_of_bare(line, found.end())
            value = line[found.end() : end]
            if value.strip() in ("", "null", "None", "undefined", "nil", REMOVED):
                parts.append(value)
            else:
                kept = _kept(value, business_keys)
                parts.append(json.dumps(kept) if kept == REMOVED and value[:1] in ("{", "[") else kept)
        at = end
    return "".join(parts) + line[at:]


def _end_of_quoted(line: str, at: int, quote: str) -> tuple[int, str]:
    """Return where the quoted text ends (before its closing quote) and the text; a cut line ends it, too.

    Long texts that Node prints as several, joined by "+", are one.
    """
    mark = quote.lstrip("\\")
    level = len(quote) - len(mark)
    start, texts = at, []
    while True:
        end = _closing(line, at, mark, level)
        texts.append(line[at:end])
        if end == len(line):
            return end, "".join(texts)
        closed = end + level + len(mark)
        following = _CONTINUED.match(line, closed) if closed - start < len(line) else None
        if following is None or following[1] != quote:
            return end, "".join(texts)
        at = following.end()


def _closing(line: str, at: int, mark: str, level: int) -> int:
    """Return where the closing quote begins, its backslashes included.

    Text of ``level`` backslashes before a quote was escaped level + 1 = 2^n times over: inner quotes have more of them,
    and so have backslashes of the text before the closing one, in multiples of 2 × (level + 1).
    """
    place = at
    while (found := line.find(mark, place)) >= 0:
        count = 0
        while found - count > at and line[found - count - 1] == "\\":
            count += 1
        # JSON around leaves single quotes alone, so how often \' was escaped cannot be told: what follows tells.
        is_sure = mark in _DOUBLE or count == level
        if count % (2 * (level + 1)) == level and (is_sure or _AFTER_VALUE.match(line, found + len(mark))):
            return found - level
        place = found + len(mark)
    return len(line)


def _end_of_bare(line: str, at: int) -> int:
    """Return where a value without quotes ends: an object at its last bracket, other text where the next field begins."""
    if line[at : at + 1] not in ("{", "["):
        following = _KEY.search(line, at)
        end = following.start() if following else len(line)
        found = _AFTER_BARE.search(line, at, end)
        return found.start() if found else end
    depth, place, inside = 0, at, ""
    while place < len(line):
        char = line[place]
        if inside:
            if char == "\\":
                place += 1
            elif char == inside:
                inside = ""
        elif char in "\"'":
            inside = char
        elif char in "{[":
            depth += 1
        elif char in "}]":
            depth -= 1
            if depth == 0:
                return place + 1
        place += 1
    return len(line)


def _may_keep(text: str, business_keys: Sequence[str]) -> bool:
    return bool(business_keys) or may_hold_event_id(text)


def _kept(body: str, business_keys: Sequence[str]) -> str:
    """Return a body that holds the business keys of this one, the id of the event it is about, and nothing else."""
    if not _may_keep(body, business_keys):
        return REMOVED
    try:
        whole = json.loads(body)
    except (ValueError, RecursionError):
        return REMOVED
    kept: Any = without_event(whole)
    for path in business_keys:
        steps = steps_of(path)
        value = value_at(whole, steps)
        if steps and isinstance(value, str | int | float) and len(str(value)) <= MOST_KEY_CHARS:
            kept = _with(kept, steps, value)
    return REMOVED if kept is None else json.dumps(kept)


def _with(kept: Any, steps: Sequence[str | int], value: Any) -> Any:
    """Put a value at its path; what stands beside it in a list becomes null."""
    if not steps:
        return value
    step, *rest = steps
    if isinstance(step, str):
        kept = kept if isinstance(kept, dict) else {}
        return kept | {step: _with(kept.get(step), rest, value)}
    kept = kept if isinstance(kept, list) else []
    kept = kept + [None] * (step + 1 - len(kept))
    kept[step] = _with(kept[step], rest, value)
    return kept


def _escapes(quote: str, text: str) -> tuple[int, bool, bool]:
    """Return how often the text between such quotes was escaped as JSON, and whether as HTML and in single quotes."""
    mark = quote.lstrip("\\")
    level = len(quote) - len(mark)
    if mark in _DOUBLE:
        return (level + 1).bit_length(), mark.startswith("&"), False
    if inner := _DOUBLE_QUOTED.findall(text):
        level = min(map(len, inner))
    return (level + 1).bit_length() - 1, mark.startswith("&"), True


def _rewritten(text: str, quote: str, business_keys: Sequence[str]) -> str:
    """Return what of a quoted body may stay, escaped as it was."""
    if not _may_keep(text, business_keys):
        return REMOVED
    plain = html.unescape(text) if quote.startswith("&") else text
    times, is_html, is_single = _escapes(quote, plain)
    try:
        for _ in range(times):
            plain = json.loads(f'"{plain}"', strict=False)
    except ValueError:
        return REMOVED
    kept = _kept(_ESCAPED_CHAR.sub(r"\1", plain) if is_single else plain, business_keys)
    if kept == REMOVED:
        return REMOVED
    if is_single:
        kept = kept.replace("\\", "\\\\").replace("'", "\\'").replace("`", "\\`")
    for _ in range(times):
        kept = json.dumps(kept)[1:-1]
    if "u002" in quote:
        kept = kept.replace('"', "u0022").replace("'", "\\u0027")
    return html.escape(kept) if is_html else kept
