"""A ledger's file as rows: CSV, JSON lines or Parquet. Nothing is guessed of what cannot be read."""

import csv
import json
from collections import Counter
from collections.abc import Iterator, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any, NoReturn

import pyarrow as pa
import pyarrow.parquet as pq

from forensics.errors import ForensicsError, not_utf8
from forensics.sentence import said

Row = Mapping[str, Any]
MOST_BYTES = 2 << 30
_SEPARATORS = ",;\t|"


class LedgerUnreadableError(ForensicsError):
    """A file of the books cannot be read as one."""


def ledger_rows(path: Path) -> Iterator[tuple[int, Row]]:
    """Yield each row with its number, from 1; cells are text, numbers as ``int`` or ``Decimal``, times, or None.

    Raises LedgerUnreadableError, before the first row for a header, at its row for what stands there.
    """
    try:
        if not path.is_file():
            raise LedgerUnreadableError(
                said("{file} is no file", file=repr(str(path))), "Give the ledger as CSV, JSON lines or Parquet."
            )
        if path.stat().st_size > MOST_BYTES:
            raise LedgerUnreadableError(
                said("{file} is larger than {n} bytes", file=repr(str(path)), n=MOST_BYTES),
                "Export only the time of the incident.",
            )
        with path.open("rb") as file:
            is_parquet = file.read(4) == b"PAR1"
        rows = _parquet(path) if is_parquet else _text(path)
        count = 0
        for count, row in enumerate(rows, 1):  # noqa: B007 - whether there was one is asked below
            yield count, row
        if not count:
            raise LedgerUnreadableError(
                said("{file} holds no row", file=repr(str(path))), "An empty ledger says nothing of any payment."
            )
    except OSError as problem:
        raise LedgerUnreadableError(
            said("{file} cannot be read: {why}", file=repr(str(path)), why=problem.strerror or str(problem)),
            "Check the path and its permissions.",
        ) from problem


def _text(path: Path) -> Iterator[Row]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        try:
            start = file.read(65_536)
            file.seek(0)
            yield from (_json_lines if start.lstrip().startswith("{") else _csv)(path, file, start)
        except UnicodeDecodeError as problem:
            raise LedgerUnreadableError(*not_utf8(path, problem)) from problem


def _json_lines(path: Path, file: Any, start: str) -> Iterator[Row]:
    for number, line in enumerate(file, 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line, parse_float=Decimal, parse_constant=_no_number, object_pairs_hook=_once)
        except (ValueError, RecursionError) as problem:
            raise LedgerUnreadableError(
                said(
                    "line {n} of {file} is not one JSON object: {line} ({problem})",
                    n=str(number),
                    file=repr(str(path)),
                    line=repr(line.strip()[:80]),
                    problem=problem,
                ),
                "JSON lines hold one object a line.",
            ) from problem
        if not isinstance(row, dict):
            raise LedgerUnreadableError(
                said(
                    "line {n} of {file} is not an object: {line}",
                    n=str(number),
                    file=repr(str(path)),
                    line=repr(line.strip()[:80]),
                ),
                "JSON lines hold one object a line.",
            )
        yield row


def _no_number(text: str) -> NoReturn:
    raise ValueError(f"{text} is no number")


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    twice = [name for name, count in Counter(name for name, _ in pairs).items() if count > 1]
    if twice:
        raise ValueError(f"the key {twice[0]!r} stands there twice")
    return dict(pairs)


def _csv(path: Path, file: Any, start: str) -> Iterator[Row]:
    first = start.partition("\n")[0]
    separator = max(_SEPARATORS, key=first.count)
    reader = csv.reader(file, delimiter=separator, strict=True)
    try:
        header = [name.strip() for name in next(reader, [])]
        _check_names(path, header)
        for cells in reader:
            if not any(cells):
                continue
            if len(cells) != len(header):
                raise LedgerUnreadableError(
                    said(
                        "line {n} of {file} has {count} cells, and the header {total}",
                        n=str(reader.line_num),
                        file=repr(str(path)),
                        count=len(cells),
                        total=len(header),
                    ),
                    said(
                        "Each row needs a cell per column, set apart by {separator}, and quotes where one stands inside.",
                        separator=repr(separator),
                    ),
                )
            yield {name: cell.strip() or None for name, cell in zip(header, cells, strict=True)}
    except csv.Error as problem:
        raise LedgerUnreadableError(
            said(
                "line {n} of {file} is not CSV: {problem}",
                n=str(reader.line_num),
                file=repr(str(path)),
                problem=problem,
            ),
            "Save it again as CSV.",
        ) from problem


def _parquet(path: Path) -> Iterator[Row]:
    try:
        file = pq.ParquetFile(path)
        _check_names(path, file.schema_arrow.names)
        for batch in file.iter_batches(batch_size=4096):
            for row in batch.to_pylist():
                yield {name: _exact(value) for name, value in row.items()}
    except pa.ArrowException as problem:
        raise LedgerUnreadableError(
            said("{file} is not Parquet: {problem}", file=repr(str(path)), problem=problem), "Write it again."
        ) from problem


def _exact(value: Any) -> Any:
    """A binary fraction as the shortest decimal that is read back as it."""
    return Decimal(repr(value)) if isinstance(value, float) else value


def _check_names(path: Path, names: list[str]) -> None:
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise LedgerUnreadableError(
            said("{file} has the column {column} twice", file=repr(str(path)), column=repr(twice[0])),
            "Which of the two would be meant? Rename one.",
        )
