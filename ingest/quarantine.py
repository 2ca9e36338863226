"""Input that is not what it claims to be: kept with the reason, never stored as evidence, never a reason to stop."""

import re
from datetime import datetime
from typing import Any

from forensics.identity import evidence_id
from forensics.privacy import redact
from forensics.sentence import said
from forensics.tables import BY_NAME, Table

QUARANTINE = BY_NAME["quarantine"]
HEAD_CHARS = 200
_EARLIEST_MS = 946_684_800_000  # 2000-01-01
_LATEST_MS = 4_102_444_800_000  # 2100-01-01
_ESCAPED_BYTE = re.compile("[\udc80-\udcff]")
"""How a byte of a file that is no text in its encoding comes through."""


def what_is_wrong(event: Any) -> str | None:
    """Say why a log event cannot be stored as one, or None if it can."""
    if not isinstance(event, dict):
        return said("the event is not an object but {name}", name=type(event).__name__)
    stamp_ms, line = event.get("timestamp"), event.get("message")
    stream, event_id = event.get("logStreamName"), event.get("eventId")
    if type(stamp_ms) is not int:
        return said("the timestamp is not a whole number but {value}", value=f"{stamp_ms!r:.40}")
    if not _EARLIEST_MS <= stamp_ms < _LATEST_MS:
        return said("the timestamp {value} lies outside the years 2000 to 2100", value=f"{stamp_ms!r:.40}")
    if type(line) is not str:
        return said("the message is not text but {name}", name=type(line).__name__)
    if type(stream) is not str:
        return said("the log stream's name is not text but {name}", name=type(stream).__name__)
    if event_id is not None and type(event_id) is not str:
        return said("the event id is not text but {name}", name=type(event_id).__name__)
    whole = f"{line}{stream}{event_id or ''}"
    if "\0" not in whole and (whole.isascii() or _is_unicode(whole)):
        return None
    for name, text in (("message", line), ("log stream's name", stream), ("event id", event_id or "")):
        if "\0" in text:
            return said("the {what} holds a NUL character", what=name)
        if _ESCAPED_BYTE.search(text):
            return said(
                "the {what} holds bytes that are not UTF-8: save the file as UTF-8, and import it again", what=name
            )
        if not _is_unicode(text):
            return said("the {what} holds half a surrogate pair", what=name)
    return None


def quarantine_row(
    source: Table, resource: str, reason: str, offset: int, item: Any, collected_at: datetime
) -> dict[str, Any]:
    """Return the row for one piece of input; its id comes from its content, so a second reading adds none."""
    text = item.get("message") if isinstance(item, dict) else item
    text = redact(text if isinstance(text, str) else repr(text))
    whole = {**item, "message": text} if isinstance(item, dict) else text
    return {
        "evidence_id": evidence_id("quarantine", source.name, resource, reason, _canonical(whole)),
        "source": source.name,
        "resource": resource,
        "reason": reason,
        "offset": offset,
        "length_chars": len(text),
        "head": text[: HEAD_CHARS * 2].encode("unicode_escape").decode("ascii")[:HEAD_CHARS],
        "collected_at": collected_at,
    }


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _canonical(item: Any) -> str:
    if isinstance(item, dict):
        return "|".join(f"{key!r}={item[key]!r}" for key in sorted(item, key=str) if key != "ResponseMetadata")
    return repr(item)
