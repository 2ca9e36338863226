"""What one correlation reads: the pinned evidence, its files of log events, and the few rows that say who consumes what."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow.compute as pc

from forensics.lake import Lake, data_files, delta
from forensics.parsers.platform_marks import MARK_NEEDLES, is_mark
from forensics.settings import Settings
from forensics.settings_in_force import SettingsInForce
from forensics.streams.business_keys import BusinessKeys
from forensics.streams.groups import log_groups_of
from forensics.streams.reading import Reading
from forensics.tables import BY_NAME
from forensics.tables import evidence as E

SMALL = (
    E.QUEUE_SETTINGS,
    E.FUNCTION_SETTINGS,
    E.EVENT_SOURCE_MAPPINGS,
    E.CONSUMERS,
    E.COVERAGE,
    E.SETTING_CHANGES,
    E.MOVE_TASKS,
)
_RULE_METRICS = (
    "Throttles",
    "ApproximateNumberOfMessagesVisible",
    "ApproximateAgeOfOldestMessage",
    "NumberOfMessagesReceived",
    "NumberOfMessagesDeleted",
)
"""Metrics whose single points decide something."""
_LAMBDA = "/aws/lambda/"

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
    since: datetime | None = None

    def reading(self, present: Mapping[str, bool]) -> Reading:
        """Return what lines are read with; ``present`` says of each log group that has lines whether a platform's are among them."""
        small = self.small
        groups = log_groups_of(
            self.settings, small["consumers"], small["function_settings"], small["queue_settings"], present
        )
        return Reading(groups, self.in_force(), BusinessKeys(self.settings.queues))

    def in_force(self) -> SettingsInForce:
        """Return the settings as they were at any moment."""
        names = ("queue_settings", "function_settings", "event_source_mappings", "setting_changes")
        return SettingsInForce.of(*(self.small[name] for name in names))


def pinned(lake: Lake, settings: Settings, versions: Mapping[str, int], since: datetime | None) -> Evidence:
    """Pin the evidence tables of a lake and read what is small."""
    small = {t.name: lake.read(t, version=versions[t.name]).to_pylist() if t.name in versions else [] for t in SMALL}
    logs, points = BY_NAME["log_events"], BY_NAME["metric_points"]
    files = lake.files(logs, versions[logs.name]) if logs.name in versions else []
    metric_files = lake.files(points, versions[points.name]) if points.name in versions else []
    told: list[Row] = []
    if metric_files:
        where = pc.field("metric").isin(_RULE_METRICS) & (pc.field("value") > 0)
        told = lake.read(points, where=where, version=versions[points.name]).to_pylist()
    return Evidence(
        settings,
        tuple(_log_files(lake.path(logs), files)),
        small,
        told,
        tuple(metric_files),
        since,
    )


def _log_files(folder: Path, files: Sequence[str]) -> Iterator[LogFile]:
    digests = delta.digests(folder) if files else {}
    for file in files:
        yield LogFile(file, Path(file).stat().st_size, digests.get(str(Path(file).relative_to(folder))))


@contextmanager
def whole(path: str, sha256: str | None) -> Iterator[None]:
    """Read a file of evidence in here; raises LakeDamagedError with its name where it is not what was written."""
    file = Path(path)
    if sha256 is not None and data_files.digest(file) != sha256:
        raise delta.file_damaged(file.parent, file, "is not what was written")
    try:
        yield
    except (pl.exceptions.PolarsError, OSError) as problem:
        raise delta.file_damaged(file.parent, file, "cannot be read") from problem


def surveyed(path: str, since: datetime | None) -> list[Row]:
    """Return per log group of a file: first and last line (µs), how many, and whether a platform's START, END or REPORT is there.

    For Lambda's own log groups the last is not looked for: their name says it.
    """
    events = pl.scan_parquet(path).select("log_group", "logged_at", "line")
    if since is not None:
        events = events.filter(pl.col("logged_at") >= since)
    at = pl.col("logged_at").dt.epoch("us")
    counted = events.group_by("log_group").agg(first_at=at.min(), last_at=at.max(), count=pl.len()).collect()
    others = events.filter(~pl.col("log_group").str.starts_with(_LAMBDA))
    maybe = others.filter(pl.col("line").str.contains_any([*MARK_NEEDLES])).select("log_group", "line")
    with_platform = {name for name, line in maybe.collect().iter_rows() if is_mark(line)}
    return [{**row, "has_platform": row["log_group"] in with_platform} for row in counted.sort("log_group").to_dicts()]
