"""A correlation run as a whole: the same evidence gives the same findings, and every claim leads to its lines."""

import pytest

from forensics.settings import Settings
from forensics.tables import FINDINGS
from forensics.tables.findings import DELIVERIES, INCIDENTS, INVOCATIONS, MESSAGES, REDELIVERIES
from spark_jobs.carrier import Here
from spark_jobs.runner import correlate
from tests.spark_jobs.small_lake import SmallLake, record, run, some_id

pytestmark = pytest.mark.slow


def test_unchanged_evidence_is_not_judged_again(many_worlds):
    before = many_worlds.lake.generation()

    again = correlate(many_worlds.lake, many_worlds.settings, carrier=Here())

    assert again.versions == before.versions


def test_every_cited_evidence_id_resolves_to_one_row(many_worlds):
    findings = many_worlds.lake.findings()
    cited = {i for t in FINDINGS for ids in findings.read(t, ["evidence_ids"])["evidence_ids"].to_pylist() for i in ids}

    found = [row["evidence_id"] for rows in findings.evidence_rows(sorted(cited)).values() for row in rows]

    assert cited
    assert sorted(found) == sorted(cited)


@pytest.mark.parametrize("table", [INVOCATIONS, DELIVERIES, REDELIVERIES, MESSAGES, INCIDENTS], ids=lambda t: t.name)
def test_whatever_happened_rests_on_evidence(many_worlds, table):
    rows = many_worlds.lake.findings().read(table).to_pylist()

    assert rows
    assert [row for row in rows if not row["evidence_ids"]] == []


@pytest.mark.parametrize("table", FINDINGS, ids=lambda t: t.name)
def test_a_table_keeps_one_row_per_key(many_worlds, table):
    rows = many_worlds.lake.findings().read(table, list(table.key)).to_pylist()

    assert len({tuple(map(str, row.values())) for row in rows}) == len(rows)


def test_no_draft_is_left_in_the_lake(many_worlds):
    root = many_worlds.lake.root / "findings"
    drafts = list((root / ".cache").rglob(".*"))
    runs = {table.name: len(list((root / table.name / "data").iterdir())) for table in FINDINGS}

    assert drafts == []
    assert set(runs.values()) == {1}, runs


def of_one_message(queue: str) -> SmallLake:
    lake = SmallLake()
    lake.queue(queue, most=3)
    lake.function(queue, "f", *run("r", 1, 1, record(some_id("m"), 1, queue, "{}", 0, MessageGroupId="g")))
    return lake


def lacking(*tables: str) -> SmallLake:
    lake = of_one_message("orders.fifo")
    for name in tables:
        del lake.rows[name]
    return lake


SMALL = {
    "one message": (of_one_message("orders"), 1),
    "one message of a message group": (of_one_message("orders.fifo"), 1),
    "lines of which no settings tell": (
        lacking("queue_settings", "function_settings", "event_source_mappings", "consumers", "coverage"),
        1,
    ),
    "settings and no lines": (lacking("log_events"), 0),
}


@pytest.mark.parametrize(("small", "deliveries"), SMALL.values(), ids=SMALL)
def test_little_evidence_is_judged_too(small, deliveries, tmp_path):
    lake = small.write(tmp_path / "lake")

    made = correlate(lake, Settings.parse(""), carrier=Here())

    assert (made.row_counts["deliveries"], made.row_counts["messages"]) == (deliveries, 0)
