"""What an import takes of the machine follows what it reads, never what the lake holds."""

import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from forensics.lake import Lake
from forensics.lake.schemas import arrow_schema
from forensics.tables.evidence import LOG_EVENTS

pytestmark = [
    pytest.mark.slow,
    pytest.mark.process,
    pytest.mark.skipif(
        not Path("/proc/self/status").exists(), reason="only Linux tells a process's peak apart from its parent's"
    ),
]

T = datetime(2026, 11, 20, 5, tzinfo=UTC)
STORED = 400_000
LINES = 5_000
MOST_MORE_KB = 250_000
"""By so much an import may take more memory in a large lake than in an empty one: the batches under way, and what Arrow's
allocator keeps of them. The same with two million rows stored; fetching every row took three times that at 400,000."""

_IMPORT = r"""
import re, sys
from pathlib import Path
import pyarrow
from forensics.without_pandas import leave_pandas_out
leave_pandas_out(pyarrow.scalar)
from forensics.lake import Lake
from ingest.file_run import ImportChoices
from ingest.files import import_files
report = import_files(Lake(sys.argv[1]), [Path(sys.argv[2])], ImportChoices(log_groups=("/g",)))
(done,) = report.groups.values()
print(done.stored_count, done.already_count, re.search(r"VmHWM:\s+(\d+)", Path("/proc/self/status").read_text())[1])
"""


def imported(lake: Lake, log: Path) -> tuple[int, int, int]:
    """Import in a process of its own; returns rows stored, rows there already, and the most memory it had (KB)."""
    ended = subprocess.run(
        [sys.executable, "-c", _IMPORT, str(lake.root), str(log)], capture_output=True, text=True, check=True
    )
    stored, already, peak_kb = map(int, ended.stdout.split())
    return stored, already, peak_kb


@pytest.fixture(scope="module")
def log(tmp_path_factory) -> Path:
    """A log whose few lines span everything that the large lake holds."""
    path = tmp_path_factory.mktemp("log") / "worker.log"
    moments = (T + timedelta(milliseconds=n * STORED // LINES) for n in range(LINES))
    path.write_text("".join(f"{at.isoformat(timespec='milliseconds')} processed {n}\n" for n, at in enumerate(moments)))
    return path


@pytest.fixture(scope="module")
def large(tmp_path_factory) -> Lake:
    """A lake with a long line of that group in every millisecond."""
    lake, draw = Lake(tmp_path_factory.mktemp("large") / "lake"), np.random.default_rng(1)
    step_us, most = 1_000, 100_000
    for first in range(0, STORED, most):
        numbers = np.arange(first, first + most)
        digits = pc.cast(numbers, pa.string())
        moments = pa.array(int(T.timestamp()) * 1_000_000 + numbers * step_us).cast(pa.timestamp("us", "UTC"))
        took = (pa.array(draw.random(most)).cast(pa.string()) for _ in range(3))
        columns = {
            "evidence_id": pc.binary_join_element_wise("log", pc.utf8_lpad(digits, 43, "0"), ":"),
            "log_group": pa.repeat("/g", most),
            "log_stream": pa.repeat("s", most),
            "event_id": pc.utf8_lpad(digits, 56, "0"),
            "logged_at": moments,
            "line": pc.binary_join_element_wise("took", *took, "word " * 20, " "),
        }
        rows = [
            columns[f.name].cast(f.type) if f.name in columns else pa.nulls(most, f.type)
            for f in arrow_schema(LOG_EVENTS)
        ]
        lake.append(LOG_EVENTS, pa.Table.from_arrays(rows, schema=arrow_schema(LOG_EVENTS)), "log_events|/g")
    return lake


def test_memory_follows_what_is_read_and_not_the_lake(log, large, tmp_path):
    into_none = imported(Lake(tmp_path / "empty"), log)
    into_large = imported(large, log)

    assert into_none[:2] == into_large[:2] == (LINES, 0)
    assert into_large[2] < into_none[2] + MOST_MORE_KB
    assert imported(large, log)[:2] == (0, LINES)
