"""A late line moves an incident to another id; what a person said of a message of it stays on that message."""

from datetime import UTC, datetime, timedelta

import pytest

from forensics.lake import Lake
from forensics.people import annotate, people_of
from forensics.settings import Settings
from forensics.tables.findings import INCIDENTS
from ingest.file_run import ImportChoices
from ingest.files import import_files
from spark_jobs.carrier import Here
from spark_jobs.runner import correlate

pytestmark = pytest.mark.slow

T = datetime(2026, 11, 20, 5, 0, tzinfo=UTC)
CHOICES = ImportChoices(log_groups=("/ecs/worker=orders",))


def line(number: int, minute: int, count: int) -> str:
    message_id = f"{number:08x}-0000-4000-8000-000000000000"
    told = {"MessageId": message_id, "Body": "{}", "Attributes": {"ApproximateReceiveCount": str(count)}}
    return f"{(T + timedelta(minutes=minute)).isoformat()} {told}\n"


def judged(lake: Lake, path, *lines: str):
    path.write_text("".join(lines))
    import_files(lake, [path], CHOICES, now=T + timedelta(days=1))
    correlate(lake, Settings(), carrier=Here())
    found = lake.findings()
    return found, {row["incident_id"]: row for row in found.read(INCIDENTS).to_pylist()}


def test_a_mark_stays_on_its_message_when_late_lines_move_the_incident(tmp_path):
    lake = Lake(tmp_path / "lake")
    found, before = judged(lake, tmp_path / "a.log", line(1, 12, 1), line(1, 20, 2))
    (first,) = before
    annotate(found, first, None, "false-alarm", "a test card", "Ana", T + timedelta(days=1))
    found, after = judged(lake, tmp_path / "b.log", line(2, 5, 1), line(2, 10, 2))
    (moved,) = after
    people = people_of(found)
    counted = people.incident(after[moved])

    assert first != moved
    assert [work.item_ids for work in people.set_aside_in(moved)] == [("00000001-0000-4000-8000-000000000000",)]
    assert (after[moved]["works"], counted["works"]) == (2, 1)
    assert [mark.mark for mark in people.of(moved).whole] == ["false-alarm"]
