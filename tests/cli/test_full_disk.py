"""A disk without room: one sentence, exit code 2, nothing half-written, wherever it filled up."""

import errno
import json
import os
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import cli
from cli.output import write_whole
from forensics.lake import Lake
from forensics.lake.doctor import heal
from forensics.tables.evidence import LOG_EVENTS

LINES = 400
T = datetime(2026, 11, 20, 5, tzinfo=UTC)
SENTENCE = "doubletake: the disk is full: nothing is half-written, and what was stored before is still there"
SIZES = (10, 300, 1200, 2600, 6000, 9000)
_CRAMPED = """
import json, os, resource, sys
import cli, cli.import_, ingest.bundles, ingest.files

told = []
for most_bytes, args in json.loads(sys.argv[1]):
    reading, writing = os.pipe()
    if not (child := os.fork()):
        os.dup2(writing, 2)
        resource.setrlimit(resource.RLIMIT_FSIZE, (most_bytes, most_bytes))
        sys.argv[1:] = args
        sys.exit(cli.whole_process())
    os.close(writing)
    said = open(reading).read()
    told.append([os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), said])
print(json.dumps(told))
"""
"""Each size in a process of its own, all of one that has loaded what they need: that took longer than what they do.

It keeps nothing compiled: Python would put what it could not write to its end among what is compiled, and fail by it from then on.
"""


@pytest.fixture(scope="module")
def cramped(tmp_path_factory) -> dict[int, tuple[list[str], int, str]]:
    """Import where files may not grow beyond a size; returns by it the command, its exit code, and what it said."""
    folder = tmp_path_factory.mktemp("cramped")
    log = folder / "worker.log"
    moments = (T + timedelta(milliseconds=17 * n) for n in range(LINES))
    log.write_text("".join(f"{at.isoformat(timespec='milliseconds')} processed {n}\n" for n, at in enumerate(moments)))
    args = {n: ["import", str(log), "--log-group", "/g", "--lake", str(folder / f"lake-{n}")] for n in SIZES}
    ended = subprocess.run(
        [sys.executable, "-B", "-c", _CRAMPED, json.dumps([*args.items()])],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return {n: (args[n], code, said) for n, (code, said) in zip(SIZES, json.loads(ended.stdout), strict=True)}


@pytest.mark.process
@pytest.mark.parametrize("most_bytes", SIZES)
def test_an_import_without_room_says_so_in_one_sentence_and_the_next_completes_it(cramped, most_bytes):
    """Files that may not grow are what a full disk is to whoever writes; which one fails depends on the size."""
    args, code, said = cramped[most_bytes]

    assert code == 2
    assert said.splitlines()[0] == SENTENCE
    assert len(said.splitlines()) == 2

    lake = Lake(Path(args[-1]))
    assert heal(lake).repairs == ()
    assert cli.main(args) == 0
    assert lake.count(LOG_EVENTS) == LINES


def _chained() -> Exception:
    try:
        try:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        except OSError as problem:
            raise RuntimeError("a stage failed") from problem
    except RuntimeError as problem:
        return problem


class PanicException(BaseException):
    """As pyo3 calls what a library in Rust ends with."""


FAILURES = {
    "the system's own": OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "/lake/x"),
    "a quota": OSError(errno.EDQUOT, os.strerror(errno.EDQUOT)),
    "delta-rs, in words": OSError(
        "Generic LocalFileSystem error: Unable to copy data: No space left on device (os error 28)"
    ),
    "a Rust panic": PanicException(
        'called `Result::unwrap()` on an `Err` value: Os { code: 28, message: "No space left on device" }'
    ),
    "Java, through Spark": Exception(
        "Py4JJavaError: ... java.io.IOException: No space left on device\n\tat java.base/..."
    ),
    "the cause of another failure": _chained(),
}


@pytest.mark.parametrize("problem", FAILURES.values(), ids=FAILURES)
@pytest.mark.parametrize("command", ["status", "correlate", "incidents"])
def test_whoever_finds_no_room_it_is_told_the_same_way(command, problem, tmp_path, monkeypatch, capsys):
    def fail(self):
        raise problem

    monkeypatch.setattr("cli.options.Everywhere.open_lake", fail)
    code = cli.main([command, "--lake", str(tmp_path / "none")])

    assert code == 2
    assert capsys.readouterr().err.splitlines()[0] == SENTENCE


@pytest.mark.parametrize(
    "problem", [PanicException("index out of bounds"), EOFError("marshal data too short")], ids=type
)
def test_a_panic_about_something_else_and_an_end_too_soon_are_bugs_and_no_persons_stop(
    tmp_path, monkeypatch, capsys, problem
):
    def fail(self):
        raise problem

    monkeypatch.setattr("cli.options.Everywhere.open_lake", fail)

    assert cli.main(["status", "--lake", str(tmp_path)]) == 1
    assert f"this is a bug of ours: {type(problem).__name__}: {problem}" in capsys.readouterr().err


def test_a_file_is_on_the_disk_before_it_takes_its_name(tmp_path, monkeypatch):
    done = []
    fsync, replace = os.fsync, os.replace
    monkeypatch.setattr(os, "fsync", lambda fd: done.append("flushed") or fsync(fd))
    monkeypatch.setattr(os, "replace", lambda *paths: done.append("named") or replace(*paths))

    write_whole(tmp_path / "case.zip", b"PK")
    assert done == ["flushed", "named"]
    assert [path.name for path in tmp_path.iterdir()] == ["case.zip"]
