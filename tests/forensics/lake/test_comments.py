"""What a column means goes with the table, so that whoever opens it elsewhere can read it."""

from datetime import UTC, datetime

import pytest
from deltalake import DeltaTable

from forensics.lake import Lake
from forensics.tables import BY_NAME
from tests.forensics.report import world

LOG_EVENTS = BY_NAME["log_events"]
T = datetime(2026, 11, 20, 5, tzinfo=UTC)


def described(lake: Lake, name: str) -> tuple[str | None, dict[str, str]]:
    table = DeltaTable(str(lake.path(BY_NAME[name])))
    return table.metadata().description, {f.name: f.metadata.get("comment") for f in table.schema().fields}


def declared(name: str) -> tuple[str, dict[str, str]]:
    return BY_NAME[name].grain, {c.name: c.meaning for c in BY_NAME[name].columns}


@pytest.mark.lake
def test_a_table_of_evidence_says_what_its_columns_mean_after_many_appends(tmp_path):
    lake = Lake(tmp_path / "lake")
    for number in range(3):
        lake.append(LOG_EVENTS, [{"evidence_id": f"log:{number}", "logged_at": T, "line": "x"}], "log_events|/g")

    assert described(lake, "log_events") == declared("log_events")


def test_a_table_of_findings_says_it_too(tmp_path):
    lake = world.save(tmp_path / "lake")

    assert described(lake, "messages") == declared("messages")
