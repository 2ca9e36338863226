"""The whole path once per scenario: embedded AWS, HTTP, collect, Spark, tables."""

import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from forensics.lake import Lake
from forensics.settings import Settings
from forensics.tables import Table
from forensics.window import TimeWindow
from lab.aws import EmbeddedAws
from lab.played import MessageTruth, Played
from lab.scenarios import scenario


@dataclass(frozen=True)
class Investigation:
    """What was played, and what Doubletake made of it."""

    played: Played
    lake: Lake

    def rows(self, table: Table) -> list[dict[str, Any]]:
        """Return a table of findings as rows."""
        return self.lake.findings().read(table).to_pylist()

    def by_message(self, table: Table, queue: str) -> dict[str, dict[str, Any]]:
        """Return a queue's rows by message id, for tables with one row a message."""
        return {row["message_id"]: row for row in self.rows(table) if row["queue"] == queue}

    def unresolved(self, table: Table) -> set[str]:
        """Return the evidence ids a table cites that are not in the evidence."""
        cited = {evidence_id for row in self.rows(table) for evidence_id in row["evidence_ids"]}
        found = self.lake.findings().evidence_rows(sorted(cited))
        return cited - {row["evidence_id"] for rows in found.values() for row in rows}

    def truly_again(self, queue: str) -> tuple[MessageTruth, ...]:
        """Return the truth about the messages that really were delivered more than once."""
        return self.played.delivered_again(queue)


def investigate(name: str, spark: Any, monkeypatch: pytest.MonkeyPatch, folder: str) -> Investigation:
    """Play a scenario, collect it over HTTP and correlate it."""
    from ingest.clients import Aws
    from ingest.collect import collect
    from spark_jobs.runner import correlate

    lake = Lake(Path(folder) / "lake")
    with EmbeddedAws() as aws:
        for variable, value in aws.environment().items():
            monkeypatch.setenv(variable, value)
        played = scenario(name).play(aws, datetime.now(UTC))
        settings = Settings.parse(played.settings_text)
        report = collect(
            lake,
            Aws(endpoint_url=aws.endpoint_url, region=aws.region),
            queues=list(played.queues),
            window=TimeWindow(played.window_start, played.window_end),
            log_groups=list(played.log_groups),
            settings=settings,
        )
    assert not report.gaps
    correlate(lake, settings, spark=spark)
    return Investigation(played, lake)


@pytest.fixture(scope="module")
def investigated(request: pytest.FixtureRequest, spark: Any) -> Iterator[Investigation]:
    """The scenario that the test module names in SCENARIO."""
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as monkeypatch:
        yield investigate(request.module.SCENARIO, spark, monkeypatch, folder)
