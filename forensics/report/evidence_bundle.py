"""A case that can be judged again: its report, the raw rows it rests on, the settings and versions, and how to fetch each line."""

import io
import json
import platform
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from importlib.metadata import PackageNotFoundError, version
from typing import Any, NoReturn

import pyarrow as pa
import pyarrow.compute as pc

from forensics.identity import evidence_id, names_of, queue_name
from forensics.lake import Findings
from forensics.lake.filters import between, equals, one_of
from forensics.lake.rows import plain_rows
from forensics.report.bundle import BundleBrokenError, contents, to_zip
from forensics.report.case import Case, keys_of
from forensics.report.formats import FORMATS
from forensics.report.options import ReportOptions
from forensics.report.pseudonyms import Pseudonyms
from forensics.report.queries import queries
from forensics.report.records import plain_value
from forensics.report.render import file_name, render
from forensics.sentence import said
from forensics.settings import Settings
from forensics.tables import BY_NAME, Column, Table
from forensics.tables import evidence as E
from forensics.tables.books import BOOK_ENTRIES, BOOKS
from forensics.tables.people import ANNOTATIONS

Row = Mapping[str, Any]
SETTINGS, QUERIES = "doubletake.toml", "queries.md"
_ROWS = "evidence-"
_PACKAGES = ("doubletake", "pyspark", "polars", "deltalake", "pyarrow", "google-re2")
_NAMES = ("evidence_id", "event_id", "log_group", "log_stream", "mapping_uuid", "incident_id", "item_id")
"""Columns that rows are told apart by: nothing is redacted in them."""
_NOT_TEXT = ("pdf", "zip")
"""Forms in which nothing can be redacted; a bundle with redactions leaves them out."""
_AT_A_TIME = 20_000
_OF_GUARDS = (E.GUARD_TABLE_SETTINGS.name, E.GUARD_RECORDS.name)


@dataclass(frozen=True)
class Evidence:
    """What an evidence bundle brings: rows per table in the tables' own types, and the settings its findings rest on."""

    incident_id: str
    rows: Mapping[str, list[dict[str, Any]]]
    settings: str
    redactions: tuple[str, ...]


def evidence_bundle(
    findings: Findings,
    case: Case,
    options: ReportOptions | None = None,
    redact: Pseudonyms | None = None,
    margin: timedelta | None = None,
) -> bytes:
    """Pack a case with all evidence of its queue's consumers; with ``margin`` only so far before and after the incident.

    What is left out by a margin may leave more open when it is judged again; all else gives the same report.
    """
    options, redact = options or ReportOptions(), redact or Pseudonyms(())
    rows = evidence_of(findings, case, margin)
    if redact.asked:
        # What a guard digested is found by the value itself alone: without it every record would seem missing.
        coverage = rows[E.COVERAGE.name].filter(~one_of("source", _OF_GUARDS))
        rows = {n: found for n, found in rows.items() if n not in _OF_GUARDS} | {E.COVERAGE.name: coverage}
    counts = {name: found.num_rows for name, found in sorted(rows.items()) if found.num_rows}
    more = {f"{_ROWS}{name}.jsonl": _json_lines(BY_NAME[name], rows.pop(name), redact) for name in counts}
    more[SETTINGS] = redact(findings.generation.settings or "").encode()
    cited = findings.evidence_rows([line.evidence_id for line in case.evidence])
    more[QUERIES] = redact(queries(case.evidence, cited, case.incident_id)).encode("utf-8", "replace")
    left_out = {"zip", *(_NOT_TEXT if redact.asked else ())}
    kinds = [kind for kind in FORMATS if kind not in left_out and (kind != "pdf" or _has_pdf())]

    def written(case: Case, kind: str, options: ReportOptions) -> bytes:
        data = render(case, kind, options)
        return redact(data.decode("utf-8", "replace")).encode("utf-8", "replace") if redact.asked else data

    said = {
        "evidence": counts,
        "margin_s": None if margin is None else int(margin.total_seconds()),
        "redactions": list(redact.asked),
        "versions": versions(),
    }
    return to_zip(case, options, written, {kind: file_name(case, kind) for kind in kinds}, more, said)


def _has_pdf() -> bool:
    from forensics.extras import is_installed

    return is_installed("pdf")


def versions() -> dict[str, str]:
    """Return what judged: Python and the packages that bear on an answer."""
    found = {"python": platform.python_version()}
    for name in _PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def evidence_of(findings: Findings, case: Case, margin: timedelta | None = None) -> dict[str, pa.Table]:
    """Return per table the rows that bear on the case's queue: its consumers' logs, metrics, settings, changes, coverage."""
    incident = case.incident
    arn = incident["queue_arn"]
    groups = {r["log_group"] for r in plain_rows(findings.read(E.CONSUMERS, where=equals("queue_arn", arn)))}
    groups |= {d["log_group"] for d in case.deliveries if d["log_group"]}
    consumers = plain_rows(findings.read(E.CONSUMERS, where=one_of("log_group", groups)))
    functions = {c["function_name"] for c in consumers if c["function_name"]} | set(incident["functions"] or ())
    snapshots = plain_rows(findings.read(E.QUEUE_SETTINGS))
    queues = {arn, *(c["queue_arn"] for c in consumers)}
    queues |= {r["dead_letter_queue_arn"] for r in snapshots if r["queue_arn"] in queues and r["dead_letter_queue_arn"]}
    queues |= {r["queue_arn"] for r in snapshots if r["dead_letter_queue_arn"] == arn}
    mappings = plain_rows(
        findings.read(E.EVENT_SOURCE_MAPPINGS, where=one_of("queue_arn", queues) | one_of("function_name", functions))
    )
    names = {queue_name(q) for q in queues} | functions | groups
    names |= {m["mapping_uuid"] for m in mappings if m["mapping_uuid"]}
    span = _span(case, margin)
    said = Settings.parse(findings.generation.settings or "")
    asking = [f for f in said.functions if f.name in functions] + [w for w in said.workers if w.log_group in groups]
    tables = {consumer.guard_table for consumer in asking if consumer.guard_table}
    wanted: dict[Table, pc.Expression] = {
        E.LOG_EVENTS: _inside(one_of("log_group", groups), E.LOG_EVENTS, span),
        E.METRIC_POINTS: _inside(one_of("resource", names), E.METRIC_POINTS, span),
        E.QUEUE_SETTINGS: one_of("queue_arn", queues),
        E.FUNCTION_SETTINGS: one_of("function_name", functions),
        E.EVENT_SOURCE_MAPPINGS: one_of("queue_arn", queues) | one_of("function_name", functions),
        E.LOG_GROUP_SETTINGS: one_of("log_group", groups),
        E.SETTING_CHANGES: one_of("queue_arn", queues) | one_of("function_name", functions) | one_of("resource", names),
        E.SEND_RECORDS: _inside(
            one_of("queue_arn", {name for q in queues for name in names_of(q)}), E.SEND_RECORDS, span
        ),
        E.TASK_STOPS: one_of("task_id", {(d["log_stream"] or "").rpartition("/")[2] for d in case.deliveries}),
        E.MOVE_TASKS: one_of("source_arn", queues) | one_of("destination_arn", queues),
        E.GUARD_TABLE_SETTINGS: one_of("guard_table", tables),
        E.GUARD_RECORDS: one_of("guard_table", tables),
        E.CONSUMERS: one_of("log_group", groups),
        E.COVERAGE: one_of("queue_arn", queues)
        | one_of("resource", names | queues | tables)
        | equals("source", E.SETTING_CHANGES.name),
        E.QUARANTINE: one_of("resource", names | queues),
    }
    found = {table.name: findings.read(table, where=where) for table, where in wanted.items()}
    if span is not None:
        claimed = _clipped(plain_rows(found[E.COVERAGE.name]), span)
        found[E.COVERAGE.name] = pa.Table.from_pylist(list(claimed), found[E.COVERAGE.name].schema)
    lake = findings.lake
    found[ANNOTATIONS.name] = lake.read(ANNOTATIONS, where=equals("incident_id", case.incident_id))
    keys = {key for m in case.messages for key in keys_of(m)}
    found[BOOKS.name] = lake.read(BOOKS, where=one_of("queue_arn", names_of(arn)))
    entries = one_of("queue_arn", names_of(arn)) & one_of("key", keys)
    found[BOOK_ENTRIES.name] = lake.read(BOOK_ENTRIES, where=entries)
    return {name: rows.sort_by("evidence_id") for name, rows in found.items()}


def _span(case: Case, margin: timedelta | None) -> tuple[datetime, datetime] | None:
    if margin is None:
        return None
    start = case.incident["started_at"] or case.incident["ended_at"]
    end = case.incident["ended_at"] or start
    return start - margin, end + margin


def _inside(where: pc.Expression, table: Table, span: tuple[datetime, datetime] | None) -> pc.Expression:
    return where if span is None or table.time_column is None else where & between(table.time_column, *span)


def _clipped(rows: Sequence[Row], span: tuple[datetime, datetime]) -> Iterator[dict[str, Any]]:
    """Let readings of what has a time claim no more than what is in the bundle."""
    timed = {t.name for t in (E.LOG_EVENTS, E.METRIC_POINTS)}
    for row in rows:
        if row["source"] not in timed or row["window_start_at"] is None:
            yield dict(row)
            continue
        start, end = max(row["window_start_at"], span[0]), min(row["window_end_at"], span[1])
        if start < end:
            yield {**row, "window_start_at": start, "window_end_at": end}


def _json_lines(table: Table, rows: pa.Table, redact: Pseudonyms) -> bytes:
    """Write rows as JSON lines, few of them as values of Python at a time: a queue has more lines than an incident."""
    free = {c.name for c in table.columns if c.type in ("string", "strings")} - set(_NAMES)
    free -= {name for name in free if name.endswith("_arn")}

    def written(name: str, values: list[Any]) -> list[Any]:
        if name in free and redact.asked:
            return [redact(v) if isinstance(v, str) else v and [redact(part) for part in v] for v in values]
        return values

    out = io.BytesIO()
    for batch in rows.to_batches(_AT_A_TIME):
        columns = [written(f.name, _plain_values(batch.column(f.name))) for f in rows.schema]
        for cells in zip(*columns, strict=True):
            out.write(json.dumps(dict(zip(table.column_names, cells, strict=True))).encode())
            out.write(b"\n")
    return out.getvalue()


def _plain_values(column: pa.Array) -> list[Any]:
    """Return a column's values as JSON knows them; times as ``time_text`` writes them, in one go where none is finer than that."""
    if not pa.types.is_timestamp(column.type):
        return column.to_pylist()
    try:
        return pc.strftime(column.cast(pa.timestamp("ms", "UTC")), "%Y-%m-%dT%H:%M:%SZ").to_pylist()
    except pa.ArrowInvalid:
        return [plain_value(at) for at in column.to_pylist()]


def read_evidence(data: bytes) -> Evidence:
    """Return what an evidence bundle brings; raises BundleBrokenError for one that is damaged, or holds a report alone."""
    manifest, files = contents(data)
    rows = {}
    for name in sorted(files):
        if name.startswith(_ROWS) and name.endswith(".jsonl"):
            table = BY_NAME.get(name.removeprefix(_ROWS).removesuffix(".jsonl"))
            if table is None or table.layer != "evidence":
                raise BundleBrokenError(
                    said("{name} is of no table of evidence", name=repr(name)), "A newer release may have written it."
                )
            rows[table.name] = [_row(table, number, line) for number, line in enumerate(files[name].splitlines(), 1)]
    if not rows:
        raise BundleBrokenError(
            "this bundle holds a report and no evidence",
            "Make one that can be judged again with `doubletake bundle INCIDENT`.",
        )
    try:
        settings = files.get(SETTINGS, b"").decode()
    except UnicodeDecodeError as problem:
        raise BundleBrokenError(
            said("{file} in the bundle is not UTF-8 text", file=SETTINGS), "Ask its sender for another one."
        ) from problem
    redactions = tuple(manifest.get("redactions") or ())
    if not redactions:
        _check_names(rows.get(E.LOG_EVENTS.name, ()))
    return Evidence(manifest["incident_id"], rows, settings, redactions)


def _check_names(lines: Sequence[Row]) -> None:
    """Refuse a log event under another one's id: the other would count as read where it comes. Redaction changes accounts."""
    for number, row in enumerate(lines, 1):
        place = (row["account_id"], row["region"], row["log_group"], row["event_id"])
        if row["event_id"] is not None and row["evidence_id"] != evidence_id("log", *place):
            raise BundleBrokenError(
                said(
                    "row {number} of {table} in the bundle bears an id that is not its event's: {shown}",
                    number=str(number),
                    table=E.LOG_EVENTS.name,
                    shown=f"{row['evidence_id']!r:.80}",
                ),
                "Do not trust it; ask its sender for another one.",
            )


def _row(table: Table, number: int, line: bytes) -> dict[str, Any]:
    try:
        told = json.loads(line, parse_constant=_no_number)
        row = {column.name: _value(column, told.get(column.name)) for column in table.columns}
        if not all(row[name] for name in table.key):
            raise ValueError("it has no name")
        if odd := set(told) - set(table.column_names):
            raise ValueError(f"it has a column {sorted(odd)[0]!r}")
    except (ValueError, AttributeError, OverflowError, RecursionError) as problem:
        raise BundleBrokenError(
            said(
                "row {n} of {name} in the bundle is not a row: {problem}",
                n=str(number),
                name=table.name,
                problem=str(problem),
            ),
            "A newer release may have written it.",
        ) from problem
    return row


_YEARS = range(1900, 9999)
"""Of times that every reader of a lake's files takes."""


def _value(column: Column, value: Any) -> Any:
    """Return what a cell says, in the column's own type; raises ValueError or OverflowError for what it cannot hold."""
    if value is None:
        return None
    match column.type:
        case "string" if isinstance(value, str) and value.encode() is not None:
            return value
        case "strings" if isinstance(value, list) and all(isinstance(v, str) and v.encode() is not None for v in value):
            return value
        case "int" | "long" if type(value) is int and -(most := _MOST[column.type]) - 1 <= value <= most:
            return value
        case "double" if type(value) in (int, float):
            return float(value)
        case "bool" if isinstance(value, bool):
            return value
        case "timestamp" if isinstance(value, str) and (at := datetime.fromisoformat(value)).tzinfo is not None:
            if at.year in _YEARS:
                return at.astimezone(UTC)
    raise ValueError(f"{column.name} is {value!r:.80}")


_MOST = {"int": 2**31 - 1, "long": 2**63 - 1}


def _no_number(text: str) -> NoReturn:
    raise ValueError(f"{text} is no number")
