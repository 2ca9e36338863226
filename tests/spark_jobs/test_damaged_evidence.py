"""A file of evidence that is not what was written is told by its name, and what was found before stays."""

from pathlib import Path

import pytest

from forensics.lake import Lake, LakeDamagedError
from forensics.settings import Settings
from spark_jobs.carrier import Here
from spark_jobs.runner import correlate
from tests.spark_jobs.small_lake import SmallLake

pytestmark = pytest.mark.slow

SETTINGS = Settings.parse("")


def _flipped(content: bytes) -> bytes:
    half = len(content) // 2
    return content[:half] + bytes([content[half] ^ 1]) + content[half + 1 :]


DAMAGES = {"one bit flipped": _flipped, "cut short": lambda content: content[:-9], "emptied": lambda content: b""}


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    small = SmallLake()
    small.queue("orders")
    small.worker("orders", (0, '{"message": "received", "message_id": "8b4fa9e1-6f0e-4c52-9a3c-0f8f0a8f6f11"}'))
    small.write(tmp_path)
    return Lake(tmp_path)


@pytest.mark.parametrize("damaged", DAMAGES.values(), ids=list(DAMAGES))
def test_a_damaged_file_of_log_events_is_named(lake, damaged):
    before = correlate(lake, SETTINGS, carrier=Here())
    (file,) = (lake.root / "evidence" / "log_events").rglob("part-*.parquet")
    file.write_bytes(damaged(file.read_bytes()))

    with pytest.raises(LakeDamagedError, match=file.name):
        correlate(lake, SETTINGS, carrier=Here(), force=True)

    newest = lake.generation()
    assert newest is not None
    assert newest.versions == before.versions
