"""What every test may use: one Spark session for the whole run."""

import pytest
from hypothesis import HealthCheck, settings
from xdist.scheduler import LoadFileScheduling

# How long an example takes says how busy the machine is, and nothing of ours.
settings.register_profile("doubletake", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("doubletake")

_OF_ONE_LAKE = {
    f"tests/spark_jobs/test_{name}.py": "many_worlds"
    for name in ("truth", "queue_findings_truth", "mutants", "small_worlds")
}
_OF_ONE_LAKE |= {f"tests/spark_jobs/test_{name}.py": "files" for name in ("imported", "canary")}
_OF_ONE_LAKE |= {
    f"tests/scenarios/test_{name}.py": "scenarios"
    for name in ("dlq_timing", "double_billing", "expired_handle", "fifo_order", "producer_and_consumer")
}
"""Files whose tests ask for the same costly fixture: ``many_worlds``, ``files`` or ``investigations``."""


class _ByFileOrLake(LoadFileScheduling):
    """Tests of one file run in one process, and so do those of files that share a costly lake."""

    def _split_scope(self, nodeid: str) -> str:
        file = super()._split_scope(nodeid)
        return _OF_ONE_LAKE.get(file, file)


def pytest_xdist_make_scheduler(config, log):
    """Say which tests belong together when the suite runs in several processes."""
    return _ByFileOrLake(config, log)


@pytest.fixture(scope="session")
def spark():
    """One Spark session on two threads, shared by every test that needs it."""
    from spark_jobs.session import spark_session

    session = spark_session("local[2]", few_lines=True)
    session.conf.set("spark.sql.shuffle.partitions", "4")
    with pytest.MonkeyPatch.context() as patch:  # a command that ends its session must not end everybody's
        patch.setattr("spark_jobs.session.end_session", lambda: None)
        yield session
    session.stop()
