"""EventBridge's events of ECS tasks that stopped become rows, each once; others are counted, and broken ones are said."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from forensics.lake import Lake
from forensics.tables import BY_NAME
from ingest.files import import_files

pytestmark = pytest.mark.slow
EVENTS = Path(__file__).parents[1] / "data" / "ecs-task-stopped.jsonl"


def test_a_stopped_task_is_a_row_with_why_and_when_it_stopped(tmp_path):
    lake = Lake(tmp_path / "lake")
    report = import_files(lake, [EVENTS])
    import_files(lake, [EVENTS])
    (row,) = lake.read(BY_NAME["task_stops"]).to_pylist()

    assert (row["task_id"], row["cluster"], row["task_group"]) == (
        "0f2a4c1e93f64a438a571d4dd3b9d0aa",
        "jobs",
        "service:orders-worker",
    )
    assert row["stopped_at"] == datetime(2026, 11, 20, 5, 12, 29, 500_000, tzinfo=UTC)
    assert row["container_reasons"] == [
        "app: exit code 137, OutOfMemoryError: Container killed due to memory usage",
        "log-router: exit code 0",
    ]
    assert [gap for gap in report.gaps if "does not say when its task stopped" in gap]
    assert [note for note in report.notes if "1 records that bear on no delivery" in note]
