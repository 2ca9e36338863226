"""The one place where pages read: a data version, resolved once per run, and cached rows of it."""

import logging
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import streamlit as st

from forensics.errors import ForensicsError
from forensics.lake import Findings, Generation, Lake, filters_to_expression
from forensics.settings import Settings
from forensics.tables import Table

log = logging.getLogger("doubletake.dashboard")

Filter = tuple[str, str, Any]
"""Column, comparison (``==``, ``>=``, ``<``, ``in`` ...) and value."""


@dataclass(frozen=True)
class Board:
    """Findings of one data version. Reads are cached by data version; a failed read raises ``UnreadableError``."""

    lake: Lake
    generation: Generation

    @property
    def findings(self) -> Findings:
        """The pinned reader."""
        return Findings(self.lake, self.generation)

    def rows(self, table: Table, *where: Filter, columns: tuple[str, ...] = ()) -> Any:
        """Return a frame of the rows that pass every filter; columns not named are all read."""
        return _rows(str(self.lake.root), self.generation.generation_id, table.name, columns, where, self, table)

    def records(self, table: Table, *where: Filter, columns: tuple[str, ...] = ()) -> list[dict[str, Any]]:
        """Return the same rows as dictionaries, missing values as None."""
        return _records(str(self.lake.root), self.generation.generation_id, table.name, columns, where, self, table)


class UnreadableError(ForensicsError):
    """A table of this data version cannot be read."""


def lake_path() -> Path:
    """Return where the lake is: DOUBLETAKE_LAKE, else ./lake."""
    return Path(os.environ.get("DOUBLETAKE_LAKE") or "lake")


def load_settings() -> Settings:
    """Read the settings file: DOUBLETAKE_CONFIG, else ./doubletake.toml if it is there; raises SettingsError."""
    named = os.environ.get("DOUBLETAKE_CONFIG")
    return Settings.load(Path(named) if named else None)


def _arrow(board: Board, table: Table, columns: tuple[str, ...], where: tuple[Filter, ...]) -> Any:
    try:
        return board.findings.read(table, list(columns) or None, filters_to_expression(list(where)) if where else None)
    except ForensicsError:
        raise
    except Exception as problem:
        # Whatever a damaged file makes the reader raise, the visitor gets one sentence and the log the details.
        log.exception("reading %s of data version %s failed", table.name, board.generation.data_version)
        raise UnreadableError(f"table {table.name} cannot be read", "The server's log has the details.") from problem


@st.cache_data(max_entries=64, show_spinner=False)
def _rows(
    root: str,
    generation_id: str,
    name: str,
    columns: tuple[str, ...],
    where: tuple[Filter, ...],
    _board: Board,
    _table: Table,
) -> Any:
    return _arrow(_board, _table, columns, where).to_pandas()


@st.cache_data(max_entries=64, show_spinner=False)
def _records(
    root: str,
    generation_id: str,
    name: str,
    columns: tuple[str, ...],
    where: tuple[Filter, ...],
    _board: Board,
    _table: Table,
) -> list[dict[str, Any]]:
    return _arrow(_board, _table, columns, where).to_pylist()
