"""What Spark writes on the way is nobody else's to read, and goes also where its process was killed."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from spark_jobs.scratch import PREFIX, scratch_folder, sweep

_HOLD = (
    "import sys; from spark_jobs.scratch import scratch_folder; print(scratch_folder(), flush=True); sys.stdin.read()"
)


@pytest.fixture
def temp(tmp_path, monkeypatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def test_the_folder_is_for_its_owner_alone(temp):
    assert scratch_folder().stat().st_mode & 0o777 == 0o700


def test_the_folder_of_a_killed_process_goes_with_the_next_run_and_that_of_a_living_one_stays(temp):
    holder = subprocess.Popen(
        [sys.executable, "-c", _HOLD],
        env=os.environ | {"TMPDIR": str(temp)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    theirs = Path(holder.stdout.readline().strip())
    (theirs / "shuffle_0_0_0.data").write_text("START RequestId: a")
    scratch_folder()
    assert theirs.exists()

    holder.kill()
    holder.communicate()
    scratch_folder()
    assert not theirs.exists()


def test_what_is_not_ours_is_left_alone(temp):
    (temp / f"{PREFIX}without-a-lock").mkdir()
    (temp / "precious").mkdir()
    (temp / "precious" / ".alive").touch()
    (temp / f"{PREFIX}link").symlink_to(temp / "precious")

    assert sweep(temp) == []
    assert sorted(path.name for path in temp.iterdir()) == [f"{PREFIX}link", f"{PREFIX}without-a-lock", "precious"]
