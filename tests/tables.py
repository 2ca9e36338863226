"""Tables without rows, made once in a process and copied into lakes from then on: to make one takes ten times as long.

And tables as a later release would leave them.
"""

import atexit
import json
import shutil
import tempfile
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from forensics.lake import Lake
from forensics.lake.delta import create_table
from forensics.tables import Table
from tests.lakes import written_once


def put_tables(lake: Lake, tables: Iterable[Table]) -> None:
    """Put those of some tables into a lake that are not there."""
    for table in tables:
        if not lake.exists(table):
            shutil.copytree(_made(table), lake.path(table), dirs_exist_ok=True)


def take_over(folder: Path, version: int = 99) -> None:
    """Let a table be one that a later release wrote."""
    for commit in (folder / "_delta_log").glob("*.json"):
        actions = [json.loads(line) for line in commit.read_text().splitlines()]
        for action in actions:
            if "metaData" in action:
                action["metaData"]["configuration"]["doubletake.schemaVersion"] = str(version)
        commit.write_text("\n".join(map(json.dumps, actions)))


@cache
def _made(table: Table) -> Path:
    folder = _kept() / table.name
    with written_once():
        create_table(folder, table)
    return folder


@cache
def _kept() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="doubletake-tables-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder
