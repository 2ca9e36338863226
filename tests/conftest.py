"""What every test may use: one Spark for the whole run."""

import gc
import os
from functools import cache

import pytest
from hypothesis import HealthCheck, is_hypothesis_test, settings
from xdist.scheduler import LoadFileScheduling

from tests.parsed import READERS
from tests.temporary import in_memory

pytest_plugins = ["tests.compiled", "tests.lakes", "tests.shares"]

if "PYTEST_XDIST_WORKER" not in os.environ:
    in_memory()
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # of numpy, as in a command: a sixth of what a short process takes
os.environ.setdefault(
    "POLARS_MAX_THREADS", "1"
)  # of frames of some rows: a second only waits, and costs a seventh of correlating them
os.environ.setdefault("TOKIO_WORKER_THREADS", "1")  # of delta-rs: small tables cost a fifth less without a second

# How long an example takes says how busy the machine is, and nothing of ours.
settings.register_profile("doubletake", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("doubletake")

# Thousands of collected tests and the modules they import live until the end: looking through them for garbage again and
# again took a twelfth of the time.
gc.disable()
_LOOK_EVERY = 50_000
"""New objects after which garbage is looked for, among those made since the tests were collected."""

_ON_SPARK = (
    "tests/scenarios/",
    "tests/spark_jobs/test_carried.py",
    "tests/spark_jobs/test_carrier.py",
    "tests/spark_jobs/test_context.py",
)
"""What needs the one Spark: another one costs four seconds."""
_OF_MANY_WORLDS = (
    "tests/spark_jobs/test_canary.py",
    "tests/spark_jobs/test_imported.py",
    "tests/spark_jobs/test_mutants.py",
    "tests/spark_jobs/test_queue_findings_truth.py",
    "tests/spark_jobs/test_runner.py",
    "tests/spark_jobs/test_small_worlds.py",
    "tests/spark_jobs/test_truth.py",
)
"""What asks about the lakes of many worlds: to judge those takes twenty seconds."""
_TOGETHER = {
    **dict.fromkeys(_ON_SPARK, "on Spark"),
    "tests/spark_jobs/test_reuse.py": "in rounds",
    "tests/pages/in_browser/test_browser.py": "in a browser",  # first: it asks a server that has answered nothing yet
    "tests/pages/in_browser/": "in a browser",
    **dict.fromkeys(_OF_MANY_WORLDS, "of many worlds"),
    "tests/spark_jobs/test_cluster.py": "on a cluster",
}
"""What runs in one process, by how its path begins: the first that fits. What is made there once is made for all."""
_LONG = (
    *_TOGETHER,
    "tests/ingest/test_odd_replies.py",
    "tests/spark_jobs/test_screen.py",
    "tests/spark_jobs/test_joins.py",
    "tests/spark_jobs/test_java_failures.py",
    "tests/ingest/test_collect.py",
    "tests/test_wheel.py",
    "tests/cli/test_demo.py",
    "tests/ingest/test_crashes.py",
    "tests/ingest/test_sources.py",
    "tests/forensics/counting/test_fifo_groups.py",
    "tests/pages/test_pages.py",
    "tests/forensics/report/test_in_browser.py",
    "tests/pages/test_states.py",
    "tests/cli/test_serve.py",
    "tests/cli/test_watch_for_long.py",
    "tests/cli/test_program.py",
    "tests/cli/test_watch.py",
    "tests/test_sign_in.py",
)
"""What takes five seconds of processor time or more, a browser's and a server's included, longest first."""


class _Together(LoadFileScheduling):
    """Tests of one file run in one process, and so do those that share a Java, a browser, or lakes of many worlds."""

    def _split_scope(self, nodeid: str) -> str:
        groups = _TOGETHER | dict.fromkeys(READERS, "of sources")
        mine = (scope for start, scope in groups.items() if nodeid.startswith(start))
        return next(mine, super()._split_scope(nodeid))


def pytest_xdist_make_scheduler(config, log):
    """Say which tests belong together when the suite runs in several processes."""
    return _Together(config, log)


def _rank(item):
    place = item.nodeid
    return next((rank for rank, start in enumerate(_LONG) if place.startswith(start)), len(_LONG))


def pytest_collection_modifyitems(items):
    """Begin with what takes longest: begun last, it would keep one process at work while the others have nothing left.

    What hypothesis draws is done very often, and is not the same each time: too slow for the quick check.
    """
    items.sort(key=_rank)
    for item in items:
        if is_hypothesis_test(getattr(item, "obj", None)):
            item.add_marker("slow")


def pytest_collection_finish():
    """Leave what collecting made to itself from here on."""
    gc.freeze()
    gc.set_threshold(_LOOK_EVERY)
    gc.enable()


def pytest_unconfigure():
    """Let what is left go with the process: pytest looks through all of it once more, two seconds in each."""
    gc.freeze()


_AFTER_THE_LONGEST = 4
"""By how much a process is nicer to the others that does not correlate: these then have most of two cores, and the suite no
longer ends with minutes of theirs alone."""


def pytest_runtest_setup(item):
    """Let what takes longest go first also where there are fewer cores than processes."""
    is_one_of_many = "PYTEST_XDIST_WORKER" in os.environ
    if is_one_of_many and not item.nodeid.startswith(tuple(_TOGETHER)) and os.nice(0) < _AFTER_THE_LONGEST:
        os.nice(_AFTER_THE_LONGEST)


@pytest.fixture(scope="session")
def spark():
    """One Spark on two threads, shared by every test that needs it."""
    from spark_jobs.context import spark_context

    context = spark_context("local[2]")
    with pytest.MonkeyPatch.context() as patch:  # a command that ends its Spark must not end everybody's
        patch.setattr("spark_jobs.context.end_spark", lambda: None)
        yield context
    context.stop()


@pytest.fixture(scope="session")
def streamlit_does_nothing_in_vain():
    """Every AppTest asks each installed package whether it brings a component: more work than most pages of ours.

    And a thousand times a second it looks through all that the page has sent so far for its end: a twelfth of the time.
    And it compiles the page anew at every run, which a server does once.
    """
    from streamlit.components.v2 import manifest_scanner
    from streamlit.runtime.scriptrunner.script_cache import ScriptCache
    from streamlit.testing.v1 import local_script_runner

    compiled = ScriptCache()
    look = local_script_runner.require_widgets_deltas

    def wait(runner, timeout=3):
        runner._script_thread.join(timeout)
        look(runner, 0 if runner._script_thread.is_alive() else timeout)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(manifest_scanner, "scan_component_manifests", cache(manifest_scanner.scan_component_manifests))
        patch.setattr(local_script_runner, "require_widgets_deltas", wait)
        patch.setattr(local_script_runner, "ScriptCache", lambda: compiled)
        yield
