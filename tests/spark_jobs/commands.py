"""The command in a process of its own, as a person has it, and what it leaves in the lake."""

import hashlib
import os
import subprocess
import sys
from pathlib import Path

from forensics.lake import Lake
from forensics.settings import Settings
from forensics.tables import FINDINGS

_ROOT = Path(__file__).parents[2]


def correlating(lake: Lake, said: Settings, *args: str, **environ: str) -> subprocess.Popen[str]:
    """Start ``doubletake correlate``; what it prints is on ``stdout``."""
    config = lake.root.parent / "doubletake.toml"
    config.write_text(said.text)
    return subprocess.Popen(
        [sys.executable, "-m", "cli", "correlate", "--lake", str(lake.root), "--config", str(config), *args],
        cwd=_ROOT,
        env=os.environ | environ,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


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
