"""The two commands of the README, and what stands behind them."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
pytestmark = pytest.mark.skipif(not shutil.which("make"), reason="make is not installed")


def make(*args: str, cwd: Path = ROOT) -> str:
    clean = {k: v for k, v in os.environ.items() if not k.startswith("MAKE")}
    return subprocess.run(["make", *args], cwd=cwd, env=clean, capture_output=True, text=True, check=True).stdout


def test_help_lists_every_command_with_a_sentence():
    listed = dict(re.findall(r"^([a-z-]+)\s+(\S.*)$", make("help"), re.MULTILINE))

    assert {"setup", "demo", "test", "check", "truth", "bench", "help"} <= set(listed)


def test_make_alone_is_help():
    assert make() == make("help")


@pytest.fixture
def clone(tmp_path):
    """A checkout in which nothing was installed yet."""
    for name in ("Makefile", "requirements.txt", "requirements-dev.txt", "pyproject.toml", "hatch_build.py"):
        shutil.copy(ROOT / name, tmp_path / name)
    return tmp_path


STEPS = {
    "demo": ("doubletake demo", "requirements.txt"),
    "test": ("python -m tests.processes", "requirements-dev.txt"),
    "setup": ("pip install", "requirements.txt"),
}


@pytest.mark.parametrize(("target", "steps"), STEPS.items(), ids=STEPS)
def test_in_a_fresh_clone_a_target_installs_what_it_needs_first(clone, target, steps):
    command, requirements = steps
    plan = make("--dry-run", target, cwd=clone)

    assert plan.index("-m venv .venv") < plan.index(requirements) <= plan.rindex(command)


def test_an_old_python_is_refused_with_the_way_out(clone):
    old = clone / "old-python"
    old.write_text('#!/bin/sh\nexec python3 -c "import sys; sys.version_info = (3, 10); exec(sys.argv[1])" "$2"\n')
    old.chmod(0o755)
    done = subprocess.run(["make", "setup", f"PYTHON={old}"], cwd=clone, capture_output=True, text=True, check=False)

    assert done.returncode != 0
    assert "needs Python 3.11 or newer" in done.stderr
    assert not (clone / ".venv").exists()


def test_continuous_integration_runs_the_tests_of_the_readme():
    script = ROOT / ".ci" / "run"

    assert os.access(script, os.X_OK)
    assert "make test" in script.read_text().splitlines()
