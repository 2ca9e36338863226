"""How rows are shown to a person: one line each where the terminal is wide enough, else an id, a few facts and a sentence."""

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from cli.fold import cells, fold
from cli.said import in_words, span_text, term
from forensics.printable import printable

if TYPE_CHECKING:
    from rich.text import Text

_GAP = "  "
_UNFOLDED = 10_000
"""Characters of a line that is never folded: off a terminal, and where all columns are asked for."""

Record = Mapping[str, Any]
NAMES = {
    "arguments",
    "business_keys",
    "consumer",
    "fault_id",
    "group",
    "group_id",
    "incident_id",
    "item_id",
    "key",
    "keys",
    "line",
    "log_group",
    "log_stream",
    "message_id",
    "newest_incident",
    "queue",
    "request_id",
    "resource",
    "work_id",
    "write",
}
"""Columns that hold what somebody else named."""
_NUMBERED = {"exit", "first", "last", "version"}
"""Columns of numbers that count nothing."""
_UNITS_MS = {"_s": 1000, "_ms": 1}
"""Ends of columns that hold spans of time, which a cell writes with their unit, and the milliseconds of one."""


@dataclass(frozen=True)
class Layout:
    """The columns of a table, and what of them is shown where they do not fit side by side.

    ``row`` stands side by side there, what names the row first; ``facts`` are named on the next line, and ``sentences``
    stand below without their names. What is in none of them is left out. Where not even the rest of ``row`` fits beside
    itself, it is named as facts are.
    """

    columns: tuple[str, ...]
    row: tuple[str, ...]
    facts: tuple[str, ...] = ()
    sentences: tuple[str, ...] = ()

    def with_queue(self, is_named: bool) -> "Layout":
        """Return the layout with the queue as its first fact, where rows are of several."""
        return replace(self, facts=("queue", *self.facts)) if is_named else self


def lines_of(records: Sequence[Record], layout: Layout, is_wide: bool) -> "Iterator[Text]":
    """Yield the table's lines for stdout as it is; ``is_wide`` asks for every column whatever its width."""
    from rich.console import Console

    width = Console(file=sys.stdout).width if sys.stdout.isatty() and not is_wide else _UNFOLDED
    table = _Columns.of(records, layout.columns)
    return table.lines() if table.width <= width else _narrow(records, layout, width)


@dataclass(frozen=True)
class _Columns:
    """Cells side by side, each column as wide as its widest cell."""

    names: tuple[str, ...]
    cells: tuple[tuple[str, ...], ...]
    widths: tuple[int, ...]

    @classmethod
    def of(cls, records: Sequence[Record], names: Sequence[str]) -> "_Columns":
        from rich.cells import cell_len

        heads = tuple(_head(name) for name in names)
        cells = tuple(tuple(cell_text(record.get(name), name) for name in names) for record in records)
        widths = tuple(max(cell_len(cell) for cell in column) for column in zip(heads, *cells, strict=True))
        return cls(heads, cells, widths)

    @property
    def width(self) -> int:
        """The characters that a line takes."""
        return sum(self.widths) + len(_GAP) * (len(self.widths) - 1)

    def line(self, cells: Sequence[str]) -> str:
        """Return cells in one line, without spaces at its end."""
        from rich.cells import set_cell_size

        return _GAP.join(set_cell_size(cell, width) for cell, width in zip(cells, self.widths, strict=True)).rstrip()

    def lines(self) -> "Iterator[Text]":
        """Yield the titles, a rule and a line for each record."""
        from rich.text import Text

        yield Text(self.line(self.names), "bold")
        yield Text("─" * self.width)
        for row in self.cells:
            yield Text(self.line(row))


def _narrow(records: Sequence[Record], layout: Layout, width: int) -> "Iterator[Text]":
    """Yield few columns, and below each row its facts and sentences; a name or an id is never folded."""
    from rich.text import Text

    side = _Columns.of(records, layout.row)
    first, rest = _Columns.of(records, layout.row[:1]), _Columns.of(records, layout.row[1:])
    fits = side.width <= width
    has_columns = not fits and len(_GAP) + rest.width <= width
    is_name = layout.row[0] in NAMES
    if fits:
        yield Text(side.line(side.names), "bold")
    else:
        yield Text(first.names[0], "bold")
    if has_columns:
        yield Text(_GAP + rest.line(rest.names), "bold")
    yield Text("─" * min(width, max(side.width if fits else rest.width + len(_GAP), 40)))
    for record, whole, name, others in zip(records, side.cells, first.cells, rest.cells, strict=True):
        if fits:
            yield Text(side.line(whole))
        else:
            yield from map(Text, [name[0]] if is_name else fold(name[0], width))
        if has_columns:
            yield Text(_GAP + rest.line(others))
        told = layout.facts if fits or has_columns else (*layout.row[1:], *layout.facts)
        facts = [f"{_head(n)} {cell_text(record[n], n)}" for n in told if _is_said(record.get(n))]
        for line in _side_by_side(facts, width):
            yield from _folded(line, width)
        for sentence in layout.sentences:
            if _is_said(record.get(sentence)):
                yield from _folded(cell_text(record[sentence], sentence), width)


def _side_by_side(facts: Sequence[str], width: int) -> Iterator[str]:
    """Yield as many facts a line as fit."""
    line = ""
    for fact in facts:
        longer = f"{line} · {fact}" if line else fact
        if line and cells(longer) + len(_GAP) > width:
            yield line
            longer = fact
        line = longer
    if line:
        yield line


def _folded(words: str, width: int, style: str = "") -> "Iterator[Text]":
    """Yield words indented, folded between words; a word that is wider than the terminal stays whole, so that it can be copied."""
    from rich.text import Text

    for line in fold(words, width - len(_GAP)):
        yield Text(_GAP + line, style)


def _is_said(value: Any) -> bool:
    return value not in (None, "", "-") and value != [] and value != {}


def _head(column: str) -> str:
    unit = _unit(column)
    return term(column.removesuffix(unit).replace("_", " "))


def _unit(column: str) -> str:
    return next((unit for unit in _UNITS_MS if column.endswith(unit)), "")


def cell_text(value: Any, column: str = "") -> str:
    """Return a value as a cell shows it, on one line and without what drives a terminal; a column of names is left as it is."""
    if value is None:
        return "-"
    if isinstance(value, bool):
        return term("yes") if value else term("no")
    if isinstance(value, int | float):
        if unit := _unit(column):
            return span_text(value * _UNITS_MS[unit]) if value else in_words(f"0 {unit[1:]}")
        return str(value) if column in _NUMBERED or isinstance(value, float) else f"{value:,}"
    say = str if column in NAMES else in_words
    if isinstance(value, dict):
        return printable(", ".join(f"{say(str(k))} {v}" for k, v in value.items()))
    if isinstance(value, list):
        return printable(", ".join(say(str(item)) for item in value))
    return printable(say(value) if isinstance(value, str) else str(value))


def print_table(records: Iterable[Record], layout: Layout, is_wide: bool) -> None:
    """Print records as a table on stdout, folded to the terminal's width."""
    from rich.console import Console

    console = Console(file=sys.stdout, width=_UNFOLDED, highlight=False, soft_wrap=True)
    for line in lines_of(list(records), layout, is_wide):
        console.print(line)
