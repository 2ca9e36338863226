"""The whole path: embedded AWS, HTTP, collect, Spark, tables; for every scenario in one account and one lake.

A correlation costs far more to begin than to do, and the others' healthy and sick queues are what an account is full of.
"""

from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

import cli
from forensics.lake import Lake
from forensics.settings import Settings
from forensics.tables import Table
from forensics.tables.evidence import QUEUE_SETTINGS
from forensics.tables.findings import DELIVERIES
from forensics.window import TimeWindow
from lab.aws import EmbeddedAws
from lab.played import MessageTruth, Played
from lab.scenarios import scenario

HEALTHY = "shipment-updates"
"""The neighbour of the queue that charged twice."""


@dataclass(frozen=True)
class Investigation:
    """What was played, and what Doubletake made of it; the lake may hold other plays' queues too.

    ``told`` is what ``doubletake investigate`` printed of one queue: the healthy one, where it was played.
    """

    played: Played
    lake: Lake
    told: str = ""

    @cached_property
    def queue_arns(self) -> frozenset[str]:
        """The play's queues, and the dead-letter queues they name."""
        found = [r for r in self.lake.read(QUEUE_SETTINGS).to_pylist() if r["queue_name"] in self.played.queues]
        return frozenset(arn for r in found for arn in (r["queue_arn"], r["dead_letter_queue_arn"]) if arn)

    def rows(self, table: Table) -> list[dict[str, Any]]:
        """Return what a table of findings says of the play's queues, as rows."""
        found = self.lake.findings().read(table).to_pylist()
        if "queue_arn" in table.column_names:
            return [row for row in found if row["queue_arn"] in self.queue_arns]
        mine = {row["item_id"] for row in self.rows(DELIVERIES)}
        return [row for row in found if row["item_id"] in mine]

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


def investigate(
    names: list[str], spark: Any, monkeypatch: pytest.MonkeyPatch, folder: Path
) -> dict[str, Investigation]:
    """Play scenarios one after another, collect each over HTTP into one lake, and investigate a queue of it."""
    from ingest.clients import Aws
    from ingest.collect import collect

    lake = Lake(folder / "lake")
    with EmbeddedAws() as aws:
        for variable, value in aws.environment().items():
            monkeypatch.setenv(variable, value)
        plays = [scenario(name).play(aws, datetime.now(UTC)) for name in names]
        settings = Settings.parse("\n".join(played.settings_text for played in plays))
        for played in plays:
            report = collect(
                lake,
                Aws(endpoint_url=aws.endpoint_url, region=aws.region),
                queues=list(played.queues),
                window=TimeWindow(played.window_start, played.window_end),
                log_groups=list(played.log_groups),
                settings=settings,
            )
            assert not report.gaps
        told = told_of_a_queue(plays, settings, folder, aws)
    return {name: Investigation(played, lake, told) for name, played in zip(names, plays, strict=True)}


def told_of_a_queue(plays: list[Played], settings: Settings, folder: Path, aws: EmbeddedAws) -> str:
    """Run the command as a person does, in this process and its Spark session; it judges the whole lake."""
    file = folder / "doubletake.toml"
    file.write_text(settings.text)
    play, queue = next(((p, HEALTHY) for p in plays if HEALTHY in p.queues), (plays[0], plays[0].queues[0]))
    window = ["--since", play.window_start.isoformat(), "--until", play.window_end.isoformat()]
    where = ["--lake", str(folder / "lake"), "--config", str(file), "--region", aws.region]
    with redirect_stdout(StringIO()) as printed, redirect_stderr(StringIO()) as said:
        code = cli.main(["investigate", queue, *window, *where, "--endpoint-url", aws.endpoint_url])
    assert code == 0, said.getvalue()
    assert "Correlated: " in said.getvalue()
    return printed.getvalue()


@pytest.fixture(scope="session")
def investigations(
    request: pytest.FixtureRequest, spark: Any, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Investigation]:
    """Every scenario that a module of this run names in SCENARIO."""
    modules = {item.module for item in request.session.items if isinstance(item, pytest.Function)}
    names = sorted({module.SCENARIO for module in modules if hasattr(module, "SCENARIO")})
    with pytest.MonkeyPatch.context() as monkeypatch:
        return investigate(names, spark, monkeypatch, tmp_path_factory.mktemp("scenarios"))


@pytest.fixture(scope="module")
def investigated(request: pytest.FixtureRequest, investigations: dict[str, Investigation]) -> Investigation:
    """The scenario that the test module names in SCENARIO."""
    return investigations[request.module.SCENARIO]
