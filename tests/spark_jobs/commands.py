"""The command in a process of its own, as a person has it, and what it leaves in the lake."""

import hashlib
import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from forensics.lake import Lake
from forensics.settings import Settings
from forensics.tables import FINDINGS
from tests.waiting import PATIENCE_S

_ROOT = Path(__file__).parents[2]
_ONE_BY_ONE = """
import json, sys, cli
from pathlib import Path

for line in sys.stdin:
    ended, *words = json.loads(line)
    status = cli.main(words)
    sys.stdout.flush()
    Path(ended).write_text(str(status))
"""


def correlating(lake: Lake, said: Settings, *args: str, **environ: str) -> subprocess.Popen[str]:
    """Start ``doubletake correlate``; what it prints is on ``stdout``."""
    return subprocess.Popen(
        [sys.executable, "-m", "cli", *_words(lake, said), *args],
        cwd=_ROOT,
        env=os.environ | environ,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def _words(lake: Lake, said: Settings) -> list[str]:
    config = lake.root.parent / "doubletake.toml"
    config.write_text(said.text)
    return ["correlate", "--lake", str(lake.root), "--config", str(config)]


class OneByOne:
    """One process that is given the command again and again.

    Its Java and the executors stay: to start them costs several times what a small lake does.
    """

    def __init__(self, log: Path, *args: str, **environ: str) -> None:
        self._log, self._args = log, args
        command = [sys.executable, "-c", _ONE_BY_ONE]
        with log.open("wb") as told:
            self.process = subprocess.Popen(
                command,
                cwd=_ROOT,
                env=os.environ | environ,
                stdin=subprocess.PIPE,
                stdout=told,
                stderr=subprocess.STDOUT,
                text=True,
            )

    def __enter__(self) -> "OneByOne":
        return self

    def __exit__(self, *_: object) -> None:
        self.process.communicate(timeout=PATIENCE_S)

    def correlating(self, lake: Lake, said: Settings) -> "Given":
        """Start the command."""
        ended = lake.root.parent / "ended"
        assert self.process.stdin is not None
        print(json.dumps([str(ended), *_words(lake, said), *self._args]), file=self.process.stdin, flush=True)
        return Given(self.process, ended, self._log)


@dataclass(frozen=True)
class Given:
    """A command that such a process was given."""

    process: subprocess.Popen[str]
    ended: Path
    log: Path

    @property
    def is_over(self) -> bool:
        return self.process.poll() is not None or self.status != ""

    @property
    def status(self) -> str:
        """What it returned; nothing before."""
        return self.ended.read_text() if self.ended.exists() else ""

    @property
    def told(self) -> str:
        """What the process has printed."""
        return self.log.read_text()


def files_of(lake: Lake) -> dict[str, list[str]]:
    """Return the digests of every findings table's files, of the newest generation."""
    versions = lake.findings().generation.versions
    return {
        table.name: sorted(
            hashlib.sha256(Path(file).read_bytes()).hexdigest() for file in lake.files(table, versions[table.name])
        )
        for table in FINDINGS
        if table.name in versions
    }
