"""A whole investigation without an AWS account: the same worlds from files give the findings that the API's rows give."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

import cli
from forensics.lake import Lake
from forensics.tables import BY_NAME, FINDINGS
from spark_jobs.runner import correlate
from tests.ingest import saved_files
from tests.oracle import World
from tests.oracle.bundle import TABLES, settings_of

pytestmark = pytest.mark.spark

FORMS = ("export", "delivery", "filter-log-events")
WANTED = 6
OWN_NAMES = {"evidence_ids", "log_stream", "consumer", "source"}
"""Columns that name rows of evidence or streams: an export has no event ids, and lost the slashes of stream names."""


def worlds() -> list[World]:
    """Return worlds whose logs were kept whole; metrics cannot be imported and are left out on both sides."""
    found = (World(seed) for seed in range(1000))
    whole = (w for w in found if w.plan.loss == "none" and w.rows("log_events"))
    return [next(whole) for _ in range(WANTED)]


def import_world(world: World, form: str, folder: Path, lake: Path) -> None:
    """Save a world's evidence as files and import it by the command."""
    folder.mkdir(parents=True)
    rows = {name: world.rows(name) for name in TABLES}
    for number, row in enumerate(rows["queue_settings"]):
        saved_files.queue_attributes(row, folder / f"queue-{number}.json")
    for number, row in enumerate(rows["function_settings"]):
        saved_files.function_configuration(row, folder / f"function-{number}.json")
    saved_files.mappings(rows["event_source_mappings"], folder / "mappings.json")
    observed_at = rows["log_events"][0]["collected_at"]
    said = ["--lake", str(lake), "--account", "123456789012", "--region", "eu-west-1"]
    assert cli.main(["import", str(folder), "--observed-at", iso(observed_at), *said]) == 0
    for number, consumer in enumerate(rows["consumers"]):
        (covered,) = (r for r in rows["coverage"] if r["resource"] == consumer["log_group"])
        events = [r for r in rows["log_events"] if r["log_group"] == consumer["log_group"]]
        if not events:
            continue
        target = folder / f"logs-{number}"
        if form == "export":
            saved_files.export(events, target)
        elif form == "delivery":
            saved_files.delivery(events, target)
        else:
            saved_files.filtered(events, target)
        window = [f"--complete-{w}={iso(covered[f'window_{e}_at'])}" for w, e in (("since", "start"), ("until", "end"))]
        group = f"--log-group={consumer['log_group']}={consumer['queue_arn']}"
        assert cli.main(["import", str(target), group, *window, *said]) == 0


def iso(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat()


def findings(lake: Lake) -> dict[str, list[tuple]]:
    found, told = lake.findings(), {}
    for table in FINDINGS:
        columns = [c for c in table.column_names if c not in OWN_NAMES]
        told[table.name] = sorted(repr([row[c] for c in columns]) for row in found.read(table).to_pylist())
    return told


def test_files_give_the_findings_that_the_api_gives(spark, tmp_path):
    known = worlds()
    settings = settings_of(known)
    direct, imported = Lake(tmp_path / "direct"), Lake(tmp_path / "imported")
    for name in TABLES:
        rows = [row for world in known for row in world.rows(name) if "metric_points" not in (name, row.get("source"))]
        if name == "function_settings":  # what get-function-configuration does not tell
            rows = [row | {"reserved_concurrency": None} for row in rows]
        if rows:
            direct.append(BY_NAME[name], rows, f"{name}|oracle")
    for number, world in enumerate(known):
        import_world(world, FORMS[number % len(FORMS)], tmp_path / "files" / str(number), imported.root)
    assert imported.count(BY_NAME["log_events"]) == direct.count(BY_NAME["log_events"])
    for lake in (direct, imported):
        correlate(lake, settings, spark=spark)

    from_files, from_rows = findings(imported), findings(direct)
    assert from_rows["messages"]
    for name, rows in from_rows.items():
        assert from_files[name] == rows, name
    cited = {i for t in FINDINGS for ids in imported.findings().read(t)["evidence_ids"].to_pylist() for i in ids}
    assert len(cited) == sum(len(rows) for rows in imported.findings().evidence_rows(sorted(cited)).values())
