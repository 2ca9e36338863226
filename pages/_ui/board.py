"""The one place where pages read: a data version, resolved once per run, and cached rows of it."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import streamlit as st

from forensics.lake import Findings, Generation, Lake
from forensics.lake.conditions import Condition, all_of, any_of
from forensics.lake.findings import rows_of, sayable
from forensics.lake.rows import plain_rows
from forensics.settings import Settings, place_of_settings
from forensics.tables import Table
from forensics.tables.books import BOOKS
from forensics.tables.people import ANNOTATIONS
from pages._ui.place import lake_path
from pages._ui.said import busy
from pages._ui.states import guarded


@dataclass(frozen=True)
class Board:
    """Rows of one data version, cached by it. A read that fails is said on the page, which then stops."""

    lake: Lake
    generation: Generation

    @property
    def key(self) -> tuple[str, str]:
        """What cached values of this data version are kept under."""
        return str(self.lake.root), self.generation.generation_id

    @property
    def people_key(self) -> tuple[Any, ...]:
        """What cached values of what people said are kept under: a mark is no new data version."""
        return str(self.lake.root), self.lake.newest_commits((ANNOTATIONS, BOOKS))

    @property
    def findings(self) -> Findings:
        """The pinned reader."""
        return Findings(self.lake, self.generation)

    def rows(self, table: Table, *where: Condition, columns: tuple[str, ...] = ()) -> Any:
        """Return a frame of the rows that pass every filter; all columns if none is named."""
        with guarded(f"table {table.name}", self.generation.data_version):
            return _rows(self.key, table.name, columns, where, self, table)

    def any_records(self, table: Table, *where: Condition, columns: tuple[str, ...]) -> list[dict[str, Any]]:
        """Return rows that pass at least one filter, as dictionaries."""
        with guarded(f"table {table.name}", self.generation.data_version), busy("Searching every delivery"):
            return _any_records(self.key, table.name, columns, where, self, table)

    def spans(self, table: Table, by: str, time: str) -> list[dict[str, Any]]:
        """Return per value of ``by`` the first and last ``time`` and the number of rows."""
        with guarded(f"table {table.name}", self.generation.data_version):
            return _spans(self.key, table.name, by, time, self, table)

    def records(self, table: Table, *where: Condition, columns: tuple[str, ...] = ()) -> list[dict[str, Any]]:
        """Return the same rows as dictionaries, missing values as None."""
        with guarded(f"table {table.name}", self.generation.data_version):
            return _records(self.key, table.name, columns, where, self, table)


def newest_board(lake: Lake) -> Board:
    """Return the newest data version; the lake is looked through again only after a commit."""
    return _newest(str(lake.root), lake.newest_commits(), lake)


def board_of(lake: Lake, asked: str) -> Board | None:
    """Return the data version whose id starts so; None where this lake has none."""
    return _asked(str(lake.root), lake.newest_commits(), asked, lake)


@st.cache_resource(max_entries=8, show_spinner=False)
def _newest(root: str, commits: tuple[Any, ...], _lake: Lake) -> Board:
    return Board(_lake, _lake.findings().generation)


@st.cache_resource(max_entries=32, show_spinner=False)
def _asked(root: str, commits: tuple[Any, ...], asked: str, _lake: Lake) -> Board | None:
    found = next((g for g in _lake.generations() if g.generation_id.startswith(asked)), None)
    return Board(_lake, found) if found else None


def load_settings() -> Settings:
    """Read today's settings file, or the defaults where there is none; raises SettingsError."""
    return Settings.load(settings_path())


def settings_path() -> Path | None:
    """Return where today's settings are: DOUBLETAKE_CONFIG, ./doubletake.toml, or the lake's own."""
    named = os.environ.get("DOUBLETAKE_CONFIG")
    return place_of_settings(Path(named) if named else None, lake_path())


@st.cache_data(max_entries=64, show_spinner=False)
def _rows(
    key: tuple[str, str],
    name: str,
    columns: tuple[str, ...],
    where: tuple[Condition, ...],
    _board: Board,
    _table: Table,
) -> Any:
    return sayable(_arrow(_board, _table, columns, where)).to_pandas()


@st.cache_data(max_entries=64, show_spinner=False)
def _records(
    key: tuple[str, str],
    name: str,
    columns: tuple[str, ...],
    where: tuple[Condition, ...],
    _board: Board,
    _table: Table,
) -> list[dict[str, Any]]:
    return rows_of(_arrow(_board, _table, columns, where))


@st.cache_data(max_entries=32, show_spinner=False)
def _any_records(
    key: tuple[str, str],
    name: str,
    columns: tuple[str, ...],
    where: tuple[Condition, ...],
    _board: Board,
    _table: Table,
) -> list[dict[str, Any]]:
    return rows_of(_board.findings.read(_table, list(columns), any_of(*where)))


@st.cache_data(max_entries=16, show_spinner=False)
def _spans(key: tuple[str, str], name: str, by: str, time: str, _board: Board, _table: Table) -> list[dict[str, Any]]:
    rows = _board.findings.read(_table, [by, time])
    grouped = rows.group_by(by).aggregate([(time, "min"), (time, "max"), (time, "count")])
    return plain_rows(grouped.sort_by(by))


def _arrow(board: Board, table: Table, columns: tuple[str, ...], where: tuple[Condition, ...]) -> Any:
    return board.findings.read(table, list(columns) or None, all_of(*where))
