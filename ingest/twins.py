"""The same log event from two sources: files name events by content, the API by event id, and each is stored once.

Two events are one if stream, millisecond and text agree, however often equal lines stand there: counts decide, so the
order in which sources come does not. A stream's "/" may have become "-" (exports), a line's end may have been lost.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from hashlib import sha256
from typing import Any

from forensics.lake import Lake
from forensics.lake.filters import at_any, between, equals, is_missing
from forensics.lake.rows import plain_rows
from forensics.tables import BY_NAME

LOG_EVENTS = BY_NAME["log_events"]
Row = dict[str, Any]
FROM_FILE = "file:"
"""Begins the name of a stream that was made up from a file's name: its events may be known under their true stream."""
LEAST_SHARE = 0.9
"""So much of what overlaps must agree for a file without a stream's name to be taken for a stream that is known."""
_COLUMNS = ["evidence_id", "account_id", "region", "log_stream", "event_id", "logged_at", "line"]


def content_digest(log_stream: str, logged_at: datetime, line: str) -> bytes:
    """Return what tells one log event of a group from another where no id does.

    >>> from datetime import UTC
    >>> moment = datetime(2026, 11, 20, tzinfo=UTC)
    >>> content_digest("2026/11/20/[7]c0", moment, "a\\rb") == content_digest("2026-11-20-[7]c0", moment, "a\\nb\\n")
    True
    """
    whole = f"{log_stream.replace('/', '-')}|{round(logged_at.timestamp() * 1000)}|{_text(line)}"
    return sha256(whole.encode("utf-8", "surrogatepass")).digest()


def _of(row: Row) -> bytes:
    """Name the event among those of its group; one whose stream is made up is named by time and text alone."""
    if row["log_stream"].startswith(FROM_FILE):
        return _anywhere(row)
    return row.get("_content") or content_digest(row["log_stream"], row["logged_at"], row["line"])


def _bare(row: Row) -> Row:
    return {name: value for name, value in row.items() if not name.startswith("_")}


def _anywhere(row: Row) -> bytes:
    return content_digest("", row["logged_at"], row["line"])


@dataclass
class FileTwins:
    """Leaves out rows of a log group that came from files, API calls or deliveries before. One per import and group.

    Rows carry names that begin with "_", which are not stored. ``_content``: their content_digest, if it is made already. ``_ordinal``: which of the equal events of its file a row is, from 0; None for rows with an event id.
    """

    lake: Lake
    log_group: str

    def fresh(self, rows: list[Row]) -> list[Row]:
        """Return the rows that are new, as they are to be stored."""
        known = self.lake.known(LOG_EVENTS, rows)
        rows = [row for row in rows if row["evidence_id"] not in known]
        mine, my_ids = set[bytes](), {row["event_id"] for row in rows if row["event_id"]}
        counts, same_stream, nameless = Counter[bytes](), Counter[tuple[str, bytes]](), Counter[bytes]()
        ids = set()
        for row in _stored(self.lake, self.log_group, rows):
            mine = mine or _names_of(rows)
            if row["event_id"] in my_ids:
                ids.add(row["event_id"])
            if (name := _of(row)) in mine:
                counts[name] += 1
                same_stream[row["log_stream"], name] += 1
                if not row["event_id"]:
                    nameless[name] += 1
        if not mine:
            return [_bare(row) for row in rows]
        kept = []
        for row in rows:
            ordinal = row["_ordinal"]
            if ordinal is None:
                is_known = row["event_id"] in ids or _take(nameless, row)
            elif row["log_stream"].startswith(FROM_FILE):
                is_known = ordinal < same_stream[row["log_stream"], _of(row)]
            else:
                is_known = ordinal < counts[_of(row)] + counts[_anywhere(row)]
            if not is_known:
                kept.append(_bare(row))
        return kept


@dataclass
class ApiTwins:
    """Leaves out events of one API reading that a file has brought before. One per reading of a log group."""

    lake: Lake
    log_group: str
    _may_have: bool | None = None
    _now: dict[str, bytes] = field(default_factory=dict)
    _before: dict[str, bytes] = field(default_factory=dict)
    """Left out by evidence id, each with its twin: equals, and the same page again, may come with the next rows."""

    def fresh(self, rows: list[Row]) -> list[Row]:
        """Return the rows that no file has brought. Rows must come about in order of time, or all at once."""
        if self._may_have is None:
            from_files = equals("log_group", self.log_group) & is_missing("event_id", "account_id", "region")
            self._may_have = bool(self.lake.count(LOG_EVENTS, where=from_files))
        if not self._may_have or not rows:
            return rows
        mine, my_ids = _names_of(rows), {row[name] for row in rows for name in ("evidence_id", "event_id")}
        known, nameless = set(), Counter[bytes]()
        for row in _stored(self.lake, self.log_group, rows):
            known |= {row["evidence_id"], row["event_id"]} & my_ids
            if not row["event_id"] and row["evidence_id"] not in my_ids and (name := _of(row)) in mine:
                nameless[name] += 1  # one that has this very id is nobody else's twin
        known.discard(None)
        self._before, self._now = self._now, {}
        nameless.subtract(self._before.values())
        kept = []
        # In order of id, so that the same of several equal events are left out whatever pages they came in.
        for row in sorted(rows, key=lambda r: (r["logged_at"], r["event_id"] or "")):
            if row["evidence_id"] in known or row["event_id"] in known:
                if row["evidence_id"] in known:
                    kept.append(row)
            elif taken := self._before.get(row["evidence_id"]) or self._now.get(row["evidence_id"]):
                self._now[row["evidence_id"]] = taken  # its page came twice
            elif taken := _take(nameless, row):
                self._now[row["evidence_id"]] = taken
            else:
                kept.append(row)
        return kept


def _take(counts: Counter[bytes], row: Row) -> bytes | None:
    """Take one twin of the row out of the counts and return which; None if there is none."""
    for name in (_of(row), _anywhere(row)):
        if counts[name] > 0:
            counts[name] -= 1
            return name
    return None


def _names_of(rows: list[Row]) -> set[bytes]:
    """Return every name under which a twin of these rows may be stored."""
    return {name for row in rows for name in (_of(row), _anywhere(row))}


def _stored(lake: Lake, log_group: str, rows: list[Row]) -> Iterator[Row]:
    """Yield what the lake holds of the group at the moments of some rows of one account and region.

    Never all at once: a lake of a million rows in that span would take gigabytes.
    """
    if not rows:
        return
    times = {row["logged_at"] for row in rows}
    where = between("logged_at", min(times), max(times)) & at_any("logged_at", times)
    for batch in lake.scan(LOG_EVENTS, _COLUMNS, equals("log_group", log_group) & where):
        for row in plain_rows(batch):
            if all(None in (row[c], rows[0][c]) or row[c] == rows[0][c] for c in ("account_id", "region")):
                yield row


def stream_known_as(lake: Lake, log_group: str, rows: list[Row]) -> str | None:
    """Return the stream under which the lake knows the events of a file that names none; None if it does not.

    The file's events must be found in it wherever the two overlap: nine in ten of them, two at least (or all).
    """
    mine = {(row["logged_at"], _text(row["line"])) for row in rows}
    found: dict[str, set[tuple[datetime, str]]] = {}
    for row in _stored(lake, log_group, rows):
        if (event := (row["logged_at"], _text(row["line"]))) in mine:
            found.setdefault(row["log_stream"], set()).add(event)
    if not found or {row["log_stream"] for row in rows} & set(found):
        return None
    stream, events = max(found.items(), key=lambda pair: (len(pair[1]), pair[0]))
    first_at, last_at = min(events)[0], max(events)[0]
    overlapping = sum(first_at <= at <= last_at for at, _ in mine)
    return stream if len(events) >= min(2, len(mine)) and len(events) >= LEAST_SHARE * overlapping else None


def _text(line: str) -> str:
    return (line.replace("\r\n", "\n").replace("\r", "\n") if "\r" in line else line).rstrip()
