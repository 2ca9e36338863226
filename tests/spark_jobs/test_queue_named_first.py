"""Logs that were imported with their queue's name, before its settings told the ARN, are that queue's for whoever asks."""

import json
from datetime import UTC, datetime

import pytest

from forensics.lake import Lake
from forensics.report.queue_lookup import known_queues
from forensics.settings import Settings
from forensics.suggestions import suggest
from forensics.tables.evidence import CONSUMERS, COVERAGE
from forensics.tables.findings import DELIVERIES
from ingest.file_run import ImportChoices
from ingest.files import import_files
from spark_jobs.carrier import Here
from spark_jobs.runner import correlate

pytestmark = pytest.mark.slow

ARN = "arn:aws:sqs:eu-west-1:111122223333:payments"
ID = "b3a8d612-94b4-41de-8ae5-6cc49e03793f"
LOG = "".join(
    f"2026-11-20T05:01:{second:02}.000Z {text} message {ID}\n"
    for second, text in ((7, "Processing"), (8, "Deleted"), (38, "Processing"), (39, "Deleted"))
)
SETTINGS = Settings.parse(
    """
[[worker]]
log_group = "app"
started = 'Processing message (?P<message_id>[0-9a-f-]+)'
deleted = 'Deleted message (?P<message_id>[0-9a-f-]+)'
"""
)
SAID = ImportChoices(log_groups=("app=payments",), observed_at=datetime(2026, 11, 20, 4, tzinfo=UTC))


@pytest.fixture(scope="module")
def lake(tmp_path_factory):
    folder = tmp_path_factory.mktemp("named")
    (folder / "worker.log").write_text(LOG)
    (folder / "queue.json").write_text(json.dumps({"Attributes": {"QueueArn": ARN, "VisibilityTimeout": "30"}}))
    lake = Lake(folder / "lake")
    import_files(lake, [folder / "worker.log"], SAID)
    correlate(lake, SETTINGS, carrier=Here())
    import_files(lake, [folder / "queue.json"], SAID)
    import_files(lake, [folder / "worker.log"], SAID)
    correlate(lake, SETTINGS, carrier=Here())
    return lake


@pytest.mark.parametrize("table", [DELIVERIES, CONSUMERS, COVERAGE], ids=lambda table: table.name)
def test_every_table_names_the_queue_by_its_arn(table, lake):
    findings = lake.findings()
    rows = findings.read(table, ["queue_arn"]).to_pylist()
    scanned = [row for batch in findings.scan(table, ["queue_arn"]) for row in batch.to_pylist()]

    assert {row["queue_arn"] for row in rows} == {ARN}
    assert scanned == rows


def test_one_consumer_reads_it_though_two_imports_said_so(lake):
    assert len(lake.findings().read(CONSUMERS)) == 1


@pytest.mark.parametrize("asked", ["payments", ARN])
def test_who_asks_by_its_name_or_its_arn_is_not_told_of_several_queues(asked, lake):
    findings = lake.findings()

    assert suggest(findings, asked, SETTINGS).queue == "payments"
    assert known_queues(findings) == ["payments"]
