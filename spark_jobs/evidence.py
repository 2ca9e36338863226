"""What one correlation reads: the pinned evidence, its files of log events, and the few rows that say who consumes what."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow.compute as pc

from forensics.coverage import from_then_on
from forensics.judging.readings import RULE_METRICS
from forensics.lake import Lake, commits, data_files, delta
from forensics.lake.rows import plain_rows
from forensics.queue_names import arns_of_names, consumers_with_arns, with_arns
from forensics.settings import Settings
from forensics.settings_in_force import SettingsInForce
from forensics.streams.business_keys import BusinessKeys
from forensics.streams.groups import functions_of_streams, log_groups_of, with_kinds
from forensics.streams.reading import Reading
from forensics.tables import BY_NAME
from forensics.tables import evidence as E

SMALL = (
    E.QUEUE_SETTINGS,
    E.FUNCTION_SETTINGS,
    E.EVENT_SOURCE_MAPPINGS,
    E.CONSUMERS,
    E.COVERAGE,
    E.LOG_GROUP_SETTINGS,
    E.SETTING_CHANGES,
    E.MOVE_TASKS,
    E.TASK_STOPS,
    E.GUARD_TABLE_SETTINGS,
    E.GUARD_RECORDS,
)
Row = dict[str, Any]


@dataclass(frozen=True)
class LogFile:
    """One file of log events; files are never changed, so name and size tell its content."""

    path: str
    size_bytes: int
    sha256: str | None = None
    """Digest of the whole as its commit names it; None for files of earlier releases."""

    @property
    def identity(self) -> str:
        """What names its content."""
        return f"{Path(self.path).name}:{self.size_bytes}"


@dataclass(frozen=True)
class Evidence:
    """The evidence of one run, all of pinned versions. ``since`` leaves out log events before it (UTC)."""

    settings: Settings
    files: tuple[LogFile, ...]
    small: Mapping[str, list[Row]]
    rule_points: list[Row] = field(repr=False)
    metric_files: tuple[str, ...]
    call_files: tuple[str, ...] = ()
    since: datetime | None = None

    def reading(self, surveys: Iterable[Mapping[str, Any]]) -> Reading:
        """Return what lines are read with; ``surveys`` say of each file which log groups it holds, as ``surveyed`` does."""
        small = self.small
        present: dict[str, bool] = {}
        named: list[tuple[str, str, list[str]]] = []
        versions: dict[str, set[str]] = {}
        for group in (group for told in surveys for group in told["groups"]):
            name = group["log_group"]
            present[name] = present.get(name, False) or group["has_platform"]
            named += [(name, log_stream, functions) for log_stream, functions in group["streams"]]
            versions.setdefault(name, set()).update(group["versions"])
        groups = log_groups_of(
            self.settings,
            small["consumers"],
            small["function_settings"],
            small["queue_settings"],
            present,
            functions_of_streams(named),
            versions,
        )
        return Reading(groups, self.in_force(), BusinessKeys(self.settings.queues))

    def in_force(self) -> SettingsInForce:
        """Return the settings as they were at any moment."""
        names = ("queue_settings", "function_settings", "event_source_mappings", "setting_changes")
        return SettingsInForce.of(*(self.small[name] for name in names))


def pinned(lake: Lake, settings: Settings, versions: Mapping[str, int], since: datetime | None) -> Evidence:
    """Pin the evidence tables of a lake and read what is small."""
    small: dict[str, Any] = {
        t.name: plain_rows(lake.read(t, version=versions[t.name])) if t.name in versions else [] for t in SMALL
    }
    arns = arns_of_names(small[E.CONSUMERS.name], small[E.QUEUE_SETTINGS.name])
    small[E.CONSUMERS.name] = with_kinds(consumers_with_arns(small[E.CONSUMERS.name], arns), settings)
    small[E.COVERAGE.name] = list(from_then_on(with_arns(small[E.COVERAGE.name], arns), since))
    logs, points = BY_NAME["log_events"], BY_NAME["metric_points"]
    files, metric_files, call_files = (
        lake.files(t, versions[t.name]) if t.name in versions else [] for t in (logs, points, E.SEND_RECORDS)
    )
    told: list[Row] = []
    if metric_files:
        where = pc.field("metric").isin(RULE_METRICS) & (pc.field("value") > 0)
        told = plain_rows(lake.read(points, where=where, version=versions[points.name]))
    return Evidence(
        settings,
        tuple(_log_files(lake.path(logs), files)),
        small,
        told,
        tuple(metric_files),
        tuple(call_files),
        since,
    )


def _log_files(folder: Path, files: Sequence[str]) -> Iterator[LogFile]:
    digests = commits.digests(folder) if files else {}
    for file in files:
        yield LogFile(file, Path(file).stat().st_size, digests.get(str(Path(file).relative_to(folder))))


@contextmanager
def whole(path: str, sha256: str | None) -> Iterator[None]:
    """Read a file of evidence in here; raises LakeDamagedError with its name where it is not what was written."""
    file = Path(path)
    if sha256 is not None and data_files.sha256_of(file) != sha256:
        raise delta.file_damaged(file.parent, file, "is not what was written")
    try:
        yield
    except (pl.exceptions.PolarsError, OSError) as problem:
        raise delta.file_damaged(file.parent, file, "cannot be read") from problem
