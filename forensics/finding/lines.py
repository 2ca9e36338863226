"""Text in log lines, and the messages that each line speaks of."""

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from forensics.errors import ForensicsError
from forensics.lake import Findings
from forensics.lake.filters import between, equals, one_of
from forensics.lake.findings import rows_of
from forensics.lake.rows import plain_rows
from forensics.lake.schemas import arrow_schema
from forensics.parsers.sqs_records import key_style, printed
from forensics.sentence import said
from forensics.tables.evidence import LOG_EVENTS
from forensics.tables.findings import DELIVERIES, INCIDENTS, MESSAGES

Row = Mapping[str, Any]
Key = tuple[str, str]
"""Queue ARN and item id."""
LEAST_CHARS = 3
MOST_LINES = 500
_LINE_COLUMNS = ("evidence_id", "logged_at", "log_group", "log_stream")
_DELIVERY_COLUMNS = [
    *("queue_arn", "item_id", "message_id", "log_group", "log_stream"),
    *("received_at", "run_ended_at", "evidence_ids"),
]
_AROUND = timedelta(minutes=1)
BODY, LINE, RUN = "message body", "log line", "log line of the run"
"""How a line speaks of a message, the most telling way first."""


class TextUnclearError(ForensicsError):
    """A text that cannot be searched for."""


@dataclass(frozen=True)
class FoundLine:
    """One line with the text in it; ``messages`` are the item ids it speaks of, each with how. ``at`` is UTC."""

    evidence_id: str
    at: datetime
    log_group: str
    log_stream: str
    line: str
    messages: Mapping[tuple[str, str], str]


def in_lines(findings: Findings, text: str, incident_id: str | None = None) -> list[FoundLine]:
    """Return the lines in which a text stands, oldest first, at most MOST_LINES; of one incident's runs, or of all.

    Case does not matter. A text that JSON escapes is found as it is printed, too. Raises TextUnclearError for a text that is
    too short.
    """
    asked = " ".join(text.split())
    if len(asked) < LEAST_CHARS:
        raise TextUnclearError(
            said("{text} is too short to be searched for", text=repr(text)),
            said("Give at least {n} characters.", n=LEAST_CHARS),
        )
    where = pc.scalar(False)
    for written in _writings(asked):
        where = where | pc.match_substring(pc.field("line"), pattern=written, ignore_case=True)
    if incident_id is not None:
        where = where & _of_incident(findings, incident_id)
    rows = _oldest(findings.scan(LOG_EVENTS, where=where))
    return list(_with_messages(findings, rows, asked))


def _oldest(batches: Iterable[pa.RecordBatch]) -> Sequence[Row]:
    """Return the first MOST_LINES lines; of the others none is held."""
    kept = pa.Table.from_batches([], arrow_schema(LOG_EVENTS))
    for batch in batches:
        kept = pa.concat_tables([kept, pa.table(batch)]).sort_by(
            [("logged_at", "ascending"), ("evidence_id", "ascending")]
        )
        kept = kept.slice(0, MOST_LINES)
    return plain_rows(kept)


def _of_incident(findings: Findings, incident_id: str) -> pc.Expression:
    found = rows_of(findings.read(INCIDENTS, where=equals("incident_id", incident_id)))
    if not found:
        raise TextUnclearError(
            said("no incident {incident} is in this data version", incident=repr(incident_id)),
            "`doubletake incidents` lists them.",
        )
    items = findings.read(MESSAGES, ["item_id"], equals("incident_id", incident_id))["item_id"].to_pylist()
    deliveries = plain_rows(findings.read(DELIVERIES, ["log_group", "log_stream"], one_of("item_id", items)))
    places = {(d["log_group"], d["log_stream"]) for d in deliveries if d["log_group"] and d["log_stream"]}
    start, end = found[0]["started_at"], found[0]["ended_at"] or found[0]["started_at"]
    groups, streams = ({p[n] for p in places} for n in (0, 1))
    return (
        one_of("log_group", groups)
        & one_of("log_stream", streams)
        & between("logged_at", start - _AROUND, end + _AROUND)
    )


def _with_messages(findings: Findings, rows: Sequence[Row], asked: str) -> Iterable[FoundLine]:
    """Say of each line which messages it speaks of: those whose printed body has the text, else those that cite the line,
    else all of the run that printed it.
    """  # noqa: D205
    by_body = {row["evidence_id"]: said for row in rows if (said := _records_with(row["line"], asked))}
    spoken = _spoken(findings, rows, {message_id for named in by_body.values() for message_id in named})
    for row in rows:
        found: dict[Key, str] = {}
        for message_id in by_body.get(row["evidence_id"], ()):
            found |= dict.fromkeys(spoken.by_message.get(message_id, ()), BODY)
        is_printed = key_style(row["line"]) is not None
        if not found and not is_printed:
            cited = spoken.by_line.get(row["evidence_id"], set())
            found = dict.fromkeys(sorted(cited), LINE if len(cited) == 1 else RUN)
        if not found and not is_printed:
            found = dict.fromkeys(sorted(spoken.by_run.get(row["evidence_id"], ())), RUN)
        yield FoundLine(row["evidence_id"], row["logged_at"], row["log_group"], row["log_stream"], row["line"], found)


@dataclass(frozen=True)
class _Spoken:
    """The messages with an id, those whose deliveries cite a line, and those that a run had when it printed a line."""

    by_message: Mapping[str, set[Key]]
    by_line: Mapping[str, set[Key]]
    by_run: Mapping[str, set[Key]]


def _spoken(findings: Findings, rows: Sequence[Row], message_ids: Iterable[str]) -> _Spoken:
    import polars as pl  # what is found by its id is told without

    found = _Spoken(defaultdict(set), defaultdict(set), defaultdict(set))
    ids, lines = sorted(message_ids), pl.DataFrame(rows, _LINE_COLUMNS)
    here = one_of("log_stream", lines["log_stream"]) | one_of("message_id", ids)
    for batch in findings.scan(DELIVERIES, _DELIVERY_COLUMNS, here) if rows else ():
        deliveries = pl.DataFrame(batch)
        named = deliveries.filter(pl.col("message_id").is_in(ids))
        cited = deliveries.explode("evidence_ids").join(lines, left_on="evidence_ids", right_on="evidence_id")
        had = deliveries.join_where(
            lines,
            pl.col("log_group") == pl.col("log_group_right"),
            pl.col("log_stream") == pl.col("log_stream_right"),
            pl.col("received_at") <= pl.col("logged_at"),
            pl.col("run_ended_at") >= pl.col("logged_at"),
        )
        for by, told, name in (
            (found.by_message, named, "message_id"),
            (found.by_line, cited, "evidence_ids"),
            (found.by_run, had, "evidence_id"),
        ):
            for name_of, *key in told.select(name, "queue_arn", "item_id").unique().iter_rows():
                by[name_of].add(tuple(key))
    return found


def _records_with(line: str, asked: str) -> list[str]:
    """Return the message ids of printed records whose body or key has the text."""
    style = key_style(line)
    if style is None:
        return []
    wanted = [written.lower() for written in _writings(asked)]
    found = printed(line, style).records or ()
    told = ((r.message_id, (r.body, r.group_id, r.deduplication_id, r.sender_id)) for r in found)
    return [
        message_id
        for message_id, texts in told
        if any(written in text.lower() for text in texts if text for written in wanted)
    ]


def _writings(asked: str) -> list[str]:
    """Return a text as it may be printed: plain, in JSON, and in the JSON of a body that stands in JSON."""
    once = json.dumps(asked)[1:-1]
    return list(dict.fromkeys((asked, once, json.dumps(once)[1:-1])))
