"""What every test may use: one Spark for the whole run."""

import gc
from functools import cache

import pytest
from hypothesis import HealthCheck, is_hypothesis_test, settings

from tests.drawing import DRAWS_THE_SAME
from tests.temporary import in_memory
from tests.threads import set_fewest

pytest_plugins = ["tests.lakes", "tests.processes"]

in_memory()
set_fewest()

# How long an example takes says how busy the machine is, and nothing of ours.
settings.register_profile(
    "doubletake", deadline=None, derandomize=DRAWS_THE_SAME, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("doubletake")

# Collected tests and the modules they import live until the end: looking through them for garbage again and again took a
# twelfth of the time.
gc.disable()
_LOOK_EVERY = 50_000
"""New objects after which garbage is looked for, among those made since tests were collected first."""

_FIRST = ("tests/pages/in_browser/test_browser.py",)
"""What goes before all others: it asks a server that has answered nothing yet."""


def pytest_collection_modifyitems(items):
    """Mark what hypothesis draws as slow: it is done very often."""
    items.sort(key=lambda item: not item.nodeid.startswith(_FIRST))
    for item in items:
        if is_hypothesis_test(getattr(item, "obj", None)):
            item.add_marker("slow")


def pytest_collection_finish():
    """Leave what collecting made to itself from here on; what is collected later may come with garbage of tests before it."""
    if not gc.isenabled():
        gc.freeze()
        gc.set_threshold(_LOOK_EVERY)
        gc.enable()


def pytest_unconfigure():
    """Let what is left go with the process: pytest looks through all of it once more, two seconds in each."""
    gc.freeze()


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
