"""Java writes down once which classes Spark needs."""

import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from cli import java_classes
from spark_jobs import java
from spark_jobs.java import Java


@pytest.mark.spark
@pytest.mark.skipif(sys.platform != "linux", reason="what a process has mapped is told by Linux alone")
def test_spark_s_java_takes_the_classes_that_setup_let_it_write_down(spark):
    mapped = Path(f"/proc/{spark._gateway.proc.pid}/maps").read_text()

    assert str(java.find_java().classes.resolve()) in mapped


@pytest.fixture
def a_java(tmp_path, monkeypatch):
    """Return what makes a Java of a shell script, beside a Spark that only says what it was started with."""
    monkeypatch.setattr(java, "_INSIDE", tmp_path / "inside")
    context = SimpleNamespace(
        broadcast=lambda value: SimpleNamespace(value=value),
        parallelize=lambda *_: SimpleNamespace(map=lambda _: SimpleNamespace(collect=list)),
    )
    monkeypatch.setattr(java_classes, "spark_context", lambda java_options: context)
    monkeypatch.setattr(java_classes, "end_spark", lambda: None)

    def made(script: str) -> Java:
        found = Java(tmp_path / "java", 21, "PATH")
        found.executable.parent.mkdir(parents=True)
        found.executable.write_text(f"#!/bin/sh\n{script}\n")
        found.executable.chmod(0o755)
        return found

    return made


_FILE = 'for one do case "$one" in -XX:SharedArchiveFile=*) file=${one#*=} ;; esac; done; echo classes > "$file"'


def test_what_java_wrote_lies_where_it_is_looked_for(a_java):
    java_found = a_java(_FILE)

    assert java_classes.write_classes(java_found) == java_found.classes
    assert java_found.classes.read_text() == "classes\n"


def test_a_java_that_cannot_leaves_nothing_half_written(a_java):
    java_found = a_java(f"{_FILE}; exit 1")

    assert java_classes.write_classes(java_found) is None
    assert list(java_found.classes.parent.iterdir()) == []


def test_a_folder_that_may_not_be_written_is_told_of_and_costs_nothing_else(a_java, monkeypatch, capsys):
    java_found = a_java(_FILE)
    java_found.classes.parent.parent.write_text("a file")
    monkeypatch.setattr(java_classes, "find_java", lambda: java_found)

    java_classes.main()

    assert "Spark starts no faster: Java 21 from PATH" in capsys.readouterr().err
