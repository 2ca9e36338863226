"""What a file left in quarantine before, and whether its import now shows that it was mended.

A file's name alone does not tell: tomorrow's worker.log is another file. It is the same one if it holds events that were stored as the
piece was set aside; and a piece was mended if an event that is read at its place says the same in other bytes.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Sequence
from datetime import datetime
from typing import Any

from forensics.identity import evidence_id
from forensics.lake import Lake
from forensics.lake.filters import between, one_of
from forensics.lake.rows import plain_rows
from forensics.quarantine import standing_pieces
from forensics.tables.evidence import LOG_EVENTS, QUARANTINE

SAMPLE_ROWS = 1000
"""So many events of a file are looked up in the lake."""
_ESCAPE = re.compile(r"\\(?:x[0-9a-f]{2}|u[0-9a-f]{4}|U[0-9a-f]{8}|[\\tnr]|[xuU]?[0-9a-f]*\Z)")
_NOT_LETTERS = re.compile(r"[^A-Za-z0-9]+", re.ASCII)
_LEAST_LETTERS = 8
"""Fewer may stand in any line."""


class Quarantined:
    """What stands in a lake's quarantine as an import begins."""

    def __init__(self, lake: Lake, source: str) -> None:
        rows = plain_rows(lake.read(QUARANTINE)) if lake.exists(QUARANTINE) else []
        mine = [row for row in rows if row["source"] == source]
        self._by_file: dict[str | None, list[dict[str, Any]]] = defaultdict(list)
        for row in standing_pieces(mine):
            self._by_file[row["file"]].append(dict(row))
        self.replaced_by = {row["replaces"]: row["evidence_id"] for row in mine if row["replaces"]}
        self.cleared = {row["evidence_id"] for row in mine if row["is_cleared"]}

    def of(self, file: str) -> list[dict[str, Any]]:
        """Return what stands of a file."""
        return self._by_file[file]

    def places(self, file: str) -> set[int]:
        """Return where in a file something may stand that stood in quarantine."""
        return {row["offset"] for row in (*self._by_file[file], *self._by_file[None])}

    def of_no_file(self, groups: set[str]) -> list[dict[str, Any]]:
        """Return what stands of some log groups and names no file, as in older lakes."""
        return [row for row in self._by_file[None] if row["resource"] in groups]


class Mending:
    """One file's import beside what it left in quarantine before."""

    def __init__(self, before: Quarantined, file: str, now: datetime) -> None:
        self._before, self._file, self._now = before, file, now
        self._found: set[str] = set()
        self._read: dict[int, str] = {}
        self._sample: list[dict[str, Any]] = []
        self._groups: set[str] = set()
        self._places = before.places(file)
        self._stored_at: set[datetime] = set()

    def piece(self, row: dict[str, Any], line_number: int | None) -> dict[str, Any]:
        """Return a row for the quarantine with the file it is of; it takes the place of one that names none, or that was cleared."""
        self._groups.add(row["resource"])
        nameless, replaces = row["evidence_id"], None
        name = evidence_id("quarantine", nameless, self._file)
        self._found |= {nameless, name}
        if any(old["evidence_id"] == nameless for old in self._before.of_no_file({row["resource"]})):
            replaces = nameless
        while (later := self._before.replaced_by.get(name)) in self._before.cleared:
            name, replaces = evidence_id("quarantine", "again", later), later
            self._found.add(name)
        return row | {
            "evidence_id": name,
            "file": self._file,
            "line_number": line_number,
            "replaces": replaces,
            "is_cleared": False,
        }

    def event(self, offset: int, row: dict[str, Any]) -> None:
        """Hear of an event that is read."""
        self._groups.add(row["log_group"])
        if offset in self._places:
            self._read[offset] = letters(row["line"])
        if self._before.of(self._file) and len(self._sample) < SAMPLE_ROWS:
            self._sample.append(row)

    def look_up(self, stored_at: Callable[[list[dict[str, Any]]], set[datetime]]) -> None:
        """Ask the lake when events of this file were stored, before what is new is."""
        if self._sample:
            self._stored_at |= stored_at(self._sample)
        self._sample = []

    def cleared(self) -> list[dict[str, Any]]:
        """Return rows that clear what the file, read to its end, no longer holds."""
        gone = [
            row
            for row in self._before.of(self._file)
            if row["evidence_id"] not in self._found
            and (row["collected_at"] in self._stored_at or self._says_the_same(row))
        ]
        gone += [
            row
            for row in self._before.of_no_file(self._groups)
            if row["evidence_id"] not in self._found and self._says_the_same(row)
        ]
        return [
            row
            | {
                "evidence_id": evidence_id("quarantine", "cleared", row["evidence_id"]),
                "file": self._file,
                "replaces": row["evidence_id"],
                "is_cleared": True,
                "collected_at": self._now,
            }
            for row in gone
        ]

    def _says_the_same(self, row: dict[str, Any]) -> bool:
        told = letters(_ESCAPE.sub("", row["head"]))
        return len(told) >= _LEAST_LETTERS and told in self._read.get(row["offset"], "")


def stored_at(lake: Lake, evidence_ids: Collection[str], times: Sequence[datetime]) -> set[datetime]:
    """Return when those log events were stored that a lake has of some, which were logged at ``times`` (UTC)."""
    if not lake.exists(LOG_EVENTS):
        return set()
    where = one_of("evidence_id", evidence_ids) & between("logged_at", min(times), max(times))
    return set(lake.read(LOG_EVENTS, ["collected_at"], where).column("collected_at").to_pylist())


def letters(text: str) -> str:
    """Return what any encoding leaves of a text.

    >>> letters("2026 caf\\u00e9 shipped")
    '2026cafshipped'
    """
    return _NOT_LETTERS.sub("", text)
