"""What idempotency tables hold of a work: which of their records are about it, and what a reading would have shown.

A table is read as it is *now*; its records carry their expiry, and time to live deletes expired ones late, within days. Times are
whole microseconds since 1970, UTC.
"""

import base64
import hashlib
import json
import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from forensics.clock import micros
from forensics.identity import queue_name
from forensics.possessive import compiled
from forensics.settings import GuardTable, Settings
from forensics.streams.model import Delivery

Row = Mapping[str, Any]
_Place = tuple[str | None, str | None]

COMPLETED, IN_PROGRESS, UNSAID = "completed", "in_progress", "unsaid"
ABOUT_MESSAGE, ABOUT_KEY = "message_id", "business_key"
LONGEST_RUN_US = 15 * 60 * 1_000_000
"""Lambda ends a run after that: a lock ends no later after the run that took it was received."""
CLOCK_US = 2_000_000
"""By how much the deadline that a run reckons and the one that its START line tells may differ."""
_ALGORITHMS = {16: "md5", 20: "sha1", 32: "sha256", 48: "sha384", 64: "sha512"}
"""Length of a digest in bytes to what makes it."""


class Record(NamedTuple):
    """One state of one record. ``is_library``: its key is a digest as Powertools writes it, whose ways are known.

    ``state`` is None for a status that the settings do not name; ``place`` is its account and region, None where an import does
    not tell; ``by`` says which of the work's ids it is about, and ``about`` is that id.
    """

    observed_at: int
    table: str
    key: str
    guarded: str | None
    state: str | None
    expires_at: int | None
    locked_until_at: int | None
    evidence_id: str
    place: _Place = (None, None)
    by: str = ""
    about: str = ""

    @property
    def is_library(self) -> bool:
        """Tell whether a library wrote it."""
        return self.guarded is not None


class Reading(NamedTuple):
    """What is known of one table beside its records.

    ``status`` is the last reading's, None where nobody tried; ``whole_at`` the first reading in full after a work's end;
    ``keeps_expired``: it deletes nothing by itself, None where that is not known. ``keeps_s``: how long a record holds, as said.
    """

    table: str
    status: str | None
    whole_at: int | None
    keeps_expired: bool | None
    keyed_by: str | None
    keeps_s: int | None


class GuardRecords:
    """The records of every table that the settings name for a consumer."""

    def __init__(
        self,
        settings: Settings | None = None,
        records: Iterable[Row] = (),
        tables: Iterable[Row] = (),
        coverage: Iterable[Row] = (),
    ) -> None:
        """Take the settings and rows of ``guard_records``, ``guard_table_settings`` and ``coverage``."""
        settings = settings or Settings()
        said = (*settings.functions, *settings.workers)
        self._table_of = {c.name or c.log_group: c.guard_table for c in said if c.guard_table}
        self._forms = {name: settings.guard_table(name) for name in sorted(set(self._table_of.values()) - {None})}
        self._keeps_s = {queue.name: queue.guard_s for queue in settings.queues}
        self._records: dict[str, list[tuple[Any, ...]]] = {name: [] for name in self._forms}
        self._by_value: dict[tuple[str, str, str], list[Record]] = {}
        self._digests: dict[str, set[tuple[str, bool]]] = {}
        for row in records:
            if (form := self._forms.get(row["guard_table"])) is not None:
                self._add(form, row)
        for times in self._records.values():
            times.sort(key=str)
        self._keeps: dict[str, list[tuple[_Place, bool | None]]] = {}
        for row in tables:
            self._keeps.setdefault(row["guard_table"], []).append((_place(row), row["deletes_expired"]))
        self._readings: dict[str, list[tuple[int, str, _Place]]] = {}
        for row in coverage:
            if row["source"] == "guard_records" and row["resource"] in self._forms:
                told = (micros(row["collected_at"]), row["status"], _place(row))
                self._readings.setdefault(row["resource"], []).append(told)
        for readings in self._readings.values():
            readings.sort(key=str)

    def _add(self, form: GuardTable, row: Row) -> None:
        expires_at, locked_at = (None if row[n] is None else micros(row[n]) for n in ("expires_at", "locked_until_at"))
        status = row["record_status"]
        states = {form.completed: COMPLETED, form.in_progress: IN_PROGRESS, None: UNSAID}
        record = Record(
            micros(row["observed_at"]),
            form.name,
            row["record_key"],
            row["guarded_function"],
            states.get(status),
            expires_at,
            locked_at,
            row["evidence_id"],
            _place(row),
        )
        self._records[form.name].append((locked_at, expires_at, record.evidence_id, record.observed_at))
        for kind, value in _values(form, record):
            if kind == "digest" and (found := _digest_kind(value)):
                self._digests.setdefault(form.name, set()).add(found)
            self._by_value.setdefault((form.name, kind, value), []).append(record)

    def of_work(self, table: str, deliveries: Sequence[Delivery]) -> list[Record]:
        """Return the records of a table that are about a work, in the order in which their states were read first.

        Only those of the work's own time: whose lock, or else expiry, a run of it can have set.
        """
        span = span_of(deliveries)
        form = self._forms.get(table)
        if span is None or form is None:
            return []
        found: dict[str, Record] = {}
        for by, value in sorted(_named(deliveries)):
            if form.keyed_by in (None, by):
                for kind, looked_for in self._looked_for(table, by, value):
                    for record in self._by_value.get((table, kind, looked_for), ()):
                        is_of_time = _is_of_time(record.locked_until_at, record.expires_at, *span)
                        if is_of_time and _is_there(table, record.place, deliveries[0].queue_arn):
                            found.setdefault(record.evidence_id, record._replace(by=by, about=value))
        return sorted(found.values(), key=lambda r: (r.observed_at, r.evidence_id))

    def _looked_for(self, table: str, by: str, value: str) -> Iterator[tuple[str, str]]:
        yield by, value
        yield "value", value
        for algorithm, is_hex in sorted(self._digests.get(table, ())):
            for text in _texts(value):
                yield "digest", _digest(text, algorithm, is_hex)

    def reading(self, table: str, queue_arn: str, end: int) -> Reading:
        """Tell what was read after a moment of a table that a queue's consumer asks, and what it keeps."""
        told = [
            (at, status) for at, status, place in self._readings.get(table, ()) if _is_there(table, place, queue_arn)
        ]
        keeps = [deletes for place, deletes in self._keeps.get(table, ()) if _is_there(table, place, queue_arn)]
        return Reading(
            table,
            told[-1][1] if told else None,
            next((at for at, status in told if status == "ok" and at >= end), None),
            None if not keeps or None in keeps else not any(keeps),
            self._forms[table].keyed_by if table in self._forms else None,
            self._keeps_s.get(queue_name(queue_arn)),
        )

    def bearing(self, names: Iterable[str], queues: Iterable[str], low: int, high: int) -> list[Any]:
        """Return all that can bear on works of some functions and log groups whose times lie in a span."""
        tables = sorted({table for name in names if (table := self._table_of.get(name))})
        return [self._of_table(table, queues, low, high) for table in tables]

    def _of_table(self, table: str, queues: Iterable[str], low: int, high: int) -> list[Any]:
        told = self._readings.get(table, [])
        places = {place for _, _, place in told}
        used = []
        for where in sorted(places, key=str):
            whole = [at for at, status, place in told if status == "ok" and place == where and at >= low]
            used.append(
                (where, whole[: bisect_left(whole, high) + 1], [s for _, s, place in told if place == where][-1])
            )
        records = [record for record in self._records[table] if _is_of_time(record[0], record[1], low, high)]
        digest = hashlib.sha256(json.dumps(records).encode()).hexdigest()[:32] if records else ""
        keeps = sorted((arn, self._keeps_s.get(queue_name(arn))) for arn in queues)
        form = [getattr(self._forms[table], name) for name in ("keyed_by", "key_pattern", "completed", "in_progress")]
        return [table, form, digest, used, sorted({str(kept) for kept in self._keeps.get(table, [])}), keeps]


def _place(row: Row) -> _Place:
    return row["account_id"], row["region"]


def _is_there(table: str, place: _Place, queue_arn: str) -> bool:
    """Tell whether a table is in a queue's account and region, as far as either is known, or in those that its ARN says."""
    parts = (table if table.startswith("arn:") else queue_arn).split(":")
    if len(parts) != 6:
        return True
    return place[0] in (None, parts[4]) and place[1] in (None, parts[3])


def span_of(deliveries: Iterable[Delivery]) -> tuple[int, int] | None:
    """Return when the first of some deliveries was received and the last ended, as far as is known."""
    times = [at for d in deliveries for at in (d.received_at, d.run_ended_at) if at is not None]
    received = [d.received_at for d in deliveries if d.received_at is not None]
    return (min(received), max(times)) if received else None


def _is_of_time(locked_at: int | None, expires_at: int | None, low: int, high: int) -> bool:
    if locked_at is not None:
        return low - CLOCK_US <= locked_at <= high + LONGEST_RUN_US + CLOCK_US
    return expires_at is None or expires_at >= low


def _named(deliveries: Iterable[Delivery]) -> set[tuple[str, str]]:
    """Return the ids of a work, each with its kind."""
    found = {(ABOUT_KEY, key) for d in deliveries for key in d.business_keys}
    return found | {(ABOUT_MESSAGE, d.message_id) for d in deliveries if d.message_id is not None}


def _values(form: GuardTable, record: Record) -> Iterator[tuple[str, str]]:
    """Yield by what a record can be found: a kind of id and its value, the digest of one, or a value of either kind."""
    if form.key_pattern is not None:
        if found := _compiled(form.key_pattern).search(record.key):
            groups = found.groupdict()
            kinds = (("message_id", ABOUT_MESSAGE), ("key", ABOUT_KEY))
            yield from ((kind, groups[name]) for name, kind in kinds if groups.get(name))
    elif record.guarded is not None:
        yield "digest", record.key.rpartition("#")[2]
    else:
        yield "value", record.key


@lru_cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return compiled(pattern, re.ASCII)


def _digest_kind(digest: str) -> tuple[str, bool] | None:
    """Return what made a digest, and whether it is written in hexadecimal digits; None where it is none."""
    if re.fullmatch(r"[0-9a-f]+", digest) and len(digest) // 2 in _ALGORITHMS:
        return _ALGORITHMS[len(digest) // 2], True
    try:
        size = len(base64.b64decode(digest + "=" * (-len(digest) % 4), validate=True))
    except ValueError:
        return None
    return (_ALGORITHMS[size], False) if size in _ALGORITHMS else None


def _texts(value: str) -> Iterator[str]:
    """Yield a value as the libraries write it before they digest it: bare, as a JSON text, and in a list of one."""
    texts = dict.fromkeys((json.dumps(value), json.dumps(value, ensure_ascii=False), value))
    yield from texts
    yield from (f"[{text}]" for text in texts)


def _digest(text: str, algorithm: str, is_hex: bool) -> str:
    made: Callable[..., Any] = getattr(hashlib, algorithm)
    digest = made(text.encode("utf-8", "surrogatepass"), usedforsecurity=False)
    return digest.hexdigest() if is_hex else base64.b64encode(digest.digest()).decode()
