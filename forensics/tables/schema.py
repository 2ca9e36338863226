"""How a table is declared: grain, key, and columns with a sentence each."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from forensics.sentence import both_forms

TYPES = ("string", "int", "long", "double", "bool", "timestamp", "strings")
"""Column types. ``timestamp`` is UTC with microseconds; ``strings`` is a list of strings, sorted or in stated order."""


@dataclass(frozen=True)
class Column:
    """One column: name, type (one of TYPES), and the sentence a newcomer would ask for."""

    name: str
    type: str
    meaning: str

    def __post_init__(self) -> None:
        if self.type not in TYPES:
            raise ValueError(f"column {self.name}: type {self.type!r} is not one of {TYPES}")


MARKED = "_marked"
"""End of the name of a column that keeps the marked form of a sentence beside the column of that sentence."""


def sentence(name: str, meaning: str, type: str = "string") -> tuple[Column, Column]:
    """Declare a column of sentences, or of lists of them, and the one that keeps their phrases and values."""
    beside = f"{name} with the name of each value set before it, between signs (see forensics/sentence.py); null without values"
    return Column(name, type, meaning), Column(f"{name}{MARKED}", type, beside)


@dataclass(frozen=True)
class Table:
    """One lake table. ``layer`` is ``evidence`` (append-only) or ``findings`` (rebuildable).

    ``time_column`` is where a window of rows is looked for; None where rows are few.
    """

    name: str
    layer: str
    grain: str
    key: tuple[str, ...]
    columns: tuple[Column, ...]
    time_column: str | None = None

    def __post_init__(self) -> None:
        names = self.column_names
        if len(set(names)) != len(names):
            raise ValueError(f"table {self.name}: a column is declared twice")
        for used in (*self.key, *filter(None, [self.time_column])):
            if used not in names:
                raise ValueError(f"table {self.name}: {used!r} is not one of its columns")

    @property
    def column_names(self) -> tuple[str, ...]:
        """Column names in declared order."""
        return tuple(c.name for c in self.columns)

    @property
    def given_names(self) -> tuple[str, ...]:
        """Names of the columns that a row gives; the others are made of sentences when they are written."""
        beside = {f"{name}{MARKED}" for name in self.sentence_names}
        return tuple(name for name in self.column_names if name not in beside)

    @property
    def sentence_names(self) -> tuple[str, ...]:
        """Names of the columns that hold sentences with their marked form beside them."""
        names = set(self.column_names)
        return tuple(name for name in self.column_names if f"{name}{MARKED}" in names)

    def in_both_forms(self, rows: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
        """Return rows with the marked form of every sentence beside it."""
        told = [dict(row) for row in rows]
        for name in self.sentence_names:
            for row in told:
                row[name], row[f"{name}{MARKED}"] = both_forms(row.get(name))
        return told

    def column(self, name: str) -> Column:
        """Return the column of that name; KeyError if there is none."""
        for c in self.columns:
            if c.name == name:
                return c
        raise KeyError(name)
