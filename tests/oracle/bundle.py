"""Many worlds in one lake, so that one correlation run judges them all."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from forensics.lake import Lake
from forensics.settings import Settings
from forensics.tables import BY_NAME
from tests.oracle.judge import Findings
from tests.oracle.world import World

TABLES = (
    "log_events",
    "metric_points",
    "queue_settings",
    "function_settings",
    "log_group_settings",
    "event_source_mappings",
    "send_records",
    "task_stops",
    "guard_table_settings",
    "guard_records",
    "consumers",
    "coverage",
)


def fill_lake(worlds: Sequence[World], root: Path) -> Lake:
    """Put the evidence of all worlds into a fresh lake."""
    lake = Lake(root)
    for name in TABLES:
        rows = [row for world in worlds for row in world.rows(name)]
        if rows:
            lake.append(BY_NAME[name], rows, f"{name}|oracle")
    return lake


def read_again(worlds: Iterable[World], lake: Lake) -> None:
    """Add what comes late of some worlds' lines, and that their logs were read again."""
    late, readings = [], []
    for world in worlds:
        before = {row["evidence_id"] for row in world.rows("log_events")}
        world.read_again()
        late += [row for row in world.rows("log_events") if row["evidence_id"] not in before]
        readings += world.rows("coverage")
    for name, rows in (("log_events", late), ("coverage", readings)):
        if rows:
            lake.append(BY_NAME[name], rows, f"{name}|again")


def settings_of(worlds: Iterable[World]) -> Settings:
    """Return one settings file that says of every world what its team would say."""
    return Settings.parse("\n".join(world.settings_text() for world in worlds))


def read_findings(lake: Lake) -> Findings:
    """Read what the newest correlation found, ordered by key."""
    found = lake.findings()
    tables = []
    for table in (BY_NAME["messages"], BY_NAME["redeliveries"], BY_NAME["deliveries"]):
        rows = found.read(table).to_pylist()
        tables.append(sorted(rows, key=lambda row: tuple(str(row[name]) for name in table.key)))  # noqa: B023
    return Findings(*tables)
