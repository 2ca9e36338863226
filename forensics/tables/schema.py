"""How a table is declared: grain, key, and columns with a sentence each."""

from dataclasses import dataclass

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

    def column(self, name: str) -> Column:
        """Return the column of that name; KeyError if there is none."""
        for c in self.columns:
            if c.name == name:
                return c
        raise KeyError(name)
