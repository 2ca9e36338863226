"""Processes on a core of their own."""

import os
import subprocess
import sys

import pytest

from tests.cores import on_one_core

pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="this system keeps no process on a core"),
]
WAITS = [sys.executable, "-c", "input()"]


def test_each_process_is_kept_on_the_next_core_and_behind_the_last_comes_the_first():
    mine = sorted(os.sched_getaffinity(0))
    for number, core in enumerate([*mine, mine[0]]):
        with subprocess.Popen(WAITS, stdin=subprocess.PIPE) as process:
            on_one_core(number, process.pid)

            assert os.sched_getaffinity(process.pid) == {core}
    assert sorted(os.sched_getaffinity(0)) == mine


def test_a_process_that_has_ended_is_left_alone():
    with subprocess.Popen(WAITS, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        process.wait()

    on_one_core(0, process.pid)
