"""A whole investigation without an AWS account: the same worlds from files give the findings that the API's rows give."""

import pytest

from forensics.lake import Lake
from forensics.tables import BY_NAME, FINDINGS
from forensics.tables.findings import DELIVERIES
from tests.oracle import World
from tests.spark_jobs import small_worlds

pytestmark = pytest.mark.slow

OWN_NAMES = {"evidence_ids", "log_stream", "consumer", "source"}
"""Columns that name rows of evidence or streams: an export has no event ids, and lost the slashes of stream names."""


def findings_of(lake: Lake, worlds: list[World]) -> dict[str, list[str]]:
    """Return what is said of the worlds' queues, by table."""
    found, told = lake.findings(), {}
    queues = {world.queue_name for world in worlds}
    items = {row["item_id"] for row in found.read(DELIVERIES).to_pylist() if row["queue"] in queues}
    for table in FINDINGS:
        columns = [c for c in table.column_names if c not in OWN_NAMES]
        rows = found.read(table).to_pylist()
        if "queue_arn" in table.column_names:
            mine = [row for row in rows if (row["queue_arn"] or "").rpartition(":")[2] in queues]
        else:
            mine = [row for row in rows if row["item_id"] in items]
        told[table.name] = sorted(repr([row[c] for c in columns]) for row in mine)
    return told


def test_files_give_the_findings_that_the_api_gives(files, many_worlds):
    """With lines redacted and bodies left out on the way into the lake."""
    from_files, from_rows = (findings_of(lake, files.plain) for lake in (files.imported, many_worlds.lake))

    assert from_rows["messages"]
    assert from_rows["invocations"]
    for name, rows in from_rows.items():
        assert from_files[name] == rows, name


def test_every_event_is_imported_and_every_claim_leads_to_one(files):
    lake, written = files.imported, [*files.plain, *files.with_secrets]
    lines_count = sum(len(world.rows("log_events")) for world in written) + len(small_worlds.world().rows["log_events"])
    cited = {i for t in FINDINGS for ids in lake.findings().read(t)["evidence_ids"].to_pylist() for i in ids}

    assert lake.count(BY_NAME["log_events"]) > lines_count, "the planted lines came on top"
    assert len(cited) == sum(len(rows) for rows in lake.findings().evidence_rows(sorted(cited)).values())
