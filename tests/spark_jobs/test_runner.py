"""A correlation run as a whole: the same evidence gives the same findings, and every claim leads to its lines."""

import pytest

from forensics.lake import Lake
from forensics.tables import FINDINGS
from forensics.tables.findings import DELIVERIES, MESSAGES
from spark_jobs import runner
from spark_jobs.runner import correlate
from tests.oracle import World
from tests.oracle.bundle import fill_lake, settings_of

pytestmark = pytest.mark.spark

WORLDS = [World(seed) for seed in (3, 14, 24, 26, 50)]


@pytest.fixture(scope="module")
def lake(tmp_path_factory) -> Lake:
    return fill_lake(WORLDS, tmp_path_factory.mktemp("runner") / "lake")


@pytest.fixture(scope="module")
def first(lake, spark):
    correlate(lake, settings_of(WORLDS), spark=spark)
    return _contents(lake)


def _contents(lake: Lake) -> dict[str, list[str]]:
    findings = lake.findings()
    return {t.name: sorted(repr(row) for row in findings.read(t).to_pylist()) for t in FINDINGS}


def test_a_second_run_gives_the_same_findings_row_for_row(lake, first, spark):
    correlate(lake, settings_of(WORLDS), spark=spark, force=True)

    assert _contents(lake) == first


def test_a_lake_is_judged_alike_whether_it_counts_as_small_or_as_large(lake, first, spark, monkeypatch):
    """Small lakes take a shorter plan."""
    monkeypatch.setattr(runner, "FEW_LINES", 0)
    correlate(lake, settings_of(WORLDS), spark=spark, force=True)

    assert _contents(lake) == first


def test_unchanged_evidence_is_not_judged_again(lake, first, spark):
    before = lake.generation()

    again = correlate(lake, settings_of(WORLDS), spark=spark)

    assert again.versions == before.versions


def test_every_cited_evidence_id_resolves_to_one_row(lake, first):
    findings = lake.findings()
    cited = {i for t in FINDINGS for ids in findings.read(t, ["evidence_ids"])["evidence_ids"].to_pylist() for i in ids}

    found = [row["evidence_id"] for rows in findings.evidence_rows(sorted(cited)).values() for row in rows]

    assert cited
    assert sorted(found) == sorted(cited)


def test_every_message_that_is_judged_rests_on_evidence(lake, first):
    rows = lake.findings().read(MESSAGES, ["item_id", "evidence_ids"]).to_pylist()

    assert rows
    assert [r["item_id"] for r in rows if not r["evidence_ids"]] == []


def test_the_ledger_keeps_one_row_per_key(lake, first):
    rows = lake.findings().read(DELIVERIES, list(DELIVERIES.key)).to_pylist()

    assert len({tuple(r.values()) for r in rows}) == len(rows)


def test_nothing_is_left_in_the_work_folder(lake, first):
    left = list((lake.root / "findings" / ".work").glob("*"))

    assert left == []
