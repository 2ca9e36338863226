"""What may not be read is said to be so, never taken for empty; what can be read is."""

import pytest

from tests.forensics.report import world
from tests.unprivileged import doubletake

pytestmark = pytest.mark.process


@pytest.fixture
def closed():
    """Close a file or folder, and open it again at the end, or nobody could clear it away."""
    done = []

    def close(path):
        done.append((path, path.stat().st_mode & 0o777))
        path.chmod(0)

    yield close
    for path, mode in done:
        path.chmod(mode)


def test_files_and_folders_that_may_not_be_read_are_gaps_and_the_rest_is_imported(tmp_path, closed):
    folder = tmp_path / "folder"
    (folder / "sub").mkdir(parents=True)
    for name in ("worker.log", "secret.log", "sub/other.log"):
        (folder / name).write_text(f"2026-11-20T05:12:00Z took {len(name)}\n")
    closed(folder / "secret.log")
    closed(folder / "sub")

    done = doubletake("import", folder, "--log-group", "/g=orders", "--lake", tmp_path / "lake")

    assert done.returncode == 3
    assert "1 log event" in done.stderr
    assert "Gap: secret.log: it cannot be read (Permission denied), so it was not read" in done.stderr
    assert "Gap: sub: the folder cannot be listed (Permission denied), so it was not read" in done.stderr


@pytest.mark.parametrize("command", [("status",), ("report", world.INCIDENT, "-o", "-", "--format", "md")], ids=str)
def test_a_table_that_may_not_be_read_is_not_taken_for_one_without_rows(tmp_path, closed, command):
    lake = world.save(tmp_path / "lake", world.findings())
    closed(lake.root / "evidence" / "coverage")

    done = doubletake(*command, "--lake", lake.root)

    assert (done.returncode, done.stdout) == (2, "")
    assert "Permission denied" in done.stderr


@pytest.mark.parametrize(
    "command", [("status",), ("incidents",), ("settings",), ("mark", "a", "fixed", "--reason", "r")], ids=str
)
@pytest.mark.parametrize("place", ["closed", "closed/lake"])
def test_a_lake_in_a_folder_that_may_not_be_entered_is_named(tmp_path, closed, command, place):
    (tmp_path / "closed").mkdir()
    closed(tmp_path / "closed")

    done = doubletake(*command, "--lake", tmp_path / place)

    assert (done.returncode, done.stdout) == (2, "")
    assert "Permission denied" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_lake_that_may_only_be_read_is_read(tmp_path):
    lake = world.save(tmp_path / "lake", world.findings()).root
    folders = [lake, *(path for path in lake.rglob("*") if path.is_dir())]
    for path in folders:
        path.chmod(0o500)
    try:
        read = doubletake("report", world.INCIDENT, "-o", "-", "--format", "json", "--lake", lake)
        written = doubletake("doctor", "--lake", lake)
    finally:
        for path in folders:
            path.chmod(0o700)

    assert (read.returncode, written.returncode) == (0, 2)
    assert "cannot be written: Permission denied" in written.stderr
