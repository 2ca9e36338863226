"""The numbers that printed bodies carry, per message group of a queue; and a producer's commits that were never sent."""

from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow.compute as pc

from forensics.books.entries import Columns, ledger_of
from forensics.books.files import ledger_rows
from forensics.clock import EPOCH
from forensics.errors import ForensicsError
from forensics.json_path import text_in
from forensics.lake import Findings
from forensics.lake.filters import equals, one_of
from forensics.lake.rows import plain_rows
from forensics.parsers.sqs_records import key_style, printed
from forensics.sentence import counted, said
from forensics.sequence.check import Broken, Sent, check
from forensics.tables.evidence import LOG_EVENTS
from forensics.tables.findings import DELIVERIES


class SequenceUnknownError(ForensicsError):
    """Nothing says which number counts, or no body shows it."""


@dataclass(frozen=True)
class Sequences:
    """A queue's numbered messages: how many, in how many groups, what of their numbers is broken, and what has none.

    ``unread`` counts messages whose body is not printed or has no such number.
    """

    queue: str
    path: str
    messages: int
    groups: int
    unread: int
    broken: tuple[Broken, ...]

    @property
    def sentence(self) -> str:
        """Say what was looked at."""
        seen = {
            "queue": self.queue,
            "messages": counted(self.messages, "message"),
            "groups": counted(self.groups, "group"),
            "path": self.path,
        }
        if not self.unread:
            return said("{queue}: {messages} in {groups} carry {path}.", **seen)
        return said("{queue}: {messages} in {groups} carry {path}; of {m} no line shows it.", **seen, m=self.unread)


def sequences(findings: Findings, queue: str, path: str | None) -> Sequences:
    """Check the numbers of a queue's printed bodies at a JSON path; raises SequenceUnknownError where there are none."""
    if path is None:
        raise SequenceUnknownError(
            said("nothing says which field of {queue} counts up", queue=repr(queue)),
            'Give --field "$.version", or sequence under [[queue]].',
        )
    here = equals("queue", queue) | equals("queue_arn", queue)
    columns = ["message_id", "log_group", "group_id", "sent_at"]
    known: dict[str, dict[str, Any]] = {}
    groups: set[str] = set()
    for row in plain_rows(findings.read(DELIVERIES, columns, here)):
        groups.add(row["log_group"])
        if row["message_id"]:
            known.setdefault(row["message_id"], row)
    sent: dict[str, Sent] = {}
    where = one_of("log_group", groups - {None}) & pc.match_substring(pc.field("line"), pattern="essageId")
    for batch in findings.scan(LOG_EVENTS, ["evidence_id", "line"], where):
        for row in plain_rows(batch):
            _add(sent, known, row, path)
    if not sent:
        raise SequenceUnknownError(
            said("no printed body of {queue} has a whole number at {path}", queue=repr(queue), path=path),
            "Print the batch, bodies and all: docs/logging.md.",
        )
    by_group: dict[str, list[Sent]] = defaultdict(list)
    for one in sent.values():
        by_group[one.group].append(one)
    broken = [b for _, mine in sorted(by_group.items()) for b in check(mine)]
    return Sequences(queue, path, len(sent), len(by_group), len(known) - len(sent), tuple(broken))


def _add(sent: dict[str, Sent], known: dict[str, dict[str, Any]], row: dict[str, Any], path: str) -> None:
    style = key_style(row["line"])
    for record in (printed(row["line"], style).records or ()) if style else ():
        delivery = known.get(record.message_id)
        text = text_in(record.body, path) if delivery and record.body else None
        if delivery is None or record.message_id in sent or text is None or not text.lstrip("-").isdecimal():
            continue
        group = record.group_id or delivery["group_id"] or ""
        sent[record.message_id] = Sent(
            int(text), delivery["sent_at"] or _at(record.sent_ms), record.message_id, group, row["evidence_id"]
        )


def _at(ms: int | None) -> datetime | None:
    return None if ms is None else EPOCH + timedelta(milliseconds=ms)


def commits_not_sent(findings: Findings, queue: str, file: Path, key: str) -> tuple[int, list[str]]:
    """Return how many works a producer's file says were committed, and the keys of which no delivery was ever seen.

    Raises LedgerUnreadableError for a file that cannot be meant, SequenceUnknownError where none of its keys was delivered.
    """
    committed = {e.key for e in ledger_of(ledger_rows(file), Columns(key, same_rows="once"), file.name).entries}
    here = equals("queue", queue) | equals("queue_arn", queue)
    seen: set[str] = set()
    for row in plain_rows(findings.read(DELIVERIES, ["business_keys", "message_id", "deduplication_id"], here)):
        seen.update(k for k in (*(row["business_keys"] or ()), row["message_id"], row["deduplication_id"]) if k)
    if not committed & seen:
        raise SequenceUnknownError(
            said(
                "none of the {keys} in column {column}, such as {shown}, names a message of {queue}",
                keys=counted(len(committed), "key"),
                column=repr(key),
                shown=repr(sorted(committed)[0]),
                queue=repr(queue),
            ),
            "--key takes the column that holds the business key, the message id or the deduplication id.",
        )
    return len(committed), sorted(committed - seen)
