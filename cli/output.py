"""How commands speak: data on stdout in four formats, words and progress on stderr."""

import codecs
import errno
import io
import json
import os
import re
import shutil
import sys
from collections.abc import Iterable, Sequence, Sized
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Protocol, TextIO

import typer

from cli.fold import cells, fold
from cli.said import as_told, in_words, phrase
from cli.table import Layout, print_table
from forensics.errors import ForensicsError
from forensics.printable import LINES, printable
from forensics.sentence import said

if TYPE_CHECKING:
    from forensics.report.records import Record

MOST_TABLE_ROWS = 1000
"""Rows that ``--format table`` prints; the other formats print all."""


_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_NO_ROOM_WORDS = tuple(os.strerror(number) for number in _NO_ROOM)
_PLAINLY = "doubletake.plainly"
_PLAIN = {"─": "-", "━": "-", "│": "|", "…": "...", "–": "-", "→": "->", "·": "*", "≈": "~"}  # noqa: RUF001
"""What words and tables are drawn with, for a terminal that has only letters."""
_COLOURS = re.compile(r"\x1b\[[0-9;]*m")


class RowFormat(StrEnum):
    """How rows are printed."""

    TABLE = "table"
    JSON = "json"
    JSONL = "jsonl"
    CSV = "csv"


class Listing(Sized, Iterable["Record"], Protocol):
    """Records of which it is known how many there are before any of them is told."""


FormatOption = Annotated[RowFormat, typer.Option("--format", help="How to print the rows.")]


class OutputUnwritableError(ForensicsError):
    """The file or folder to write to cannot be written."""


@dataclass
class _Manner:
    """How much a command says."""

    is_quiet: bool = False
    is_wide: bool = False


_manner = _Manner()


def be_quiet(wanted: bool) -> None:
    """Leave out what ``say`` is given, or no longer."""
    _manner.is_quiet = wanted


def be_wide(wanted: bool) -> None:
    """Show every column of a table on one line, or no longer."""
    _manner.is_wide = wanted


def make_streams_ready() -> None:
    """Have stdout show what its character set lacks in other characters, and nothing where stdout or stderr is closed.

    Else the first file that is opened gets the closed one's number, and what is printed would go into it.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the least number that is free
    sys.stdout = sys.stdout or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    sys.stderr = sys.stderr or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    codecs.register_error(_PLAINLY, _plainly)
    if isinstance(sys.stdout, io.TextIOWrapper) and codecs.lookup(sys.stdout.encoding).name != "utf-8":
        sys.stdout.reconfigure(errors=_PLAINLY)


def _plainly(problem: UnicodeError) -> tuple[str | bytes, int]:
    assert isinstance(problem, UnicodeEncodeError)
    first = problem.object[problem.start]
    if first in _PLAIN:
        return _PLAIN[first], problem.start + 1
    return codecs.backslashreplace_errors(
        UnicodeEncodeError(problem.encoding, problem.object, problem.start, problem.start + 1, problem.reason)
    )


def shows_progress() -> bool:
    """Tell whether somebody watches stderr and wants to see how far work is."""
    return sys.stderr.isatty() and not _manner.is_quiet


def say(words: str, /, **values: object) -> None:
    """Print words for the person in the reader's language, on stderr; nothing with --quiet."""
    if not _manner.is_quiet:
        warn(words, **values)


def warn(words: str, /, **values: object) -> None:
    """Print what went wrong or lacks, on stderr, with --quiet too."""
    _warn(_spoken(words, values))


def _warn(text: str) -> None:
    print(_prose(printable(text, keep="\n"), sys.stderr), file=sys.stderr, flush=True)


def _spoken(words: str, values: dict[str, object]) -> str:
    """Put words into the reader's language: a phrase with its values, or one line of what the findings say in English."""
    return words if "\n" in words and not values else phrase(words, **values) if values else in_words(words)


def say_lines(lines: Iterable[str]) -> None:
    """Say lines of a summary; a gap, which is what such a line may tell of, is said with --quiet too."""
    for line in lines:
        (warn if line.lstrip().startswith(phrase("Gap: ")) else say)(line)


def complain(sentence: str, hint: str = "") -> None:
    """Print what went wrong and what to do next, on stderr; a command that went wrong is none to be pasted."""
    _warn(f"doubletake: {' '.join(as_told(sentence).split())}")
    if hint:
        _warn(f"  {' '.join(in_words(hint).split())}")


def is_disk_full(problem: BaseException | None) -> bool:
    """Tell whether a failure comes from a disk, or a quota, that is full: libraries and Spark say so in words at best."""
    while problem is not None:
        if getattr(problem, "errno", None) in _NO_ROOM or any(words in str(problem) for words in _NO_ROOM_WORDS):
            return True
        problem = problem.__cause__ or problem.__context__
    return False


def about_file(problem: OSError) -> str:
    """Say what the system refused: Python names the file, delta-rs only the reason (in colours)."""
    if problem.filename is not None and problem.strerror:
        return said("{where}: {problem}", where=repr(os.fsdecode(problem.filename)), problem=problem.strerror)
    return said("reading or writing failed: {problem}", problem=_COLOURS.sub("", str(problem)))


def answer(words: str, /, is_code: bool = False, **values: object) -> None:
    """Print words that are a command's answer, in the reader's language, on stdout; code is not folded."""
    text = printable(words if is_code else _spoken(words, values), keep=LINES)
    print(text if is_code else _prose(text, sys.stdout))


def _prose(words: str, out: TextIO) -> str:
    """Fold lines between words for a terminal; a line with a command or an address is there to be copied and stays whole."""
    if not out.isatty():
        return words
    width = shutil.get_terminal_size().columns
    return "\n".join(_folded(line, width) for line in words.split("\n"))


def _folded(line: str, width: int) -> str:
    if cells(line) <= width or " --" in line or "://" in line:
        return line
    indent = line[: len(line) - len(line.lstrip())]
    first, *rest = fold(line.lstrip(), width - len(indent), width - len(indent) - 2 * bool(indent))
    return "\n".join([indent + first, *(f"{indent}{'  ' if indent else ''}{part}" for part in rest)])


def print_rows(records: Listing, how: RowFormat, layout: Layout, columns: Sequence[str]) -> None:
    """Print records; ``layout`` is that of the table form, ``columns`` are those of CSV."""
    from forensics.report.csv_text import to_csv
    from forensics.report.records import json_lines

    if how is RowFormat.JSONL:
        for line in json_lines(records):
            print(line)
    elif how is RowFormat.JSON:
        print(json.dumps(list(records), indent=1, allow_nan=False))
    elif how is RowFormat.CSV:
        written = to_csv(records, columns)
        sys.stdout.write(printable(written, keep=LINES) if sys.stdout.isatty() else written)
    else:
        _print_table(records, layout)


def _print_table(records: Listing, layout: Layout) -> None:
    """Print what there is: a head over no row says nothing, and each command says in a sentence that there is none."""
    if not len(records):
        return
    print_table(islice(records, MOST_TABLE_ROWS), layout, _manner.is_wide)
    left = len(records) - MOST_TABLE_ROWS
    if left > 0:
        say("{n} more rows are not shown; --format jsonl prints all.", n=left)


def check_place(output: str | None) -> None:
    """Raise OutputUnwritableError for a folder: said before a report is made in vain. Anything else only writing tells."""
    is_folder = False
    with suppress(OSError):
        is_folder = output not in (None, "-") and Path(str(output)).is_dir()
    if is_folder:
        raise OutputUnwritableError(said("{file} is a folder", file=repr(output)), "Name a file in it with -o.")


def write_whole(path: Path, content: bytes) -> None:
    """Write a file, its owner's alone, so that it is there whole or not at all; raises OutputUnwritableError.

    What is there and is no file, such as /dev/null or a pipe, is written to and never replaced.
    """
    hint = "Choose another file with -o, or -o - for stdout."
    try:
        check_place(str(path))
        if path.exists() and not path.is_file():
            with open(path, "wb") as device:
                device.write(content)
            return
        part = path.with_name(f".{path.name}.{os.getpid()}.part")
        try:
            with open(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())  # its digest is told to others: after a power cut it is that file, or none
            os.replace(part, path)
        finally:
            part.unlink(missing_ok=True)
    except OSError as problem:
        raise OutputUnwritableError(
            said("{file} cannot be written: {why}", file=repr(str(path)), why=problem.strerror), hint
        ) from problem


def write_out(content: bytes, output: str | None) -> None:
    """Write a report to the file, and say so; to stdout where none or ``-`` is named, to a terminal without what drives it.

    Raises OutputUnwritableError, also for a report that is no text and would go to a terminal.
    """
    if output in (None, "-"):
        sys.stdout.flush()
        sys.stdout.buffer.write(_for_terminal(content) if sys.stdout.isatty() else content)
        return
    write_whole(Path(str(output)), content)
    say("wrote {output} ({n} bytes)", output=output, n=len(content))


def _for_terminal(content: bytes) -> bytes:
    try:
        return printable(content.decode(), keep=LINES).encode()
    except UnicodeDecodeError as problem:
        raise OutputUnwritableError(
            "this format is not text, and stdout is a terminal", "Name a file with -o, or send it through a pipe."
        ) from problem
