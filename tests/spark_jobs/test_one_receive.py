"""One receive that two runs of a function had: a standard queue's copy, or a poller that invoked twice, as both may without a failure."""

import pytest

from forensics.settings import Settings
from forensics.tables.findings import DELIVERIES, MESSAGES
from spark_jobs.carrier import Here
from spark_jobs.runner import correlate
from tests.spark_jobs.small_lake import SmallLake, at, record, run, some_id

pytestmark = pytest.mark.lake

SAID = Settings.parse(
    r"""
[[function]]
name = "charge"
effect = 'charged (?P<key>\S+)'
effect_is_exhaustive = true
"""
)
TWICE, ONCE = (some_id(name) for name in ("had by two runs", "had by one"))


def received(message: str, queue: str, second: float):
    """Return the record of a first receive; every run that has it sees the same."""
    first = {"ApproximateFirstReceiveTimestamp": str(int(at(second).timestamp() * 1000))}
    return record(message, 1, queue, f"body of {message}", second - 1, **first)


def intervals(findings):
    return {m["item_id"]: (m["effects_at_least"], m["effects_at_most"]) for m in findings.read(MESSAGES).to_pylist()}


@pytest.fixture
def findings(tmp_path):
    lake = SmallLake()
    lake.queue("payments", visibility_s=300)
    twice, once = received(TWICE, "payments", 0), received(ONCE, "payments", 100)
    lines = [
        *run("the first run", 0.1, 2, twice, says=("charged pay-1",)),
        *run("the second run", 30, 2, twice, says=("charged pay-1",)),
        *run("the only run", 100.1, 2, once, says=("charged pay-2",)),
    ]
    lake.function("payments", "charge", *lines)
    written = lake.write(tmp_path)
    correlate(written, SAID, carrier=Here())
    return written.findings()


def test_what_looks_the_same_in_both_runs_was_done_in_both(findings):
    assert intervals(findings) == {TWICE: (2, 2)}
    indexes = sorted((d["item_id"] == TWICE, d["delivery_index"]) for d in findings.read(DELIVERIES).to_pylist())
    assert indexes == [(False, 1), (True, 1), (True, 2)]
